"""Builds the agent ``crowd`` from the weights beside this file."""

from __future__ import annotations

from pathlib import Path
from typing import Final

from goita_agents.bots.network import NetworkAgent, shipped
from goita_agents.registry import Entry

WEIGHTS: Final = Path(__file__).parent / "crowd.safetensors"


def load(temperature: float = 1.0) -> NetworkAgent:
    """Returns the model of an unknown bot: it imitates the players of the champion's library.

    ``temperature`` is that of the policy: 1 plays as they do together, 0 takes the likeliest
    action.
    """
    return shipped(WEIGHTS).at(temperature)


ENTRY = Entry(load, digest=lambda: shipped(WEIGHTS).digest)
"""``crowd``, as texts name it."""
