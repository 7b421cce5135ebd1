"""The rule bot: skills that need no partner's understanding, and people's conventions."""

from goita_agents.bots.heuristic.agent import HeuristicAgent

__all__ = ["HeuristicAgent"]
