"""Samples the worlds that a decision is searched in.

``PosteriorSampler`` draws from an exact posterior; ``agents.search.weighed_sampler`` holds a faster
one that is less exact.
"""

from __future__ import annotations

from collections import OrderedDict
from collections.abc import Sequence
from dataclasses import dataclass, fields
from typing import Final, Protocol, Self

import numpy as np

from agents.base import AgentError, Float, Int, Policy
from agents.beliefs.history import events
from agents.beliefs.listener import SEATS, Listener, bounds, own_tiles
from agents.beliefs.supports import support
from agents.models import EPSILONS, PolicyModel
from agents.search.playout import Keys
from goita_env import View
from goita_env.errors import SettingError
from goita_env.tiles import COUNTS, NUM_SEATS
from goita_env.worlds import Positions, Worlds, determinize

KEPT: Final = 1_024
"""Rounds that a ``PosteriorSampler`` follows at a time; the one that was asked about longest ago is
forgotten."""


@dataclass(frozen=True)
class SampledWorlds:
    """Holds the worlds of R rows, W places each."""

    worlds: Worlds  #: Those of R * W places, row after row; a row with fewer worlds repeats them.
    weight: Float  #: [R, W] Of each world, 0 in places beyond the row's worlds.
    count: Int  #: [R] Worlds of each row, in its first places.

    @classmethod
    def join(cls, rows: Sequence[Worlds], places: int | None = None) -> Self:
        """Returns the worlds of R rows side by side, with the weights that they carry.

        Args:
            rows: the worlds of each row, one at least.
            places: W, at least the most worlds of a row; None: that number.
        """
        count = np.array([len(worlds) for worlds in rows])
        places = int(count.max()) if places is None else places
        weight = np.zeros((len(rows), places))
        for number, worlds in enumerate(rows):
            weight[number, : len(worlds)] = worlds.weight
        padded = [worlds[np.resize(np.arange(len(worlds)), places)] for worlds in rows]
        return cls(join(padded), weight, count)


class Sampler(Protocol):
    """Draws the worlds of positions."""

    def sample(self, view: View, count: Int, rngs: Sequence[np.random.Generator]) -> list[Worlds]:
        """Returns at most ``count`` [R] worlds of each row, with their weights in the search."""
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
    """Draws worlds for each of R rows, by that row's seed alone.

    Args:
        view: R positions of seats that are asked.
        seeds: uint64 [R]
        count: [R] most worlds of each row.
        sampler: draws them.
        places: W, if it must not depend on the other rows; None: the most worlds of a row.
        shuffled: a row's worlds come in a random order, so the first of them are a sample by
            themselves, however few they are; allocation by elimination needs that.
    """
    rngs = [np.random.default_rng(int(seed)) for seed in seeds]
    rows = sampler.sample(view, count, rngs)
    if shuffled:
        rows = [one[rng.permutation(len(one))] for one, rng in zip(rows, rngs, strict=True)]
    return SampledWorlds.join(rows, places)


def join(parts: Sequence[Worlds]) -> Worlds:
    names = [field.name for field in fields(Worlds)]
    return Worlds(**{n: np.concatenate([getattr(part, n) for part in parts]) for n in names})


def lay_out(view: View, worlds: Worlds) -> Positions:
    """Returns the positions of worlds; an AgentError if a view is not that of the asked seat."""
    positions = determinize(view, worlds)
    wrong = np.flatnonzero(positions.seat != 0)
    if len(wrong):
        row = int(wrong[0]) * len(view) // len(worlds)
        raise AgentError(f"expected views of seats that are asked, got another in row {row}")
    return positions


class PosteriorSampler:
    """Draws equally likely worlds from the exact posterior.

    It keeps a listener for each of an agent's rounds from move to move. That saves time and changes
    nothing else: a new listener believes the same.

    Args:
        policy: how the others play.
        epsilons: of the next seat, the partner and the previous seat: see ``PolicyModel``.
    """

    def __init__(self, policy: Policy, epsilons: Sequence[float] = EPSILONS) -> None:
        models = [PolicyModel(policy, epsilon=epsilon) for epsilon in epsilons]
        self.models = dict(zip(SEATS, models, strict=True))
        self._kept: OrderedDict[int, Listener] = OrderedDict()

    def sample(self, view: View, count: Int, rngs: Sequence[np.random.Generator]) -> list[Worlds]:
        return [
            self._listener(view[row : row + 1]).deals().sample(int(count[row]), rng)
            for row, rng in enumerate(rngs)
        ]

    def _listener(self, view: View) -> Listener:
        game = int(view.game[0])
        listener = self._kept.pop(game, None)
        try:
            if listener is not None:
                listener.hear(view)
        except SettingError:  # another round under the same number
            listener = None
        if listener is None:
            listener = Listener(view, self.models)
        self._kept[game] = listener
        if len(self._kept) > KEPT:
            self._kept.popitem(last=False)
        return listener


def policy_queries(view: View) -> float:
    """Estimates how often a policy is asked when a listener begins at a view of one row.

    It is asked about every hand that is possible, at each decision so far.
    """
    unseen = np.array(COUNTS) - own_tiles(view)
    hands, shown = support(unseen).hands, view.face_up[0].astype(np.int64)
    made, total = events(view), 0.0
    for seat in range(1, NUM_SEATS):
        fewest, most = bounds(unseen, shown, seat)
        possible = hands[((hands >= fewest) & (hands <= most)).all(axis=1)]
        states = np.ones(len(possible))
        for event in made:
            if event.seat == seat:
                states *= ((possible - fewest) > 0).sum(axis=1) if event.hidden else 1
                total += states.sum()
    return total
