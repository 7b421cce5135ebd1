"""Plays like people do: a network learned from their records. docs/people.md describes it."""

from goita_agents.people.agent import load

__all__ = ["load"]
