"""Holds everything that plays Goita, learns to play it, or measures play."""

from typing import TYPE_CHECKING, Any

from agents.base import Agent, AgentError
from agents.registry import is_own, load_agent, names
from goita_env.envs import bots

if TYPE_CHECKING:
    from agents.tournament.arena import Tournament, play_pair
    from agents.tournament.plan import Plan

__all__ = [
    "Agent",
    "AgentError",
    "Plan",
    "Tournament",
    "load_agent",
    "names",
    "play_pair",
]

bots.teach(load_agent, is_own)


def __getattr__(name: str) -> Any:
    """Imports the tournament when it is first used: its libraries are another extra's."""
    if name in ("Plan", "Tournament", "play_pair"):
        from agents.tournament import arena

        return getattr(arena, name)
    raise AttributeError(f"module {__name__!r} has no attribute {name!r}")
