"""Follows a round and infers the hidden hands from what the others did.

The posterior over deals is the prior times one factor for each seat, the likelihood of its actions
given its own hand. The viewer's own moves cancel, since they depend on its own hand alone. Every
sum is over all deals, so nothing is estimated.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from functools import partial
from typing import Final, Literal

import numpy as np

from agents.base import Float, Int
from agents.beliefs.deal_belief import DealBelief
from agents.beliefs.filtering import RoundStart, SeatFilter
from agents.beliefs.hand_belief import HandBelief
from agents.beliefs.history import Answers, Event, events
from agents.beliefs.summing import Three, sums
from agents.beliefs.supports import Support, support
from agents.models import LEGAL_MODEL, OpponentModel, UnexplainedError
from goita_env import Game, View
from goita_env.errors import SettingError
from goita_env.records import DealRecord
from goita_env.tiles import COUNTS, NUM_KINDS, NUM_SEATS, PAWN
from goita_env.worlds.facts import check_in_play

Seat = Literal["next", "partner", "previous"]

SEATS: Final[dict[Seat, int]] = {"next": 1, "partner": 2, "previous": 3}
"""The other seats by relative number; the next one and the previous are the opponents."""


class Listener:
    """Follows one round as one seat sees it.

    Args:
        view: what the seat sees at any moment of a round: one row.
        models: how the others play, by "next", "partner" and "previous"; one for all of them. A
            seat that is left out gets ``LEGAL_MODEL``.
        compiled: sum over deals with numba; None: if it is installed.

    Raises:
        SettingError: if the view is not one row, or shows a round that was decided before play, or
            a seat is none of the three.
        UnexplainedError: if what happened has probability 0 under the models.
    """

    def __init__(
        self,
        view: View,
        models: OpponentModel | Mapping[Seat, OpponentModel],
        *,
        compiled: bool | None = None,
    ) -> None:
        self._models = _each_seat(models)
        self._compiled = compiled
        self._heard: list[Event] = []
        self._view = view
        self.hear(view)

    @property
    def models(self) -> tuple[str, str, str]:
        """Names of the models of the relative seats 1, 2 and 3."""
        one, two, three = (model.name for model in self._models)
        return one, two, three

    def hear(self, view: View) -> None:
        """Takes in what has happened since the last view, by a later view of one row.

        Raises:
            SettingError: if it is not one row, shows a round decided before play, or no later
                moment of the same round.
            UnexplainedError: if something has probability 0 under the models. What happened before
                it has been taken in.
        """
        if len(view) != 1:
            raise SettingError(f"expected a view of one row, got {len(view)} rows")
        if not view.num_plays[0]:
            check_in_play(view)
        heard = events(view)
        if view is not self._view:
            self._check_same_round(view, heard)
        if not self._heard:
            self._begin(view)
        self._view = view
        for event in heard[len(self._heard) :]:
            self._take(event)

    def _check_same_round(self, view: View, heard: list[Event]) -> None:
        before, known = self._view, self._heard
        same = (
            view.rules == before.rules
            and (own_tiles(view) == COUNTS - self._support.unseen).all()
            and view.dealer[0] == before.dealer[0]
            and (view.scores == before.scores).all()
            and heard[: len(known)] == known
        )
        if not same:
            raise SettingError(
                f"expected a view of a later moment of the same round, after {len(known)} plays "
                f"and passes, got another with {len(heard)}"
            )

    def _begin(self, view: View) -> None:
        self._support = support(np.array(COUNTS) - own_tiles(view))
        answers, hands = Answers.read(view), self._support.hands
        own, other = view.scores[0].tolist()
        table = RoundStart(view.rules, int(view.dealer[0]), (own, other), answers)
        shown = view.face_up[0].astype(np.int64)
        self._filters = [
            SeatFilter(table, seat, hands, bounds(self._support.unseen, shown, seat), model)
            for seat, model in enumerate(self._models, start=1)
        ]
        self._apart = view.rules.partners_fives_win == "held" and answers.all_asked
        if self._apart and own_tiles(view)[PAWN] == 5:
            limit = self._support.unseen.copy()
            limit[PAWN] = 4
            self._filters[1].drop(limit)
        self._shown = np.zeros((NUM_SEATS, NUM_KINDS), np.int64)
        self._summed: Three | None = None

    def _take(self, event: Event) -> None:
        if event.seat:
            self._filters[event.seat - 1].decide(event)
        for one in self._filters:
            if one.seat != event.seat:
                one.see(event)
        self._heard.append(event)
        self._summed = None
        if not event.seat or not event.action:
            return
        block, attack = divmod(event.action - 1, NUM_KINDS)
        self._shown[event.seat, attack] += 1
        self._shown[event.seat, block] += not event.hidden
        for one in self._filters:
            if one.seat != event.seat:
                others = self._shown.sum(axis=0) - self._shown[one.seat]
                one.drop(self._support.unseen - others)

    @property
    def seat(self) -> int:
        """Seat that plays or passes next, relative to the viewer."""
        return (int(self._view.dealer[0]) + len(self._heard)) % NUM_SEATS

    def posterior(self, of: Seat = "partner") -> HandBelief:
        """Returns the belief about a seat's hand.

        Raises:
            SettingError: if it is none of the three seats.
            UnexplainedError: if no deal explains what all seats did together.
        """
        number = _number(of) - 1
        marginal = self._marginals()[number]
        held = self._support
        one, two, three = (
            np.isin(np.arange(len(held)), each.hand) * held.ways for each in self._filters
        )
        facts = one, two, three
        return HandBelief(
            held.hands,
            marginal,
            held.prior,
            self.models,
            partial(_facts, held, facts, self._apart, self._compiled, number),
        )

    def deals(self) -> DealBelief:
        """Returns the belief about all three hands together, from which worlds can be drawn.

        Raises:
            UnexplainedError: if no deal explains what all seats did together.
        """
        marginals, (one, two, three) = self._marginals(), self._filters
        return DealBelief(
            self._support,
            self._weights(),
            marginals,
            self._total,
            self._apart,
            (one.states(), two.states(), three.states()),
            self._view,
            self.models,
        )

    def outlook(self, of: Seat) -> Float:
        """Returns the probabilities of the next seat's play or pass, by its hand: float64 [M, 69].

        Rows are in the order of ``HandBelief.hands``, zeros for hands that are ruled out. A play
        whose block would lie face down counts as the one with block 0. The belief after an action
        is, up to a factor, ``posterior(of).probability * outlook(of)[:, action]``.

        Raises:
            SettingError: if it is not that seat's turn.
        """
        number = _number(of)
        if number != self.seat:
            raise SettingError(
                f"expected the seat whose turn it is, relative seat {self.seat}, got {of!r}"
            )
        return self._filters[number - 1].outlook()

    def log_evidence(self) -> float:
        """Returns the log-probability of all that the viewer saw the others do, in nats.

        A seat with ``LEGAL_MODEL`` contributes the probability of a deal that allows its actions.

        Raises:
            UnexplainedError: if no deal explains what all seats did together.
        """
        self._marginals()
        ways = self._support.ways
        whole = sums(self._support, (ways, ways, ways), False, self._compiled)[1].sum()
        return float(np.log(self._total / whole) + sum(one.scale for one in self._filters))

    def _weights(self) -> Three:
        one, two, three = (f.by_hand() * self._support.ways for f in self._filters)
        return one, two, three

    def _marginals(self) -> Three:
        if self._summed is None:
            found = sums(self._support, self._weights(), self._apart, self._compiled)
            self._total = total = float(found[0].sum())
            if not total > 0:
                raise UnexplainedError(
                    "expected a deal that explains what all seats did, got none; "
                    f"models: {', '.join(self.models)}"
                )
            self._summed = found[0] / total, found[1] / total, found[2] / total
        return self._summed


def follow(
    record: DealRecord,
    seat: int,
    models: OpponentModel | Mapping[Seat, OpponentModel],
    *,
    compiled: bool | None = None,
) -> Iterator[tuple[Game, Listener]]:
    """Yields a record's game and a seat's listener, always the same two, after each move.

    What the seat, 0 to 3, cannot see (who was asked before play and kept silent) changes nothing.
    Nothing is yielded for moves that decide the round before play. ``models`` and ``compiled`` are
    those of ``Listener``.

    Raises:
        SettingError: if the seat is none.
        RecordError: if a move is illegal.
        UnexplainedError: if something has probability 0 under the models.
    """
    listener: Listener | None = None
    for game in record.replay():
        if len(game.deals) > 1 or (game.done and not game.view(seat).num_plays[0]):
            return
        view = game.view(seat)
        if listener is None:
            listener = Listener(view, models, compiled=compiled)
        else:
            listener.hear(view)
        yield game, listener


def _each_seat(models: OpponentModel | Mapping[Seat, OpponentModel]) -> list[OpponentModel]:
    if not isinstance(models, Mapping):
        return [models] * 3
    if unknown := sorted(map(repr, models.keys() - SEATS.keys())):
        raise SettingError(f"expected seats of {list(SEATS)}, got {', '.join(unknown)}")
    return [models.get(seat, LEGAL_MODEL) for seat in SEATS]


def own_tiles(view: View) -> Int:
    """Returns the tiles of each kind dealt to the viewer of one row: int64 [8]."""
    return np.asarray((view.hand + view.face_up[:, 0] + view.own_face_down)[0].astype(np.int64))


def bounds(unseen: Int, shown: Int, seat: int) -> tuple[Int, Int]:
    """Returns the fewest and the most tiles of each kind that a seat may have been dealt: [8] each.

    ``unseen``: [8] tiles that the viewer was not dealt; ``shown``: [4, 8] by each seat.
    """
    return shown[seat], unseen - (shown[1:].sum(axis=0) - shown[seat])


def _number(seat: Seat) -> int:
    if seat not in SEATS:
        raise SettingError(f"expected a seat of {list(SEATS)}, got {seat!r}")
    return SEATS[seat]


def _facts(held: Support, weights: Three, apart: bool, compiled: bool | None, number: int) -> Float:
    """Returns the probability of each hand of a seat if all possible deals are alike: [M]."""
    found = sums(held, weights, apart, compiled)[number]
    found /= found.sum()
    return found
