"""Keeps deals ready before they are needed: many dealt at once cost a fifth of a few at a time.

For each game there are places for the first deal of its next two episodes and, where that deal has
questions before play, for the deal after a redeal. What is dealt is a function of the keys alone,
so the stock changes no game.
"""

from __future__ import annotations

from typing import Final

import numpy as np
import numpy.typing as npt

from goita_env import seeds
from goita_env.engine import deals
from goita_env.engine.state import DEALT_SIZE, has_question, prepare
from goita_env.rules import Rules

Int = npt.NDArray[np.int64]
Bool = npt.NDArray[np.bool_]
_ONE: Final = np.array(1)


class Stock:
    """Holds prepared deals of N games with given first dealers and no points yet.

    The first deal of episode k of game i has the place i + N * (k & 1). The deal after a redeal has
    i + N * (2 + k % 3): it may still be wanted when the one of two episodes later is dealt.
    """

    def __init__(self, rules: Rules, num_games: int) -> None:
        self._rules = rules
        self._num_games = np.array(num_games)
        self._deals: Int = np.zeros((DEALT_SIZE, 5 * num_games), np.int64)
        self._ready = np.zeros(5 * num_games, bool)
        self._rows: Int = np.arange(DEALT_SIZE)[:, None] * (5 * num_games)

    def clear(self) -> None:
        """Throws everything away."""
        self._ready[:] = False

    def forget(self, rows: Int, episodes: Int) -> None:
        """Throws the deals of given episodes away; ``rows``, ``episodes``: [n]."""
        for redeal in (False, True):
            self._ready[self._places(rows, episodes, np.full(len(rows), redeal))] = False

    def has(self, rows: Int, episodes: Int, redeal: Bool) -> Bool:
        """Tells which deals are ready: bool [n]; the arguments: [n]."""
        ready: Bool = self._ready[self._places(rows, episodes, redeal)]
        return ready

    def take(self, rows: Int, episodes: Int, redeal: Bool) -> Int:
        """Returns deals that are ready, for ``state.lay``: int64 [14, n]; the arguments: [n]."""
        places = self._places(rows, episodes, redeal)
        self._ready[places] = False
        dealt: Int = self._deals.reshape(-1).take(self._rows + places)
        return dealt

    def fill(self, keys: seeds.Keys, episodes: Int) -> None:
        """Deals the next two episodes of all games, where they aren't dealt.

        Args:
            keys: [N] the games' keys.
            episodes: [N] the present episode of each game.
        """
        places = np.flatnonzero(~self._ready[: 2 * self._num_games])
        odd = places >= self._num_games
        rows = places - odd * self._num_games
        following = episodes[rows] + 1
        following += (following ^ odd) & 1
        first = seeds.deal_keys(keys[rows], following, 0)
        dealer = deals.first_dealers(first)
        dealt = prepare(self._rules, deals.hand_codes(first), dealer)
        self._put(places, dealt)
        asks = has_question(dealt).nonzero()[0]
        second = seeds.deal_keys(keys[rows[asks]], following[asks], 1)
        dealt = prepare(self._rules, deals.hand_codes(second), dealer[asks])
        again = self._places(rows[asks], following[asks], np.ones(len(asks), bool))
        self._put(again, dealt)

    def _put(self, places: Int, dealt: Int) -> None:
        """Stores prepared deals; one flat index is several times as fast as one along an axis."""
        self._deals.reshape(-1)[self._rows + places] = dealt
        self._ready[places] = True

    def _places(self, rows: Int, episodes: Int, redeal: Bool) -> Int:
        """Returns where deals stand: [n]."""
        places: Int = episodes & _ONE
        if np.count_nonzero(redeal):
            places[redeal] = 2 + episodes[redeal] % 3
        places *= self._num_games
        places += rows
        return places
