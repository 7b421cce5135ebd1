"""Follows a round as one seat sees it: a filter for each other seat and each model of it.

``Listener`` has one model of each seat; ``TypeListener`` weighs several. The belief under three
models, one of each seat, is computed here for both.
"""

from __future__ import annotations

from collections.abc import Iterable, Sequence

import numpy as np

from goita_agents.base import Float, Int
from goita_agents.beliefs.deal_belief import DealBelief
from goita_agents.beliefs.filtering import RoundStart, SeatFilter
from goita_agents.beliefs.hand_belief import HandBelief
from goita_agents.beliefs.history import Event, Messages, check_followed, events, order_of
from goita_agents.beliefs.summing import sum_by_hand
from goita_agents.beliefs.supports import support
from goita_agents.beliefs.unheard_messages import DealMixture
from goita_agents.models import OpponentModel, UnexplainedError
from goita_env import View
from goita_env.actions import PASS
from goita_env.errors import SettingError
from goita_env.tiles import NUM_KINDS, NUM_SEATS, PARTNER, PAWN, RELATIVE_SEATS, RelativeSeat
from goita_env.worlds.constraints import check_in_play

Filters = tuple[SeatFilter, SeatFilter, SeatFilter]
"""A filter of each of the seats 1, 2 and 3."""

Models = tuple[Sequence[OpponentModel], Sequence[OpponentModel], Sequence[OpponentModel]]
"""The models of each of the seats 1, 2 and 3."""

Triple = tuple[int, int, int]
"""The index of a model of each of the seats 1, 2 and 3."""

Key = tuple[int, int, int]
"""Seat, index of its model, and index of the way in which messages may have been sent."""


