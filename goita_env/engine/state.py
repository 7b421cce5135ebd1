"""Holds N games as one block of integers; ``docs/engine.md`` draws it.

Turn order is a clock: every play or pass moves the turn exactly one seat. So the games are placed
such that in all of them the asked seat sits on one *slot*, ``state.clock``, and no step looks seats
up. Seat i sits on slot (i + offset) & 3. The questions before play don't follow the clock; those
few games are turned such that the seat asked next sits on the next slot.
"""

from __future__ import annotations

from dataclasses import dataclass
from functools import cached_property, lru_cache
from typing import Annotated, Final, NamedTuple, Self, get_type_hints

import numpy as np
import numpy.typing as npt

from goita_env.engine.questions import question_tables
from goita_env.engine.tables import CALL_CHOICE, CODE_MASK, WAITING, code_counts, tables
from goita_env.rules import Rules, get_rules
from goita_env.tiles import NUM_SEATS

Int = npt.NDArray[np.int64]
Bool = npt.NDArray[np.bool_]

SLOTS: Final = np.arange(NUM_SEATS, dtype=np.int64)[:, None]


@dataclass(frozen=True)
class Field:
    """Describes a field of the state: how many rows it has, and what becomes of it."""

    rows: int
    """Rows of the block; four where each slot has one."""
    deal: int | None = 0
    """What a new deal puts there; None: what was prepared for it."""
    turns: bool = False
    """It isn't bare while questions are asked, so it turns with the seats."""


_SEAT: Final = Field(NUM_SEATS)
_GAME: Final = Field(1)


