"""Names the types that people are taken for, by hints and analyses."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import replace
from typing import Final

from goita_agents.beliefs.types import Types, make_types
from goita_agents.models import PolicyModel
from goita_agents.registry import load_agent

LEARNED: Final = "people"
"""The type that is learned from records of people."""

PEOPLE: Final = (LEARNED, "heuristic", "heuristic:conventions=off", "champion:temperature=1")
"""Policies that people play like, more or less. A fallback type is added to them."""

PEOPLE_EPSILON: Final = 0.3
"""Share of people's actions that may be any legal action: people play unlike any bot."""

LEARNED_EPSILON: Final = 0.05
"""Epsilon of ``LEARNED``, which knows how often people depart from its likeliest action."""


def people(policies: Sequence[str] = PEOPLE) -> Types:
    """Returns the types of opponents, and of a partner, who play about like some policies.

    The last type of the opponents is a broad fallback type: see ``make_types``.

    Args:
        policies: as ``load_agent`` takes them.
    """
    agents = [load_agent(text) for text in policies]
    types = make_types(agents, agents, PEOPLE_EPSILON)
    models = list(types.opponents)
    for index, text in enumerate(policies):
        if text == LEARNED:
            models[index] = PolicyModel(agents[index], epsilon=LEARNED_EPSILON)
    return replace(types, opponents=tuple(models))
