"""Adds to ``goita_env.agent`` what only agents outside the game need."""

from __future__ import annotations

from agents.faults import FaultTracking
from goita_env.agent import (
    Agent,
    HasTemperature,
    PlaysInformed,
    Policy,
    RandomAgent,
    RedealObserver,
    Results,
    StatefulAgent,
    certain,
    close,
    plays,
    sample,
    sample_at,
    uniform,
)
from goita_env.arrays import Bool, Float, Int
from goita_env.errors import GoitaError

__all__ = [
    "Agent",
    "AgentError",
    "Bool",
    "Float",
    "HasTemperature",
    "Int",
    "PlaysInformed",
    "Policy",
    "RandomAgent",
    "RedealObserver",
    "Results",
    "StatefulAgent",
    "certain",
    "close",
    "is_stateless",
    "plays",
    "sample",
    "sample_at",
    "uniform",
]


class AgentError(GoitaError):
    """Reports an agent that does not exist, cannot be built, or answers what it may not."""


def is_stateless(agent: object) -> bool:
    """Tells whether an agent plays from one view alone: it keeps no memory and no faults."""
    return not isinstance(agent, StatefulAgent | FaultTracking)