class State:
    """Holds N games; the last axis of every array is the game.

    ``data`` holds everything, so that copying, selecting and repeating games is one numpy call
    each. Every annotated field is a part of it, in this order: write into it, don't replace it.
    What belongs to a seat comes first, a row a slot, then what belongs to the game.
    """

    hand: Annotated[Int, Field(NUM_SEATS, deal=None, turns=True)]
    """[4, N] Code of the tiles in hand, and KING_PERMIT if dealt both kings (see rules)."""
    down: Annotated[Int, _SEAT]
    """[4, N] Code of the tiles that the seat laid face down."""
    own: Annotated[Int, _SEAT]
    """[4, N] The seat's plays as it sees them, 16 bits each."""
    shown: Annotated[Int, _SEAT]
    """[4, N] The same as the others see them."""
    notes: Annotated[Int, Field(NUM_SEATS, turns=True)]
    """[4, N] Public notes on the seat: its events, passes, call and choice (``history``)."""
    shift: Annotated[Int, _SEAT]
    """[4, N] 16 times its plays."""
    frame: Annotated[Int, Field(NUM_SEATS, deal=None, turns=True)]
    """[4, N] Dealer and scores as the seat sees them (``history``)."""
    status: Annotated[Int, Field(1, deal=None)]
    """[N] Public status, a column of the tables."""
    offset: Annotated[Int, Field(1, deal=None)]
    """[N] Slot minus seat, modulo 4."""
    up: Annotated[Int, _GAME]
    """[N] Code of the tiles that lie face up."""
    event: Annotated[Int, Field(1, deal=1)]
    """[N] Bit of the next play: 1 << plays in this round."""
    query: Annotated[Int, Field(1, deal=None)]
    """[N] Number of the question in ``questions``."""
    dealer: Annotated[Int, Field(1, deal=None)]
    """[N] Seat of the dealer."""
    points: Annotated[Int, _GAME]
    """[N] Points of the round once it is over, else 0."""
    winner: Annotated[Int, Field(1, deal=-1)]
    """[N] Seat that ended the round, -1 before."""
    scores: Annotated[Int, Field(2, deal=None)]
    """[2, N] Points of the two teams before this round."""

    def __init__(self, rules: Rules, data: Int, clock: int = 0) -> None:
        self.rules = rules
        self.tables, self.questions = tables(rules), question_tables(rules)
        self._hold(data, clock)

    def _hold(self, data: Int, clock: int) -> None:
        """Takes the block and names its parts."""
        self.data = data = np.ascontiguousarray(data)  # flat indices write into it
        self.clock = clock
        """Slot whose seat is asked now, in all games."""
        self.__dict__.update(zip(_NAMES, map(data.__getitem__, _INDICES), strict=True))
        self.by_slot: Int = data[:_SLOT_ROWS].reshape(
            _SLOT_ROWS // NUM_SEATS, NUM_SEATS, data.shape[1]
        )
        """[7, 4, N] What belongs to a seat: the first seven fields, numbered ``HAND`` and so on."""
        self.ended: Int = _NO_GAMES
        """[m] Games in which the last step decided a redeal or ended the round, ascending."""

    def __reduce__(self) -> tuple[type[Self], tuple[Rules, Int, int]]:
        """Pickles and deep-copies without the derived parts."""
        return type(self), (self.rules, self.data.copy(), self.clock)

    @classmethod
    def empty(cls, num_games: int, rules: str | Rules) -> Self:
        """Returns games that wait for their first deal."""
        state = cls(get_rules(rules), np.zeros((ROWS, num_games), np.int64))
        state.status[:], state.winner[:] = WAITING, -1
        state.asking = _NO_GAMES
        return state

    def like(self, data: Int) -> Self:
        """Returns other games of the same rules, whose clock stands as here; ``data``: a block."""
        other = object.__new__(type(self))
        other.rules, other.tables, other.questions = self.rules, self.tables, self.questions
        other._hold(data, self.clock)
        return other

    @property
    def num_games(self) -> int:
        """Returns N."""
        return int(self.data.shape[1])

    @cached_property
    def asking(self) -> Int:
        """[m] Games in which a question before play is open; kept up to date once it was read."""
        return in_question(self.status).nonzero()[0]

    @property
    def places(self) -> Places:
        """Returns where rows stand in the flat block."""
        return _places(self.data.shape[1])

    @property
    def seat(self) -> Int:
        """Returns the seat that is asked now, -1 where none is: [N]."""
        seats: Int = (self.clock - self.offset) & 3
        seats[self.status >= WAITING] = -1
        return seats

    def slot_of(self, seat: int | Int) -> Int:
        """Returns the slot of a seat in each game: [N]."""
        slots: Int = (seat + self.offset) & 3
        return slots

    def hand_counts(self) -> npt.NDArray[np.int8]:
        """Returns how many tiles of each kind each seat holds: int8 [N, 4, 8], by seat."""
        codes = np.take_along_axis(self.hand, (SLOTS + self.offset) & 3, axis=0) & CODE_MASK
        counts: npt.NDArray[np.int8] = code_counts()[codes.T]
        return counts

    def dealt_counts(self) -> npt.NDArray[np.int8]:
        """Returns how many tiles of each kind each seat was dealt: int8 [N, 4, 8], by seat."""
        plays = np.ascontiguousarray(self.own.T).view(np.uint8).reshape(-1, NUM_SEATS, 8)
        tiles = (plays[..., None] == (1 << np.arange(8))).sum(axis=2, dtype=np.int8)
        slots = (np.arange(NUM_SEATS) + self.offset[:, None]) & 3
        dealt: npt.NDArray[np.int8] = self.hand_counts()
        dealt += np.take_along_axis(tiles, slots[..., None], axis=1)
        return dealt

    def copy(self) -> Self:
        """Returns an independent copy."""
        return self.like(self.data.copy())

    def select(self, index: Int | Bool) -> Self:
        """Returns the games of an index (int [m], which may repeat, or a mask) as a new state."""
        if index.dtype == np.bool_:  # ``take`` would read a mask as the games 0 and 1
            index = index.nonzero()[0]
        return self.like(self.data.take(index, axis=1))

    def repeat(self, times: int | Int) -> Self:
        """Returns each game so many times in a row, as ``numpy.repeat`` does, as a new state."""
        return self.like(self.data.repeat(times, axis=1))

    def turn(self, rows: Int, by: Int | int, fields: Int) -> None:
        """Moves the seats of some games on by some slots, in place.

        Args:
            rows: [n] the games.
            by: [n] or one number of slots, 0 to 3.
            fields: [f, 4, 1] rows of the fields to move, by slot: ``BEFORE_PLAY`` or ``SEATS``.
        """
        self.offset[rows] = (self.offset[rows] + by) & 3
        # One index into the flat block is six times as fast as one along the last axis.
        flat, many = self.data.reshape(-1), self.data.shape[1]
        moved = flat.take(fields * many + rows)
        to = (SLOTS + by) & _THREE
        to *= many
        to += rows
        flat[fields[:, :1] * many + to] = moved


