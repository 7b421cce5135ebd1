"""Follows a round and infers the hidden hands from the actions of the others.

The posterior over deals is the prior times one factor for each seat, the likelihood of its actions
given its own hand. The viewer's own moves cancel, since they depend only on its own hand. Every
sum is over all deals, so nothing is estimated. Messages that the viewer does not observe are summed
over: given all messages, the seats' factors are independent again.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from dataclasses import replace
from typing import Final

import numpy as np

from goita_agents.base import Float
from goita_agents.beliefs.deal_belief import DealBelief
from goita_agents.beliefs.following import Filters, Following, seat_number
from goita_agents.beliefs.hand_belief import HandBelief
from goita_agents.beliefs.history import Event, Messages
from goita_agents.beliefs.unheard_messages import DealMixture
from goita_agents.models import LEGAL_MODEL, UNIFORM_MODEL, OpponentModel
from goita_env import Game, View
from goita_env.actions import MESSAGE
from goita_env.errors import SettingError
from goita_env.records import DealRecord
from goita_env.tiles import RELATIVE_SEATS, RelativeSeat

ONLY_MODELS: Final = (0, 0, 0)
"""Index of each seat's model: there is only one."""


class Listener(Following):
    """A listener that follows one round as one seat sees it.

    Args:
        view: the seat's view at any moment of a round: one row.
        models: how the others play, by "next", "partner" and "previous"; one for all of them. A
            seat that is left out gets ``LEGAL_MODEL``. Where the viewer does not observe a message,
            the legal model treats all messages as equally likely.
        sent: number of messages sent so far; see ``update``.

    Raises:
        SettingError: if the view is not one row, or shows a round that was decided before play, or
            a seat is not one of the three; if tiles of others are shown, or messages are private
            and have three bits.
        UnexplainedError: if what happened has probability 0 under the models.
    """

    def __init__(
        self,
        view: View,
        models: OpponentModel | Mapping[RelativeSeat, OpponentModel],
        *,
        sent: int | None = None,
    ) -> None:
        self._models = _each_seat(models)
        next_models, partner_models, previous_models = ([model] for model in self._models)
        super().__init__(view, (next_models, partner_models, previous_models), sent)

    @property
    def models(self) -> tuple[str, str, str]:
        """Names of the models of the relative seats 1, 2 and 3."""
        next_name, partner_name, previous_name = (model.name for model in self._models)
        return next_name, partner_name, previous_name

    def _begin(self, view: View, messages: Messages) -> None:
        """As ``Following._begin``; an UnexplainedError if no way to send explains the answers."""
        super()._begin(view, messages)
        opponents = self._models[0], self._models[2]
        if len(self._starts) > 1 and all(m in (LEGAL_MODEL, UNIFORM_MODEL) for m in opponents):
            # These models send all messages equally likely, and ignore those that they observe. So
            # one way, without the unobserved messages, stands for the sum over all ways.
            self._starts = [replace(self._starts[0], messages=messages.observed())]
        if not self._branches(ONLY_MODELS):
            raise self._last_refusal()
        unheard = messages.unheard if len(self._starts) > 1 else ()
        num_legal = sum(self._models[seat - 1] is LEGAL_MODEL for seat in unheard)
        self._message_excess = num_legal * messages.bits * np.log(2)
        """Nats by which the evidence of ``LEGAL_MODEL`` is too high: it gives each message that may
        have been sent the likelihood 1."""
        self._mixed: tuple[DealBelief | DealMixture, float, list[Filters]] | None = None

    def _take(self, event: Event) -> None:
        """Takes in an event at once; if the acting seat's model refuses it, nothing is taken in."""
        before = self._shown.copy(), self._refusals.copy()
        ways = self._possible_ways(ONLY_MODELS)
        super()._take(event)
        if event.seat and not any(self._updated_filter(keys[event.seat - 1]) for keys in ways):
            refusal = self._last_refusal()
            self._events.pop()
            self._shown, self._refusals = before
            raise refusal
        self._mixed = None
        if not self._branches(ONLY_MODELS):
            raise self._last_refusal()

    def posterior(self, relative_seat: RelativeSeat = "partner") -> HandBelief:
        """Returns the belief about a seat's hand.

        Raises:
            SettingError: if it is not one of the three seats.
            UnexplainedError: if no deal explains the actions of all seats.
        """
        seat = seat_number(relative_seat)
        belief, _, branches = self._current_mixture()
        return self._hand_belief(seat, belief.marginals[seat - 1], branches, self.models)

    def deals(self) -> DealBelief | DealMixture:
        """Returns the belief about all three hands together, from which worlds can be drawn.

        It is a mixture where messages were sent that the viewer does not observe.

        Raises:
            UnexplainedError: if no deal explains the actions of all seats.
        """
        return self._current_mixture()[0]

    def _current_mixture(self) -> tuple[DealBelief | DealMixture, float, list[Filters]]:
        if self._mixed is None:
            self._mixed = self._mixture(self._branches(ONLY_MODELS))
        return self._mixed

    def action_probabilities(self, relative_seat: RelativeSeat) -> Float:
        """Returns the probabilities of the acting seat's actions, by its hand: float64 [M, 69].

        The action is a play or a pass. Where a message is sent next, it is a message: [M, 77].
        Rows are in the order of ``HandBelief.hands``, zeros for hands that are ruled out. Plays
        with the same attack whose block would lie face down are added up, as the play with block 0.
        The belief after an action is, up to a factor,
        ``posterior(seat).probability * action_probabilities(seat)[:, action]``.

        Raises:
            SettingError: if it is not that seat's turn.
        """
        seat = seat_number(relative_seat)
        if seat != self.seat:
            raise SettingError(
                f"expected the seat whose turn it is, relative seat {self.seat}, got "
                f"{relative_seat!r}"
            )
        belief, _, branches = self._current_mixture()
        chances = [
            branch[seat - 1].messages()
            if self._sends_message
            else branch[seat - 1].action_probabilities()
            for branch in branches
        ]
        if not isinstance(belief, DealMixture):
            return chances[0]
        # [ways, M] The probability of a hand and a way to send; then of the way, given the hand.
        weight = np.array([chance * part.marginals[seat - 1] for chance, part in belief.parts()])
        total = weight.sum(axis=0)
        np.divide(weight, total, out=weight, where=total > 0)
        return np.asarray((weight[:, :, None] * chances).sum(axis=0))

    def log_evidence(self) -> float:
        """Returns the log-probability of all that the viewer saw the others do, in nats.

        A seat with ``LEGAL_MODEL`` contributes the probability of a deal that allows its actions.

        Raises:
            UnexplainedError: if no deal explains the actions of all seats.
        """
        return self._current_mixture()[1] - float(self._message_excess)


