"""Listens to a round: what a seat may infer of the hidden hands from what the others did.

The posterior over deals is the prior times one factor for each seat, the likelihood of what it did
given its own hand; the viewer's own moves cancel, for they depend on its own hand alone. Every sum
is over all deals, so nothing is estimated.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from functools import partial
from typing import Final, Literal, Protocol

import numpy as np

from agents.base import Float, Int
from agents.beliefs.assumed import FACTS, Assumption, UnexplainedError
from agents.beliefs.deal_belief import DealBelief
from agents.beliefs.filtering import SeatFilter, Table
from agents.beliefs.hand_belief import HandBelief
from agents.beliefs.history import Answers, Deed, deeds
from agents.beliefs.summing import Three, sums
from agents.beliefs.supports import Support, support
from goita_env import Game, View
from goita_env.errors import SettingError
from goita_env.rules import Rules
from goita_env.tiles import COUNTS, NUM_KINDS, NUM_SEATS, PAWN
from goita_env.worlds.facts import check_under_way

Seat = Literal["next", "partner", "previous"]

SEATS: Final[dict[Seat, int]] = {"next": 1, "partner": 2, "previous": 3}
"""The other seats as the viewer names them: the next one and the previous are the opponents."""


class Deal(Protocol):
    """Describes a deal's record as ``follow`` reads it: one of ``records``, for instance."""

    @property
    def rules(self) -> Rules:
        """Returns the rule set."""

    def replay(self) -> Iterator[Game]:
        """Yields the game after each move."""


class Listener:
    """Follows one round through the eyes of one seat.

    Args:
        view: what the seat sees at any moment of a round: one row.
        assumed: how the others are supposed to play, by "next", "partner" and "previous"; one for
            all of them; who is left out is bound by hard facts alone.
        compiled: sum over deals with numba; None: if it is installed.

    Raises:
        SettingError: if the view is not one row, or shows a round that was decided before play, or
            a seat is none of the three.
        UnexplainedError: if what happened has probability 0 under what is assumed.
    """

    def __init__(
        self,
        view: View,
        assumed: Assumption | Mapping[Seat, Assumption],
        *,
        compiled: bool | None = None,
    ) -> None:
        self._assumed = each_seat(assumed)
        self._compiled = compiled
        self._heard: list[Deed] = []
        self._view: View | None = None
        self.hear(view)

    @property
    def assumed(self) -> tuple[str, str, str]:
        """Returns what is assumed of the relative seats 1, 2 and 3."""
        one, two, three = (assumption.name for assumption in self._assumed)
        return one, two, three

    # --------------------------------------------------------------------------------- what happens

    def hear(self, view: View) -> None:
        """Takes in what has happened since the last view.

        Args:
            view: what the seat sees now, or saw at any moment since: one row.

        Raises:
            SettingError: if it is not one row, shows a round decided before play, or no later
                moment of the same round.
            UnexplainedError: if something has probability 0 under what is assumed. What happened
                before it has been taken in.
        """
        if len(view) != 1:
            raise SettingError(f"expected a view of one row, got {len(view)} rows")
        if not view.num_plays[0]:
            check_under_way(view)
        heard = deeds(view)
        if self._view is not None:
            self._check_same_round(view, heard)
        if not self._heard:
            self._begin(view)
        self._view = view
        for deed in heard[len(self._heard) :]:
            self._take(deed)

    def _check_same_round(self, view: View, heard: list[Deed]) -> None:
        """Checks that a view shows a later moment of the round."""
        before = self._view
        assert before is not None
        known = self._heard
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
        """Starts filters with what was answered before play."""
        self._support = support(np.array(COUNTS) - own_tiles(view))
        answers, hands = Answers.read(view), self._support.hands
        own, other = view.scores[0].tolist()
        table = Table(view.rules, int(view.dealer[0]), (own, other), answers)
        shown = view.face_up[0].astype(np.int64)
        self._filters = [
            SeatFilter(table, seat, hands, bounds(self._support.unseen, shown, seat), assumption)
            for seat, assumption in enumerate(self._assumed, start=1)
        ]
        self._apart = view.rules.partners_fives_win == "held" and answers.all_asked
        if self._apart and own_tiles(view)[PAWN] == 5:
            limit = self._support.unseen.copy()
            limit[PAWN] = 4
            self._filters[1].drop(limit)
        self._shown = np.zeros((NUM_SEATS, NUM_KINDS), np.int64)
        self._summed: Three | None = None

    def _take(self, deed: Deed) -> None:
        """Takes in one play or pass."""
        if deed.seat:
            self._filters[deed.seat - 1].decide(deed)
        for one in self._filters:
            if one.seat != deed.seat:
                one.see(deed)
        self._heard.append(deed)
        self._summed = None
        if not deed.seat or not deed.action:
            return
        block, attack = divmod(deed.action - 1, NUM_KINDS)
        self._shown[deed.seat, attack] += 1
        self._shown[deed.seat, block] += not deed.hidden
        for one in self._filters:
            if one.seat != deed.seat:
                others = self._shown.sum(axis=0) - self._shown[one.seat]
                one.drop(self._support.unseen - others)

    # -------------------------------------------------------------------------------- what is known

    @property
    def seat(self) -> int:
        """Returns the seat that plays or passes next, relative to the viewer."""
        assert self._view is not None
        return (int(self._view.dealer[0]) + len(self._heard)) % NUM_SEATS

    def posterior(self, of: Seat = "partner") -> HandBelief:
        """Returns what is believed of a seat's hand.

        Raises:
            SettingError: if it is none of the three seats.
            UnexplainedError: if no deal explains what all seats did together.
        """
        number = seat_number(of) - 1
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
            self.assumed,
            partial(_facts, held, facts, self._apart, self._compiled, number),
        )

    def deals(self) -> DealBelief:
        """Returns what is believed of all three hands together, from which worlds can be drawn.

        Raises:
            UnexplainedError: if no deal explains what all seats did together.
        """
        assert self._view is not None
        marginals, (one, two, three) = self._marginals(), self._filters
        return DealBelief(
            self._support,
            self._weights(),
            marginals,
            self._total,
            self._apart,
            (one.states(), two.states(), three.states()),
            self._view,
            self.assumed,
        )

    def outlook(self, of: Seat) -> Float:
        """Returns what a seat is expected to do, by its hand, as it is about to play or pass.

        A play whose block would lie face down counts as the one with block 0. The belief after an
        action is, but for a factor, ``posterior(of).probability * outlook(of)[:, action]``.

        Args:
            of: the seat that plays or passes next.

        Returns:
            float64 [M, 69] probabilities, in the order of ``HandBelief.hands``; zeros for hands
            that are ruled out.

        Raises:
            SettingError: if it is not that seat's turn.
        """
        number = seat_number(of)
        if number != self.seat:
            raise SettingError(
                f"expected the seat whose turn it is, relative seat {self.seat}, got {of!r}"
            )
        return self._filters[number - 1].outlook()

    def log_evidence(self) -> float:
        """Returns the log-probability of all that the others did, in nats, as it was seen.

        Where a seat is bound by facts alone, its part is the probability of a deal that allows it.

        Raises:
            UnexplainedError: if no deal explains what all seats did together.
        """
        self._marginals()
        ways = self._support.ways
        whole = sums(self._support, (ways, ways, ways), False, self._compiled)[1].sum()
        return float(np.log(self._total / whole) + sum(one.scale for one in self._filters))

    def _weights(self) -> Three:
        """Returns the weights of the hands of seats 1, 2 and 3 in sums over deals: [M] each."""
        one, two, three = (f.by_hand() * self._support.ways for f in self._filters)
        return one, two, three

    def _marginals(self) -> Three:
        """Returns the probabilities of the hands of seats 1, 2 and 3: [M] each."""
        if self._summed is None:
            found = sums(self._support, self._weights(), self._apart, self._compiled)
            self._total = total = float(found[0].sum())
            if not total > 0:
                raise UnexplainedError(
                    "expected a deal that explains what all seats did, got none; "
                    f"assumed: {', '.join(self.assumed)}"
                )
            self._summed = found[0] / total, found[1] / total, found[2] / total
        return self._summed


