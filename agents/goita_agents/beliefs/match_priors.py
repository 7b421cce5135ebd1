"""Carries what a seat believes about the players of a match from round to round."""

from __future__ import annotations

from collections.abc import Sequence
from contextlib import suppress
from typing import Final

import numpy as np

from goita_agents.base import Float, Int
from goita_agents.beliefs.hindsight import log_likelihood
from goita_agents.beliefs.types import Types
from goita_env import View
from goita_env.errors import RecordError
from goita_env.records import DealRecord
from goita_env.tiles import NUM_SEATS

LEAKAGE: Final = 0.05
"""Share of the first prior in that of the next round: players may change, and no type is exact."""


class MatchPriors:
    """What one seat believes about the other players of a match when a round begins.

    All hands are known when a round ends. So the exact likelihood of every decision of the round
    turns the prior into a posterior, and the next round begins with it, mixed with a ``LEAKAGE`` of
    the first prior.

    Args:
        types: how the others may play.

    Attributes:
        prior: float64 [K, J] probabilities of the pairs of types when the next round begins.
    """

    def __init__(self, types: Types) -> None:
        self._types = types
        self.prior = types.prior()

    def ended(self, view: View, hands: Int) -> None:
        """Takes in a round that is over.

        Args:
            view: the end of the round as the seat sees it: one row.
            hands: [4, 8] tiles of each kind that each seat was dealt, the viewer first.
        """
        likelihood = log_likelihood(view, self._types, hands)
        self.prior = next_prior(self._types, self.prior, likelihood)


class RecordedPriors:
    """What each of the four seats of a recorded match believes when a round begins.

    The rounds that the last call was about are not evaluated again where the next one continues
    them.

    Args:
        types: how the others may play.
    """

    def __init__(self, types: Types) -> None:
        self._types = types
        self._begin()

    def _begin(self) -> None:
        self._rounds: tuple[DealRecord, ...] = ()
        self._seats = [MatchPriors(self._types) for _ in range(NUM_SEATS)]

    def after(self, rounds: Sequence[DealRecord]) -> Float:
        """Returns each seat's prior after the first rounds of a match: float64 [4, K, J]."""
        if self._rounds != tuple(rounds[: len(self._rounds)]):
            self._begin()
        for deal in rounds[len(self._rounds) :]:
            self._take(deal)
        self._rounds = tuple(rounds)
        return np.array([priors.prior for priors in self._seats])

    def _take(self, deal: DealRecord) -> None:
        """Takes in a round; a record that breaks off, or ends in a redeal, reveals nothing."""
        game = None
        with suppress(RecordError):
            *_, game = [None, *deal.replay()]
        if game is None or not game.done:
            return
        for seat, priors in enumerate(self._seats):
            hands = np.roll(game.dealt, -seat, axis=0).astype(np.int64)
            priors.ended(game.view(seat), hands)


def next_prior(types: Types, prior: Float, likelihood: Float) -> Float:
    """Returns the prior of the round after one that is over: float64 [K, J].

    Args:
        types: how the others may play.
        prior: [K, J] of the round that is over.
        likelihood: [K, J] log-probabilities of that round (``log_likelihood``).
    """
    first = types.prior()
    score = np.log(prior) + likelihood
    if score.max() == -np.inf:  # no pair of types explains the round
        return first
    posterior = np.exp(score - score.max())
    mixed: Float = (1 - LEAKAGE) * posterior / posterior.sum() + LEAKAGE * first
    return mixed
