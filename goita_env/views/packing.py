"""Packs what a seat may know into the flat vector that learners see, straight from the state.

This is the only door from a state to a seat: a view is read from the same words, so a view and its
observation carry the same information by construction.
"""

from __future__ import annotations

import sys
from functools import cache
from typing import Final

import numpy as np
import numpy.typing as npt

from goita_env import actions
from goita_env.checks import as_array, came
from goita_env.engine.state import DOWN, FRAME, HAND, NOTES, OWN, SHOWN, State
from goita_env.engine.tables import (
    ALL_TILES,
    CALL_CHOICE,
    CALL_DUTY,
    CHOOSE,
    CODE_MASK,
    NUM_STATUSES,
    WAITING,
    attack_status,
    code_counts,
)
from goita_env.errors import ObservationError
from goita_env.tiles import COUNTS, NUM_KINDS, NUM_SEATS
from goita_env.views.observation import (
    HAND_COUNTS,
    NOTES_WORD,
    NUM_WORDS,
    OBSERVATION_SIZE,
    PLAYS_WORD,
    SLICES,
    TABLE_ASKED_CALL,
    TABLE_ASKED_CHOICE,
    TABLE_ATTACK,
    TABLE_ATTACKER,
    TABLE_KING_UP,
    TABLE_PASSES,
    TABLE_WORD,
    TILES_WORD,
    UNSEEN_START,
    thermometers,
)

if sys.byteorder != "little":  # pragma: no cover
    raise ImportError("goita_env packs bits in little-endian words; this machine is big-endian")

Words = npt.NDArray[np.uint64]
Observation = npt.NDArray[np.uint8]

STATE_PLAYS_WORD: Final = 0
"""First word of the whole state: a word of plays for each seat, as itself sees them."""
STATE_NOTES_WORD: Final = STATE_PLAYS_WORD + NUM_SEATS
STATE_TILES_WORD: Final = STATE_NOTES_WORD + 2
"""A word of tiles for each seat from here on."""
STATE_TABLE_WORD: Final = STATE_TILES_WORD + NUM_SEATS
STATE_WORDS: Final = STATE_TABLE_WORD + 1
STATE_SIZE: Final = 64 * STATE_WORDS
"""Bits of the whole state."""

_STATE_ASKED: Final = SLICES[-1].stop - 64 * TABLE_WORD
"""First bit of the asked seat (4) and then its question (call, choice) in the last word: behind all
that an observation says there."""

_NO_QUESTION: Final = ~np.uint64((1 << TABLE_ASKED_CALL) | (1 << TABLE_ASKED_CHOICE))
_CODE_MASK: Final = np.array(CODE_MASK)
_ALL_TILES: Final = np.array(ALL_TILES)
_THIRTY_TWO: Final = np.array(32)


def _seen(viewer: int) -> npt.NDArray[np.int64]:
    """Returns the rows of State.by_slot that a viewer's words are made of: [13].

    For words 0 to 5: own plays, others' as shown, notes; then its hand, what it laid face down, and
    its frame.
    """
    seats = [(viewer + seat) & 3 for seat in range(NUM_SEATS)]
    rows = [4 * OWN + seats[0], *(4 * SHOWN + slot for slot in seats[1:])]
    rows += [4 * NOTES + seats[seat] for seat in (0, 2, 1, 3)]
    return np.array([*rows, 4 * HAND + viewer, 4 * DOWN + viewer, 4 * FRAME + viewer])


_SEEN: Final = [_seen(viewer) for viewer in range(NUM_SEATS)]

_USED: Final = np.zeros(OBSERVATION_SIZE, bool)
for _slice in SLICES:
    _USED[_slice.start : _slice.stop] = True


@cache
def _hand_bits() -> Words:
    """Returns the hand's bits of the word of tiles by code: [NUM_CODES]."""
    return _tile_bits(HAND_COUNTS)


@cache
def _unseen_bits() -> Words:
    """Returns the unseen tiles' bits of the word of tiles by code: [NUM_CODES]."""
    words: Words = _tile_bits(COUNTS) << np.uint64(UNSEEN_START)
    return words


def _tile_bits(limits: tuple[int, ...]) -> Words:
    """Returns the thermometers of every code."""
    bits, counts = thermometers(limits), code_counts()
    words: Words = bits[0, counts[:, 0]]
    for kind in range(1, NUM_KINDS):
        words |= bits[kind].take(counts[:, kind])
    return words


@cache
def _status_bits() -> Words:
    """Returns the status' bits of the word of the table: [4, S], by asked seat (0: the viewer)."""
    bits = np.zeros((NUM_SEATS, NUM_STATUSES), np.uint64)
    for asked in range(NUM_SEATS):
        for attack in range(NUM_KINDS):
            for passes in range(4):
                attacker = (asked - 1 - passes) % NUM_SEATS
                for king_up in (False, True):
                    bits[asked, attack_status(attack, passes, king_up)] = (
                        (1 << (TABLE_ATTACK + attack))
                        | (1 << (TABLE_ATTACKER + attacker))
                        | (((1 << passes) - 1) << TABLE_PASSES)
                        | (king_up << TABLE_KING_UP)
                    )
    # A question is known to the asked seat alone; to all others the dealer might be thinking.
    bits[0, [CALL_CHOICE, CALL_DUTY]] = 1 << TABLE_ASKED_CALL
    bits[0, CHOOSE] = 1 << TABLE_ASKED_CHOICE
    return bits


