"""Follows a round as one seat sees it: a filter for each other seat and each model of it.

``Listener`` has one model of each seat; ``TypeListener`` weighs several. What is believed under
three models, one of each seat, is computed here for both.
"""

from __future__ import annotations

from collections.abc import Iterable, Sequence

import numpy as np

from goita_agents.base import Float, Int
from goita_agents.beliefs.deal_belief import DealBelief
from goita_agents.beliefs.filtering import RoundStart, SeatFilter
from goita_agents.beliefs.hand_belief import HandBelief
from goita_agents.beliefs.history import Event, Messages, check_followed, events, order_of
from goita_agents.beliefs.summing import sums
from goita_agents.beliefs.supports import support
from goita_agents.beliefs.unheard_messages import DealMixture
from goita_agents.models import OpponentModel, UnexplainedError
from goita_env import View
from goita_env.errors import SettingError
from goita_env.tiles import NUM_KINDS, NUM_SEATS, PARTNER, PAWN, RELATIVE_SEATS, RelativeSeat
from goita_env.worlds.constraints import check_in_play

Filters = tuple[SeatFilter, SeatFilter, SeatFilter]
"""One of each of the seats 1, 2 and 3."""

Models = tuple[Sequence[OpponentModel], Sequence[OpponentModel], Sequence[OpponentModel]]
"""Those of each of the seats 1, 2 and 3."""

Triple = tuple[int, int, int]
"""Numbers of a model of each of the seats 1, 2 and 3."""

Key = tuple[int, int, int]
"""Seat, number of its model, and number of the way in which messages may have been sent."""


