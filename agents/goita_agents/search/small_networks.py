"""Takes small networks for large ones where rounds are played out.

A small network was distilled from a large one (``tools/distill.py``) and takes an eighth of its
time. It chooses the same action in nine of ten decisions: enough to tell how a round may go on, not
enough to tell from an action what a hand holds, so no belief takes it.
"""

from __future__ import annotations

from collections.abc import Sequence
from functools import cache
from pathlib import Path

from goita_agents.base import Agent
from goita_agents.bots.network import NetworkAgent


def in_playouts(players: Sequence[Sequence[Agent]]) -> list[list[Agent]]:
    """Returns the players of playouts with small networks, at the same temperatures."""
    return [[_stand_in(agent) for agent in four] for four in players]


def _stand_in(agent: Agent) -> Agent:
    if isinstance(agent, NetworkAgent) and agent.small is not None:
        return _read(agent.small).at(agent.temperature)
    return agent


@cache
def _read(path: Path) -> NetworkAgent:
    return NetworkAgent.load(path)
