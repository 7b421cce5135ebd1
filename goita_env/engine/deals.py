"""Deals: shuffles by key, works out all that a deal sets, and lays it into games.

What is dealt is a pure function of its key (``seeds``): there is no generator object per game.
"""

from __future__ import annotations

from typing import Final

import numpy as np
import numpy.typing as npt

from goita_env import seeds
from goita_env.engine.history import (
    FRAME_DEALER,
    FRAME_OTHER_SCORE,
    FRAME_OWN_SCORE,
    score_bits,
)
from goita_env.engine.questions import question_tables
from goita_env.engine.state import CLEAR_VALUES, SLOTS, Bool, Int, State
from goita_env.engine.tables import CALL_CHOICE, KING_PERMIT, PAWN_DIGITS, RADIX
from goita_env.rules import Rules
from goita_env.seeds import GOLDEN, Keys, mix
from goita_env.tiles import (
    COUNTS,
    HAND_SIZE,
    KING,
    MATCH_POINTS,
    NUM_KINDS,
    NUM_SEATS,
    NUM_TILES,
)

U64 = np.uint64

# ------------------------------------------------------------------------------------- shuffling

# Arrays without a dimension: numpy takes them in half the time of a scalar.
_STEPS: Final = np.arange(NUM_TILES // 2, dtype=U64) * GOLDEN
_KIND_OF_TILE: Final = np.repeat(np.arange(NUM_KINDS, dtype=np.uint32), COUNTS)
_KIND_BITS: Final = np.array(NUM_KINDS - 1, np.uint32)
_RANDOM_BITS: Final = np.array(~_KIND_BITS)
_PAIR_KINDS: Final = np.array((NUM_KINDS - 1) | (NUM_KINDS - 1) << 32, U64)
_PAIR_SHIFT: Final = np.array(29, U64)
_PAIR: Final = np.array(NUM_KINDS**2 - 1, U64)
_RADIX_OF_PAIR: Final = np.array([RADIX[p % 8] + RADIX[p // 8] for p in range(NUM_KINDS**2)])


def _shuffle(keys: Keys) -> npt.NDArray[np.uint32]:
    """Returns the kinds of the 32 tiles in a uniform order for each key: [n, 32], in the low bits.

    Random 29-bit numbers with the kind in the low three bits are sorted. Equal numbers, which would
    fall back on the kind, come in one deal of a million and shift nothing measurable.
    """
    bits = mix(keys[:, None] + _STEPS).view(np.uint32)
    bits &= _RANDOM_BITS
    bits |= _KIND_OF_TILE
    bits.sort(axis=1)
    return bits


def hands(keys: Keys) -> npt.NDArray[np.int8]:
    """Deals: the kinds of each seat's tiles, int8 [n, 4, 8], each hand sorted."""
    kinds = (_shuffle(keys) & _KIND_BITS).astype(np.int8).reshape(-1, NUM_SEATS, HAND_SIZE)
    kinds.sort(axis=2)
    return kinds


def hand_codes(keys: Keys) -> Int:
    """Deals the same hands as codes of the tables: int64 [n, 4]."""
    pairs = _shuffle(keys).view(U64)
    pairs &= _PAIR_KINDS
    pairs |= pairs >> _PAIR_SHIFT
    pairs &= _PAIR
    tiles: Int = _RADIX_OF_PAIR.take(pairs.view(np.int64))
    while tiles.shape[1] > NUM_SEATS:  # adding neighbours is faster than a sum over four
        tiles = tiles[:, 0::2] + tiles[:, 1::2]
    return tiles


def first_dealers(keys: Keys) -> Int:
    """Draws the first dealer of an episode from the key of its first deal: int64 [n] seats."""
    return (mix(keys ^ GOLDEN) >> U64(62)).astype(np.int64)


# ------------------------------------------------------------------------------------- preparing

_TWO_KINGS: Final = 2 * RADIX[KING]
_DEALER_BITS: Final = np.array([1 << (FRAME_DEALER + seat) for seat in range(NUM_SEATS)], np.int64)
_TENS: Final = range(MATCH_POINTS // 10)
_OWN_SCORE: Final = np.array([score_bits(10 * n) << FRAME_OWN_SCORE for n in _TENS], np.int64)
_OTHER_SCORE: Final = np.array([score_bits(10 * n) << FRAME_OTHER_SCORE for n in _TENS], np.int64)

_CALL_CHOICE: Final = np.array(CALL_CHOICE)
_PAWN_DIGITS: Final = np.array(PAWN_DIGITS)
_FIVE: Final = np.array(5)
_THREE: Final = np.array(3)
_ONE: Final = np.array(1)


class Prepared:
    """Names the rows of a prepared deal: the fields of a state that a deal must set.

    The asked seat sits on slot 0.

    Args:
        data: int64 [14, n] the rows in the order of ``state.PREPARED``.
    """

    ROWS: Final = 14

    def __init__(self, data: Int) -> None:
        self.data = data

    hand = property(lambda self: self.data[0:4], doc="[4, n]")
    frame = property(lambda self: self.data[4:8], doc="[4, n]")
    status = property(lambda self: self.data[8], doc="[n]")
    offset = property(lambda self: self.data[9], doc="[n]")
    query = property(lambda self: self.data[10], doc="[n]")
    dealer = property(lambda self: self.data[11], doc="[n]")
    scores = property(lambda self: self.data[12:14], doc="[2, n]")

    @property
    def has_question(self) -> Bool:
        """Tells in which deals somebody is asked before play: bool [n]."""
        asks: Bool = self.status >= _CALL_CHOICE
        return asks


def prepare(
    rules: Rules, codes: Int, dealer: Int, scores: Int | None = None, *, questions: bool = True
) -> Prepared:
    """Works out all that a deal sets, for ``lay``.

    Args:
        rules: the rule set.
        codes: [n, 4] the hands by seat.
        dealer: [n] seats.
        scores: [2, n] points of the teams before the round; None: 0.
        questions: ask who calls; else the dealer begins whatever the hands.
    """
    dealt = Prepared(np.zeros((Prepared.ROWS, len(dealer)), np.int64))
    hand, frame, offset = dealt.hand, dealt.frame, dealt.offset
    dealt.dealer[:] = dealer
    np.negative(dealer, out=offset)
    pawns = codes % _PAWN_DIGITS
    if questions and np.count_nonzero(pawns >= _FIVE):
        entries = question_tables(rules)
        query = entries.opening(dealer, pawns)
        dealt.query[:] = query
        dealt.status[:] = entries.status[query]
        offset -= entries.asked[query]
    offset &= _THREE

    seat = (SLOTS - offset) & _THREE
    places = seat + np.arange(0, codes.size, NUM_SEATS)
    hand[:] = codes.reshape(-1).take(places)
    if rules.second_king_after_own_face_down:
        hand += (hand >= _TWO_KINGS) * KING_PERMIT
    frame[:] = _DEALER_BITS.take((dealer - seat) & _THREE)
    if scores is not None:
        dealt.scores[:] = scores
        even, odd = scores // 10
        frame |= np.where(
            seat & 1,
            _OWN_SCORE.take(odd) | _OTHER_SCORE.take(even),
            _OWN_SCORE.take(even) | _OTHER_SCORE.take(odd),
        )
    return dealt


def lay(state: State, rows: Int, dealt: Prepared) -> None:
    """Gives prepared deals to some games in which nobody is asked, in place.

    Args:
        state: the games.
        rows: [n] the games that are dealt to.
        dealt: n deals; consumed.
    """
    places, flat = state.places, state.data.reshape(-1)
    offset = dealt.offset
    offset += state.clock
    offset &= _THREE
    # One index into the flat block is six times as fast as one along the last axis.
    flat[places.prepared[state.clock] + rows] = dealt.data
    flat[places.clear + rows] = CLEAR_VALUES
    asked = dealt.has_question.nonzero()[0]
    if len(asked):
        state.asking = np.sort(np.concatenate((state.asking, rows[asked])))


# --------------------------------------------------------------------------------- keeping ready


class ReadyDeals:
    """Keeps deals ready before they are needed: many at once cost a fifth of a few at a time.

    For each of N games there are places for the first deal of its next two episodes and, where that
    deal has questions before play, for the deal after a redeal. The dealers are the first ones, and
    there are no points yet. What is dealt is a function of the keys alone, so this changes no game.

    The first deal of episode k of game i has the place i + N * (k & 1). The deal after a redeal has
    i + N * (2 + k % 3): it may still be wanted when the one of two episodes later is dealt.
    """

    def __init__(self, rules: Rules, num_games: int) -> None:
        self._rules = rules
        self._num_games = np.array(num_games)
        self._deals: Int = np.zeros((Prepared.ROWS, 5 * num_games), np.int64)
        self._ready = np.zeros(5 * num_games, bool)
        self._rows: Int = np.arange(Prepared.ROWS)[:, None] * (5 * num_games)

    def clear(self) -> None:
        """Throws everything away."""
        self._ready[:] = False

    def forget(self, rows: Int, episodes: Int) -> None:
        """Throws the deals of given episodes away; ``rows``, ``episodes``: [n]."""
        self._ready[self._first_places(rows, episodes)] = False
        self._ready[self._second_places(rows, episodes)] = False

    def first(self, keys: Keys, rows: Int, present: Int) -> Int:
        """Returns where the first deals of the next episodes of some games lie: [n].

        Args:
            keys: [N] the keys of all games.
            rows: [n] the games.
            present: [N] the present episodes of all games.
        """
        places = self._first_places(rows, present[rows] + _ONE)
        if np.count_nonzero(self._ready.take(places)) < len(places):
            self._fill(keys, present)
        return places

    def second(self, rows: Int, episodes: Int) -> Int:
        """Returns where the deals after the redeal of an episode's first lie: [n], -1: not ready.

        Args:
            rows: [n] the games.
            episodes: [n] the episodes.
        """
        places = self._second_places(rows, episodes)
        return np.where(self._ready[places], places, -1)

    def take(self, places: Int) -> Prepared:
        """Returns the deals that lie in these places, which are free then."""
        self._ready[places] = False
        return Prepared(self._deals.reshape(-1).take(self._rows + places))

    def _fill(self, keys: Keys, present: Int) -> None:
        """Deals the next two episodes of all games, where they aren't dealt.

        Args:
            keys: [N] the games' keys.
            present: [N] the present episode of each game.
        """
        places = np.flatnonzero(~self._ready[: 2 * self._num_games])
        odd = places >= self._num_games
        rows = places - odd * self._num_games
        following = present[rows] + 1
        following += (following ^ odd) & 1
        first = seeds.deal_keys(keys[rows], following, 0)
        dealer = first_dealers(first)
        dealt = prepare(self._rules, hand_codes(first), dealer)
        self._put(places, dealt)
        asks = dealt.has_question.nonzero()[0]
        rows, following = rows[asks], following[asks]
        second = seeds.deal_keys(keys[rows], following, 1)
        dealt = prepare(self._rules, hand_codes(second), dealer[asks])
        self._put(self._second_places(rows, following), dealt)

    def _put(self, places: Int, dealt: Prepared) -> None:
        """Stores prepared deals; one flat index is several times as fast as one along an axis."""
        self._deals.reshape(-1)[self._rows + places] = dealt.data
        self._ready[places] = True

    def _first_places(self, rows: Int, episodes: Int) -> Int:
        """Returns where the first deals of episodes stand: [n]."""
        places: Int = episodes & _ONE
        places *= self._num_games
        places += rows
        return places

    def _second_places(self, rows: Int, episodes: Int) -> Int:
        """Returns where the deals after their redeal stand: [n]."""
        places: Int = (2 + episodes % 3) * self._num_games + rows
        return places
