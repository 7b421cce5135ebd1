"""Plays N games at once: the state as arrays, legal pairs, one decision in every game a step.

Turn order is a clock: every play or pass moves the turn exactly one seat, so the games are placed such
that in all of them the asked seat sits on one *slot*, ``state.clock``, and no step looks seats up. Seat
i sits on slot (i + offset) & 3. The questions before play don't follow the clock; those few games
are turned such that the seat asked next sits on the next slot.

There is no randomness inside: a state after a redeal waits for a deal, a finished game stays still.
Actions are trusted here; the environments check them.
"""

from __future__ import annotations

from typing import Final, Self

import numpy as np
import numpy.typing as npt

from goita_env import actions
from goita_env.layout import (
    NOTE_CALLED,
    NOTE_CONTINUE,
    NOTE_REDEAL,
    TABLE_DEALER,
    TABLE_OTHER_SCORE,
    TABLE_OWN_SCORE,
    score_bits,
)
from goita_env.questions import CALLED, REDEALT, book
from goita_env.rules import Rules, get_rules
from goita_env.tables import (
    CALL_CHOICE,
    CODE_MASK,
    KING_PERMIT,
    OVER,
    OWN_BITS,
    PAWN_DIGITS,
    RADIX,
    WAITING,
    SHOWN_BITS,
    code_counts,
    tables,
)
from goita_env.tiles import KING, MATCH_POINTS, NUM_SEATS

U64 = np.uint64
Int = npt.NDArray[np.int64]
Bits = npt.NDArray[np.uint64]

# Rows of State.slots.
HAND, DOWN, OWN, SHOWN, NOTES, SHIFT, FRAME = range(7)
# Rows of State.games.
STATUS, OFFSET, UP, EVENT, QUERY, DEALER, POINTS, WINNER, SCORE_0, SCORE_1 = range(10)