_NO_GAMES: Final = np.zeros(0, np.int64)
_THREE: Final = np.array(3)
_HINTS: Final = get_type_hints(State, include_extras=True)
FIELDS: Final[dict[str, Field]] = {
    name: hint.__metadata__[0] for name, hint in _HINTS.items() if hasattr(hint, "__metadata__")
}
"""The fields of the state in order."""


def _parts() -> list[tuple[str, int, int]]:
    """Lists name, first row and the row after the last of every field."""
    stops = np.cumsum([field.rows for field in FIELDS.values()]).tolist()
    return [
        (name, stop - field.rows, stop)
        for (name, field), stop in zip(FIELDS.items(), stops, strict=True)
    ]


_PARTS: Final = _parts()
_NAMES: Final = [name for name, _, _ in _PARTS]
_INDICES: Final = [start if stop == start + 1 else slice(start, stop) for _, start, stop in _PARTS]
_START: Final = {name: start for name, start, _ in _PARTS}
ROWS: Final = _PARTS[-1][2]
"""Rows of the block."""
OFFSET: Final = _START["offset"]
"""Its row of offsets."""
_SLOT_ROWS: Final = _START["status"]
HAND, DOWN, OWN, SHOWN, NOTES, SHIFT, FRAME = range(_SLOT_ROWS // NUM_SEATS)
"""Numbers of the fields in ``State.by_slot``."""


_TURNS: Final = [_START[name] for name, field in FIELDS.items() if field.turns]
BEFORE_PLAY: Final[Int] = np.array(_TURNS)[:, None, None] + SLOTS
"""[f, 4, 1] Rows by slot of the fields that aren't bare while questions are asked."""
SEATS: Final[Int] = np.arange(0, _SLOT_ROWS, NUM_SEATS)[:, None, None] + SLOTS
"""[7, 4, 1] Rows by slot of all that belongs to a seat."""


def _rows_by_turn() -> list[Int]:
    """Lists for 0 to 3 slots the rows in the order in which they stand once seats have moved on."""
    rows = np.arange(ROWS)
    slots = rows[:_SLOT_ROWS].reshape(-1, NUM_SEATS)
    turned = [np.roll(slots, by, axis=1).ravel() for by in range(NUM_SEATS)]
    return [np.concatenate((seats, rows[_SLOT_ROWS:]))[:, None] for seats in turned]


ROWS_BY_TURN: Final = _rows_by_turn()
"""By how many slots the seats of all games move on: [r, 1] the rows to take, in order."""

PREPARED: Final = tuple(name for name, field in FIELDS.items() if field.deal is None)
"""The fields that are prepared for a deal, in order; ``deals.Prepared`` holds them."""


def _clear_rows() -> tuple[Int, Int]:
    """Lists the rows that every deal sets alike, and what it puts there: [r, 1] each."""
    rows: list[int] = []
    values: list[int] = []
    for name, start, stop in _PARTS:
        value = FIELDS[name].deal
        if value is not None:
            rows += range(start, stop)
            values += [value] * (stop - start)
    return np.array(rows)[:, None], np.array(values)[:, None]


_CLEAR_ROWS, CLEAR_VALUES = _clear_rows()


def _prepared_rows(clock: int) -> Int:
    """Lists the rows that a prepared deal fills if its slot 0 comes to slot ``clock``: [p, 1]."""
    rows: list[int] = []
    for name in PREPARED:
        per_slot = _START[name] < _SLOT_ROWS
        turned = [(slot + clock) & 3 for slot in range(NUM_SEATS)] if per_slot else None
        rows += [_START[name] + row for row in turned or range(FIELDS[name].rows)]
    return np.array(rows)[:, None]


class Places(NamedTuple):
    """Says where rows stand in the flat block of so many games: the place of game 0."""

    prepared: list[Int]
    """By clock: [p, 1] what a prepared deal fills."""
    clear: Int
    """[r, 1] What every deal sets alike."""


@lru_cache(maxsize=256)
def _places(num_games: int) -> Places:
    """Returns the places for so many games."""
    return Places(
        [_prepared_rows(clock) * num_games for clock in range(NUM_SEATS)],
        _CLEAR_ROWS * num_games,
    )


def in_question(status: Int) -> Bool:
    """Tells where a question before play is open."""
    return (status >= CALL_CHOICE) & (status < WAITING)
