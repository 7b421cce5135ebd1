"""Moves some of N games while the others stand still: a step costs time only for moving games.

*Standing* games lie in their match's state, whose clock stays at 0: the acting seat sits on slot 0.
*Moving* games lie in a smaller state of their own, whose clock runs. When a game is copied from one
state to the other, its seats are turned by the clock: its rows are taken in another order.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import Final

import numpy as np

from goita_env.arrays import Bits, Int
from goita_env.engine import core
from goita_env.engine.episodes import Match, Outcome
from goita_env.engine.legal_bits import only_action
from goita_env.engine.state import (
    NO_ROWS,
    NUM_ROWS,
    OFFSET_ROW,
    ONE,
    SEAT_ROWS,
    THREE,
    State,
    in_question,
)
from goita_env.engine.tables import OVER, WAITING
from goita_env.tiles import NUM_SEATS

_EVERY_ROW: Final = np.arange(NUM_ROWS)[:, None]
_ROWS_BY_TURN: Final = [
    np.concatenate((np.roll(SEAT_ROWS, by, axis=1).reshape(-1, 1), _EVERY_ROW[SEAT_ROWS.size :]))
    for by in range(NUM_SEATS)
]
"""By how many slots the seats of all games move on: [r, 1] the rows to take, in order."""
_WAITING: Final = np.array(WAITING)
_DROP_BELOW_SHARE: Final = 0.5
_SMALL_BLOCK: Final = 64
"""Games that have left are dropped once less than this share of the block still moves, but not from
a block of up to this many games, in which a step costs hardly more than in a block of one."""


@dataclass(frozen=True)
class Endings:
    """Deals that have ended; ``n`` games."""

    rows: Int
    """[n] The games, ascending."""
    final: State
    """The games at their ends, before new deals."""
    outcome: Outcome | None
    """The rounds among them; None: all are dealt again."""
    redealt: Int
    """[m] The games among them that are dealt again."""
    dealt: Int
    """[k] The games among them in which the next deal lies."""


class ActiveGames:
    """The moving games of a match; at first there are none.

    Attributes:
        match: the standing games; its rows of moving games are out of date.
        rows: int64 [m] the games that move, and those that have left and are not dropped yet. Games
            that join come last; only ``join`` and ``step`` drop games.
    """

    def __init__(self, match: Match) -> None:
        self.match = match
        self.rows: Int = NO_ROWS
        self._state = match.state.select(NO_ROWS)
        self._num_moving = 0
        self._ended: list[Int] = []
        """Games that have ended, and wait for their next deal."""

    def __len__(self) -> int:
        return self._num_moving

    def join(self, rows: Int) -> None:
        """Lets standing games [n] move."""
        data = self._fetch(rows)
        if self._num_moving:
            live = (self._state.status < _WAITING).nonzero()[0]
            data = np.concatenate((self._state.data.take(live, axis=1), data), axis=1)
            rows = np.concatenate((self.rows[live], rows))
        self.rows, self._num_moving = rows, len(rows)
        self._state = self._state.like(data)

    def leave(self, places: Int) -> None:
        """Makes moving games stand; ``places``: [n] their places in ``rows``."""
        if len(places) == 0:
            return
        state = self._state
        self._store(places)
        state.status[places] = _WAITING
        self._num_moving -= len(places)
        if len(state.asking):
            state.asking = in_question(state.status).nonzero()[0]

    def seats(self, places: Int) -> Int:
        """[n] The acting seats in the games at ``places``."""
        return np.asarray((self._state.clock - self._state.offset[places]) & THREE)

    def legal(self) -> tuple[Bits, Bits, Int, Int]:
        """Returns what each moving game may do, and where it has a choice.

        Returns:
            Two [m] of bits as ``core.legal_actions``; [m] the only legal action, else 0; [n] the
            places with a choice.
        """
        low, high = core.legal_actions(self._state)
        forced, legal_count = only_action(low, high)
        return low, high, forced, (legal_count > ONE).nonzero()[0]

    def costs(self, actions: Int) -> Int | None:
        """[m] Points that seats 0 and 2 pay seats 1 and 3 for messages; arguments as ``step``."""
        return core.costs(self._state, actions)

    def step(self, actions: Int) -> Endings | None:
        """Makes a decision in every moving game; where a deal ends, the game leaves.

        The game joins again with its next deal, at once or, while many others move, some steps
        later: a few deals at a time cost hardly less than many.

        Args:
            actions: [m] a legal action of each game of ``rows``, 0 for games that have left.

        Returns:
            The ended deals, also of earlier steps, whose games joined again; None: there are none.
        """
        state = self._state
        core.step(state, actions)
        if len(state.ended):
            self._store(state.ended)
            self._ended.append(self.rows[state.ended])
            self._num_moving -= len(state.ended)
        if self._ended and sum(map(len, self._ended)) >= self._num_moving:
            return self._begin_next()
        share = _DROP_BELOW_SHARE * len(self.rows)
        if self._num_moving < share and len(self.rows) > _SMALL_BLOCK:
            self.join(NO_ROWS)
        return None

    def _begin_next(self) -> Endings:
        match = self.match
        standing, rows = match.state, np.sort(np.concatenate(self._ended))
        self._ended.clear()
        final = standing.select(rows)
        standing.asking, standing.ended = NO_ROWS, rows
        outcome = match.begin_next()
        dealt = rows[standing.status[rows] != OVER]
        self.join(dealt)
        return Endings(rows=rows, final=final, outcome=outcome, redealt=match.redealt, dealt=dealt)

    def _fetch(self, rows: Int) -> Int:
        """[r, n] Standing games, turned to the clock."""
        clock, standing = self._state.clock, self.match.state
        flat_index = _ROWS_BY_TURN[clock] * standing.num_games + rows
        fetched: Int = standing.data.reshape(-1).take(flat_index)
        offset = fetched[OFFSET_ROW]
        offset += clock
        offset &= THREE
        return fetched

    def _store(self, places: Int) -> None:
        """Writes moving games back into the rows of the match, turned to clock 0."""
        state, standing = self._state, self.match.state
        turned_rows, rows = _ROWS_BY_TURN[-state.clock & 3], self.rows[places]
        stored = state.data.reshape(-1).take(turned_rows * len(self.rows) + places)
        offset = stored[OFFSET_ROW]
        offset -= state.clock
        offset &= THREE
        standing.data.reshape(-1)[_EVERY_ROW * standing.num_games + rows] = stored
