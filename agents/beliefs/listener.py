"""Follows a round and infers the hidden hands from what the others did.

The posterior over deals is the prior times one factor for each seat, the likelihood of its actions
given its own hand. The viewer's own moves cancel, since they depend on its own hand alone. Every
sum is over all deals, so nothing is estimated.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping

from agents.base import Float
from agents.beliefs.deal_belief import DealBelief
from agents.beliefs.following import SEATS, Following, Seat, number_of
from agents.beliefs.hand_belief import HandBelief
from agents.beliefs.history import Event
from agents.models import LEGAL_MODEL, OpponentModel
from goita_env import Game, View
from goita_env.errors import SettingError
from goita_env.records import DealRecord


class Listener(Following):
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
        super().__init__(view, compiled)

    @property
    def models(self) -> tuple[str, str, str]:
        """Names of the models of the relative seats 1, 2 and 3."""
        one, two, three = (model.name for model in self._models)
        return one, two, three

    def _begin_filters(self) -> None:
        one, two, three = (self._filter(n, model) for n, model in enumerate(self._models, start=1))
        self._filters = one, two, three
        self._belief: DealBelief | None = None

    def _take(self, event: Event) -> None:
        # The seat that acted may refuse; then nothing has been taken in.
        for one in sorted(self._filters, key=lambda one: one.seat != event.seat):
            one.take(event)
        super()._take(event)
        self._belief = None
        if event.seat and event.action:
            for one in self._filters:
                self._narrow(one)

    def posterior(self, of: Seat = "partner") -> HandBelief:
        """Returns the belief about a seat's hand.

        Raises:
            SettingError: if it is none of the three seats.
            UnexplainedError: if no deal explains what all seats did together.
        """
        number = number_of(of)
        marginal = self.deals().marginals[number - 1]
        return self._hand_belief(number, marginal, self._filters, self.models)

    def deals(self) -> DealBelief:
        """Returns the belief about all three hands together, from which worlds can be drawn.

        Raises:
            UnexplainedError: if no deal explains what all seats did together.
        """
        if self._belief is None:
            self._belief = self._deals(self._filters)
        return self._belief

    def outlook(self, of: Seat) -> Float:
        """Returns the probabilities of the next seat's play or pass, by its hand: float64 [M, 69].

        Rows are in the order of ``HandBelief.hands``, zeros for hands that are ruled out. A play
        whose block would lie face down counts as the one with block 0. The belief after an action
        is, up to a factor, ``posterior(of).probability * outlook(of)[:, action]``.

        Raises:
            SettingError: if it is not that seat's turn.
        """
        number = number_of(of)
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
        return self._log_evidence(self._filters, self.deals())


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
