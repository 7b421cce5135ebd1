"""Holds scripts that made published results, beside these results."""
