"""Races the legal actions of positions over the same worlds and drops the worse half on the way.

A row is a position, a pair a row with one of its actions. This is sequential halving (Karnin, Koren
and Somekh 2013) with common random numbers: whoever is still in the race has been played in the
same worlds as its rivals.
"""

from __future__ import annotations

from collections.abc import Callable
from typing import Final

import numpy as np

from agents.base import Bool, Float, Int

QUARTERS: Final = (1, 2, 4)
"""Quarters of a row's worlds that have been played at the end of each stage."""

FEWEST: Final = 8
"""Worlds of a row that are played, if there are so many, before anything is dropped."""

_HAIR: Final = 1e-9
"""Lead in points with which the favourite starts: it comes first among equals."""

Play = Callable[[Int, Int], Float]
"""Returns the points [m] of pairs [m] in worlds [m], which are counted within their rows."""


def played(worlds: Int, quarters: int) -> Int:
    """Returns how many of so many worlds have been played at the end of a stage: int64 [R]."""
    return np.maximum(worlds * quarters // 4, np.minimum(worlds, FEWEST))


def playouts(actions: int, worlds: int) -> int:
    """Returns how many pairs and worlds are played at most for a row."""
    total, begun, left = 0, 0, actions
    for quarters in QUARTERS:
        until = int(played(np.array(worlds), quarters))
        total += left * (until - begun)
        begun, left = until, min(left, (left + 1) // 2 + 1)
    return total


class Race:
    """Holds R rows' pairs, P in all, and their points in at most W worlds a row.

    Args:
        legal: bool [R, 69] the actions that start.
        favourite: [R] an action of each row that is never dropped, and that is played among equals.
        weight: [R, W] of the worlds; a row's worlds stand first, the rest is 0.
        worlds: [R] how many each row has, at least 1.

    Attributes:
        row: int64 [P] row of each pair, ascending.
        action: int64 [P] its action, ascending within the row.
        points: float64 [P, W] what it gained in each world; 0 where it wasn't played.
        racing: bool [P] it has not been dropped.
    """

    def __init__(self, legal: Bool, favourite: Int, weight: Float, worlds: Int) -> None:
        self.row, self.action = np.nonzero(legal)
        self.points = np.zeros((len(self.row), weight.shape[1]))
        self.racing = np.ones(len(self.row), bool)
        self._weight, self._worlds = weight, worlds
        self._favourite = np.flatnonzero(self.action == favourite[self.row])
        self._first = np.searchsorted(self.row, np.arange(len(worlds)))

    def run(self, play: Play, caution: float = 0.0) -> Int:
        """Plays all stages and returns the action of each row with the best average: int64 [R].

        Args:
            play: plays pairs in worlds.
            caution: the favourite stands unless the best is ahead of it by more than so many
                standard errors of the difference in the same worlds.
        """
        begun = np.zeros(len(self._worlds), np.int64)
        for quarters in QUARTERS:
            until = played(self._worlds, quarters)
            self._drop(begun)
            self._stage(play, begun, until)
            begun = until
        return self.action[self._chosen(caution, begun)]

    def _stage(self, play: Play, begun: Int, until: Int) -> None:
        """Plays what is left in the worlds of each row from ``begun`` to below ``until``: [R]."""
        racing = np.flatnonzero(self.racing)
        many = (until - begun)[self.row[racing]]
        pair = np.repeat(racing, many)
        world = np.arange(len(pair)) - np.repeat(many.cumsum() - many, many)
        world += begun[self.row[pair]]
        if len(pair):
            self.points[pair, world] = play(pair, world)

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

    def _drop(self, until: Int) -> None:
        """Drops the worse half in rows of which some worlds have been played and some have not.

        Args:
            until: [R] worlds that have been played.
        """
        place = np.empty(len(self.row), np.int64)
        place[self._ranked(until)] = np.arange(len(self.row)) - self._first[self.row]
        left = self._left()
        halved = (until > 0) & (until < self._worlds)
        self.racing &= place < np.where(halved, (left + 1) // 2, left)[self.row]
        self.racing[self._favourite] = True

    def _left(self) -> Int:
        """Returns how many actions of each row are still in the race: int64 [R]."""
        return np.bincount(self.row[self.racing], minlength=len(self._worlds))
