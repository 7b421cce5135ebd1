"""Builds the agent ``people`` from the weights that lie beside this file."""

from __future__ import annotations

from pathlib import Path
from typing import Final

from goita_agents.bots.network import NetworkAgent, shipped
from goita_agents.registry import Entry

WEIGHTS: Final = Path(__file__).parent / "policy.safetensors"


def load(temperature: float = 1.0) -> NetworkAgent:
    """Returns the model of people.

    ``temperature`` is that of the policy: 1 plays as people do, 0 takes the likeliest action.
    """
    return shipped(WEIGHTS).at(temperature)


ENTRY = Entry(load, digest=lambda: shipped(WEIGHTS).digest)
"""``people``, as texts name it."""
