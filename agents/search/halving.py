"""Races the legal actions of positions over the same worlds and drops the worse half on the way.

This is sequential halving (Karnin, Koren and Somekh 2013) with common random numbers.
"""

from __future__ import annotations

from typing import Final

import numpy as np

from agents.base import Int
from agents.search.race import Play, Race

QUARTERS: Final = (1, 2, 4)
"""Quarters of a row's worlds that have been played at the end of each stage."""

FEWEST: Final = 8
"""Worlds of a row that are played, if there are so many, before anything is dropped."""


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


class Halving(Race):
    """Plays a quarter, half and all of each row's worlds, and drops the worse half in between."""

    def run(self, play: Play, caution: float = 0.0) -> Int:
        """Plays all stages and returns the action of each row with the best average: int64 [R].

        Args:
            play: plays pairs in worlds.
            caution: as in ``Race``.
        """
        begun = np.zeros(len(self._worlds), np.int64)
        for quarters in QUARTERS:
            until = played(self._worlds, quarters)
            self._drop(begun)
            self._stage(play, begun, until)
            begun = until
        return self.action[self._chosen(caution, begun)]

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
