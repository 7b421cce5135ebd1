"""A search that weighs whom it plays with: it knows a library of players.

Within a match all hands are shown when a round ends. So every decision of every seat has an exact
likelihood under each player of the library, and the next round is searched with those that explain
the opponents and the partner best.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from typing import Any, Final

import numpy as np

from goita_agents.base import Agent, Bool, Float, Int
from goita_agents.beliefs.types import BROAD_PRIOR, Types
from goita_agents.models import EPSILONS, PolicyModel
from goita_agents.search.carrying import CarryingRolloutAgent, Match
from goita_agents.search.playout import Keys
from goita_agents.search.rollout import players_of
from goita_env import View

SEARCHED: Final = 3
"""Types that a round is searched with, of the opponents and of the partner; the broad one comes on
top."""
LEAST: Final = 0.05
"""Types of a smaller share of the likeliest one's probability are not searched with."""
SHARE: Final = 0.5
"""Prior probability of all players of the library together."""

Numbers = tuple[tuple[int, ...], tuple[int, ...]]
"""Of types of the opponents and of the partner."""


class LibraryRolloutAgent(CarryingRolloutAgent):
    """A ``CarryingRolloutAgent`` whose types are a few of many, chosen anew for each round.

    The first round of a match is searched as without a library.

    Args:
        library: returns the policies that opponents and partner may play beside the first types;
            asked when the first round has ended.
        first: the policies of the first types, of the opponents without the broad one, and of the
            partner. The partner may also play like those of the opponents, from the second round
            on.
        epsilon: of the opponents' policies.
        args: of ``CarryingRolloutAgent``; ``types`` are the first types, the last of the opponents
            a broad one.
    """

    def __init__(
        self,
        *args: Any,
        library: Callable[[], Sequence[Agent]],
        first: tuple[Sequence[Agent], Sequence[Agent]],
        epsilon: float = EPSILONS[0],
        **options: Any,
    ) -> None:
        super().__init__(*args, **options)
        self._first, self._library, self._epsilon = self.types, library, epsilon
        self._players = first

    def _next_prior(self, match: Match) -> Float | None:
        self._know()
        return super()._next_prior(match)

    def _know(self) -> None:
        """Builds the library, once."""
        if self.types is self._first:
            opponents, partners = self._players
            known = [one for one in self._library() if one not in opponents]
            mates = [one for one in (*opponents, *known) if one not in partners]
            self.types = with_library(self._first, known, mates, self._epsilon)

    def types_of(self, game: int) -> tuple[Types, Float | None]:
        prior = self.prior_of(game)
        return (self._first, None) if prior is None else self._few(prior)[:2]

    def _few(self, prior: Float) -> tuple[Types, Float, Numbers]:
        """Returns the types that a round with a prior is searched with, their prior, and numbers.

        They are the likeliest of the opponents and the broad one, and the likeliest partners.
        """
        broad = len(self.types.opponents) - 1
        opponents = (*likeliest(prior[:broad].sum(axis=1)), broad)
        partners = likeliest(prior.sum(axis=0))
        few = Types(
            tuple(self.types.opponents[one] for one in opponents),
            tuple(self.types.partners[one] for one in partners),
        )
        found = prior[np.ix_(opponents, partners)]
        return few, found / found.sum(), (opponents, partners)

    def _search(self, view: View, legal: Bool, seeds: Keys) -> Int:
        """Searches rows with the same types together."""
        groups: dict[Numbers | None, list[int]] = {}
        for row, game in enumerate(view.game.tolist()):
            prior = self.prior_of(game)
            groups.setdefault(None if prior is None else self._few(prior)[2], []).append(row)
        chosen = np.empty(len(view), np.int64)
        for rows in map(np.array, groups.values()):
            players = players_of(self._base, self.types_of(int(view.game[rows[0]]))[0])
            chosen[rows] = self._searched_among(players, view[rows], legal[rows], seeds[rows])
        return chosen


def likeliest(share: Float) -> tuple[int, ...]:
    """Returns the numbers of the likeliest types, ascending."""
    best = np.argsort(-share, kind="stable")[:SEARCHED]
    return tuple(sorted(one for one in best.tolist() if share[one] >= LEAST * share[best[0]]))


def with_library(
    first: Types, opponents: Sequence[Agent], partners: Sequence[Agent], epsilon: float
) -> Types:
    """Returns types with players of a library beside them, all together with ``SHARE``.

    The first types are alike among themselves: a whole round tells them apart.
    """
    *known, broad = first.opponents
    rest = 1 - SHARE
    return Types(
        (*known, *(PolicyModel(agent, epsilon=epsilon) for agent in opponents), broad),
        (*first.partners, *(PolicyModel(agent, epsilon=EPSILONS[1]) for agent in partners)),
        (
            *_shared(rest * (1 - BROAD_PRIOR), known),
            *_shared(SHARE, opponents),
            rest * BROAD_PRIOR,
        ),
        (*_shared(rest, first.partners), *_shared(SHARE, partners)),
    )


def _shared(chance: float, among: Sequence[Any]) -> list[float]:
    """Returns the prior of each of those who have one together."""
    return [chance / len(among) for _ in among]
