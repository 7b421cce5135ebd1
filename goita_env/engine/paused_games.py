"""Lets some games wait while the others play on.

A game that waits takes the status of one in which nobody is asked, so no step moves it; its true
status is kept here. When it goes on, its seats are turned to where the clock stands by then.
"""

from __future__ import annotations

import numpy as np

from goita_env.arrays import Bits, Bool, Int
from goita_env.engine.state import SEATS, State, in_question
from goita_env.engine.tables import WAITING


class PausedGames:
    """Keeps which of N games wait, and how they stood.

    Attributes:
        there: bool [N] the games that wait.
    """

    def __init__(self, num_games: int) -> None:
        self.there: Bool = np.zeros(num_games, bool)
        self._status: Int = np.zeros(num_games, np.int64)
        self._slot: Int = np.zeros(num_games, np.int64)
        self._low: Bits = np.zeros(num_games, np.uint64)
        self._high: Bits = np.zeros(num_games, np.uint64)

    def park(self, state: State, places: Int, low: Bits, high: Bits) -> None:
        """Lets games [n] wait in which a seat is asked; ``low``, ``high``: [N] what is legal."""
        self.there[places] = True
        self._status[places], self._slot[places] = state.status[places], state.clock
        self._low[places], self._high[places] = low[places], high[places]
        state.status[places] = WAITING
        if len(state.asking):
            state.asking = state.asking[~self.there[state.asking]]

    def wake(self, state: State, places: Int) -> None:
        """Lets those of games [n] that wait go on: the same seats are asked again."""
        rows = places[self.there[places]]
        if len(rows) == 0:
            return
        status = self._status[rows]
        state.turn(rows, (state.clock - self._slot[rows]) & 3, SEATS)
        state.status[rows] = status
        asked = rows[in_question(status)]
        if len(asked):
            state.asking = np.sort(np.concatenate((state.asking, asked)))
        self.there[rows] = False

    def keep(self, places: Int) -> None:
        """Drops all games but those of ``places``."""
        self.there, self._status = self.there[places], self._status[places]
        self._slot = self._slot[places]
        self._low, self._high = self._low[places], self._high[places]

    def tell(self, low: Bits, high: Bits) -> None:
        """Writes what is legal in the games that wait into ``low`` and ``high``, [N] each."""
        if self.there.any():
            np.copyto(low, self._low, where=self.there)
            np.copyto(high, self._high, where=self.there)
