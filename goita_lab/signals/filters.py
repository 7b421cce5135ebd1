"""Selects decisions by what is public about them: the option ``where=`` of measures."""

from __future__ import annotations

from collections.abc import Callable
from typing import Final

import numpy as np

from goita_agents.base import Bool, Int
from goita_env import View
from goita_env.actions import MESSAGE, PASS
from goita_env.errors import SettingError
from goita_env.tiles import NUM_SEATS, PARTNER
from goita_env.views import NONE
from goita_lab.signals.playing import Play

Where = str | Callable[[Play], Bool]
"""A name of ``FILTERS``, or a function that returns whether each decision is selected: [D]."""

CONTEXTS: Final = ("first lead", "lead", "partner's attack", "opponent's attack", "question")
"""What a decision answers. A lead answers nothing; questions are decisions before play."""


def context(view: View) -> Int:
    """Returns the index of each decision's context in ``CONTEXTS``: [N]."""
    first, lead = view.attack == NONE, view.leads
    question = view.asked_message | view.asked_call | view.asked_choice | (first & ~lead)
    partner = view.attacker == PARTNER
    # The first condition that is true decides; an opponent's attack fulfils none.
    question_at, opponent_at = CONTEXTS.index("question"), CONTEXTS.index("opponent's attack")
    return np.select([question, first, lead, partner], [question_at, 0, 1, 2], opponent_at)


def select(play: Play, where: Where | None) -> Bool:
    """Returns whether a filter selects each decision of a play: bool [D]; None selects all."""
    if where is None:
        return np.ones(len(play.deal), bool)
    if isinstance(where, str) and where not in FILTERS:
        raise SettingError(f"expected a filter of {list(FILTERS)}, got {where!r}")
    selected = np.asarray((FILTERS[where] if isinstance(where, str) else where)(play))
    if selected.dtype != np.bool_ or selected.shape != play.deal.shape:
        raise SettingError(
            f"expected a filter that returns bool {list(play.deal.shape)}, got {selected.dtype} "
            f"{list(selected.shape)}"
        )
    return selected


def _in_context(name: str) -> Callable[[Play], Bool]:
    index = CONTEXTS.index(name)
    return lambda play: context(play.view()) == index


def _first_pass(play: Play) -> Bool:
    rows = np.flatnonzero(play.action == PASS)
    # Rows are in the order of play, so the first index of a seat in a deal is its first pass.
    _, first = np.unique(NUM_SEATS * play.deal[rows] + play.seat[rows], return_index=True)
    selected = np.zeros(len(play.deal), bool)
    selected[rows[first]] = True
    return selected


FILTERS: Final[dict[str, Callable[[Play], Bool]]] = {
    "first_lead": _in_context("first lead"),
    "later_lead": _in_context("lead"),
    "first_pass": _first_pass,
    "partner_attack": _in_context("partner's attack"),
    "opponent_attack": _in_context("opponent's attack"),
    "message": lambda play: play.action >= MESSAGE,
}
"""By name: the first lead of a deal; later leads; the first pass of each seat in a deal, forced or
not; answers to an attack of the partner, and of an opponent, by a play or a pass; messages."""
