"""Races the legal actions of positions and drops whatever is behind by more than a standard error.

This is successive elimination (Even-Dar, Mannor and Mansour 2006) with common random numbers, and
with the standard errors of differences for bounds. Where nothing comes near the favourite, the row
stops after a few worlds; whatever challenges it is played to the end.
"""

from __future__ import annotations

from typing import Final

import numpy as np

from agents.base import Bool, Float, Int
from agents.search.race import Play, Race

FIRST: Final = 16
"""Worlds of a row that are played before anything is dropped, or as many as the budget allows; each
stage doubles them."""

BEHIND: Final = 1.0
"""Standard errors by which an action may be behind another and stays."""


class Elimination(Race):
    """Plays each row on until the favourite is left alone, or its worlds or its budget are used up.

    Args:
        legal: as in ``Race``.
        favourite: as in ``Race``.
        weight: as in ``Race``.
        worlds: as in ``Race``.
        alike: as in ``Race``; what is not played costs nothing.
        budget: playouts of a row, about: its first stage has one world at least.
    """

    def __init__(
        self,
        legal: Bool,
        favourite: Int,
        weight: Float,
        worlds: Int,
        alike: Int | None,
        budget: float,
    ) -> None:
        super().__init__(legal, favourite, weight, worlds, alike)
        self._budget = budget
        self._played = np.zeros((len(weight), weight.shape[1] + 1), np.int64)
        """[R, W + 1] How many of the first worlds are played, by their number."""
        (self._alike == np.arange(weight.shape[1])).cumsum(axis=1, out=self._played[:, 1:])

    def run(self, play: Play, caution: float = 0.0) -> Int:
        """Plays all stages and returns the action of each row with the best average: int64 [R].

        Args:
            play: plays pairs in worlds.
            caution: as in ``Race``.
        """
        begun, spent = np.zeros((2, len(self._worlds)), np.int64)
        first = np.clip(self._budget // self._left(), 1, FIRST).astype(np.int64)
        until = np.minimum(first, self._worlds)
        while (until > begun).any():
            spent = spent + self._cost(begun, until)
            self._stage(play, begun, until)
            self._drop(until)
            begun, wanted = until, np.minimum(2 * until, self._worlds)
            goes_on = (self._left() > 1) & (spent + self._cost(begun, wanted) <= self._budget)
            until = np.where(goes_on, wanted, begun)
        return self.action[self._chosen(caution, until)]

    def _cost(self, begun: Int, until: Int) -> Int:
        """Returns the playouts of all actions that are left in some worlds: int64 [R]."""
        rows = np.arange(len(until))
        worlds: Int = self._played[rows, until] - self._played[rows, begun]
        return worlds * self._left()

    def _drop(self, until: Int) -> None:
        """Drops what is behind, or no better than the favourite; until: [R] worlds played."""
        best = self._ranked(until)[self._first]
        self.racing &= self._reach(self._favourite, until) > 0
        self.racing &= self._reach(best, until) >= 0
        self.racing[self._favourite] = True

    def _reach(self, rival: Int, until: Int) -> Float:
        """Returns by how much pairs may yet be ahead of their row's rival, in points: [P].

        Args:
            rival: [R] a pair of each row.
            until: [R] worlds played.
        """
        lead, error = self._lead(np.arange(len(self.row)), rival[self.row], until)
        return lead + BEHIND * error
