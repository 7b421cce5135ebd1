"""Plays like people do: a network learned from their records. docs/people.md describes it."""
