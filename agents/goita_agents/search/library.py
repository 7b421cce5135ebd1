"""A search that infers which players of a library it plays with.

Within a match all hands are shown when a round ends. So every decision of every seat has an exact
likelihood under each player of the library, and the next round is searched with the players that
explain the opponents and the partner best.
"""

from __future__ import annotations

from collections import OrderedDict
from collections.abc import Callable, Sequence
from dataclasses import dataclass
from functools import cached_property
from typing import Any, Final

import numpy as np

from goita_agents.base import Agent, Bool, Float, Int, Policy, Results
from goita_agents.beliefs.match_priors import MatchPriors
from goita_agents.beliefs.types import BROAD_PRIOR, Types
from goita_agents.models import TYPE_EPSILONS, PolicyModel
from goita_agents.search.action_values import SearchOptions
from goita_agents.search.playout import Keys
from goita_agents.search.rollout import RolloutAgent, players_of
from goita_agents.search.sampling import PosteriorSampler
from goita_env import View

SEARCHED_TYPES: Final = 3
"""Most types that a round is searched with, of the opponents and of the partner; the broad type of
the opponents is added to them."""
SEARCHED_SHARE: Final = 0.05
"""Types below this share of the likeliest type's probability are not searched with."""
LIBRARY_SHARE: Final = 0.5
"""Prior probability of all players of the library together."""
REMEMBERED_MATCHES: Final = 16_384
"""Beyond this number of matches, the match whose last round began longest ago is forgotten."""

TypeIndices = tuple[tuple[int, ...], tuple[int, ...]]
"""Indices of types of the opponents and of the partner."""


@dataclass
class Match:
    """What is remembered of one seat's match."""

    seat: int
    scores: tuple[int, int]  # Points of its team and of the opponents when the next round begins.
    priors: MatchPriors | None = None  # None: the first round of the match.
    ended: tuple[View, Int] | None = None
    """The end of the last round as the seat sees it, and the tiles dealt to each seat, [4, 8];
    taken in when another round of the match begins."""


