"""Builds the agent ``champion`` from the weights next to this file."""

from __future__ import annotations

from collections.abc import Sequence
from functools import partial
from pathlib import Path
from typing import Final

from goita_agents.base import Agent
from goita_agents.beliefs.types import make_types
from goita_agents.bots.heuristic import HeuristicAgent
from goita_agents.bots.network import NetworkAgent, shipped
from goita_agents.champion import crowd
from goita_agents.models import TYPE_EPSILONS
from goita_agents.registry import Entry, expand, load_agent
from goita_agents.search.action_values import SearchOptions
from goita_agents.search.library import LibraryRolloutAgent
from goita_agents.search.rollout import RolloutAgent

WEIGHTS: Final = Path(__file__).parent / "policy.safetensors"

SEARCH: Final = SearchOptions(min_z=3.0, max_policy_queries=30_000)
"""Options of its search. Queries to all policies that the others may play are counted together."""

FIRST_TYPES: Final = ("champion", "heuristic", "crowd")
"""Names of the types of opponents in the first round of a match: ``first_opponents``."""

FIRST_SHARES: Final = (4, 4, 1)
"""Relative prior probabilities of ``FIRST_TYPES``; ``crowd`` stands for an unknown bot. A few
decisions distinguish most bots from ``champion`` and ``heuristic``. But ``crowd`` imitates
``heuristic``, too, so it may take many to distinguish a bot like ``heuristic`` from it."""

LIBRARY: Final = (
    *("population:train", "heuristic:conventions=off", "people", "people:temperature=0"),
    *("champion:temperature=1", "greedy"),
)
"""Players that the search weighs in a match, in addition to ``FIRST_TYPES``."""


def network() -> NetworkAgent:
    """Returns the champion's network, always the same object."""
    return shipped(WEIGHTS)


def load(
    search: bool = False,
    temperature: float = 0.0,
    options: SearchOptions = SEARCH,
    infer: bool = True,
    types: tuple[Agent, ...] = (),
    partners: tuple[Agent, ...] = (),
    epsilon: float = TYPE_EPSILONS[0],
    carry: bool = True,
    library: tuple[Agent, ...] = (),
) -> Agent:
    """Returns the champion.

    With ``search`` every action is played out in sampled worlds, as ``options`` say, and the
    policy's own choice is played unless another action leads it by ``min_z`` standard errors.
    ``temperature`` is that of the policy; 0 takes the likeliest action.

    With ``infer`` it infers how the others play; without, it assumes that all play like the
    champion. ``types`` are policies that the opponents may play, with a share of ``epsilon`` for
    any legal action (``goita_agents.beliefs.make_types``); empty: ``FIRST_TYPES``. ``partners`` are
    policies that the partner may play; empty: the champion's.

    With ``carry`` its beliefs about the others are kept from round to round of a match, and they
    may be any players of the ``library``; empty: ``LIBRARY``. Without ``carry`` an answer depends
    only on one view.
    """
    policy = network().at(temperature)
    if not search:
        return policy
    if not infer:
        return RolloutAgent(policy, options, belief=True)
    opponents, shares = (types, ()) if types else (first_opponents(policy), FIRST_SHARES)
    models = make_types(opponents, partners or [policy], epsilon, shares)
    if not carry:
        return RolloutAgent(policy, options, belief=True, types=models)
    return LibraryRolloutAgent(policy, options, models, partial(known_players, library), epsilon)


def first_opponents(policy: Agent) -> tuple[Agent, ...]:
    """Returns the policies that unknown opponents may play, in the order of ``FIRST_TYPES``.

    ``policy`` is the champion's.
    """
    return policy, HeuristicAgent(), crowd.ENTRY.factory()


def known_players(library: Sequence[Agent]) -> Sequence[Agent]:
    """Returns the players of a library; of ``LIBRARY`` if it is empty."""
    return library or [load_agent(text) for text in expand(LIBRARY)]


ENTRY = Entry(load, digest=lambda: network().digest)
"""``champion``, as texts name it."""
