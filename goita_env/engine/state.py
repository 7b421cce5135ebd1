"""Holds the state of N games as arrays, and gives games a new deal.

Turn order is a clock: every play or pass moves the turn exactly one seat. So the games are placed
such that in all of them the asked seat sits on one *slot*, ``state.clock``, and no step looks seats
up. Seat i sits on slot (i + offset) & 3. The questions before play don't follow the clock; those
few games are turned such that the seat asked next sits on the next slot.
"""

from __future__ import annotations

from typing import Final, Self

import numpy as np
import numpy.typing as npt

from goita_env import actions
from goita_env.engine.history import (
    FRAME_DEALER,
    FRAME_OTHER_SCORE,
    FRAME_OWN_SCORE,
    NOTE_CALLED,
    NOTE_CONTINUE,
    NOTE_REDEAL,
    score_bits,
)
from goita_env.engine.questions import book
from goita_env.engine.tables import (
    CALL_CHOICE,
    CODE_MASK,
    KING_PERMIT,
    PAWN_DIGITS,
    RADIX,
    WAITING,
    code_counts,
    tables,
)
from goita_env.rules import Rules, get_rules
from goita_env.tiles import KING, MATCH_POINTS, NUM_SEATS

U64 = np.uint64
Int = npt.NDArray[np.int64]
Bits = npt.NDArray[np.uint64]

# Rows of State.slots.
HAND, DOWN, OWN, SHOWN, NOTES, SHIFT, FRAME = range(7)
# Rows of State.games.
STATUS, OFFSET, UP, EVENT, QUERY, DEALER, POINTS, WINNER, SCORES = range(9)  # SCORES: two rows

_SLOT_ROWS: Final = 7 * NUM_SEATS
_ROWS: Final = _SLOT_ROWS + 10
_SLOTS: Final = np.arange(NUM_SEATS, dtype=np.int64)[:, None]
_ASKED_ROWS: Final = np.array([4 * HAND, 4 * NOTES, 4 * FRAME])[:, None, None] + _SLOTS
"""Rows of State.data that are not bare while questions are asked: [3, 4, 1]."""

