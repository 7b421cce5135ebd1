"""Races the legal actions of positions and drops whatever is behind by more than chance.

This is successive elimination (Even-Dar, Mannor and Mansour 2006) with common random numbers, and
with the standard errors of differences for bounds. Most decisions are clear after a few worlds;
what they don't need is left to those that are not.
"""

from __future__ import annotations

from typing import Final

import numpy as np

from agents.base import Bool, Float, Int
from agents.search.halving import Play, Race

FIRST: Final = 16
"""Worlds of a row that are played before anything is dropped; each stage doubles them."""

BEHIND: Final = 1.0
"""Standard errors by which an action may be behind another and stays."""


class Elimination(Race):
    """Holds R rows' pairs, as ``Race`` does, and stops each row by itself.

    A row is played on until no action but one is left, its worlds are used up, or the next stage
    would be beyond its budget.

    Args:
        legal, favourite, weight, worlds: as in ``Race``.
        fresh: bool [R, W] the worlds that cost something: no repetitions of one before.
        budget: playouts of a row, about: its first stage has one world at least.
    """

    def __init__(
        self, legal: Bool, favourite: Int, weight: Float, worlds: Int, fresh: Bool, budget: float
    ) -> None:
        super().__init__(legal, favourite, weight, worlds)
        self._budget = budget
        self._price = np.zeros((len(fresh), fresh.shape[1] + 1), np.int64)
        """[R, W + 1] What an action costs in the first worlds, by their number."""
        fresh.cumsum(axis=1, out=self._price[:, 1:])

    def run(self, play: Play, caution: float = 0.0) -> Int:
        """Plays all stages and returns the action of each row with the best average: int64 [R].

        Args:
            play: plays pairs in worlds.
            caution: as in ``Race``.
        """
        first = np.clip(self._budget // self._left(), 1, FIRST).astype(np.int64)
        begun = spent = np.zeros(len(self._worlds), np.int64)
        until = np.minimum(first, self._worlds)
        while (until > begun).any():
            spent = spent + self._cost(begun, until)
            self._stage(play, begun, until)
            self._drop_behind(until)
            begun, wanted = until, np.minimum(2 * until, self._worlds)
            goes_on = (self._left() > 1) & (spent + self._cost(begun, wanted) <= self._budget)
            until = np.where(goes_on, wanted, begun)
        return self.action[self._chosen(caution, until)]

    def _cost(self, begun: Int, until: Int) -> Int:
        """Returns the playouts of all actions that are left in some worlds: int64 [R]."""
        rows = np.arange(len(until))
        price: Int = self._price[rows, until] - self._price[rows, begun]
        return price * self._left()

    def _drop_behind(self, until: Int) -> None:
        """Drops what is behind the favourite or the best by more than chance; until: [R] worlds."""
        best = self._ranked(until)[self._first]
        for rival in (self._favourite, best):
            lead, error = self._lead(np.arange(len(self.row)), rival[self.row], until)
            behind = lead + BEHIND * error
            # As good as the favourite is no reason to play on, either.
            self.racing &= (behind > 0) if rival is self._favourite else (behind >= 0)
        self.racing[self._favourite] = True
