"""Plays the shipped policy, alone or with search: docs/strength.md is its model card."""
