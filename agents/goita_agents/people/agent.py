"""Builds the agent ``people`` from the weights that lie beside this file."""

from __future__ import annotations

from functools import cache
from pathlib import Path
from typing import Final

from goita_agents.bots.network import NetworkAgent
from goita_agents.registry import Entry

WEIGHTS: Final = Path(__file__).parent / "policy.safetensors"


@cache
def network() -> NetworkAgent:
    """Returns the network, always the same object."""
    return NetworkAgent.load(WEIGHTS)


def load(temperature: float = 1.0) -> NetworkAgent:
    """Returns the model of people.

    ``temperature`` is that of the policy: 1 plays as people do, 0 takes the likeliest action.

    Raises:
        AgentError: if the temperature is negative.
    """
    return network().at(temperature)


ENTRY = Entry(load, digest=lambda: network().digest)
"""``people``, as texts name it."""
