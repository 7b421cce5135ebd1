"""Builds the agent ``champion`` from the weights that lie beside this file."""

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
from goita_agents.models import EPSILONS
from goita_agents.registry import Entry, expand, load_agent
from goita_agents.search.action_values import SearchOptions
from goita_agents.search.library import LibraryRolloutAgent
from goita_agents.search.rollout import RolloutAgent

WEIGHTS: Final = Path(__file__).parent / "policy.safetensors"

SEARCH: Final = SearchOptions(min_z=3.0, max_policy_queries=30_000)
"""Options of its search. Queries are those to all policies that the others may play, together."""

FIRST: Final = ("champion", "heuristic", "crowd")
"""How opponents may play, by name: ``first_opponents``."""

SHARES: Final = (4, 4, 1)
"""How likely each of these is at first. Strangers are soon told from the first two; what plays like
the second may take long to tell from the third, which imitates it, too."""

LIBRARY: Final = (
    *("population:train", "heuristic:conventions=off", "people", "people:temperature=0"),
    *("champion:temperature=1", "greedy"),
)
"""Players that the search weighs in a match, beside those that it begins with."""


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
    epsilon: float = EPSILONS[0],
    carry: bool = True,
    library: tuple[Agent, ...] = (),
) -> Agent:
    """Returns the champion.

    With ``search`` every action is played out in sampled worlds, as ``options`` say, and the
    policy's own choice stands unless another leads it by ``min_z`` standard errors.
    ``temperature`` is that of the policy; 0 takes the likeliest action.

    With ``infer`` it infers how the others play. ``types`` are policies that the opponents may
    play, ``epsilon`` of their actions being any legal one (``goita_agents.beliefs.make_types``);
    empty: the champion's, ``heuristic`` and ``crowd``, an unknown bot. ``partners`` are those that
    the partner may play; empty: the champion's. Without ``infer`` all play like the champion. With
    ``carry`` what was learnt of the others in a match is kept from round to round, and a player of
    the ``library`` whom they play like takes their place; empty: ``LIBRARY``. Without ``carry`` an
    answer depends only on one view.
    """
    policy = network().at(temperature)
    if not search:
        return policy
    if not infer:
        return RolloutAgent(policy, options, belief=True)
    opponents, shares = (types, ()) if types else (first_opponents(policy), SHARES)
    models = make_types(opponents, partners or [policy], epsilon, shares)
    if not carry:
        return RolloutAgent(policy, options, belief=True, types=models)
    return LibraryRolloutAgent(policy, options, models, partial(known_players, library), epsilon)


def first_opponents(policy: Agent) -> tuple[Agent, ...]:
    """Returns how opponents may play who are not known, in the order of ``FIRST``.

    The champion is as given.
    """
    return policy, HeuristicAgent(), crowd.ENTRY.factory()


def known_players(given: Sequence[Agent]) -> Sequence[Agent]:
    """Returns the players of a library: those given, or ``LIBRARY``."""
    return given or [load_agent(text) for text in expand(LIBRARY)]


ENTRY = Entry(load, digest=lambda: network().digest)
"""``champion``, as texts name it."""
