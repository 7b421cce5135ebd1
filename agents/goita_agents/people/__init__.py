"""Plays like people do: a network learned from their records. docs/strength.md describes it."""