class LibraryRolloutAgent(RolloutAgent):
    """A ``RolloutAgent`` that knows the players of a match better after each round.

    Its beliefs about them are carried from round to round (``MatchPriors``), by ``view.game``, and
    only if the scores of a round continue those of the round before. A round that was not announced
    by ``begin`` is searched as the first of a match, with the first types. From the second round on
    players of a library are possible, too, and only the few likeliest types are searched with.

    Args:
        base: of ``RolloutAgent``, as ``options``.
        types: the first types, all policies, the last of the opponents a broad one. From the second
            round on the partner may also play like the opponents' first types.
        library: returns the policies that opponents and partner may play in addition to the first
            types; called when the second round of a match begins.
        epsilon: of the library's policies where opponents play them.
    """

    def __init__(
        self,
        base: Policy,
        options: SearchOptions,
        types: Types,
        library: Callable[[], Sequence[Agent]],
        epsilon: float = TYPE_EPSILONS[0],
    ) -> None:
        super().__init__(base, options, belief=True, types=types)
        self._sampler = PosteriorSampler(types, self.types_of)
        self._first_types, self._library, self._epsilon = types, library, epsilon
        self._matches: OrderedDict[int, Match] = OrderedDict()

    @cached_property
    def types(self) -> Types:
        """The first types, and the players of the library, which is built when first needed."""
        opponents, partners = (
            [model.agent for model in models if isinstance(model, PolicyModel)]
            for models in (self._first_types.opponents[:-1], self._first_types.partners)
        )
        players = [agent for agent in self._library() if agent not in opponents]
        mates = [agent for agent in (*opponents, *players) if agent not in partners]
        return with_library(self._first_types, players, mates, self._epsilon)

    def begin(self, games: Int, seats: Int, view: View) -> None:
        """Takes note of new deals."""
        for row, (game, seat) in enumerate(zip(games.tolist(), seats.tolist(), strict=True)):
            own_score, opponent_score = view.scores[row].tolist()
            scores = own_score, opponent_score
            match = self._matches.pop(game, None)
            if match is None or (match.seat, match.scores) != (seat, scores):
                match = Match(seat, scores)
            elif match.ended is not None:  # otherwise the tiles of the round were dealt again
                match.priors = match.priors or MatchPriors(self.types)
                match.priors.ended(seat, *match.ended)
                match.ended = None
            self._matches[game] = match
            if len(self._matches) > REMEMBERED_MATCHES:
                self._matches.popitem(last=False)

    def end(self, games: Int, results: Results, hands: Int) -> None:
        """Takes note of rounds that were scored."""
        for row, game in enumerate(games.tolist()):
            match = self._matches.get(game)
            if match is None:
                continue
            own, opponents = results.view.scores[row].tolist()
            points, wins = int(results.points[row]), (results.winner[row] - match.seat) % 2 == 0
            match.scores = (own + points, opponents) if wins else (own, opponents + points)
            match.ended = results.view[row : row + 1], hands[row].copy()

    def prior_of(self, game: int) -> Float | None:
        """Returns the prior [K, J] of a game's present round, None in the first of a match."""
        match = self._matches.get(game)
        return match.priors.of_seat[match.seat] if match and match.priors else None

    def types_of(self, game: int) -> tuple[Types, Float | None]:
        """Returns the types that a game's present round is searched with, and their prior."""
        prior = self.prior_of(game)
        if prior is None:
            return self._first_types, None
        opponents, partners = self._likeliest(prior)
        types = Types(
            opponents=tuple(self.types.opponents[index] for index in opponents),
            partners=tuple(self.types.partners[index] for index in partners),
        )
        share = prior[np.ix_(opponents, partners)]
        return types, share / share.sum()

    def _likeliest(self, prior: Float) -> TypeIndices:
        """Returns the likeliest types of the opponents and the broad one, and of the partner."""
        broad = len(prior) - 1
        opponents = likeliest(prior[:broad].sum(axis=1))
        return (*opponents, broad), likeliest(prior.sum(axis=0))

    def _search(self, view: View, legal: Bool, seeds: Keys) -> Int:
        """Searches rows with the same types together."""
        groups: dict[TypeIndices | None, list[int]] = {}
        for row, game in enumerate(view.game.tolist()):
            prior = self.prior_of(game)
            groups.setdefault(None if prior is None else self._likeliest(prior), []).append(row)
        chosen = np.empty(len(view), np.int64)
        for rows in map(np.array, groups.values()):
            types, _ = self.types_of(int(view.game[rows[0]]))
            players = players_of(self._base, types)
            chosen[rows] = self._search_with(players, view[rows], legal[rows], seeds[rows])
        return chosen


def likeliest(share: Float) -> tuple[int, ...]:
    """Returns the indices of the likeliest types, ascending."""
    best = np.argsort(-share, kind="stable")[:SEARCHED_TYPES].tolist()
    least = SEARCHED_SHARE * share[best[0]]
    return tuple(sorted(index for index in best if share[index] >= least))


def with_library(
    first: Types, opponents: Sequence[Agent], partners: Sequence[Agent], epsilon: float
) -> Types:
    """Returns types with players of a library added, which share ``LIBRARY_SHARE`` equally.

    The first types share the remainder equally, whatever their prior was, because a whole round is
    enough to distinguish them.
    """
    *narrow, broad = first.opponents
    first_share = 1 - LIBRARY_SHARE
    opponent_models = [PolicyModel(agent, epsilon=epsilon) for agent in opponents]
    partner_models = [PolicyModel(agent, epsilon=TYPE_EPSILONS[1]) for agent in partners]
    return Types(
        opponents=(*narrow, *opponent_models, broad),
        partners=(*first.partners, *partner_models),
        opponent_prior=(
            *_shared(first_share * (1 - BROAD_PRIOR), narrow),
            *_shared(LIBRARY_SHARE, opponents),
            first_share * BROAD_PRIOR,
        ),
        partner_prior=(*_shared(first_share, first.partners), *_shared(LIBRARY_SHARE, partners)),
    )


def _shared(probability: float, types: Sequence[Any]) -> list[float]:
    """Returns the prior of each of some types that share a probability equally."""
    return [probability / len(types) for _ in types]
