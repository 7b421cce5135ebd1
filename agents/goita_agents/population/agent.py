"""Builds the agent ``population:METHOD-SEED`` from its weights."""

from __future__ import annotations

from functools import cache

from goita_agents.base import AgentError
from goita_agents.bots.network import NetworkAgent
from goita_agents.population.manifest import PREFIX, SETS, members_of, shipped
from goita_agents.registry import Entry


@cache
def network(name: str) -> NetworkAgent:
    """Returns the network of a member, always the same object."""
    return shipped().network(name)


def load(name: str, temperature: float = 0.0) -> NetworkAgent:
    """Returns a member of the population.

    Args:
        name: METHOD-SEED.
        temperature: of its policy; 0 takes the likeliest action.
    """
    if name in SETS:
        raise AgentError(f"expected one agent, got the set {PREFIX}{name}")
    agent = network(name).at(temperature)
    agent.name = f"{PREFIX}{name}"
    return agent


ENTRY = Entry(
    load, argument="METHOD-SEED", digest=lambda name: network(name).digest, expand=members_of
)
"""``population``, as texts name it."""