def pack(state: State, rows: npt.NDArray[np.int64] | None = None) -> Words:
    """Returns what each asked seat may know, packed: uint64 [N, 8], or [m, 8] of ``rows`` alone."""
    block, status, up = state.by_slot, state.status, state.up
    if rows is None:
        seen = block.reshape(len(block) * NUM_SEATS, state.num_games).take(
            _SEEN[state.clock], axis=0
        )
    else:
        # One index into the flat block is six times as fast as one along the last axis.
        seen = block.reshape(-1).take(_SEEN[state.clock][:, None] * state.num_games + rows)
        status, up = status[rows], up[rows]
    return _pack(seen, up, _status_bits()[0].take(status))


def pack_seat(
    state: State, seat: int | npt.NDArray[np.int64], *, hide_question: bool = False
) -> Words:
    """Returns what given seats (one, or [N]) may know, asked or not, packed: uint64 [N, 8].

    Args:
        state: N games.
        seat: the viewers.
        hide_question: leave out that a viewer is asked before play.
    """
    viewer = state.slot_of(seat)
    turned = (np.arange(NUM_SEATS)[:, None] + viewer) & 3
    slots = np.take_along_axis(state.by_slot, turned[None], axis=1)
    table = _status_bits()[(state.clock - viewer) & 3, state.status]
    seen = slots.reshape(len(slots) * NUM_SEATS, state.num_games).take(_SEEN[0], axis=0)
    return _pack(seen, state.up, table & _NO_QUESTION if hide_question else table)


def asked_before_play(words: Words, action: int) -> Words:
    """Returns views of seats that are not asked as they are when asked before play: [N, 8].

    Args:
        words: [N, 8] the views.
        action: one of the answers between which the seats are asked to choose.
    """
    choosing = action in (actions.REDEAL, actions.CONTINUE)
    asked = words.copy()
    asked[:, TABLE_WORD] |= np.uint64(1 << (TABLE_ASKED_CHOICE if choosing else TABLE_ASKED_CALL))
    return asked


def _pack(seen: npt.NDArray[np.int64], up: npt.NDArray[np.int64], table: Words) -> Words:
    """Writes the words of n viewers.

    Args:
        seen: [13, n] the rows of ``_SEEN``; consumed.
        up: [n] codes of the tiles that lie face up.
        table: [n] the word of the table so far.
    """
    notes = seen[6:8]
    notes <<= _THIRTY_TWO
    notes |= seen[4:6]
    words = np.empty((len(up), NUM_WORDS), np.int64)
    for word in range(NUM_SEATS):
        words[:, PLAYS_WORD + word] = seen[word]
    words[:, NOTES_WORD] = notes[0]
    words[:, NOTES_WORD + 1] = notes[1]

    hand, down, frame = seen[8:]
    hand &= _CODE_MASK
    tiles = _hand_bits().take(hand)
    hand += down
    hand += up
    tiles |= _unseen_bits().take(np.subtract(_ALL_TILES, hand, out=hand))
    words[:, TILES_WORD] = tiles.view(np.int64)
    words[:, TABLE_WORD] = table.view(np.int64) | frame
    return words.view(np.uint64)


def pack_state(state: State) -> Words:
    """Returns everything there is to know, for centralised critics, packed: uint64 [N, 11]."""
    words = np.empty((state.num_games, STATE_WORDS), np.uint64)
    for seat in range(NUM_SEATS):
        view = pack_seat(state, seat)
        words[:, STATE_PLAYS_WORD + seat] = view[:, PLAYS_WORD]
        words[:, STATE_TILES_WORD + seat] = view[:, TILES_WORD]
        if seat == 0:
            words[:, STATE_NOTES_WORD:STATE_TILES_WORD] = view[:, NOTES_WORD : NOTES_WORD + 2]
            words[:, STATE_TABLE_WORD] = view[:, TABLE_WORD]
            words[:, STATE_TABLE_WORD] &= _NO_QUESTION
    asked, status = state.seat, state.status
    bits = np.where(status < WAITING, 1 << np.maximum(asked, 0), 0)
    bits |= ((status == CALL_CHOICE) | (status == CALL_DUTY)) * 16 | (status == CHOOSE) * 32
    words[:, STATE_TABLE_WORD] |= bits.astype(np.uint64) << np.uint64(_STATE_ASKED)
    return words


def expand(words: Words) -> Observation:
    """Returns packed words as one bit a byte: uint8 [N, 64 * words]."""
    return np.unpackbits(words.view(np.uint8), axis=1, bitorder="little")


def compress(observation: npt.ArrayLike) -> Words:
    """Returns observations packed, the inverse of ``expand``: uint64 [N, 8].

    Args:
        observation: [N, 512] or [512] zeros and ones of any number type.

    Raises:
        ObservationError: if it is no observation of this layout.
    """
    expected = f"expected an observation of shape [N, {OBSERVATION_SIZE}]"
    array = as_array(observation)
    if array is None:
        raise ObservationError(f"{expected}, got {came(observation)}")
    array = array[None] if array.ndim == 1 else array
    if array.ndim != 2 or array.shape[1] != OBSERVATION_SIZE:
        raise ObservationError(f"{expected}, got {came(observation)}")
    bits = array.astype(bool)
    if not np.array_equal(bits, array):
        raise ObservationError("expected an observation of zeros and ones, got other numbers")
    if bits[:, ~_USED].any():
        raise ObservationError("expected zeros between the slices of the observation, got ones")
    return np.packbits(bits, axis=1, bitorder="little").view(np.uint64)
