"""Holds what a search tries: the legal actions of positions, side by side in the same worlds.

A row is a position, a pair a row with one of its actions. Whoever is still in a race has been
played in the same worlds as its rivals (common random numbers), so it is differences that are
compared, and their standard errors that say how sure they are.
"""

from __future__ import annotations

from abc import ABC, abstractmethod
from collections.abc import Callable
from typing import Final

import numpy as np

from agents.base import Bool, Float, Int

_HAIR: Final = 1e-9
"""Lead in points with which the favourite starts: it comes first among equals."""

Play = Callable[[Int, Int], Float]
"""Returns the points [m] of pairs [m] in worlds [m], which are counted within their rows."""


class Race(ABC):
    """Holds R rows' pairs, P in all, and their points in at most W worlds a row.

    Args:
        legal: bool [R, 69] the actions that start.
        favourite: [R] an action of each row that is never dropped, and that is played among equals.
        weight: [R, W] of the worlds; a row's worlds stand first, the rest is 0.
        worlds: [R] how many each row has, at least 1.
        alike: [R, W] the first world of the row that is the same as each, which alone is played;
            None: each world is its own.

    Attributes:
        row: int64 [P] row of each pair, ascending.
        action: int64 [P] its action, ascending within the row.
        points: float64 [P, W] what it gained in each world; 0 where it wasn't played.
        racing: bool [P] it has not been dropped.
    """

    def __init__(
        self, legal: Bool, favourite: Int, weight: Float, worlds: Int, alike: Int | None = None
    ) -> None:
        self.row, self.action = np.nonzero(legal)
        self.points = np.zeros((len(self.row), weight.shape[1]))
        self.racing = np.ones(len(self.row), bool)
        self._weight, self._worlds = weight, worlds
        each = np.broadcast_to(np.arange(weight.shape[1]), weight.shape)
        self._alike = each if alike is None else alike
        self._favourite = np.flatnonzero(self.action == favourite[self.row])
        self._first = np.searchsorted(self.row, np.arange(len(worlds)))

    @abstractmethod
    def run(self, play: Play, caution: float = 0.0) -> Int:
        """Plays all stages and returns the action of each row with the best average: int64 [R].

        Args:
            play: plays pairs in worlds.
            caution: the favourite stands unless the best is ahead of it by more than so many
                standard errors of the difference in the same worlds.
        """

    def _stage(self, play: Play, begun: Int, until: Int) -> None:
        """Plays what is left in the worlds of each row from ``begun`` to below ``until``: [R]."""
        racing = np.flatnonzero(self.racing)
        many = (until - begun)[self.row[racing]]
        pair = np.repeat(racing, many)
        world = np.arange(len(pair)) - np.repeat(many.cumsum() - many, many)
        world += begun[self.row[pair]]
        first = self._alike[self.row[pair], world]
        new = np.flatnonzero(first == world)
        if len(new):
            self.points[pair[new], world[new]] = play(pair[new], world[new])
        # The first world alike was played before or just now: who is dropped stays out.
        self.points[pair, world] = self.points[pair, first]

    def _chosen(self, caution: float, until: Int) -> Int:
        """Returns the pair of each row that is played after so many worlds: int64 [R]."""
        best = self._ranked(until)[self._first]
        ahead, error = self._lead(best, self._favourite, until)
        return np.where(ahead > caution * error, best, self._favourite)

    def _lead(self, pair: Int, rival: Int, until: Int) -> tuple[Float, Float]:
        """Returns by how much pairs are ahead of rivals, and the standard errors: [m] each.

        Args:
            pair: [m].
            rival: [m] of the same rows.
            until: [R] in how many worlds.
        """
        weight = self._until(until)
        weight = (weight / weight.sum(axis=1, keepdims=True))[self.row[pair]]
        lead = self.points[pair] - self.points[rival]
        ahead = (weight * lead).sum(axis=1)
        return ahead, np.sqrt((weight**2 * (lead - ahead[:, None]) ** 2).sum(axis=1))

    def _until(self, until: Int) -> Float:
        """Returns the weights of the first worlds, so many in each row, and 0: [R, W]."""
        return self._weight * (np.arange(self._weight.shape[1]) < until[:, None])

    def _ranked(self, until: Int) -> Int:
        """Returns the pairs, row after row, by their average over the first worlds: int64 [P].

        Args:
            until: [R] how many worlds.
        """
        weight = self._until(until)
        total = weight.sum(axis=1)
        average = (self.points * weight[self.row]).sum(axis=1)
        average /= np.where(total > 0, total, 1.0)[self.row]
        average[self._favourite] += _HAIR
        average[~self.racing] = -np.inf
        ranked: Int = np.lexsort((-average, self.row))
        return ranked

    def _left(self) -> Int:
        """Returns how many actions of each row are still in the race: int64 [R]."""
        return np.bincount(self.row[self.racing], minlength=len(self._worlds))
