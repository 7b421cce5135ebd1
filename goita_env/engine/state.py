"""Holds N games as one block of integers; ``README.md`` draws it.

Every play or pass moves the turn exactly one seat. So the games are placed such that in all of them
the acting seat sits on one *slot*, ``state.clock``; seat i sits on slot (i + offset) & 3. The
pre-play decisions don't follow the clock: those few games are turned such that the seat that acts
next sits on the next slot.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from functools import cached_property, lru_cache
from typing import Annotated, Any, Final, Self, get_type_hints

import numpy as np
import numpy.typing as npt

from goita_env.arrays import Bool, Int
from goita_env.engine.tables import (
    CALL_CHOICE,
    CODE_MASK,
    MESSAGE_CHOICE,
    NUM_STATUSES,
    WAITING,
    code_counts,
    tables_of,
)
from goita_env.information import PLAIN, InformationStructure
from goita_env.rules import Rules, get_rules
from goita_env.tiles import NUM_SEATS

SLOTS: Final = np.arange(NUM_SEATS, dtype=np.int64)[:, None]
NO_ROWS: Final = np.zeros(0, np.int64)
ZERO, ONE, THREE = np.array(0), np.array(1), np.array(3)
"""Arrays without a dimension: numpy takes them in half the time of a scalar."""


@dataclass(frozen=True)
class Field:
    """A field of the state: its number of rows, and its value after a deal."""

    rows: int
    """Rows of the block; four where each slot has one."""
    deal: int | None = 0
    """Its value after a deal; None: the prepared one."""


_SEAT_FIELD: Final = Field(NUM_SEATS)
_GAME_FIELD: Final = Field(1)


class State:
    """N games; the last axis of every array is the game.

    ``data`` holds everything, so that copying, selecting and repeating games is one numpy call
    each. Every annotated field is a part of it, in this order: write into it, don't replace it.
    Fields of a seat come first, with a row for each slot, then fields of the game.
    """

    hand: Annotated[Int, Field(NUM_SEATS, deal=None)]
    """[4, N] Code of the tiles in hand, and KING_PERMIT if dealt both kings (see rules)."""
    down: Annotated[Int, _SEAT_FIELD]
    """[4, N] Code of the tiles that the seat laid face down."""
    own: Annotated[Int, _SEAT_FIELD]
    """[4, N] The seat's plays as it sees them, 16 bits each."""
    shown: Annotated[Int, _SEAT_FIELD]
    """[4, N] The seat's plays as the others see them."""
    notes: Annotated[Int, _SEAT_FIELD]
    """[4, N] Public notes on the seat: its events, passes, call and choice (``NOTE_...``)."""
    shift: Annotated[Int, _SEAT_FIELD]
    """[4, N] 16 times its plays."""
    frame: Annotated[Int, Field(NUM_SEATS, deal=None)]
    """[4, N] Dealer, scores and messages as the seat knows them (``FRAME_...``)."""
    status: Annotated[Int, Field(1, deal=None)]
    """[N] Public status, a column of the tables."""
    offset: Annotated[Int, Field(1, deal=None)]
    """[N] Slot minus seat, modulo 4."""
    up: Annotated[Int, _GAME_FIELD]
    """[N] Code of the tiles that lie face up."""
    event: Annotated[Int, Field(1, deal=1)]
    """[N] Bit of the next play: 1 << plays in this round."""
    query: Annotated[Int, Field(1, deal=None)]
    """[N] Number of the question in ``questions``."""
    dealer: Annotated[Int, Field(1, deal=None)]
    """[N] Seat of the dealer."""
    points: Annotated[Int, _GAME_FIELD]
    """[N] Points of the round once it is over, else 0."""
    winner: Annotated[Int, Field(1, deal=-1)]
    """[N] Seat that ended the round, -1 before."""
    scores: Annotated[Int, Field(2, deal=None)]
    """[2, N] Points of the two teams before this round."""

    def __init__(
        self, rules: Rules, data: Int, clock: int = 0, information: InformationStructure = PLAIN
    ) -> None:
        self.rules, self.information = rules, information
        self.tables = tables_of(rules, information)
        self.data = data = np.ascontiguousarray(data)  # flat indices write into it
        self.clock = clock
        """Slot of the acting seat, in all games."""
        self.__dict__.update(zip(_NAMES, map(data.__getitem__, _INDICES), strict=True))
        self.by_slot: Int = data[:_SLOT_ROWS].reshape(len(SEAT_ROWS), NUM_SEATS, data.shape[1])
        """[7, 4, N] The fields of a seat: the first seven fields, numbered ``HAND`` and so on."""
        self.plays = self.by_slot[OWN : SHOWN + 1]
        """[2, 4, N] ``own`` and ``shown``."""
        self.ended: Int = NO_ROWS
        """[m] Games in which the last step decided a redeal or ended the round, ascending."""

    def __reduce__(self) -> tuple[type[Self], tuple[Rules, Int, int, InformationStructure]]:
        """Pickles and deep-copies without the derived parts."""
        return type(self), (self.rules, self.data.copy(), self.clock, self.information)

    @classmethod
    def empty(
        cls, num_games: int, rules: str | Rules, information: InformationStructure = PLAIN
    ) -> Self:
        """Returns games that wait for their first deal."""
        data = np.zeros((NUM_ROWS, num_games), np.int64)
        state = cls(get_rules(rules), data, information=information)
        state.status[:], state.winner[:] = WAITING, -1
        state.asking = NO_ROWS
        return state

    def like(self, data: Int) -> Self:
        """Returns other games, a block, of the same rules and clock."""
        return type(self)(self.rules, data, self.clock, self.information)

    @property
    def num_games(self) -> int:
        return int(self.data.shape[1])

    @cached_property
    def asking(self) -> Int:
        """[m] Games in which a pre-play decision is open; kept up to date once it was read."""
        return in_question(self.status).nonzero()[0]

    @property
    def seat(self) -> Int:
        """[N] The acting seat, -1 where there is none."""
        seats: Int = (self.clock - self.offset) & 3
        seats[self.status >= WAITING] = -1
        return seats

    def slot_of(self, seat: int | Int) -> Int:
        """[N] Slot of a seat in each game."""
        return np.asarray((seat + self.offset) & 3)

    def hand_counts(self) -> npt.NDArray[np.int8]:
        """Returns how many tiles of each kind each seat holds: int8 [N, 4, 8], by seat."""
        codes = np.take_along_axis(self.hand, (SLOTS + self.offset) & 3, axis=0) & CODE_MASK
        return np.asarray(code_counts()[codes.T])

    def dealt_counts(self) -> npt.NDArray[np.int8]:
        """Returns how many tiles of each kind each seat was dealt: int8 [N, 4, 8], by seat."""
        # Each byte of ``own`` is a tile laid, one-hot by kind: [N, slot, 8 tiles] bytes.
        plays = np.ascontiguousarray(self.own.T).view(np.uint8).reshape(-1, NUM_SEATS, 8)
        tiles = (plays[..., None] == (1 << np.arange(8))).sum(axis=2, dtype=np.int8)
        slots = (np.arange(NUM_SEATS) + self.offset[:, None]) & 3
        return np.asarray(self.hand_counts() + np.take_along_axis(tiles, slots[..., None], axis=1))

    def copy(self) -> Self:
        return self.like(self.data.copy())

    def select(self, index: Int | Bool) -> Self:
        """Returns the games of an index (int [m], which may repeat, or a mask) as a new state."""
        if index.dtype == np.bool_:  # ``take`` would read a mask as the games 0 and 1
            index = index.nonzero()[0]
        return self.like(self.data.take(index, axis=1))

    def repeat(self, times: int | Int) -> Self:
        """Returns each game so many times in a row, as ``numpy.repeat`` does, as a new state."""
        return self.like(self.data.repeat(times, axis=1))

    def turn(self, rows: Int, steps: Int) -> None:
        """Moves the seats of games [n] before play by 0 to 3 slots, [n], in place."""
        self.offset[rows] = (self.offset[rows] + steps) & 3
        # One index into the flat block, row * num_games + game, is six times as fast as one along
        # the last axis. The rows of a field's four slots follow its first row.
        flat, num_games = self.data.reshape(-1), self.data.shape[1]
        moved = flat.take(BEFORE_PLAY_ROWS * num_games + rows)  # [3, 4, n]
        target = (SLOTS + steps) & THREE
        target *= num_games
        target += rows
        flat[BEFORE_PLAY_ROWS[:, :1] * num_games + target] = moved


