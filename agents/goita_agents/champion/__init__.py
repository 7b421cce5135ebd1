"""Plays the shipped policy, alone or with search: docs/champion.md is its model card."""
