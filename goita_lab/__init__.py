"""Trains agents that play Goita, plays tournaments, measures play and shows it."""
