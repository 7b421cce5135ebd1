"""Trains the members of a population, and shows what they are."""
