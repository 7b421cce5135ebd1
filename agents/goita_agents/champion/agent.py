"""Builds the agent ``champion`` from the weights that lie beside this file."""

from __future__ import annotations

from functools import cache
from pathlib import Path
from typing import Final

from goita_agents.base import Agent
from goita_agents.beliefs.types import make_types
from goita_agents.bots.heuristic import HeuristicAgent
from goita_agents.bots.network import NetworkAgent
from goita_agents.registry import Entry
from goita_agents.search.action_values import (
    ALLOCATION,
    BUDGET,
    MAX_UNSEEN_TILES,
    WORLDS,
)
from goita_agents.search.carrying import CarryingRolloutAgent
from goita_agents.search.rollout import RolloutAgent

WEIGHTS: Final = Path(__file__).parent / "policy.safetensors"

EPSILON: Final = 0.1

MIN_Z: Final = 3.0

MAX_POLICY_QUERIES: Final = 20_000


@cache
def network() -> NetworkAgent:
    """Returns the champion's network, always the same object."""
    return NetworkAgent.load(WEIGHTS)


def load(
    search: bool = False,
    temperature: float = 0.0,
    worlds: int = WORLDS,
    budget: int = BUDGET,
    belief: bool = True,
    min_z: float = MIN_Z,
    skip_above: float = 1.0,
    max_policy_queries: float = MAX_POLICY_QUERIES,
    max_unseen_tiles: int = MAX_UNSEEN_TILES,
    infer: bool = True,
    types: tuple[Agent, ...] = (),
    partners: tuple[Agent, ...] = (),
    epsilon: float = EPSILON,
    carry: bool = True,
) -> Agent:
    """Returns the champion.

    With ``search`` every action is played out in sampled worlds, and the policy's own choice stands
    unless another leads it by ``min_z`` standard errors. ``temperature`` is that of the policy; 0
    takes the likeliest action.

    With ``infer`` it infers how the others play. ``types`` are policies that the opponents may
    play, ``epsilon`` of their actions being any legal one (``goita_agents.beliefs.make_types``);
    empty: the champion's and ``heuristic``. ``partners`` are those that the partner may play;
    empty: the champion's. Without ``infer``, or with ``belief`` off, all play like the champion.
    With ``carry`` what was learnt of the others in a match is kept from round to round; off, an
    answer depends only on one view. The other options are those of ``RolloutAgent``.

    Raises:
        AgentError: if an option is outside its choices.
    """
    policy = network().at(temperature)
    if not search:
        return policy
    typed = belief and infer
    of_others = None
    if typed:
        of_others = make_types(types or (policy, HeuristicAgent()), partners or (policy,), epsilon)
    return (CarryingRolloutAgent if typed and carry else RolloutAgent)(
        policy,
        worlds,
        budget,
        belief=belief,
        min_z=min_z,
        skip_above=skip_above,
        max_policy_queries=max_policy_queries,
        allocation=ALLOCATION,
        max_unseen_tiles=max_unseen_tiles,
        types=of_others,
    )


ENTRY = Entry(load, digest=lambda: network().digest)
"""``champion``, as texts name it."""
