"""Deals: shuffles by key, prepares all that a deal sets, and lays it into games.

A deal is a pure function of its key (``seeds``): there is no generator object per game.
"""

from __future__ import annotations

from functools import cache
from typing import Final

import numpy as np
import numpy.typing as npt

from goita_env import seeds
from goita_env.arrays import U64, Int
from goita_env.engine import tables
from goita_env.engine.state import (
    CLEAR_VALUES,
    DEAL_ROWS,
    ONE,
    SLOTS,
    THREE,
    State,
    deal_row_starts,
)
from goita_env.information import PLAIN, InformationStructure
from goita_env.rules import Rules
from goita_env.seeds import GOLDEN, Keys, mix
from goita_env.tiles import COUNTS, KING, MATCH_POINTS, NUM_KINDS, NUM_SEATS

# Arrays without a dimension: numpy takes them in half the time of a scalar.
_RANDOM_BITS: Final = np.array(~np.uint32(NUM_KINDS - 1))
_PAIR_KIND_MASK: Final = np.array((NUM_KINDS - 1) | (NUM_KINDS - 1) << 32, U64)
_PAIR_SHIFT: Final = np.array(29, U64)
_PAIR_MASK: Final = np.array(NUM_KINDS**2 - 1, U64)
_RADIX_OF_PAIR: Final = np.array(
    [tables.RADIX[p % 8] + tables.RADIX[p // 8] for p in range(NUM_KINDS**2)]
)


@cache
def _tiles_of(deck: tuple[int, ...]) -> tuple[Keys, npt.NDArray[np.uint32]]:
    """Returns a step for every two tiles, uint64 [T / 2], and the tiles' kinds, uint32 [T]."""
    steps = np.arange(sum(deck) // 2, dtype=U64) * GOLDEN
    return steps, np.repeat(np.arange(NUM_KINDS, dtype=np.uint32), deck)


def hand_codes(keys: Keys, deck: tuple[int, ...] = COUNTS) -> Int:
    """Shuffles the deck uniformly for each key: int64 [n, 4], the codes of the hands by seat.

    Random 29-bit numbers with the kind in the low three bits are sorted. Equal numbers, which would
    fall back on the kind, come in one deal of a million and shift nothing measurable.
    """
    steps, kinds = _tiles_of(deck)
    bits = mix(keys[:, None] + steps).view(np.uint32)  # two numbers in each word
    bits &= _RANDOM_BITS
    bits |= kinds
    bits.sort(axis=1)
    # Again two tiles in each word, kinds in bits 0-2 and 32-34. The shift by 29 moves the second
    # kind to bits 3-5, so that the two kinds make one index below 64.
    pairs = bits.view(U64)
    pairs &= _PAIR_KIND_MASK
    pairs |= pairs >> _PAIR_SHIFT
    pairs &= _PAIR_MASK
    tiles: Int = _RADIX_OF_PAIR.take(pairs.view(np.int64))
    while tiles.shape[1] > NUM_SEATS:  # adding neighbours is faster than a sum over four
        tiles = tiles[:, 0::2] + tiles[:, 1::2]
    return tiles


def first_dealers(keys: Keys) -> Int:
    """Draws the first dealer of an episode from the key of its first deal: int64 [n] seats."""
    return (mix(keys ^ GOLDEN) >> U64(62)).astype(np.int64)


_TWO_KINGS: Final = 2 * tables.RADIX[KING]
_DEALER_BITS: Final = np.array(
    [1 << (tables.FRAME_DEALER + seat) for seat in range(NUM_SEATS)], np.int64
)
_THERMOMETER: Final = np.array([(1 << tens) - 1 for tens in range(MATCH_POINTS // 10)], np.int64)

_PAWN_DIGITS: Final = np.array(tables.PAWN_DIGITS)
_FIVE: Final = np.array(5)

HAND, FRAME, STATUS, OFFSET, QUERY, DEALER, SCORES = DEAL_ROWS
_NUM_ROWS: Final = SCORES.stop


def prepare_deals(
    rules: Rules,
    codes: Int,
    dealer: Int,
    scores: Int | None = None,
    *,
    questions: bool = True,
    information: InformationStructure = PLAIN,
) -> Int:
    """Prepares all that n deals set, for ``lay_deals``: int64 [14, n], slots as with clock 0.

    The seat that acts first sits on slot 0, the slot of clock 0, and the next seats on the next
    slots.

    ``codes``: [n, 4] the hands by seat; ``dealer``: [n] seats; ``scores``: [2, n] points of the
    teams before the round, None: 0. Without ``questions`` the dealer begins whatever the hands, and
    no messages are sent.
    """
    dealt = np.zeros((_NUM_ROWS, len(dealer)), np.int64)
    hand, frame, offset = dealt[HAND], dealt[FRAME], dealt[OFFSET]
    dealt[DEALER] = dealer
    np.negative(dealer, out=offset)  # the dealer sits on slot 0, unless another seat acts first
    pawns, entries = codes % _PAWN_DIGITS, tables.tables_of(rules, information).questions
    if questions and (entries.always or np.count_nonzero(pawns >= _FIVE)):
        query = entries.opening(dealer, pawns)
        dealt[QUERY] = query
        dealt[STATUS] = entries.status[query]
        offset -= entries.seat[query]
    offset &= THREE

    seat = (SLOTS - offset) & THREE  # [4, n] by slot
    # The flat index of ``codes`` is 4 * deal + seat.
    hand[:] = codes.reshape(-1).take(seat + np.arange(0, codes.size, NUM_SEATS))
    if rules.second_king_after_own_face_down:
        hand += (hand >= _TWO_KINGS) * tables.KING_PERMIT
    frame[:] = _DEALER_BITS.take((dealer - seat) & THREE)
    if scores is not None:
        dealt[SCORES] = scores
        even, odd = scores // 10  # [n] each, of seats 0 and 2, and of seats 1 and 3
        odd_seat = seat & 1
        frame |= _THERMOMETER.take(np.where(odd_seat, odd, even)) << tables.FRAME_OWN_SCORE
        frame |= _THERMOMETER.take(np.where(odd_seat, even, odd)) << tables.FRAME_OTHER_SCORE
    return dealt


def lay_deals(state: State, rows: Int, dealt: Int) -> None:
    """Writes prepared deals [14, n] into games ``rows`` [n] in which no seat acts, in place.

    ``dealt`` is overwritten.
    """
    prepared_starts, cleared_starts = deal_row_starts(state.num_games)
    flat = state.data.reshape(-1)
    # Seat i sits on slot (i + offset) & 3 (``State``). A deal is prepared for clock 0, so all its
    # seats move on by the clock: the acting seat's slot, 0 so far, becomes the clock's. ``offset``
    # is a row of ``dealt``, changed in place.
    offset = dealt[OFFSET]
    offset += state.clock
    offset &= THREE
    # The starts of the seats' rows are turned by the clock, too.
    # One index into the flat block is six times as fast as one along the last axis.
    flat[prepared_starts[state.clock] + rows] = dealt
    flat[cleared_starts + rows] = CLEAR_VALUES
    questions = dealt[QUERY].nonzero()[0]
    if len(questions):
        state.asking = np.sort(np.concatenate((state.asking, rows[questions])))


class ReadyDeals:
    """Deals that are prepared before they are needed: many at once cost a fifth of a few at a time.

    For each of N games there are places for the first deal of its next two episodes and, where that
    deal has pre-play decisions, for the deal after a redeal. The dealers are the first ones, and
    there are no points yet. A deal depends only on its keys, so preparing it changes no game.

    The first deal of episode k of game i has the place i + N * (k & 1). The deal after a redeal has
    i + N * (2 + k % 3): it may still be needed when that of episode k + 2 is dealt.
    """

    def __init__(
        self, rules: Rules, num_games: int, information: InformationStructure = PLAIN
    ) -> None:
        self._rules, self._information = rules, information
        self._num_games = np.array(num_games)
        self._questions = len(tables.tables(rules).questions.status)
        self._deals: Int = np.zeros((_NUM_ROWS, 5 * num_games), np.int64)
        self._ready = np.zeros(5 * num_games, bool)
        self._row_starts: Int = np.arange(_NUM_ROWS)[:, None] * (5 * num_games)
        """[14, 1] Flat index in ``_deals`` at which each row begins."""

    def clear(self) -> None:
        self._ready[:] = False

    def forget(self, rows: Int, episodes: Int) -> None:
        self._ready[self._first_places(rows, episodes)] = False
        self._ready[self._second_places(rows, episodes)] = False

    def first(self, keys: Keys, rows: Int, present: Int) -> Int:
        """[n] Places of the next episodes' first deals in games ``rows``; prepares those not ready.

        ``keys`` and ``present``: the keys and present episodes of all games, [N].
        """
        places = self._first_places(rows, present[rows] + ONE)
        if np.count_nonzero(self._ready.take(places)) < len(places):
            self._fill(keys, present)
        return places

    def second(self, rows: Int, episodes: Int) -> Int:
        """[n] Places of the deals after a redeal of the episodes' first deals; -1: not ready."""
        places = self._second_places(rows, episodes)
        return np.where(self._ready[places], places, -1)

    def take(self, places: Int) -> Int:
        """Returns the deals [14, n] that lie in these places [n], which are free then."""
        self._ready[places] = False
        return self._deals.reshape(-1).take(self._row_starts + places)

    def _fill(self, keys: Keys, present: Int) -> None:
        """Prepares the first deals of the next two episodes of all games, where they aren't ready.

        Where such a deal has questions, it prepares the deal after a redeal, too. ``keys`` and
        ``present`` are as for ``first``.
        """
        # Place i + N * parity: the second half belongs to odd episodes. Of the next two episodes
        # one has that parity.
        places = np.flatnonzero(~self._ready[: 2 * self._num_games])
        parity = places >= self._num_games
        rows = places - parity * self._num_games
        episodes = present[rows] + 1
        episodes += (episodes ^ parity) & 1
        first_keys = seeds.deal_keys(keys[rows], episodes, 0)
        dealer = first_dealers(first_keys)
        codes = hand_codes(first_keys, self._rules.deck)
        dealt = prepare_deals(self._rules, codes, dealer, information=self._information)
        self._put(places, dealt)
        # While m messages are to come, question q has the number q + m * Q (``tables``).
        asks = (dealt[QUERY] % self._questions).nonzero()[0]
        rows, episodes = rows[asks], episodes[asks]
        second_keys = seeds.deal_keys(keys[rows], episodes, 1)
        codes = hand_codes(second_keys, self._rules.deck)
        dealt = prepare_deals(self._rules, codes, dealer[asks], information=self._information)
        self._put(self._second_places(rows, episodes), dealt)

    def _put(self, places: Int, dealt: Int) -> None:
        self._deals.reshape(-1)[self._row_starts + places] = dealt
        self._ready[places] = True

    def _first_places(self, rows: Int, episodes: Int) -> Int:
        return np.asarray((episodes & ONE) * self._num_games + rows)

    def _second_places(self, rows: Int, episodes: Int) -> Int:
        return np.asarray((2 + episodes % 3) * self._num_games + rows)
