"""Builds the agent ``champion`` from the weights that lie beside this file."""

from __future__ import annotations

from collections.abc import Sequence
from copy import copy
from functools import cache
from pathlib import Path
from typing import Final

from agents.base import Agent, Policy
from agents.beliefs.types import Types
from agents.bots.heuristic import HeuristicAgent
from agents.bots.network import NetworkAgent
from agents.models import EPSILONS, PolicyModel
from agents.search.evaluate import ALLOCATION, BUDGET, MIN_Z, WORLDS
from agents.search.rollout import RolloutAgent

WEIGHTS: Final = Path(__file__).parent / "policy.safetensors"

MAX_POLICY_QUERIES: Final = 12_000.0
"""With these 95 of 100 decisions take 0.2 s at most."""

MAX_UNSEEN_TILES: Final = 19
"""Before, a search finds next to nothing."""


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
    types: tuple[Agent, ...] = (),
    partners: tuple[Agent, ...] = (),
    epsilon: float = 0.1,
    broad: float = 0.5,
    broad_prior: float = 0.1,
) -> Agent:
    """Returns the champion.

    With ``search`` every action is played out by the policy in sampled worlds, and the policy's own
    choice stands unless another leads it by ``min_z`` standard errors. ``temperature`` is that of
    the policy; 0 takes the likeliest action. The other options are those of ``RolloutAgent``.

    Raises:
        AgentError: if an option is outside its choices.
    """
    policy = copy(network()).at(temperature)
    if not search:
        return policy
    return RolloutAgent(
        policy,
        worlds,
        budget,
        belief=belief,
        min_z=min_z,
        skip_above=skip_above,
        max_policy_queries=max_policy_queries,
        allocation=ALLOCATION,
        max_unseen_tiles=max_unseen_tiles,
        types=_types(policy, types, partners, epsilon, broad, broad_prior) if types else None,
    )


def _types(base, types, partners, epsilon, broad, broad_prior):
    opp=[PolicyModel(t, epsilon=epsilon) for t in types]
    pp=[PolicyModel(t, epsilon=EPSILONS[1]) for t in (partners or (base,))]
    k=len(opp)
    if broad_prior:
        opp.append(PolicyModel(types[-1], epsilon=broad))
        prior=tuple([(1-broad_prior)/k]*k+[broad_prior])
    else: prior=()
    return Types(tuple(opp),tuple(pp),prior)