def follow(
    record: DealRecord, seat: int, models: OpponentModel | Mapping[RelativeSeat, OpponentModel]
) -> Iterator[tuple[Game, Listener]]:
    """Yields a record's game and a seat's listener after each move; both are updated in place.

    Moves that the seat, 0 to 3, cannot see (keeping silent before play) change nothing. Nothing is
    yielded for moves that decide the round before play. ``models`` are those of ``Listener``.

    Raises:
        SettingError: if there is no such seat.
        RecordError: if a move is illegal.
        UnexplainedError: if something has probability 0 under the models.
    """
    listener: Listener | None = None
    for game in record.replay():
        if len(game.deals) > 1 or (game.done and not game.view(seat).num_plays[0]):
            return
        view, sent = game.view(seat), sum(action >= MESSAGE for _, action in game.moves)
        if listener is None:
            listener = Listener(view, models, sent=sent)
        else:
            listener.update(view, sent=sent)
        yield game, listener


def _each_seat(models: OpponentModel | Mapping[RelativeSeat, OpponentModel]) -> list[OpponentModel]:
    """Returns the models of the relative seats 1, 2 and 3."""
    if not isinstance(models, Mapping):
        return [models] * 3
    if unknown := sorted(map(repr, models.keys() - RELATIVE_SEATS.keys())):
        raise SettingError(f"expected seats of {list(RELATIVE_SEATS)}, got {', '.join(unknown)}")
    return [models.get(seat, LEGAL_MODEL) for seat in RELATIVE_SEATS]