class Following:
    """Filters of the relative seats 1, 2 and 3, kept up to date.

    A filter takes in what has happened only when ``_branches`` needs it.

    Args:
        view: the seat's view at any moment of a round: one row.
        models: how each of the others may play.
        sent: as in ``update``.
    """

    def __init__(self, view: View, models: Models, sent: int | None = None) -> None:
        check_followed(view.information)
        self._seat_models = models
        self._events: list[Event] = []
        self._view = view
        self.update(view, sent=sent)

    @property
    def seat(self) -> int:
        """Seat that sends, plays or passes next, relative to the viewer."""
        if self._sends_message:
            return order_of(self._view)[len(self._messages.sent)]
        return (int(self._view.dealer[0]) + len(self._events)) % NUM_SEATS

    def update(self, view: View, *, sent: int | None = None) -> None:
        """Takes in what has happened since the last view, by a later view of one row.

        Args:
            view: one row.
            sent: number of messages sent so far, which matters only before all four are sent. A
                view reveals it only to the seat that sends next. None: all four are sent or, where
                the viewer sends next, all before its own.

        Raises:
            SettingError: if the view has not one row, shows a round decided before play, or shows
                no later moment of the same deal.
            UnexplainedError: by a ``Listener``, if something has probability 0 under the models.
                What happened before it has been taken in. (A ``TypeListener`` takes in everything,
                and raises the error where it returns beliefs.)
        """
        if len(view) != 1:
            raise SettingError(f"expected a view of one row, got {len(view)} rows")
        if not view.num_plays[0]:
            check_in_play(view)
        events_now = events(view)
        if view is not self._view:
            self._check_same_round(view, events_now)
        self._view = view
        # Messages, calls and choices are not events. So before the first play the filters begin
        # anew with those that this view shows.
        if not self._events:
            self._begin(view, Messages.read(view, sent))
        for event in events_now[len(self._events) :]:
            self._take(event)

    def _check_same_round(self, view: View, events_now: list[Event]) -> None:
        """Raises a SettingError unless a view is of a later moment of the same deal."""
        before, events_before = self._view, self._events
        earlier, later = answers_before_play(before), answers_before_play(view)
        # Before the first play a seat that has not answered may still answer.
        is_consistent = (earlier == later) | ((earlier == 0) & (not events_before))
        is_same = (
            view.rules == before.rules
            and view.information == before.information
            and (unseen_at_first(view) == self._support.unseen).all()
            and view.dealer[0] == before.dealer[0]
            and (view.scores == before.scores).all()
            and events_now[: len(events_before)] == events_before
            and bool(is_consistent.all())
        )
        if not is_same:
            raise SettingError(
                "expected a view of a later moment of the same deal, after "
                f"{len(events_before)} plays and passes, got another with {len(events_now)}: after "
                "a redeal, and for each round, make a new listener"
            )

    def _begin(self, view: View, messages: Messages) -> None:
        """Forgets all filters, and begins before the first play with these messages."""
        self._support = support(unseen_at_first(view), view.rules.hand_size)
        self._messages = messages
        self._sends_message = messages.bits > 0 and len(messages.sent) < NUM_SEATS
        self._starts = [RoundStart.read(view, sent) for sent in messages.possible()]
        """One for each way in which the messages that it does not observe may have been sent."""
        # Where two partners with five pawns each end the round, seats 1 and 3 don't both hold five.
        all_acted = self._starts[0].answers.all_acted
        self._apart = view.rules.partners_fives_win == "held" and all_acted
        self._shown = np.zeros((NUM_SEATS, NUM_KINDS), np.int64)
        self._filters: dict[Key, SeatFilter] = {}
        """The filters that have been needed so far."""
        self._refusals: dict[Key, UnexplainedError] = {}
        """Why models cannot explain what happened; their filters are not updated any more."""

    def _take(self, event: Event) -> None:
        """Takes in an event, which the filters will take in later."""
        self._events.append(event)
        if event.seat and event.action != PASS:  # seat 0 is the viewer
            block, attack = divmod(event.action - 1, NUM_KINDS)
            self._shown[event.seat, attack] += 1
            if not event.hidden:
                self._shown[event.seat, block] += 1

    def _new_filter(self, seat: int, model: OpponentModel, start: RoundStart) -> SeatFilter:
        """Returns a filter of a seat at the beginning of the round.

        It leaves out the hands that contradict what the view shows.
        """
        unseen, face_up = self._support.unseen, self._view.face_up[0].astype(np.int64)
        limits = bounds(unseen, face_up, seat)
        seat_filter = SeatFilter(start, seat, self._support.hands, limits, model)
        if seat == PARTNER and self._apart and own_tiles(self._view)[PAWN] == 5:
            limit = unseen.copy()
            limit[PAWN] = 4
            seat_filter.drop(limit)
        return seat_filter

    def _branches(self, models: Triple) -> list[Filters]:
        """Returns filters of three models for each way in which messages may have been sent.

        The filters have taken in all that happened. Ways that the models cannot explain are left
        out.
        """
        branches = []
        for keys in self._possible_ways(models):
            next_filter, partner_filter, previous_filter = map(self._updated_filter, keys)
            if next_filter and partner_filter and previous_filter:
                branches.append((next_filter, partner_filter, previous_filter))
        return branches

    def _possible_ways(self, models: Triple) -> list[tuple[Key, Key, Key]]:
        """Returns the keys of each way in which no model has refused what happened."""
        next_model, partner_model, previous_model = models
        # The partner observes what the viewer observes, so its filter is the same in all ways.
        ways = [
            ((1, next_model, way), (2, partner_model, 0), (3, previous_model, way))
            for way in range(len(self._starts))
        ]
        return [keys for keys in ways if self._refusals.keys().isdisjoint(keys)]

    def _last_refusal(self) -> UnexplainedError:
        return next(reversed(self._refusals.values()))

    def _updated_filter(self, key: Key) -> SeatFilter | None:
        """Returns a filter that has taken in all that happened; None if its model refuses it."""
        seat, index, way = key
        if key in self._refusals:
            return None
        try:
            if key not in self._filters:
                model = self._seat_models[seat - 1][index]
                self._filters[key] = self._new_filter(seat, model, self._starts[way])
            seat_filter = self._filters[key]
            if new_events := self._events[seat_filter.events :]:
                self._narrow(seat_filter)
            for event in new_events:
                seat_filter.take(event)
        except UnexplainedError as error:
            self._refusals[key] = error
            return None
        return seat_filter

    def _narrow(self, seat_filter: SeatFilter) -> None:
        """Gives up a seat's hands that contradict what the others have shown."""
        shown_by_others = self._shown.sum(axis=0) - self._shown[seat_filter.seat]
        seat_filter.drop(self._support.unseen - shown_by_others)

    def _deal_belief(self, filters: Filters) -> DealBelief:
        """Returns the belief by one filter of each seat."""
        support, (next_filter, partner_filter, previous_filter) = self._support, filters
        weights = (
            next_filter.by_hand() * support.ways,
            partner_filter.by_hand() * support.ways,
            previous_filter.by_hand() * support.ways,
        )
        hand_sums = sum_by_hand(support, weights, self._apart)
        # Each of the three arrays holds all deals, added up by a seat's hand: any gives the total.
        total = float(hand_sums[0].sum())
        names = next_filter.model.name, partner_filter.model.name, previous_filter.model.name
        if not total > 0:
            raise UnexplainedError(
                "expected a deal that explains the actions of all seats, got none; "
                f"models: {', '.join(names)}"
            )
        marginals = hand_sums[0] / total, hand_sums[1] / total, hand_sums[2] / total
        states = next_filter.states(), partner_filter.states(), previous_filter.states()
        return DealBelief(
            support=support,
            weights=weights,
            marginals=marginals,
            total=total,
            apart=self._apart,
            states=states,
            view=self._view,
            models=names,
        )

    def _log_evidence(self, filters: Filters, belief: DealBelief) -> float:
        """Returns the log-probability, in nats, of the others' actions as the viewer saw them."""
        explained = np.log(belief.total / self._support.whole_ways())
        return float(explained + sum(seat_filter.scale for seat_filter in filters))

    def _mixture(
        self, branches: Iterable[Filters]
    ) -> tuple[DealBelief | DealMixture, float, list[Filters]]:
        """Returns the belief over all ways to send, its log-evidence, and the filters it mixes.

        Args:
            branches: one filter of each seat, for each way in which messages may have been sent.
        """
        beliefs, evidence, explaining, refusal = [], [], [], None
        for filters in branches:
            try:
                beliefs.append(self._deal_belief(filters))
            except UnexplainedError as error:
                refusal = error
            else:
                explaining.append(filters)
                evidence.append(self._log_evidence(filters, beliefs[-1]))
        if not beliefs:
            raise refusal or self._last_refusal()
        if len(beliefs) == 1:
            return beliefs[0], evidence[0], explaining
        total = float(np.logaddexp.reduce(evidence))
        return DealMixture(np.exp(np.array(evidence) - total), tuple(beliefs)), total, explaining

    def _hand_belief(
        self,
        seat: int,
        marginal: Float,
        branches: Sequence[Filters],
        models: tuple[str, str, str],
    ) -> HandBelief:
        """Returns the belief about a seat's hand.

        Args:
            seat: 1 to 3.
            marginal: [M] the probabilities of its hands.
            branches: the filters that were mixed.
            models: names of the models of the three seats.
        """
        support = self._support
        # For the facts, a hand that has a state in some branch counts by the ways to deal it, and
        # every other hand not at all.
        next_ways, partner_ways, previous_ways = (
            np.isin(np.arange(len(support)), np.concatenate([branch.hand for branch in of_seat]))
            * support.ways
            for of_seat in zip(*branches, strict=True)
        )

        def facts() -> Float:
            by_seat = sum_by_hand(support, (next_ways, partner_ways, previous_ways), self._apart)
            probability = by_seat[seat - 1]
            probability /= probability.sum()
            return probability

        return HandBelief(
            hands=support.hands,
            probability=marginal,
            prior=support.prior,
            models=models,
            find_facts=facts,
        )