def follow(
    record: Deal,
    seat: int,
    assumed: Assumption | Mapping[Seat, Assumption],
    *,
    compiled: bool | None = None,
) -> Iterator[tuple[Game, Listener]]:
    """Yields a record's game and what a seat has heard, always the same two, after each move.

    What the seat cannot see (who was asked before play and kept silent) changes nothing. Nothing is
    yielded for moves that decide the round before play.

    Args:
        record: a deal.
        seat: the seat at the table that listens, 0 to 3.
        assumed: as ``Listener`` takes it.
        compiled: as ``Listener`` takes it.

    Raises:
        SettingError: if the seat is none.
        RecordError: if a move is illegal.
        UnexplainedError: if something has probability 0 under what is assumed.
    """
    listener: Listener | None = None
    for game in record.replay():
        if len(game.deals) > 1 or (game.done and not game.view(seat).num_plays[0]):
            return
        view = game.view(seat)
        if listener is None:
            listener = Listener(view, assumed, compiled=compiled)
        else:
            listener.hear(view)
        yield game, listener


def each_seat(assumed: Assumption | Mapping[Seat, Assumption]) -> list[Assumption]:
    """Returns what is assumed of seats 1, 2 and 3.

    Raises:
        SettingError: if a seat is none of them.
    """
    if not isinstance(assumed, Mapping):
        return [assumed] * 3
    if unknown := sorted(map(repr, assumed.keys() - SEATS.keys())):
        raise SettingError(f"expected seats of {list(SEATS)}, got {', '.join(unknown)}")
    return [assumed.get(seat, FACTS) for seat in SEATS]


def own_tiles(view: View) -> Int:
    """Returns the tiles of each kind that the viewer of one row was dealt: int64 [8]."""
    dealt: Int = (view.hand + view.face_up[:, 0] + view.own_face_down)[0].astype(np.int64)
    return dealt


def bounds(unseen: Int, shown: Int, seat: int) -> tuple[Int, Int]:
    """Returns the fewest and the most tiles of each kind that a seat may have been dealt: [8] each.

    Args:
        unseen: [8] tiles of each kind that the viewer was not dealt.
        shown: [4, 8] tiles of each kind that each seat has shown.
        seat: the seat.
    """
    others = shown[1:].sum(axis=0) - shown[seat]
    return shown[seat], unseen - others


def seat_number(seat: Seat) -> int:
    """Returns the relative seat of a name.

    Raises:
        SettingError: if there is none.
    """
    if seat not in SEATS:
        raise SettingError(f"expected a seat of {list(SEATS)}, got {seat!r}")
    return SEATS[seat]


def _facts(held: Support, weights: Three, apart: bool, compiled: bool | None, number: int) -> Float:
    """Returns the probability of each hand of a seat if all possible deals are alike: [M]."""
    found = sums(held, weights, apart, compiled)[number]
    found /= found.sum()
    return found
