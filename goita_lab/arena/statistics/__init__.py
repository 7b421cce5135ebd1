"""Quantifies uncertainty: intervals, ratings, a sequential test."""
