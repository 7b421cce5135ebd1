"""Plays the shipped policy, alone or with search: docs/champion.md is its model card."""

from goita_agents.champion.agent import load

__all__ = ["load"]
