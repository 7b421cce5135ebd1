"""Plays the shipped policy, with or without search: docs/strength.md is its model card."""
