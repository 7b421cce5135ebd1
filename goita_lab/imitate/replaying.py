"""Replays recorded deals all at once and collects every decision with a choice."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

import numpy as np

from goita_agents.base import Bool, Int
from goita_env import actions
from goita_env.actions import NUM_ACTIONS
from goita_env.hands import parse_hands
from goita_env.records import DealRecord
from goita_env.rules import Rules
from goita_env.tiles import NUM_KINDS
from goita_env.views import Replay
from goita_env.views.observation import Words

DEFAULTS = (actions.SILENT, actions.CONTINUE, actions.CALL)
"""Answers before play that a record does not hold: those with which play begins."""


@dataclass(frozen=True)
class Replayed:
    """The decisions with a choice of some deals, in order of time."""

    deal: Int  #: [D] index of the deal.
    seat: Int  #: [D] seat that decided.
    words: Words  #: [D, 8]
    legal: Bool  #: [D, 69]
    action: Int  #: [D]
    illegal: dict[int, str]
    """By index of the deal, what is wrong with its first illegal move; it has no decisions."""


def replay(deals: Sequence[DealRecord], rules: Rules) -> Replayed:
    """Returns the recorded decisions of deals that are played under one rule set.

    Answers before play that are not recorded are no decisions.
    """
    dealt = [seat for deal in deals for seat in parse_hands(deal.hands, rules.deck)]
    hands = [np.bincount(seat, minlength=NUM_KINDS) for seat in dealt]
    table = Replay.of_deals(
        rules,
        np.reshape(hands, (len(deals), -1, NUM_KINDS)),
        np.array([deal.dealer for deal in deals]),
        np.array([deal.scores for deal in deals]),
    )
    made = [0] * len(deals)
    illegal: dict[int, str] = {}
    nothing = np.zeros(0, np.int64)
    none = np.zeros((0, NUM_ACTIONS), bool)
    parts = [(nothing, nothing, table.view(0).words[:0], none, nothing)]
    while True:
        going = [at for at, d in enumerate(table.game.tolist()) if made[d] < len(deals[d].moves)]
        table.select(np.array(going, np.int64))
        if not going:
            break
        seats, legal = table.seat, table.choices().legal(np.arange(len(table)))
        chosen, recorded = np.zeros(len(table), np.int64), np.zeros(len(table), bool)
        fine = np.ones(len(table), bool)
        for at, (deal, seat) in enumerate(zip(table.game.tolist(), seats.tolist(), strict=True)):
            move = deals[deal].moves[made[deal]]
            if (answer := _unrecorded(legal[at], seat, move)) is not None:
                chosen[at] = answer
            elif move[0] == seat and legal[at, move[1]]:
                chosen[at], recorded[at] = move[1], True
                made[deal] += 1
            else:
                fine[at] = False
                illegal[deal] = _complaint(legal[at], seat, move, made[deal])
        keep = np.flatnonzero(recorded & (legal.sum(axis=1) > 1))
        words = table.view().words if fine.all() else table.view(np.maximum(seats, 0)).words
        parts.append((table.game[keep], seats[keep], words[keep], legal[keep], chosen[keep]))
        if not fine.all():
            table.select(np.flatnonzero(fine))
        table.step(chosen[fine])
    deal = np.concatenate([part[0] for part in parts])
    sound = ~np.isin(deal, list(illegal))
    return Replayed(
        deal[sound],
        np.concatenate([part[1] for part in parts])[sound],
        np.concatenate([part[2] for part in parts])[sound],
        np.concatenate([part[3] for part in parts])[sound],
        np.concatenate([part[4] for part in parts])[sound],
        illegal,
    )


def _unrecorded(legal: Bool, seat: int, move: tuple[int, int]) -> int | None:
    """Returns the default answer to a pre-play decision that the next move does not answer."""
    asked = np.flatnonzero(legal[actions.CALL :]) + actions.CALL
    if not len(asked):
        return None
    same = (actions.CALL <= move[1] < actions.REDEAL) == (asked[0] == actions.CALL)
    if move[0] == seat and move[1] >= actions.CALL and same:
        return None
    return next(answer for answer in DEFAULTS if answer in asked)


def _complaint(legal: Bool, seat: int, move: tuple[int, int], made: int) -> str:
    got = f"got {actions.name(move[1])!r} of seat {move[0]}"
    if seat < 0:
        return f"move {made + 1}: expected no move after the end, {got}"
    known = " ".join(actions.name(action) for action in np.flatnonzero(legal).tolist())
    return f"move {made + 1}: expected one of {known} from seat {seat}, {got}"