class Following:
    """Filters of the relative seats 1, 2 and 3, kept up to date.

    A filter takes in what has happened when ``_branches`` is asked for it.

    Args:
        view: what the seat sees at any moment of a round: one row.
        models: how each of the others may play.
        sent: as in ``update``.
    """

    def __init__(self, view: View, models: Models, sent: int | None = None) -> None:
        check_followed(view.information)
        self._seat_models = models
        self._heard: list[Event] = []
        self._view = view
        self.update(view, sent=sent)

    @property
    def seat(self) -> int:
        """Seat that sends, plays or passes next, relative to the viewer."""
        if self._asked_message:
            return order_of(self._view)[len(self._messages.sent)]
        return (int(self._view.dealer[0]) + len(self._heard)) % NUM_SEATS

    def update(self, view: View, *, sent: int | None = None) -> None:
        """Takes in what has happened since the last view, by a later view of one row.

        Args:
            view: one row.
            sent: how many messages have been sent, which a view shows only to who is asked; None:
                all, but where the viewer is asked for its own.

        Raises:
            SettingError: if it is not one row, shows a round decided before play, or no later
                moment of the same deal.
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
        self._view = view
        if not self._heard:
            self._begin(view, Messages.read(view, sent))
        for event in heard[len(self._heard) :]:
            self._take(event)

    def _check_same_round(self, view: View, heard: list[Event]) -> None:
        before, known = self._view, self._heard
        earlier, later = answers_before_play(before), answers_before_play(view)
        # Before the first play a seat that has not answered may still answer.
        kept = (earlier == later) | ((earlier == 0) & (not known))
        same = (
            view.rules == before.rules
            and view.information == before.information
            and (unseen_at_first(view) == self._support.unseen).all()
            and view.dealer[0] == before.dealer[0]
            and (view.scores == before.scores).all()
            and heard[: len(known)] == known
            and bool(kept.all())
        )
        if not same:
            raise SettingError(
                f"expected a view of a later moment of the same deal, after {len(known)} plays "
                f"and passes, got another with {len(heard)}: after a redeal, and for each round, "
                "make a new listener"
            )

    def _begin(self, view: View, messages: Messages) -> None:
        self._support = support(unseen_at_first(view), view.rules.hand_size)
        self._messages = messages
        self._asked_message = messages.bits > 0 and len(messages.sent) < NUM_SEATS
        self._starts = [RoundStart.read(view, sent) for sent in messages.possible()]
        """One for each way in which messages that the viewer doesn't hear may have been sent."""
        all_asked = self._starts[0].answers.all_asked
        self._apart = view.rules.partners_fives_win == "held" and all_asked
        self._shown = np.zeros((NUM_SEATS, NUM_KINDS), np.int64)
        self._filters: dict[Key, SeatFilter] = {}
        """Those that have been needed so far."""
        self._refusals: dict[Key, UnexplainedError] = {}
        """Why models cannot explain what happened; their filters are not followed any more."""

    def _take(self, event: Event) -> None:
        """Takes in an event, which the filters will take in later."""
        self._heard.append(event)
        if event.seat and event.action:
            block, attack = divmod(event.action - 1, NUM_KINDS)
            self._shown[event.seat, attack] += 1
            self._shown[event.seat, block] += not event.hidden

    def _filter(self, seat: int, model: OpponentModel, start: RoundStart) -> SeatFilter:
        """Returns a filter of a seat at the beginning of the round.

        It leaves out the hands that don't fit to what the view shows.
        """
        unseen, shown = self._support.unseen, self._view.face_up[0].astype(np.int64)
        limits = bounds(unseen, shown, seat)
        found = SeatFilter(start, seat, self._support.hands, limits, model)
        if seat == PARTNER and self._apart and own_tiles(self._view)[PAWN] == 5:
            limit = unseen.copy()
            limit[PAWN] = 4
            found.drop(limit)
        return found

    def _branches(self, numbers: Triple) -> list[Filters]:
        """Returns filters of three models for each way in which messages may have been sent.

        They have taken in all that happened. Ways that the models cannot explain are left out.

        ``numbers``: of the models of the seats 1, 2 and 3.
        """
        branches = []
        for keys in self._possible_ways(numbers):
            one, two, three = map(self._brought_up, keys)
            if one and two and three:
                branches.append((one, two, three))
        return branches

    def _possible_ways(self, numbers: Triple) -> list[tuple[Key, Key, Key]]:
        """Returns the keys of each way in which no model has refused what happened."""
        one, two, three = numbers
        # The partner observes what the viewer does, so its filter is the same in all ways.
        ways = [((1, one, way), (2, two, 0), (3, three, way)) for way in range(len(self._starts))]
        return [keys for keys in ways if self._refusals.keys().isdisjoint(keys)]

    def _last_refusal(self) -> UnexplainedError:
        return next(reversed(self._refusals.values()))

    def _brought_up(self, key: Key) -> SeatFilter | None:
        """Returns a filter that has taken in all that happened; None if its model refuses it."""
        seat, number, way = key
        if key in self._refusals:
            return None
        try:
            if key not in self._filters:
                model = self._seat_models[seat - 1][number]
                self._filters[key] = self._filter(seat, model, self._starts[way])
            seat_filter = self._filters[key]
            if events := self._heard[seat_filter.events :]:
                self._narrow(seat_filter)
            for event in events:
                seat_filter.take(event)
        except UnexplainedError as error:
            self._refusals[key] = error
            return None
        return seat_filter

    def _narrow(self, seat_filter: SeatFilter) -> None:
        """Gives up a seat's hands that don't fit to what the others have shown."""
        others = self._shown.sum(axis=0) - self._shown[seat_filter.seat]
        seat_filter.drop(self._support.unseen - others)

    def _deals(self, filters: Filters) -> DealBelief:
        """Returns the belief by one filter of each seat."""
        held, (one, two, three) = self._support, filters
        weights = one.by_hand() * held.ways, two.by_hand() * held.ways, three.by_hand() * held.ways
        found = sums(held, weights, self._apart)
        total, names = float(found[0].sum()), (one.model.name, two.model.name, three.model.name)
        if not total > 0:
            raise UnexplainedError(
                "expected a deal that explains what all seats did, got none; "
                f"models: {', '.join(names)}"
            )
        marginals = found[0] / total, found[1] / total, found[2] / total
        states = one.states(), two.states(), three.states()
        return DealBelief(held, weights, marginals, total, self._apart, states, self._view, names)

    def _log_evidence(self, filters: Filters, belief: DealBelief) -> float:
        """Returns the log-probability, in nats, of what the viewer saw the others do."""
        explained = np.log(belief.total / self._support.whole_ways())
        return float(explained + sum(one.scale for one in filters))

    def _mixture(
        self, branches: Iterable[Filters]
    ) -> tuple[DealBelief | DealMixture, float, list[Filters]]:
        """Returns the belief over all that may have been sent, its log-evidence, and what it mixes.

        Args:
            branches: one filter of each seat, for each way in which messages may have been sent.
        """
        beliefs, evidence, kept, refused = [], [], [], None
        for filters in branches:
            try:
                beliefs.append(self._deals(filters))
            except UnexplainedError as error:
                refused = error
            else:
                kept.append(filters)
                evidence.append(self._log_evidence(filters, beliefs[-1]))
        if not beliefs:
            raise refused or self._last_refusal()
        if len(beliefs) == 1:
            return beliefs[0], evidence[0], kept
        total = float(np.logaddexp.reduce(evidence))
        return DealMixture(np.exp(np.array(evidence) - total), tuple(beliefs)), total, kept

    def _hand_belief(
        self,
        number: int,
        marginal: Float,
        branches: Sequence[Filters],
        models: tuple[str, str, str],
    ) -> HandBelief:
        held = self._support
        one, two, three = (
            np.isin(np.arange(len(held)), np.concatenate([each.hand for each in filters]))
            * held.ways
            for filters in zip(*branches, strict=True)
        )

        def facts() -> Float:
            found = sums(held, (one, two, three), self._apart)[number - 1]
            found /= found.sum()
            return found

        return HandBelief(held.hands, marginal, held.prior, models, facts)


def own_tiles(view: View) -> Int:
    """Returns the tiles of each kind dealt to the viewer of one row: int64 [8]."""
    dealt: Int = (view.hand + view.face_up[:, 0] + view.own_face_down)[0].astype(np.int64)
    return dealt


def unseen_at_first(view: View) -> Int:
    """Returns the tiles of each kind not dealt to the viewer of one row: int64 [8]."""
    return np.asarray(np.array(view.rules.deck) - own_tiles(view))


def answers_before_play(view: View) -> Int:
    """Returns each seat's message, call and choice in a view of one row, 0 where none: [3, 4]."""
    return np.concatenate((view.messages, view.called > 0, view.choices)).astype(np.int64)


def bounds(unseen: Int, shown: Int, seat: int) -> tuple[Int, Int]:
    """Returns the fewest and the most tiles of each kind that a seat may have been dealt: [8] each.

    ``unseen``: [8] tiles that the viewer was not dealt; ``shown``: [4, 8] by each seat.
    """
    return shown[seat], unseen - (shown[1:].sum(axis=0) - shown[seat])


def number_of(seat: RelativeSeat) -> int:
    """Returns the relative number of a seat; a SettingError if it is none of the three."""
    if seat not in RELATIVE_SEATS:
        raise SettingError(f"expected a seat of {list(RELATIVE_SEATS)}, got {seat!r}")
    return RELATIVE_SEATS[seat]