_TWO_KINGS: Final = 2 * RADIX[KING]
_SEAT_BITS: Final = np.array([1, 2, 4, 8], dtype=np.int64)
_NOTE: Final = np.zeros(actions.NUM_ACTIONS, np.int64)
_NOTE[[actions.CALL, actions.REDEAL, actions.CONTINUE]] = (
    1 << NOTE_CALLED,
    1 << NOTE_REDEAL,
    1 << NOTE_CONTINUE,
)
_DEALER_BITS: Final = np.array([1 << FRAME_DEALER + seat for seat in range(NUM_SEATS)], np.int64)
_TENS: Final = range(MATCH_POINTS // 10)
_OWN_SCORE: Final = np.array([score_bits(10 * n) << FRAME_OWN_SCORE for n in _TENS], np.int64)
_OTHER_SCORE: Final = np.array([score_bits(10 * n) << FRAME_OTHER_SCORE for n in _TENS], np.int64)

# Arrays without a dimension: numpy takes them in half the time of a scalar.
_NUM_ACTIONS: Final = np.array(actions.NUM_ACTIONS)
_CODE_MASK: Final = np.array(CODE_MASK)
_KING_PERMIT: Final = np.array(KING_PERMIT)
_PAWN_DIGITS: Final = np.array(PAWN_DIGITS)
_FIVE: Final = np.array(5)
_CALL_CHOICE: Final = np.array(CALL_CHOICE)
_ONE: Final = np.array(1)
_SIXTY_THREE: Final = np.array(63, U64)
_FOUR: Final = np.array(4)
_THREE: Final = np.array(3)
_ZERO: Final = np.array(0)


_NO_GAMES: Final = np.zeros(0, np.int64)


def _dealt_rows(turn: int) -> Int:
    """Returns the rows of State.data that a deal sets, slot 0 being slot ``turn``: [14, 1]."""
    slots = (np.arange(NUM_SEATS) + turn) & 3
    games = _SLOT_ROWS + np.array([STATUS, OFFSET, QUERY, DEALER, SCORES, SCORES + 1])
    rows: Int = np.concatenate((4 * HAND + slots, 4 * FRAME + slots, games))[:, None]
    return rows


_DEALT_ROWS: Final = _dealt_rows(0)
DEALT_SIZE: Final = len(_DEALT_ROWS)
"""Rows of a prepared deal."""

_CLEARED_ROWS: Final = np.setdiff1d(np.arange(_ROWS), _DEALT_ROWS)[:, None]
_CLEARED: Final = np.zeros(_CLEARED_ROWS.shape, np.int64)
"""What a deal puts into all other rows."""
_CLEARED[_CLEARED_ROWS == _SLOT_ROWS + EVENT] = 1
_CLEARED[_CLEARED_ROWS == _SLOT_ROWS + WINNER] = -1


def in_question(status: Int) -> npt.NDArray[np.bool_]:
    """Tells where a question before play is open."""
    return (status >= CALL_CHOICE) & (status < WAITING)


class State:
    """Holds N games; the last axis of every array is the game.

    One block of integers holds everything, so that copying, selecting and repeating games is one
    numpy call each. The other arrays are parts of it: write into them, don't replace them.

    Attributes:
        rules: the rule set.
        tables: the rules as tables.
        questions: the questions before play, numbered.
        clock: slot whose seat is asked now, in all games.
        asking: int64 [m] games in which a question before play is open.
        ended: int64 [m] games in which the last step decided a redeal or ended the round.
        data: int64 [38, N] all of the games.
        slots: int64 [7, 4, N] what belongs to a seat, by slot; its rows:
        hand: [4, N] code of the tiles in hand, and KING_PERMIT if dealt both kings (see rules).
        down: [4, N] code of the tiles that the seat laid face down.
        own: [4, N] the seat's plays as it sees them, 16 bits each.
        shown: [4, N] the same as the others see them.
        notes: [4, N] public notes on the seat: its events, passes, call and choice (``layout``).
        shift: [4, N] 16 times its plays.
        frame: [4, N] dealer and scores as its word of the table shows them; fixed in a deal.
        games: int64 [10, N] what belongs to a game; its rows:
        status: [N] public status, a column of the tables.
        offset: [N] slot minus seat, modulo 4.
        up: [N] code of the tiles that lie face up.
        event: [N] bit of the next play: 1 << plays in this round.
        query: [N] number of the question in ``questions``.
        dealer: [N] seat of the dealer.
        points: [N] points of the round once it is over, else 0.
        winner: [N] seat that ended the round, -1 before.
        scores: [2, N] points of the two teams before this round.
        dealt_places, cleared_places, asked_places: where parts of game 0 stand in flat ``data``.
    """

    __slots__ = (
        "asked_places",
        "asking",
        "cleared_places",
        "clock",
        "data",
        "dealer",
        "dealt_places",
        "down",
        "ended",
        "event",
        "frame",
        "games",
        "hand",
        "notes",
        "offset",
        "own",
        "points",
        "query",
        "questions",
        "rules",
        "scores",
        "shift",
        "shown",
        "slots",
        "status",
        "tables",
        "up",
        "winner",
    )

    def __init__(self, rules: Rules, data: Int, clock: int = 0) -> None:
        data = np.ascontiguousarray(data)  # flat indices write into it
        self.rules, self.data, self.clock = rules, data, clock
        self.tables, self.questions = tables(rules), book(rules)
        self.slots: Int = data[:_SLOT_ROWS].reshape(7, NUM_SEATS, data.shape[1])
        self.hand: Int = self.slots[HAND]
        self.down: Int = self.slots[DOWN]
        self.own: Int = self.slots[OWN]
        self.shown: Int = self.slots[SHOWN]
        self.notes: Int = self.slots[NOTES]
        self.shift: Int = self.slots[SHIFT]
        self.frame: Int = self.slots[FRAME]
        self.games: Int = data[_SLOT_ROWS:]
        self.status: Int = self.games[STATUS]
        self.offset: Int = self.games[OFFSET]
        self.up: Int = self.games[UP]
        self.event: Int = self.games[EVENT]
        self.query: Int = self.games[QUERY]
        self.dealer: Int = self.games[DEALER]
        self.points: Int = self.games[POINTS]
        self.winner: Int = self.games[WINNER]
        self.scores: Int = self.games[SCORES:]
        self.asking: Int = in_question(self.status).nonzero()[0]
        self.ended: Int = _NO_GAMES
        self.dealt_places = [_dealt_rows(turn) * data.shape[1] for turn in range(NUM_SEATS)]
        self.cleared_places: Int = _CLEARED_ROWS * data.shape[1]
        self.asked_places: Int = _ASKED_ROWS * data.shape[1]

    def __reduce__(self) -> tuple[type[Self], tuple[Rules, Int, int]]:
        """Pickles and deep-copies without the derived parts."""
        return type(self), (self.rules, self.data.copy(), self.clock)

    @classmethod
    def empty(cls, num_games: int, rules: str | Rules) -> Self:
        """Returns games that wait for their first deal."""
        data = np.zeros((_ROWS, num_games), np.int64)
        data[_SLOT_ROWS + STATUS], data[_SLOT_ROWS + WINNER] = WAITING, -1
        return cls(get_rules(rules), data)

    @property
    def num_games(self) -> int:
        """Returns N."""
        return int(self.data.shape[1])

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
        slots = (_SLOTS + self.offset) & 3
        codes = np.take_along_axis(self.hand, slots, axis=0) & CODE_MASK
        counts: npt.NDArray[np.int8] = code_counts()[codes.T]
        return counts

    def copy(self) -> Self:
        """Returns an independent copy."""
        return type(self)(self.rules, self.data.copy(), self.clock)

    def select(self, index: Int) -> Self:
        """Returns the games of an index (int [m]; games may repeat) as a new state."""
        return type(self)(self.rules, self.data.take(index, axis=1), self.clock)

    def repeat(self, times: int | Int) -> Self:
        """Returns each game so many times in a row, as ``numpy.repeat`` does, as a new state."""
        return type(self)(self.rules, self.data.repeat(times, axis=1), self.clock)


def prepare(
    rules: Rules, codes: Int, dealer: Int, scores: Int | None = None, *, questions: bool = True
) -> Int:
    """Works out all that a deal sets, for ``lay``.

    Args:
        rules: the rule set.
        codes: [n, 4] the hands by seat.
        dealer: [n] seats.
        scores: [2, n] points of the teams before the round; None: 0.
        questions: ask who calls; else the dealer begins whatever the hands.

    Returns:
        int64 [14, n], the asked seats on slot 0.
    """
    dealt = np.zeros((DEALT_SIZE, len(dealer)), np.int64)
    hand, frame = dealt[0:4], dealt[4:8]
    dealt[11] = dealer
    offset = np.negative(dealer, out=dealt[9])
    pawns = codes % _PAWN_DIGITS
    if questions and np.count_nonzero(pawns >= _FIVE):
        entries = book(rules)
        holders = 2 * ((pawns >= 5) @ _SEAT_BITS) + (pawns > 5).any(axis=1)
        query = dealt[10] = entries.first[32 * dealer + holders]
        dealt[8] = entries.status[query]
        offset -= entries.asked[query]
    offset &= _THREE

    seat = (_SLOTS - offset) & _THREE
    places = seat + np.arange(0, codes.size, NUM_SEATS)
    hand[:] = codes.reshape(-1).take(places)
    if rules.second_king_after_own_face_down:
        hand += (hand >= _TWO_KINGS) * _KING_PERMIT
    frame[:] = _DEALER_BITS.take((dealer - seat) & _THREE)
    if scores is not None:
        dealt[12:] = scores
        even, odd = scores // 10
        frame |= np.where(
            seat & 1,
            _OWN_SCORE.take(odd) | _OTHER_SCORE.take(even),
            _OWN_SCORE.take(even) | _OTHER_SCORE.take(odd),
        )
    return dealt


def has_question(dealt: Int) -> npt.NDArray[np.bool_]:
    """Tells in which prepared deals somebody is asked before play: bool [n]."""
    asks: npt.NDArray[np.bool_] = dealt[8] >= _CALL_CHOICE
    return asks


def lay(state: State, rows: Int, dealt: Int) -> None:
    """Gives prepared deals to some games in which nobody is asked, in place.

    Args:
        state: the games.
        rows: [n] the games that are dealt to.
        dealt: [14, n] from ``prepare``; consumed.
    """
    offset, flat = dealt[9], state.data.reshape(-1)
    offset += state.clock
    offset &= _THREE
    # One index into the flat block is six times as fast as one along the last axis.
    flat[state.dealt_places[state.clock] + rows] = dealt
    flat[state.cleared_places + rows] = _CLEARED
    asked = has_question(dealt).nonzero()[0]
    if len(asked):
        state.asking = np.concatenate((state.asking, rows[asked]))
