"""Moves some of N games while the others stand: a step costs what moves, not what is there.

Games that stand lie in their match's state, whose clock stays at 0: the seat that is asked sits on
slot 0. Games that move lie side by side in a state of their own, whose clock runs. On the way from
one to the other a game's seats are turned by the clock, which is an order of the block's rows.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import Final

import numpy as np

from goita_env.arrays import Bits, Int
from goita_env.engine import core
from goita_env.engine.episodes import Match, Outcome
from goita_env.engine.legal_bits import only_action
from goita_env.engine.state import NO_ROWS, OFFSET, ONE, ROWS, SEATS, THREE, State, in_question
from goita_env.engine.tables import OVER, WAITING
from goita_env.tiles import NUM_SEATS

_EVERY_ROW: Final = np.arange(ROWS)[:, None]
_ROWS_BY_TURN: Final = [
    np.concatenate((np.roll(SEATS, by, axis=1).reshape(-1, 1), _EVERY_ROW[SEATS.size :]))
    for by in range(NUM_SEATS)
]
"""By how many slots the seats of all games move on: [r, 1] the rows to take, in order."""
_WAITING: Final = np.array(WAITING)
_SPARSE: Final = 0.5
_FEW: Final = 64
"""Those that have left are dropped once less than this share of the block still moves, but not from
a block of a few games, which costs hardly more than one."""


@dataclass(frozen=True)
class Endings:
    """Which deals have ended; ``n`` games."""

    rows: Int
    """[n] The games, ascending."""
    final: State
    """How they ended, before anything was dealt."""
    outcome: Outcome | None
    """The rounds among them; None: all are dealt again."""
    redealt: Int
    """[m] The games among them that are dealt again."""
    dealt: Int
    """[k] The games among them in which the next deal lies."""


class ActiveGames:
    """Those of a match's games that move; all stand at first.

    Attributes:
        match: the games that stand; what of the others lies there is out of date.
        rows: int64 [m] which games move, or have left and are not dropped yet. Those that join come
            last; only ``join`` and ``step`` drop any.
    """

    def __init__(self, match: Match) -> None:
        self.match = match
        self.rows: Int = NO_ROWS
        self._state = match.state.select(NO_ROWS)
        self._many = 0
        self._ended: list[Int] = []
        """Games that have ended and stand."""

    def __len__(self) -> int:
        return self._many

    def join(self, rows: Int) -> None:
        """Lets games [n] that stand move."""
        data = self._fetch(rows)
        if self._many:
            live = (self._state.status < _WAITING).nonzero()[0]
            data = np.concatenate((self._state.data.take(live, axis=1), data), axis=1)
            rows = np.concatenate((self.rows[live], rows))
        self.rows, self._many = rows, len(rows)
        self._state = self._state.like(data)

    def leave(self, places: Int) -> None:
        """Lets games [n] stand, given by where they are in ``rows``."""
        if len(places) == 0:
            return
        state = self._state
        self._store(places)
        state.status[places] = _WAITING
        self._many -= len(places)
        if len(state.asking):
            state.asking = in_question(state.status).nonzero()[0]

    def seats(self, places: Int) -> Int:
        """[n] The seats that are asked in some games."""
        return np.asarray((self._state.clock - self._state.offset[places]) & THREE)

    def legal(self) -> tuple[Bits, Bits, Int, Int]:
        """Returns what the acting seats may do: two [m] of bits; [m] the only action, else 0.

        And [n] the places in which there is a choice.
        """
        low, high = core.legal_actions(self._state)
        forced, legal_count = only_action(low, high)
        return low, high, forced, (legal_count > ONE).nonzero()[0]

    def costs(self, actions: Int) -> Int | None:
        """[m] What seats 0 and 2 pay seats 1 and 3 for messages; arguments as ``step``."""
        return core.costs(self._state, actions)

    def step(self, actions: Int) -> Endings | None:
        """Makes a decision in every game that moves; where a deal ends the game leaves.

        It joins again with its next deal, at once or, while many others move, some steps later.
        ``actions``: [m] legal ones, 0 for those that have left. Returns what has ended, so far as
        it is gone on with; None: nothing.
        """
        state = self._state
        core.step(state, actions)
        if len(state.ended):
            self._store(state.ended)
            self._ended.append(self.rows[state.ended])
            self._many -= len(state.ended)
        # As many as still move: a few at a time cost hardly less.
        if self._ended and sum(map(len, self._ended)) >= self._many:
            return self._begin_next()
        if self._many < _SPARSE * len(self.rows) and len(self.rows) > _FEW:
            self.join(NO_ROWS)
        return None

    def _begin_next(self) -> Endings:
        match = self.match
        stand, rows = match.state, np.sort(np.concatenate(self._ended))
        self._ended.clear()
        final = stand.select(rows)
        stand.asking, stand.ended = NO_ROWS, rows
        outcome = match.begin_next()
        dealt = rows[stand.status[rows] != OVER]
        self.join(dealt)
        return Endings(rows, final, outcome, match.redealt, dealt)

    def _fetch(self, rows: Int) -> Int:
        """[r, n] Games that stand, turned to the clock."""
        clock, stand = self._state.clock, self.match.state
        places = _ROWS_BY_TURN[clock] * stand.num_games + rows
        fetched: Int = stand.data.reshape(-1).take(places)
        offset = fetched[OFFSET]
        offset += clock
        offset &= THREE
        return fetched

    def _store(self, places: Int) -> None:
        """Writes games that move to where they stand."""
        state, stand = self._state, self.match.state
        back, rows = _ROWS_BY_TURN[-state.clock & 3], self.rows[places]
        stored = state.data.reshape(-1).take(back * len(self.rows) + places)
        offset = stored[OFFSET]
        offset -= state.clock
        offset &= THREE
        stand.data.reshape(-1)[_EVERY_ROW * stand.num_games + rows] = stored
