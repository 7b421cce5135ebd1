"""Samples the worlds that a decision is searched in.

``PosteriorSampler`` draws from an exact posterior; ``goita_agents.search.weighed_sampler`` holds a
faster one that is less exact.
"""

from __future__ import annotations

from collections import OrderedDict
from collections.abc import Callable, Sequence
from dataclasses import dataclass
from typing import Final, Protocol, Self

import numpy as np

from goita_agents.base import AgentError, Float, Int, Policy
from goita_agents.beliefs.following import bounds, unseen_at_first
from goita_agents.beliefs.history import events
from goita_agents.beliefs.supports import support
from goita_agents.beliefs.types import TypeListener, Types
from goita_agents.models import TYPE_EPSILONS, PolicyModel, SharedAnswers
from goita_agents.search.playout import Keys
from goita_env import View
from goita_env.errors import SettingError
from goita_env.tiles import NUM_SEATS, PARTNER
from goita_env.worlds import Positions, Worlds, determinize

MAX_KEPT_LISTENERS: Final = 1_024
"""Most rounds that a ``PosteriorSampler`` follows at a time; beyond, it forgets the round whose
listener was needed longest ago."""


@dataclass(frozen=True)
class TypedWorlds:
    """N worlds of one row, and the type of players in each."""

    worlds: Worlds  #: With their weights in the search.
    players: Int
    """[n] Index of the pair of types that plays in each, as by ``TypeListener.sample``."""

    @classmethod
    def alike(cls, worlds: Worlds) -> Self:
        """Returns worlds of one type of players."""
        return cls(worlds, np.zeros(len(worlds), np.int64))

    def __len__(self) -> int:
        return len(self.players)

    def __getitem__(self, index: Int) -> Self:
        return type(self)(self.worlds[index], self.players[index])


@dataclass(frozen=True)
class SampledWorlds:
    """The worlds of R rows, W places each."""

    worlds: Worlds  #: [R * W] Row after row; a row with fewer worlds repeats them.
    weight: Float  #: [R, W] Of each world, 0 in places beyond the row's worlds.
    count: Int  #: [R] Worlds of each row, in its first places.
    players: Int  #: [R, W] Index of the pair of types that plays in each: see ``TypedWorlds``.

    @classmethod
    def join(cls, rows: Sequence[TypedWorlds], places: int | None = None) -> Self:
        """Returns the worlds of R rows side by side, with the weights that they carry.

        Args:
            rows: the worlds of each row, at least one.
            places: W, at least the most worlds of a row, which is also the default.
        """
        count = np.array([len(worlds) for worlds in rows])
        places = int(count.max()) if places is None else places
        weight = np.zeros((len(rows), places))
        for index, row in enumerate(rows):
            weight[index, : len(row)] = row.worlds.weight
        # ``resize`` repeats the indices of a row's worlds until they fill its places.
        padded = [row[np.resize(np.arange(len(row)), places)] for row in rows]
        worlds = Worlds.join([row.worlds for row in padded])
        players = np.array([row.players for row in padded])
        return cls(worlds=worlds, weight=weight, count=count, players=players)


class Sampler(Protocol):
    """A sampler that draws the worlds of positions."""

    def sample(
        self, view: View, count: Int, rngs: Sequence[np.random.Generator]
    ) -> list[TypedWorlds]:
        """Returns at most ``count`` [R] worlds of each row."""
        ...


def sample_worlds(
    view: View,
    seeds: Keys,
    count: Int,
    sampler: Sampler,
    *,
    places: int | None = None,
    shuffled: bool = True,
) -> SampledWorlds:
    """Draws worlds for each of R rows; the worlds of a row depend only on the row and its seed.

    Args:
        view: R positions of acting seats.
        seeds: uint64 [R]
        count: [R] most worlds of each row.
        sampler: draws them.
        places: W, if it must not depend on the other rows; None: the most worlds of a row.
        shuffled: a row's worlds come in a random order, so that its first worlds are a sample of
            all, however few they are; allocation by elimination needs that.
    """
    rngs = [np.random.default_rng(int(seed)) for seed in seeds]
    rows = sampler.sample(view, count, rngs)
    if shuffled:
        rows = [row[rng.permutation(len(row))] for row, rng in zip(rows, rngs, strict=True)]
    return SampledWorlds.join(rows, places)


