"""Tells how likely a round that is over was, under each type of players: all hands are known.

What a seat was asked, and in which states it may have been, is the same under every type. So it is
followed once, and each type is asked about all its decisions together.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

import numpy as np

from goita_agents.base import Bool, Float, Int
from goita_agents.beliefs.filtering import RoundStart, SeatFilter
from goita_agents.beliefs.history import Messages, Sent, check_followed, events
from goita_agents.beliefs.types import Types
from goita_agents.models import UNIFORM_MODEL, OpponentModel
from goita_env import View


@dataclass(frozen=True)
class Likelihoods:
    """What the decisions of a round say about the players, in nats.

    A decision's log-probability is that beside all that the seat did before; minus infinity where a
    type would never have played so.
    """

    likelihood: Float  #: [K, J] Log-probability of all that the others did, of pairs of types.
    opponents: Float  #: [K, D] Of each of the opponents' decisions.


def likelihoods(view: View, types: Types, hands: Int) -> Likelihoods:
    """Returns how likely a round was under each type.

    Tiles that still lie face down are summed over, as are messages that the viewer doesn't hear.
    Where messages may have been sent in several ways, there are no decisions of opponents.

    Args:
        view: the end of a round as one seat sees it: one row.
        types: how the others may have played.
        hands: [4, 8] tiles of each kind that each seat was dealt, the viewer first.
    """
    check_followed(view.information)
    sizes = len(types.opponents), len(types.partners)
    if not view.num_plays.any():  # decided before play
        return Likelihoods(np.zeros(sizes), np.zeros((sizes[0], 0)))
    possible = Messages.read(view).possible()
    models = types.opponents
    ways = [
        np.hstack([_of_seat(view, seat, hands[seat], models, sent) for seat in (1, 3)])
        for sent in possible
    ]
    partner = _of_seat(view, 2, hands[2], types.partners, possible[0])
    found: Float = np.logaddexp.reduce([way.sum(axis=1) for way in ways], axis=0)
    apart = ways[0] if len(ways) == 1 else np.zeros((sizes[0], 0))
    return Likelihoods(found[:, None] + partner.sum(axis=1), apart)


def _of_seat(
    view: View, seat: int, hand: Int, models: Sequence[OpponentModel], sent: Sent
) -> Float:
    """Returns the log-probability of a seat's decisions under each model, dealt ``hand`` [8]."""
    start = RoundStart.read(view, sent)
    one = _Recorded(start, seat, hand[None], (view.face_up[0, seat].astype(np.int64), hand))
    for event in events(view):
        one.take(event)
    return one.log_likelihood(models)


@dataclass(frozen=True)
class _Asked:
    """A decision of a seat in its states [n] at that moment, of which k go on to the next."""

    first: int  # Of the rows that models are asked, their number among all.
    free: Bool  # [m] Which of its rows are asked; in the others one action is legal.
    state: Int  # [k] The state before.
    row: Int  # [k] Of the m rows.
    played: Int  # [k]


class _Recorded(SeatFilter):
    """A filter of one hand that notes what models are to be asked, and keeps every state.

    ``UNIFORM_MODEL`` gives every legal action a chance, so no state is given up.
    """

    def __init__(self, start: RoundStart, seat: int, hands: Int, bounds: tuple[Int, Int]) -> None:
        self._views: list[View] = []
        self._legal: list[Bool] = []
        self._asked: list[_Asked] = []
        super().__init__(start, seat, hands, bounds, UNIFORM_MODEL)

    def log_likelihood(self, models: Sequence[OpponentModel]) -> Float:
        """Returns the log-probability of each of the D decisions under each model: [L, D]."""
        found = np.zeros((len(models), len(self._asked)))
        if not self._views:
            return found
        last = self._views[-1]
        words = np.concatenate([view.words for view in self._views])
        view = View(words, np.resize(last.game, len(words)), last.rules, last.information)
        legal = np.concatenate(self._legal)
        known = np.stack([model.probabilities(view, legal) for model in models])  # [L, rows, A]
        weight = np.ones((len(models), 1))
        for number, one in enumerate(self._asked):
            chance = np.ones((len(models), len(one.row)))
            asked = np.flatnonzero(one.free[one.row])
            place = one.first + one.free.cumsum()[one.row[asked]] - 1
            chance[:, asked] = known[:, place, one.played[asked]]
            weight = weight[:, one.state] * chance
            total = weight.sum(axis=1)
            with np.errstate(divide="ignore"):
                found[:, number] = np.log(total)
            weight /= np.where(total > 0, total, 1)[:, None]
        return found

    def _note(self, view: View, legal: Bool, state: Int, row: Int, played: Int) -> None:
        free = legal.sum(axis=1) > 1
        first = sum(map(len, self._views))
        self._asked.append(_Asked(first, free, state, row, played))
        if free.any():
            self._views.append(view[free])
            self._legal.append(legal[free])

    def _answer(self, view: View, answer: int) -> Float:
        only = np.zeros(1, np.int64)
        self._note(view, view.legal(), only, only, only + answer)
        return super()._answer(view, answer)

    def _likelihood(self, state: Int, played: Int) -> Float:
        rows, row = np.unique(state, return_inverse=True)
        legal = self._replay.choices().legal(rows)
        self._note(self._replay.view(self.seat)[rows], legal, state, row, played)
        return np.ones(len(state))
