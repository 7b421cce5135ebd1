"""Carries the beliefs of seats about the players of a match from round to round."""

from __future__ import annotations

from collections.abc import Sequence
from contextlib import suppress
from typing import Final

import numpy as np

from goita_agents.base import Float, Int
from goita_agents.beliefs.hindsight import likelihoods
from goita_agents.beliefs.types import Types
from goita_env import View
from goita_env.errors import RecordError
from goita_env.records import DealRecord
from goita_env.tiles import NUM_SEATS

LEAKAGE: Final = 0.05
"""Share of the first prior in the prior of the next round: players may change, and no type is
exact."""


class MatchPriors:
    """The beliefs of each seat of a match about the other players when a round begins.

    All hands are known when a round ends. So the exact likelihood of every decision of the round
    turns the prior into a posterior, and the next round begins with it, mixed with a ``LEAKAGE`` of
    the first prior.

    Args:
        types: how the others may play.

    Attributes:
        of_seat: each seat's probabilities of the pairs of types, float64 [K, J].
    """

    def __init__(self, types: Types) -> None:
        self._types = types
        self._begin()

    def _begin(self) -> None:
        self._rounds: tuple[DealRecord, ...] = ()
        self.of_seat = [self._types.prior()] * NUM_SEATS

    def ended(self, seat: int, view: View, dealt: Int) -> None:
        """Takes in a round that is over as a seat sees it, in a view of one row.

        ``dealt``: [4, 8] tiles of each kind that each seat was dealt, seat 0 first.
        """
        hands = np.roll(dealt, -seat, axis=0)
        likelihood = likelihoods(view, self._types, hands).likelihood
        self.of_seat[seat] = next_prior(self._types, self.of_seat[seat], likelihood)

    def after(self, rounds: Sequence[DealRecord]) -> Float:
        """Returns ``of_seat`` [4, K, J] after the first rounds of a match, as recorded.

        Where they continue the rounds of the last call, only the later ones are taken in. A redeal
        and a record that breaks off reveal nothing.
        """
        if self._rounds != tuple(rounds[: len(self._rounds)]):
            self._begin()
        for deal in rounds[len(self._rounds) :]:
            game = None
            with suppress(RecordError):
                *_, game = [None, *deal.replay()]  # the game after the last move; None: no move
            if game is not None and game.done:
                for seat in range(NUM_SEATS):
                    self.ended(seat, game.view(seat), game.dealt.astype(np.int64))
        self._rounds = tuple(rounds)
        return np.array(self.of_seat)


def next_prior(types: Types, prior: Float, likelihood: Float) -> Float:
    """Returns the prior of the round after one that is over: float64 [K, J].

    ``prior`` [K, J] is that of the finished round, ``likelihood`` [K, J] its log-probability.
    """
    first = types.prior()
    score = np.log(prior) + likelihood
    if score.max() == -np.inf:  # no pair of types explains the round
        return first
    posterior = np.exp(score - score.max())
    mixed: Float = (1 - LEAKAGE) * posterior / posterior.sum() + LEAKAGE * first
    return mixed