FIELDS: Final[dict[str, Field]] = {
    name: hint.__metadata__[0]
    for name, hint in get_type_hints(State, include_extras=True).items()
    if hasattr(hint, "__metadata__")
}
"""The fields of the state in order."""


def _indices(names: Sequence[str]) -> list[Any]:
    """Lists each field's row, or the slice of its rows, for fields that lie in this order."""
    stops = np.cumsum([FIELDS[name].rows for name in names]).tolist()
    bounds = zip([0, *stops], stops, strict=False)
    return [start if stop == start + 1 else slice(start, stop) for start, stop in bounds]


_NAMES: Final = [*FIELDS]
_INDICES: Final = _indices(_NAMES)
_ROWS_OF: Final = {name: np.r_[index] for name, index in zip(_NAMES, _INDICES, strict=True)}
NUM_ROWS: Final = sum(map(len, _ROWS_OF.values()))
"""Rows of the block."""
OFFSET_ROW: Final = int(_ROWS_OF["offset"][0])
"""Its row of offsets."""
_SLOT_ROWS: Final = int(_ROWS_OF["status"][0])
HAND, DOWN, OWN, SHOWN, NOTES, SHIFT, FRAME = range(_SLOT_ROWS // NUM_SEATS)
"""Numbers of the fields in ``State.by_slot``."""
SEAT_ROWS: Final = np.arange(_SLOT_ROWS).reshape(-1, NUM_SEATS, 1)
"""[7, 4, 1] Rows by slot of all fields of a seat."""
BEFORE_PLAY_ROWS: Final = SEAT_ROWS[[HAND, NOTES, FRAME]]
"""[3, 4, 1] Rows by slot of the fields that are not 0 for all seats before play."""
_PREPARED_FIELDS: Final = [name for name, field in FIELDS.items() if field.deal is None]
DEAL_ROWS: Final = _indices(_PREPARED_FIELDS)
"""Rows of a prepared deal: the fields that a deal must set, in order."""
_CLEARED_FIELDS: Final = [name for name in FIELDS if name not in _PREPARED_FIELDS]
_CLEAR_ROWS: Final = np.concatenate([_ROWS_OF[name] for name in _CLEARED_FIELDS])[:, None]
CLEAR_VALUES: Final = np.concatenate(
    [np.full(FIELDS[name].rows, FIELDS[name].deal) for name in _CLEARED_FIELDS]
)[:, None]
"""[r, 1] The values that every deal sets alike."""


@lru_cache(maxsize=256)
def deal_row_starts(num_games: int) -> tuple[list[Int], Int]:
    """Returns the flat indices in a block of ``num_games`` at which the rows of a deal begin.

    The first item lists by clock the rows of a prepared deal, [p, 1] each; the second is [r, 1],
    the rows that every deal sets to ``CLEAR_VALUES``.
    """
    prepared = []
    for clock in range(NUM_SEATS):
        rows = [
            # The row of slot ``clock`` first: a prepared deal begins with the acting seat.
            np.roll(field_rows, -clock) if field_rows[0] < _SLOT_ROWS else field_rows
            for field_rows in (_ROWS_OF[name] for name in _PREPARED_FIELDS)
        ]
        prepared.append(np.concatenate(rows)[:, None] * num_games)
    return prepared, _CLEAR_ROWS * num_games


_IN_QUESTION: Final = np.zeros(NUM_STATUSES + 1, bool)
"""By status; MESSAGE_CHOICE is the last one."""
_IN_QUESTION[[*range(CALL_CHOICE, WAITING), MESSAGE_CHOICE]] = True


def in_question(status: Int) -> Bool:
    """Tells where a pre-play decision is open."""
    return _IN_QUESTION.take(status)
