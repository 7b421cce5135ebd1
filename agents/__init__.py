"""Holds everything that plays Goita, learns to play it, or measures play."""

from agents.base import Agent, AgentError
from agents.registry import load_agent, names

__all__ = ["Agent", "AgentError", "load_agent", "names"]
