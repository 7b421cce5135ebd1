"""Plays N games as one block of integers: private, and the fast part; docs/engine.md draws it."""