def own_tiles(view: View) -> Int:
    """Returns the tiles of each kind dealt to the viewer of one row: int64 [8]."""
    dealt: Int = (view.hand + view.face_up[:, 0] + view.own_face_down)[0].astype(np.int64)
    return dealt


def unseen_at_first(view: View) -> Int:
    """Returns the tiles of each kind not dealt to the viewer of one row: int64 [8]."""
    return np.asarray(np.array(view.rules.deck) - own_tiles(view))


def answers_before_play(view: View) -> Int:
    """Returns each seat's message, call and choice in a view of one row, 0 for none: [3, 4]."""
    return np.concatenate((view.messages, view.called > 0, view.choices)).astype(np.int64)


def bounds(unseen: Int, face_up: Int, seat: int) -> tuple[Int, Int]:
    """Returns the fewest and the most tiles of each kind that a seat may have been dealt: [8] each.

    ``unseen``: [8] tiles that the viewer was not dealt; ``face_up``: [4, 8] tiles of each seat.
    """
    return face_up[seat], unseen - (face_up[1:].sum(axis=0) - face_up[seat])


def seat_number(seat: RelativeSeat) -> int:
    """Returns the relative number of a seat; a SettingError if it is not one of the three."""
    if seat not in RELATIVE_SEATS:
        raise SettingError(f"expected a seat of {list(RELATIVE_SEATS)}, got {seat!r}")
    return RELATIVE_SEATS[seat]
