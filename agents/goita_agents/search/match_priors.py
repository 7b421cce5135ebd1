"""Tells what each seat knew of the other players when a round began: earlier rounds of a match."""

from __future__ import annotations

from collections.abc import Sequence
from contextlib import suppress
from itertools import takewhile

import numpy as np

from goita_agents.base import Float
from goita_agents.beliefs.hindsight import log_likelihood
from goita_agents.beliefs.types import Types
from goita_agents.search.carrying import carried
from goita_env.errors import RecordError
from goita_env.records import DealRecord
from goita_env.tiles import NUM_SEATS


class MatchPriors:
    """The probability of the types at the beginning of rounds, for all four seats.

    Rounds that are over are taken into account as ``CarryingRolloutAgent`` does. Those of the match
    that was asked for last are kept: the next round looks at one more.
    """

    def __init__(self, types: Types) -> None:
        self._types = types
        self._match: list[DealRecord] = []
        self._known = [np.array([types.prior()] * NUM_SEATS)]
        """At the beginning of the match, and after each of its rounds."""

    def after(self, earlier: Sequence[DealRecord]) -> Float:
        """Returns the probabilities of the pairs of types after some rounds: float64 [4, K, J]."""
        pairs = zip(self._match, earlier, strict=False)
        same = sum(1 for _ in takewhile(lambda pair: pair[0] == pair[1], pairs))
        del self._match[same:], self._known[same + 1 :]
        for deal in earlier[same:]:
            self._match.append(deal)
            self._known.append(self._carried(self._known[-1], deal))
        return self._known[-1]

    def _carried(self, priors: Float, deal: DealRecord) -> Float:
        """Returns the priors of the round after ``deal``; a redeal tells nothing."""
        game = None
        with suppress(RecordError):
            *_, game = [None, *deal.replay()]
        if game is None or not game.done:
            return priors
        views = [game.view(seat) for seat in range(NUM_SEATS)]
        hands = [np.roll(game.dealt, -seat, axis=0).astype(np.int64) for seat in range(NUM_SEATS)]
        found = [
            carried(self._types, prior, log_likelihood(view, self._types, hand))
            for prior, view, hand in zip(priors, views, hands, strict=True)
        ]
        return np.array(found)
