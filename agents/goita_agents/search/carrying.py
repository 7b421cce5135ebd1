"""Carries what a search has inferred of the other players from round to round of a match."""

from __future__ import annotations

from collections import OrderedDict
from dataclasses import dataclass
from typing import Any, Final

import numpy as np

from goita_agents.base import AgentError, Float, Int, Results
from goita_agents.beliefs.hindsight import log_likelihood
from goita_agents.beliefs.types import Types
from goita_agents.search.rollout import RolloutAgent
from goita_agents.search.sampling import PosteriorSampler
from goita_env import View

LEAKAGE: Final = 0.05
"""Share of the first prior in that of the next round: players may change, and no type is exact."""

KEPT: Final = 16_384
"""Matches that are remembered; the one that was heard of longest ago is forgotten."""


def carried(types: Types, prior: Float, likelihood: Float) -> Float:
    """Returns the prior of the round after one that is over: [K, J].

    Args:
        types: how the others may play.
        prior: [K, J] of the round that is over.
        likelihood: [K, J] of that round, as ``log_likelihood`` tells it.
    """
    first = types.prior()
    score = np.log(prior) + likelihood
    if score.max() == -np.inf:  # nobody in the set plays so
        return first
    found = np.exp(score - score.max())
    mixed: Float = (1 - LEAKAGE) * found / found.sum() + LEAKAGE * first
    return mixed


@dataclass
class Match:
    """What is carried of one seat's match."""

    seat: int
    scores: tuple[int, int]  # Points of its team and of the other.
    prior: Float | None = None  # [K, J] Of the present round; None: the first of its match.
    ended: tuple[View, Int] | None = None
    """The end of the round as the seat sees it, and the hands [4, 8] by relative seat."""


class CarryingRolloutAgent(RolloutAgent):
    """A ``RolloutAgent`` with types that knows the players better after each round.

    All hands are known when a round ends. So the exact likelihood of every decision of the round
    turns the prior into a posterior, and the next round begins with it, mixed with a ``LEAKAGE`` of
    the first prior. It is carried by ``view.game``, and only to a round whose scores are those that
    the last one left. A round that was not announced by ``begin`` begins with the first prior.

    Args:
        args: of ``RolloutAgent``, as ``options``.
    """

    def __init__(self, *args: Any, **options: Any) -> None:
        super().__init__(*args, **options)
        if not isinstance(self._sampler, PosteriorSampler):
            raise AgentError("expected belief=on to carry what is inferred, got belief=off")
        self.sampler, self.types = self._sampler, self._sampler.types
        self.sampler.types_of = self.types_of
        self._matches: OrderedDict[int, Match] = OrderedDict()

    def begin(self, games: Int, seats: Int, view: View) -> None:
        """Takes note of new deals."""
        for row, (game, seat) in enumerate(zip(games.tolist(), seats.tolist(), strict=True)):
            own, other = view.scores[row].tolist()
            match = self._matches.pop(game, None)
            begins = own == other == 0  # the first round of a match
            if match is None or (match.seat, match.scores) != (seat, (own, other)):
                match = Match(seat, (own, other))
            elif match.ended is not None:
                match.prior = None if begins else self._next_prior(match)
                match.ended = None
            self._matches[game] = match
            if len(self._matches) > KEPT:
                self._matches.popitem(last=False)

    def end(self, games: Int, results: Results, hands: Int) -> None:
        """Takes note of rounds that were scored."""
        for row, game in enumerate(games.tolist()):
            match = self._matches.get(game)
            if match is None:
                continue
            own, other = results.view.scores[row].tolist()
            points, wins = int(results.points[row]), (results.winner[row] - match.seat) % 2 == 0
            match.scores = (own + points, other) if wins else (own, other + points)
            match.ended = results.view[row : row + 1], np.roll(hands[row], -match.seat, axis=0)

    def types_of(self, game: int) -> tuple[Types, Float | None]:
        """Returns the types that a game's present round is searched with, and their prior."""
        return self.types, self.prior_of(game)

    def prior_of(self, game: int) -> Float | None:
        """Returns the prior [K, J] of a game's present round, None in the first of a match."""
        match = self._matches.get(game)
        return None if match is None else match.prior

    def _next_prior(self, match: Match) -> Float | None:
        """Returns the prior of the round after one that has ended: [K, J]."""
        if match.ended is None:
            return None
        likelihood = log_likelihood(match.ended[0], self.types, match.ended[1])
        prior = self.types.prior() if match.prior is None else match.prior
        return carried(self.types, prior, likelihood)
