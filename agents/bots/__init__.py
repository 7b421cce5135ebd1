"""Plays by rules written down, or as a trained network does."""
