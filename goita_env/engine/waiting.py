"""Lets some games wait while the others play on.

A game that waits takes the status of one in which nobody is asked, so no step moves it; its true
status is kept here. When it goes on, its seats are turned to where the clock stands by then.
"""

from __future__ import annotations

import numpy as np

from goita_env.engine.core import Bits
from goita_env.engine.state import Int, State, in_question
from goita_env.engine.tables import WAITING


class Waiting:
    """Keeps games that wait; ``w`` of them.

    Attributes:
        places: int64 [w] where they stand in the state, ascending.
    """

    def __init__(self) -> None:
        self.places: Int = np.zeros(0, np.int64)
        self._status = self._slot = self.places
        self._low: Bits = np.zeros(0, np.uint64)
        self._high = self._low

    def park(self, state: State, places: Int, low: Bits, high: Bits) -> None:
        """Lets games wait in which a seat is asked.

        Args:
            state: N games, in place.
            places: [n] those that wait from now on.
            low: [N] bits of what is legal in all games, actions 0 to 63.
            high: [N] the same, actions 64 to 68.
        """
        together = np.concatenate((self.places, places))
        self._keep(
            np.argsort(together),
            together,
            np.concatenate((self._status, state.status[places])),
            np.concatenate((self._slot, np.full(len(places), state.clock))),
            np.concatenate((self._low, low[places])),
            np.concatenate((self._high, high[places])),
        )
        state.status[places] = WAITING
        if len(state.asking):
            state.asking = state.asking[~np.isin(state.asking, places)]

    def wake(self, state: State, places: Int) -> None:
        """Lets those of some games that wait go on: the same seats are asked again.

        Args:
            state: N games, in place.
            places: [n] ascending; games that don't wait are left as they are.
        """
        woken = np.isin(self.places, places)
        if not woken.any():
            return
        rows, status = self.places[woken], self._status[woken]
        state.turn(rows, (state.clock - self._slot[woken]) & 3, state.places.seats)
        state.status[rows] = status
        asked = rows[in_question(status)]
        if len(asked):
            state.asking = np.sort(np.concatenate((state.asking, asked)))
        left = (~woken).nonzero()[0]
        self._keep(left, self.places, self._status, self._slot, self._low, self._high)

    def forget(self, places: Int) -> None:
        """Lets games wait no longer that begin anew; ``places``: [n] ascending, waiting or not."""
        left = (~np.isin(self.places, places)).nonzero()[0]
        self._keep(left, self.places, self._status, self._slot, self._low, self._high)

    def tell(self, low: Bits, high: Bits) -> None:
        """Writes what is legal in the games that wait into ``low`` and ``high``, [N] each."""
        if len(self.places):
            low[self.places], high[self.places] = self._low, self._high

    def _keep(self, index: Int, places: Int, status: Int, slot: Int, low: Bits, high: Bits) -> None:
        """Keeps what stands at an index."""
        self.places, self._status, self._slot = places[index], status[index], slot[index]
        self._low, self._high = low[index], high[index]
