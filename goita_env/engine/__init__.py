"""Plays N games as one block of integers: private, and the fast part; README.md draws it."""