_SLOT_ROWS: Final = 7 * NUM_SEATS
_ROWS: Final = _SLOT_ROWS + 10
_SLOTS: Final = np.arange(NUM_SEATS, dtype=np.int64)[:, None]
_FIELDS: Final = np.arange(7, dtype=np.int64)[:, None, None]
_TWO_KINGS: Final = 2 * RADIX[KING]
_SEAT_BITS: Final = np.array([1, 2, 4, 8], dtype=np.int64)
_NOTE: Final = np.zeros(actions.NUM_ACTIONS, np.int64)
_NOTE[[actions.CALL, actions.REDEAL, actions.CONTINUE]] = (
    1 << NOTE_CALLED,
    1 << NOTE_REDEAL,
    1 << NOTE_CONTINUE,
)
_DEALER_BITS: Final = np.array([1 << TABLE_DEALER + seat for seat in range(NUM_SEATS)], np.int64)
_TENS: Final = range(MATCH_POINTS // 10)
_OWN_SCORE: Final = np.array([score_bits(10 * n) << TABLE_OWN_SCORE for n in _TENS], np.int64)
_OTHER_SCORE: Final = np.array([score_bits(10 * n) << TABLE_OTHER_SCORE for n in _TENS], np.int64)

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


def _turned_rows(turn: int) -> Int:
    """Returns the rows of State.data such that each slot stands for the one ``turn`` further."""
    slots = np.arange(_SLOT_ROWS).reshape(-1, NUM_SEATS)
    slots = slots[:, (np.arange(NUM_SEATS) + turn) & 3].ravel()
    return np.concatenate((slots, np.arange(_SLOT_ROWS, _ROWS)))[:, None]


_NO_GAMES: Final = np.zeros(0, np.int64)
_TURNED: Final = [_turned_rows(turn) for turn in range(NUM_SEATS)]


class State:
    """Holds N games; the last axis of every array is the game.

    One block of integers holds everything, so that copying, selecting and repeating games is one
    numpy call each; the properties name its rows.

    Attributes:
        rules: the rule set.
        tables: the rules as tables.
        data: int64 [38, N] all of the games.
        slots: int64 [7, 4, N] what belongs to a seat, by slot (a part of ``data``).
        games: int64 [10, N] what belongs to a game (a part of ``data``).
        clock: slot whose seat is asked now, in all games.
        asking: int64 [m] games in which a question before play is open.
        ended: int64 [m] games in which the last step decided a redeal or ended the round.
    """

    __slots__ = (
        "_places",
        "asking",
        "clock",
        "data",
        "ended",
        "games",
        "questions",
        "rules",
        "slots",
        "tables",
    )

    def __init__(self, rules: Rules, data: Int, clock: int = 0) -> None:
        self.rules, self.data, self.clock = rules, data, clock
        self.tables, self.questions = tables(rules), book(rules)
        self._places = [rows * data.shape[1] for rows in _TURNED]
        self.ended = _NO_GAMES
        self.slots = data[:_SLOT_ROWS].reshape(-1, NUM_SEATS, data.shape[1])
        self.games = data[_SLOT_ROWS:]
        status = self.games[STATUS]
        self.asking = ((status >= CALL_CHOICE) & (status < WAITING)).nonzero()[0]

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
        return self.data.shape[1]

    @property
    def hand(self) -> Int:
        """[4, N] Code of the tiles in hand, with KING_PERMIT if dealt both kings (where it counts)."""
        return self.slots[HAND]

    @property
    def down(self) -> Int:
        """[4, N] Code of the tiles that the slot's seat laid face down."""
        return self.slots[DOWN]

    @property
    def up(self) -> Int:
        """[N] Code of the tiles that lie face up."""
        return self.games[UP]

    @property
    def own(self) -> Bits:
        """[4, N] The slot's plays as its seat sees them, 16 bits each."""
        return self.slots[OWN].view(U64)

    @property
    def shown(self) -> Bits:
        """[4, N] The slot's plays as the others see them."""
        return self.slots[SHOWN].view(U64)

    @property
    def notes(self) -> Bits:
        """[4, N] Public notes on the slot: its events, passes, call and choice (``layout``)."""
        return self.slots[NOTES].view(U64)

    @property
    def frame(self) -> Bits:
        """[4, N] Dealer and scores as the slot's word of the table shows them; fixed in a deal."""
        return self.slots[FRAME].view(U64)

    @property
    def status(self) -> Int:
        """[N] Public status, a row of the tables."""
        return self.games[STATUS]

    @property
    def offset(self) -> Int:
        """[N] Slot minus seat, modulo 4."""
        return self.games[OFFSET]

    @property
    def dealer(self) -> Int:
        """[N] Seat of the dealer."""
        return self.games[DEALER]

    @property
    def points(self) -> npt.NDArray[np.int64]:
        """[N] Points of the round once it is over, else 0."""
        return self.games[POINTS]

    @property
    def winner(self) -> Int:
        """[N] Seat that ended the round, -1 before."""
        return self.games[WINNER]

    @property
    def scores(self) -> Int:
        """[2, N] Points of the two teams before this round."""
        return self.games[SCORE_0:]

    @property
    def seat(self) -> Int:
        """[N] Seat that is asked now, -1 if none is."""
        seats = (self.clock - self.offset) & 3
        seats[self.status >= WAITING] = -1
        return seats

    def slot_of(self, seat: int | Int) -> Int:
        """Returns the slot of a seat in each game: [N]."""
        return (seat + self.offset) & 3

    def hand_counts(self) -> npt.NDArray[np.int8]:
        """Returns how many tiles of each kind each seat holds: int8 [N, 4, 8], by seat."""
        slots = (_SLOTS + self.offset) & 3
        codes = np.take_along_axis(self.hand, slots, axis=0) & CODE_MASK
        return code_counts()[codes.T]

    def copy(self) -> Self:
        """Returns an independent copy."""
        return type(self)(self.rules, self.data.copy(), self.clock)

    def select(self, index: Int) -> Self:
        """Returns the games of an index (int [m]; games may repeat) as a new state."""
        return type(self)(self.rules, self.data[:, index], self.clock)

    def repeat(self, times: int | Int) -> Self:
        """Returns each game so many times in a row, as ``numpy.repeat`` does, as a new state."""
        return type(self)(self.rules, self.data.repeat(times, axis=1), self.clock)

    def place(self, rows: Int, data: Int, turn: int = 0) -> None:
        """Puts whole games in the place of some, their slots turned by so many, in place.

        Args:
            rows: [n] the games that are replaced.
            data: [38, n] as ``State.data``.
            turn: 0 to 3.
        """
        # One index into the flat block is six times as fast as one along the last axis.
        self.data.reshape(-1)[self._places[turn] + rows] = data

    def pick(self, rows: Int) -> Int:
        """Returns some games' data: [38, n]."""
        return self.data.reshape(-1).take(self._places[0] + rows)


def deal(
    state: State,
    rows: Int,
    codes: Int,
    dealer: Int,
    scores: Int | None = None,
    questions: bool = True,
) -> None:
    """Deals to some games in which nobody is asked, in place.

    Args:
        state: the games.
        rows: [n] the games that are dealt to.
        codes: [n, 4] the hands by seat.
        dealer: [n] seats.
        scores: [2, n] points of the teams before the round; None: 0.
        questions: ask who calls; else the dealer begins whatever the hands.
    """
    count = len(rows)
    data = np.zeros((_ROWS, count), np.int64)
    games, slots = data[_SLOT_ROWS:], data[:_SLOT_ROWS].reshape(-1, NUM_SEATS, count)
    games[EVENT], games[DEALER], games[WINNER] = 1, dealer, -1
    offset = np.subtract(state.clock, dealer, out=games[OFFSET])
    fives = (codes % _PAWN_DIGITS) >= _FIVE
    asks = questions and bool(np.count_nonzero(fives))
    if asks:
        entries = state.questions
        holders = 2 * (fives @ _SEAT_BITS) + (codes % _PAWN_DIGITS > _FIVE).any(axis=1)
        query = games[QUERY] = entries.first[32 * dealer + holders]
        games[STATUS] = entries.status[query]
        offset -= entries.asked[query]
    offset &= _THREE

    seat = (_SLOTS - offset) & _THREE
    hand = codes.reshape(-1).take(seat + np.arange(0, 4 * count, 4))
    slots[HAND] = hand
    if state.rules.second_king_after_own_face_down:
        slots[HAND] += (hand >= _TWO_KINGS) * _KING_PERMIT
    slots[FRAME] = _DEALER_BITS.take((dealer - seat) & _THREE)
    if scores is not None:
        games[SCORE_0:] = scores
        even, odd = scores // 10
        slots[FRAME] |= np.where(
            seat & 1,
            _OWN_SCORE.take(odd) | _OTHER_SCORE.take(even),
            _OWN_SCORE.take(even) | _OTHER_SCORE.take(odd),
        )
    state.place(rows, data)
    if asks:
        state.asking = np.concatenate((state.asking, rows[games[STATUS] >= CALL_CHOICE]))


def transplant(source: State, picked: Int, target: State, rows: Int) -> None:
    """Moves games from one state to the place of some in another, whatever their clocks.

    Args:
        source: where the games stand.
        picked: [n] which of them.
        target: where they go, in place; nobody is asked in the games that are replaced.
        rows: [n] games that they replace.
    """
    turn = (target.clock - source.clock) & 3
    data = source.pick(picked)
    offset = data[_SLOT_ROWS + OFFSET]
    offset += turn
    offset &= _THREE
    target.place(rows, data, turn)
    asked = (data[_SLOT_ROWS + STATUS] >= _CALL_CHOICE).nonzero()[0]
    if len(asked):
        target.asking = np.concatenate((target.asking, rows[asked]))


def legal_actions(state: State) -> tuple[Bits, Bits]:
    """Returns what each asked seat may do, as bits: two uint64 [N], actions 0-63 and 64-68."""
    t, status = state.tables, state.games[STATUS]
    pairs, permit, low = t.asks.take(status, axis=1)
    permit |= state.slots[HAND, state.clock]
    pairs &= t.pairs.take(permit)
    low |= pairs << _ONE
    high = pairs.view(U64) >> _SIXTY_THREE
    asking = state.asking
    if len(asking):
        high[asking] = t.answers[status[asking]]
    return low.view(U64), high


def step(state: State, chosen: Int) -> None:
    """Makes one decision in every game, in place, and moves the clock.

    Args:
        state: the games.
        chosen: [N] a legal action of each asked seat; where nobody is asked any action does nothing.
    """
    t, clock, slots, games = state.tables, state.clock, state.slots, state.games
    status, event, up = games[STATUS], games[EVENT], games[UP]
    hand, notes, shift = slots[HAND, clock], slots[NOTES, clock], slots[SHIFT, clock]
    key = status * _NUM_ACTIONS
    key += chosen
    moves = t.moves.take(key, axis=1)
    played, face_up, _, _, is_play, pass_bits, after = moves

    hand -= played
    up += face_up
    down = slots[DOWN, clock]
    played -= face_up
    down += played
    bits = moves[OWN_BITS : SHOWN_BITS + 1]
    bits <<= shift
    plays = slots[OWN : SHOWN + 1, clock]
    plays |= bits
    pass_bits |= event * is_play
    notes |= pass_bits
    event <<= is_play
    is_play <<= _FOUR
    shift += is_play

    ended = ((hand & _CODE_MASK) == _ZERO).nonzero()[0]
    if len(ended):
        ended = ended[status[ended] < CALL_CHOICE]
        after[ended] = OVER
        games[POINTS][ended] = t.points[key[ended]]
        games[WINNER][ended] = (clock - games[OFFSET][ended]) & 3
    status[:] = after
    state.ended = ended
    if len(state.asking):
        _answer(state, state.asking, chosen[state.asking])
    state.clock = (clock + 1) & 3


def _answer(state: State, rows: Int, answers: Int) -> None:
    """Takes the answers to questions before play and turns the games to the seat asked next.

    Args:
        state: the games, their clock not moved yet.
        rows: [n] the games in which a question is open.
        answers: [n] their actions.
    """
    entries, clock, games = state.questions, state.clock, state.games
    state.slots[NOTES, clock][rows] |= _NOTE[answers]
    query = entries.next[games[QUERY][rows] * _NUM_ACTIONS + answers]
    status = entries.status[query]
    games[QUERY][rows], games[STATUS][rows] = query, status
    closed = (status >= WAITING).nonzero()[0]
    if len(closed):
        ended = rows[closed]
        state.ended = np.concatenate((state.ended, ended))
        _close(state, ended, query[closed])
    old = games[OFFSET][rows]
    offset = (clock + 1 - games[DEALER][rows] - entries.asked[query]) & _THREE
    games[OFFSET][rows] = offset
    # The seat now on slot j goes to slot j + offset - old.
    flat = state.data[:_SLOT_ROWS].reshape(-1)
    data = flat.take(state._places[0][:_SLOT_ROWS] + rows)
    turned = (_SLOTS + (offset - old)) & _THREE
    places = (turned * state.num_games + rows)[None] + _FIELDS * (NUM_SEATS * state.num_games)
    flat[places] = data.reshape(places.shape)
    state.asking = rows[((status >= CALL_CHOICE) & (status < WAITING))]


def _close(state: State, rows: Int, query: Int) -> None:
    """Scores the rounds that an answer ended: two fives of partners, or a call of six or more.

    Args:
        state: the games.
        rows: [n] the games, among them those that will be dealt again.
        query: [n] how the questions ended.
    """
    games, clock = state.games, state.clock
    scored = rows[query != REDEALT]
    games[WINNER][scored] = (clock - games[OFFSET][scored]) & 3
    games[POINTS][scored] = MATCH_POINTS
    called = rows[query == CALLED]
    # The caller of six or more lays its hand open, as four plays that are no events.
    hand = state.slots[HAND, clock][called] & CODE_MASK
    games[POINTS][called] = state.tables.call_points[hand]
    bits = state.tables.call_bits[hand]
    state.slots[OWN, clock][called] = bits
    state.slots[SHOWN, clock][called] = bits
    state.slots[HAND, clock][called] = 0
    games[UP][called] = hand


def note(state: State, action: int) -> None:
    """Writes a call or choice of the asked seats into their public notes, in every game, in place."""
    state.slots[NOTES, state.clock] |= _NOTE[action]
