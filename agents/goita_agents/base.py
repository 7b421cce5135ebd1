"""Adds to ``goita_env.agent`` what only agents outside the game need."""

from __future__ import annotations

from numbers import Integral

from goita_agents.faults import AgentError, FaultTracking
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
    "check_temperature",
    "close",
    "is_stateless",
    "plays",
    "sample",
    "sample_at",
    "uniform",
]


def is_whole(number: object) -> bool:
    return isinstance(number, Integral) and not isinstance(number, bool)


def check_temperature(temperature: float) -> float:
    """Returns a policy's temperature; an AgentError if it is not 0 or 0.001 to 1000.

    Beyond these powers of probabilities overflow, or nothing is left of the policy.
    """
    if temperature != 0 and not 1e-3 <= temperature <= 1e3:
        raise AgentError(f"expected a temperature of 0, or of 0.001 to 1000, got {temperature!r}")
    return temperature


def is_stateless(agent: object) -> bool:
    """Says whether an agent plays from one view only: it keeps no memory and no faults."""
    return not isinstance(agent, StatefulAgent | FaultTracking)