def lay_out(view: View, worlds: Worlds) -> Positions:
    """Returns the positions of worlds, row after row.

    Messages that the viewer doesn't observe are silence in the positions, which is right only where
    the opponents send none.

    Raises:
        AgentError: if a view is not that of the acting seat, or tiles of others are shown.
    """
    if view.information.shown is not None:
        raise AgentError(f"expected views without shown tiles, got {view.information}")
    positions = determinize(view, worlds)
    wrong = np.flatnonzero(positions.seat != 0)
    if len(wrong):
        row = int(wrong[0]) * len(view) // len(worlds)
        raise AgentError(f"expected views of acting seats, got another in row {row}")
    return positions


class PosteriorSampler:
    """A sampler of equally likely worlds from the exact posterior over types and deals.

    It keeps a listener for each round from move to move; no other part of search does. That saves
    time and changes nothing else: a new listener has the same beliefs.

    Args:
        types: how the others may play; a policy: all play like it (``like_itself``).
        types_of: returns the types of a round, and their probabilities [K, J] at its beginning or
            None for the prior of the types, by the number of the round. Without it all rounds have
            ``types``.
    """

    def __init__(
        self,
        types: Types | Policy,
        types_of: Callable[[int], tuple[Types, Float | None]] | None = None,
    ) -> None:
        self.types = types if isinstance(types, Types) else like_itself(types)
        self._types_of = types_of
        self._kept: OrderedDict[int, TypeListener] = OrderedDict()

    def sample(
        self, view: View, count: Int, rngs: Sequence[np.random.Generator]
    ) -> list[TypedWorlds]:
        return [
            TypedWorlds(*self.listener(view[row : row + 1], game).sample(int(count[row]), rng))
            for row, (game, rng) in enumerate(zip(view.game.tolist(), rngs, strict=True))
        ]

    def listener(self, view: View, key: int) -> TypeListener:
        """Returns the listener of a round, which has taken in a view of one row.

        ``key``: number of the round, under which its listener is kept; of a seat in the game, if
        several seats of the game are followed.
        """
        listener = self._kept.pop(key, None)
        try:
            if listener is not None:
                listener.update(view)
        except SettingError:  # another round under the same number
            listener = None
        if listener is None:
            types, prior = self._types_of(key) if self._types_of else (self.types, None)
            listener = TypeListener(view, types, prior)
        self._kept[key] = listener
        if len(self._kept) > MAX_KEPT_LISTENERS:
            self._kept.popitem(last=False)
        return listener

    def queries(self, view: View) -> float:
        """Estimates the queries to models when a listener begins at a view of one row.

        Each policy is queried about every possible hand, at each decision of its seat so far.
        """
        unseen, face_up = unseen_at_first(view), view.face_up[0].astype(np.int64)
        hands = support(unseen, view.rules.hand_size).hands
        past, total = events(view), 0.0
        opponents, partners = (
            len(SharedAnswers(models)) for models in (self.types.opponents, self.types.partners)
        )
        for seat in range(1, NUM_SEATS):
            least_tiles, most_tiles = bounds(unseen, face_up, seat)
            possible = hands[((hands >= least_tiles) & (hands <= most_tiles)).all(axis=1)]
            # States of each hand: a hidden block multiplies them by the kinds that may lie there.
            states = np.ones(len(possible))
            policies = partners if seat == PARTNER else opponents
            for event in past:
                if event.seat == seat:
                    states *= ((possible - least_tiles) > 0).sum(axis=1) if event.hidden else 1
                    total += states.sum() * policies
        return total


def like_itself(policy: Policy) -> Types:
    """Returns the types of a policy that assumes that all others play like itself."""
    opponent, partner = (PolicyModel(policy, epsilon=epsilon) for epsilon in TYPE_EPSILONS[:2])
    return Types((opponent,), (partner,))
