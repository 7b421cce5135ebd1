"""Takes small networks for large ones where a search assumes how somebody plays.

A small network was distilled from a large one (``tools/distill.py``) and takes an eighth of its
time. It chooses the same action in nine of ten decisions, so it is no substitute for the player
that it was learned from, but it is a good guess at how that player goes on.
"""

from __future__ import annotations

from collections.abc import Sequence
from functools import cache
from pathlib import Path

from goita_agents.base import Agent
from goita_agents.bots.network import NetworkAgent


def modelled(agent: Agent) -> Agent:
    """Returns the small network of an agent, at the same temperature; itself if it has none."""
    if isinstance(agent, NetworkAgent) and agent.small is not None:
        return _read(agent.small).at(agent.temperature)
    return agent


def in_playouts(players: Sequence[Sequence[Agent]]) -> list[list[Agent]]:
    """Returns the players of playouts with small networks where there are any."""
    return [[modelled(agent) for agent in four] for four in players]


@cache
def _read(path: Path) -> NetworkAgent:
    return NetworkAgent.load(path)
