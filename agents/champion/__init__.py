"""Plays the shipped policy, alone or with search: docs/champion.md is its card."""

from agents.champion.agent import load

__all__ = ["load"]
