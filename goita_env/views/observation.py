"""Lays out the observation and packs it straight from the engine's state.

An observation is 512 bits in eight 64-bit words: a word of plays for each seat, a word of notes for
every two seats, a word of tiles and a word of the table. Seats are relative to the viewer: 0 the
viewer, 1 the next seat, 2 the partner, 3 the previous. ``SLICES`` names every run of bits; views
are read from the same words, so a view and its observation carry the same information.
"""

from __future__ import annotations

import sys
from collections.abc import Iterator
from dataclasses import dataclass
from functools import cache
from itertools import product
from typing import Final

import numpy as np
import numpy.typing as npt

from goita_env.actions import CONTINUE, MESSAGE, REDEAL
from goita_env.arrays import U64, Int
from goita_env.checks import describe
from goita_env.engine import tables
from goita_env.engine.state import DOWN, FRAME, HAND, NOTES, OWN, SHOWN, State
from goita_env.errors import ObservationError
from goita_env.information import PLAIN, InformationStructure
from goita_env.tiles import COUNTS, HAND_SIZE, MAX_PLAYS, NUM_KINDS, NUM_SEATS

if sys.byteorder != "little":  # pragma: no cover
    raise ImportError("goita_env packs bits in little-endian words; this machine is big-endian")

Words = npt.NDArray[np.uint64]
Observation = npt.NDArray[np.uint8]

OBSERVATION_VERSION: Final = 1
"""Grows whenever the layout or the meaning of a bit changes; every checkpoint stores it."""

NUM_WORDS: Final = 8
OBSERVATION_SIZE: Final = 64 * NUM_WORDS

PLAYS_WORD: Final = 0
"""Words 0-3: the four plays of relative seats 0-3, 16 bits each: block, attack."""
NOTES_WORD: Final = 4
"""Words 4-5: the engine's notes on relative seats 0-3, 32 bits each."""
TILES_WORD: Final = 6
TABLE_WORD: Final = 7

# Bits of the word of the table, next to those of the engine's frame: dealer and scores.
TABLE_ATTACK: Final = 0
TABLE_ATTACKER: Final = 8
TABLE_PASSES: Final = 12
TABLE_KING_UP: Final = 19
TABLE_ASKED_CALL: Final = 20
TABLE_ASKED_CHOICE: Final = 21
TABLE_ASKED_MESSAGE: Final = tables.FRAME_MESSAGES + tables.MESSAGE_BITS * NUM_SEATS

HAND_COUNTS: Final = tuple(min(count, HAND_SIZE) for count in COUNTS)
"""Most tiles of each kind in one hand: the widths of the hand's thermometers."""
UNSEEN_START: Final = sum(HAND_COUNTS)
"""First bit of the unseen tiles in the word of tiles."""


@dataclass(frozen=True)
class Slice:
    """A run of bits of the observation."""

    name: str
    start: int
    size: int
    meaning: str

    @property
    def stop(self) -> int:
        return self.start + self.size


def _slices() -> Iterator[tuple[str, int, int, str]]:
    """Yields name, first bit, number of bits and meaning of each slice."""
    seats = list(enumerate(("own", "next seat's", "partner's", "previous seat's")))
    for seat, whose in seats:
        hidden = "shown to oneself even if face down" if seat == 0 else "all zero if face down"
        for play in range(4):
            start = 64 * (PLAYS_WORD + seat) + 16 * play
            yield f"block_{seat}_{play}", start, 8, f"{whose} block {play + 1}: kind, {hidden}"
            yield f"attack_{seat}_{play}", start + 8, 8, f"{whose} attack {play + 1}: kind"
    kinds, by_kind = NUM_KINDS - 1, "attacks, by kind (kings left out)"
    for seat, whose in seats:
        start = 64 * NOTES_WORD + tables.NOTE_BITS * seat
        opponents, partner = start + tables.NOTE_PASSES_OPPONENT, start + tables.NOTE_PASSES_PARTNER
        yield f"events_{seat}", start + tables.NOTE_PLAYS, MAX_PLAYS, f"bit e: play e was {whose}"
        passes = f"{whose} passes on"
        yield f"passed_opponents_{seat}", opponents, kinds, f"{passes} opponents' {by_kind}"
        yield f"passed_partner_{seat}", partner, kinds, f"{passes} its partner's {by_kind}"
        yield f"called_{seat}", start + tables.NOTE_CALLED, 1, f"{whose} call of a special hand"
        yield f"redeal_{seat}", start + tables.NOTE_REDEAL, 1, f"{whose} choice: redeal"
        yield f"continue_{seat}", start + tables.NOTE_CONTINUE, 1, f"{whose} choice: continue"
    start = 64 * TILES_WORD
    yield "hand", start, UNSEEN_START, "tiles in hand: a thermometer for each kind"
    yield "unseen", start + UNSEEN_START, sum(COUNTS), "tiles hidden from the viewer, likewise"
    start = 64 * TABLE_WORD
    yield "attack", start + TABLE_ATTACK, 8, "the last attack: kind"
    yield "attacker", start + TABLE_ATTACKER, 4, "seat of the last attack"
    yield "passes", start + TABLE_PASSES, 3, "passes since the last attack: a thermometer"
    yield "dealer", start + tables.FRAME_DEALER, 4, "seat of the dealer"
    yield "king_up", start + TABLE_KING_UP, 1, "a king lies face up"
    yield "asked_call", start + TABLE_ASKED_CALL, 1, "the viewer chooses: call or silent"
    yield "asked_choice", start + TABLE_ASKED_CHOICE, 1, "the viewer chooses: redeal or continue"
    own, theirs, size = tables.FRAME_OWN_SCORE, tables.FRAME_OTHER_SCORE, tables.SCORE_BITS
    yield (
        "own_score",
        start + own,
        size,
        "own team's points before the round: a thermometer of tens",
    )
    yield "other_score", start + theirs, size, "the other team's points, likewise"


SLICES: Final = tuple(Slice(*run) for run in _slices())
"""Every named slice, in order; bits between them are always zero."""


def _message_slices() -> Iterator[tuple[str, int, int, str]]:
    """Yields the same for each slice that messages add."""
    word_start = 64 * TABLE_WORD
    for seat, whose in enumerate(("own", "next seat's", "partner's", "previous seat's")):
        start = word_start + tables.FRAME_MESSAGES + tables.MESSAGE_BITS * seat
        yield f"messages_{seat}", start, tables.MESSAGE_BITS, f"{whose} message: a binary number"
    yield (
        "asked_message",
        word_start + TABLE_ASKED_MESSAGE,
        1,
        "the viewer chooses its message",
    )


MESSAGE_SLICES: Final = tuple(Slice(*run) for run in _message_slices())
"""The slices that messages add; in the base game their bits are zero."""


def _unused(slices: tuple[Slice, ...]) -> npt.NDArray[np.int64]:
    used = [bit for part in slices for bit in range(part.start, part.stop)]
    return np.setdiff1d(np.arange(OBSERVATION_SIZE), used)


_UNUSED: Final = _unused(SLICES)
_UNUSED_WITH_MESSAGES: Final = _unused(SLICES + MESSAGE_SLICES)


STATE_PLAYS_WORD: Final = 0
"""First word of the whole state: a word of plays for each seat, as that seat sees them."""
STATE_NOTES_WORD: Final = STATE_PLAYS_WORD + NUM_SEATS
STATE_TILES_WORD: Final = STATE_NOTES_WORD + 2
"""A word of tiles for each seat from here on."""
STATE_TABLE_WORD: Final = STATE_TILES_WORD + NUM_SEATS
STATE_WORDS: Final = STATE_TABLE_WORD + 1
STATE_MESSAGES_WORD: Final = STATE_WORDS
"""One more word with messages: three bits a seat, its message, then whether a seat sends one."""

_STATE_ASKED: Final = tables.FRAME_MESSAGES
"""First bit of the acting seat (4) and then its question (call, choice) in the last word: where an
observation has messages, which have a word of their own in the state."""

_NO_QUESTION: Final = ~U64(
    (1 << TABLE_ASKED_CALL) | (1 << TABLE_ASKED_CHOICE) | (1 << TABLE_ASKED_MESSAGE)
)
NO_MESSAGES: Final = ~U64((2 << TABLE_ASKED_MESSAGE) - (1 << tables.FRAME_MESSAGES))
"""Bits of the word of the table in the base game: all except those of messages."""
_MESSAGE_MASK: Final = (1 << tables.MESSAGE_BITS) - 1
_CODE_MASK: Final = np.array(tables.CODE_MASK)
_THIRTY_TWO: Final = np.array(32)
_VISIBLE_ROWS: Final = np.array(
    [
        [4 * OWN + viewer, *(4 * SHOWN + (viewer + seat) % 4 for seat in (1, 2, 3))]
        + [4 * NOTES + (viewer + seat) % 4 for seat in (0, 2, 1, 3)]
        + [4 * HAND + viewer, 4 * DOWN + viewer, 4 * FRAME + viewer]
        for viewer in range(NUM_SEATS)
    ]
)
"""[4, 11] Rows of a state that each slot sees: words 0 to 3, notes, then hand, down and frame."""


@cache
def _tile_bits(limits: tuple[int, ...], start: int) -> Words:
    """[NUM_CODES] The thermometers of every code in the word of tiles, from a bit on."""
    counts = tables.code_counts()
    words = np.zeros(len(counts), U64)
    for kind, limit in enumerate(limits):
        bits = [((1 << min(count, limit)) - 1) << start for count in range(max(COUNTS) + 1)]
        words |= np.array(bits, U64).take(counts[:, kind])
        start += limit
    return words


@cache
def _status_bits() -> Words:
    """[4, S + 1] The status' bits of the word of the table, by acting seat (0: the viewer)."""
    bits = np.zeros((NUM_SEATS, tables.NUM_STATUSES + 1), U64)
    moments = product(range(NUM_SEATS), range(NUM_KINDS), range(4), (False, True))
    for acting_seat, attack, passes, king_up in moments:
        bits[acting_seat, tables.attack_status(attack, passes, king_up)] = (
            1 << (TABLE_ATTACK + attack)
            | 1 << (TABLE_ATTACKER + (acting_seat - 1 - passes) % NUM_SEATS)
            | ((1 << passes) - 1) << TABLE_PASSES
            | king_up << TABLE_KING_UP
        )
    # Only the acting seat sees a question; for all others the dealer might be thinking.
    bits[0, [tables.CALL_CHOICE, tables.CALL_DUTY]] = 1 << TABLE_ASKED_CALL
    bits[0, tables.CHOOSE] = 1 << TABLE_ASKED_CHOICE
    bits[0, tables.MESSAGE_CHOICE] = 1 << TABLE_ASKED_MESSAGE
    return bits


def pack(state: State, rows: npt.NDArray[np.int64] | None = None) -> Words:
    """Packs what each acting seat may know: uint64 [N, W], or [m, W] only of ``rows``.

    ``W`` is 8, or more where seats see their partner's or all tiles.
    """
    visible, status, up = _VISIBLE_ROWS[state.clock], state.status, state.up
    if rows is None:
        words = _pack(state, state.data.take(visible, axis=0), up, _status_bits()[0].take(status))
    else:
        # One index into the flat block is six times as fast as one along the last axis.
        data = state.data.reshape(-1).take(visible[:, None] * state.num_games + rows)
        words = _pack(state, data, up[rows], _status_bits()[0].take(status[rows]))
    return words if state.information.shown is None else _join_shown(words, state, None, rows)


def pack_seat(
    state: State, seat: int | npt.NDArray[np.int64], *, hide_question: bool = False
) -> Words:
    """Packs what given seats (one, or [N]) may know, acting or not: uint64 [N, W], as ``pack``.

    With ``hide_question`` the words do not reveal that a viewer acts before play.
    """
    viewer = state.slot_of(seat)
    words = _pack_slots(state, viewer, hide_question=hide_question)
    return words if state.information.shown is None else _join_shown(words, state, viewer, None)


def _pack_slots(state: State, viewer: npt.NDArray[np.int64], *, hide_question: bool) -> Words:
    """[N, 8] What the seats on slots [N] may know, without the tiles of others."""
    games = state.num_games
    visible = state.data.reshape(-1).take(_VISIBLE_ROWS[viewer].T * games + np.arange(games))
    table = _status_bits()[(state.clock - viewer) & 3, state.status]
    return _pack(state, visible, state.up, table & _NO_QUESTION if hide_question else table)


def asked_before_play(words: Words, action: int) -> Words:
    """Turns views of seats that do not act into those of seats that act before play: [N, 8].

    ``action``: one of the answers between which the seats decide.
    """
    question = TABLE_ASKED_CHOICE if action in (REDEAL, CONTINUE) else TABLE_ASKED_CALL
    question = TABLE_ASKED_MESSAGE if action >= MESSAGE else question
    asking = words.copy()
    asking[:, TABLE_WORD] |= U64(1 << question)
    return asking


def _pack(state: State, visible: Int, up: Int, table: Words) -> Words:
    """[n, 8] Words; ``visible``: [11, n] the viewer's rows, consumed; ``up``, ``table``: [n]."""
    # Two notes of 32 bits share a word: those of seats 0 and 2 are the low halves of words 4 and 5,
    # those of seats 1 and 3 the high ones. Their rows come in the order 0, 2, 1, 3.
    visible[6:8] <<= _THIRTY_TWO
    visible[4:6] |= visible[6:8]
    words = np.empty((len(up), NUM_WORDS), np.int64)
    words[:, :TILES_WORD] = visible[:TILES_WORD].T

    hand, down, frame = visible[8:]
    words[:, TILES_WORD] = _tiles_word(state, hand, down, up).view(np.int64)
    words[:, TABLE_WORD] = table.view(np.int64) | frame
    return words.view(U64)


def _tiles_word(state: State, hand: Int, down: Int, up: Int) -> Words:
    """[n] Words of tiles as seats know them; ``hand`` (consumed), ``down``, ``up``: [n] codes."""
    hand &= _CODE_MASK
    tiles = _tile_bits(HAND_COUNTS, 0).take(hand)
    # Codes add up like multisets: what is not in hand, face down or face up is unseen.
    hand += down
    hand += up
    np.subtract(state.tables.all_tiles, hand, out=hand)
    tiles |= _tile_bits(COUNTS, UNSEEN_START).take(hand)
    return tiles


def _join_shown(words: Words, state: State, viewer: Int | None, rows: Int | None) -> Words:
    """[n, W] ``words`` [n, 8], then the plays of each shown seat, then the tiles of each.

    Both are words as the shown seat itself sees them. ``viewer``: [n] the viewers' slots, None: the
    acting seat's; ``rows``: [n] games, None: all.
    """
    seats = state.information.shown_seats
    games = np.arange(state.num_games) if rows is None else rows
    flat, num_games = state.data.reshape(-1), state.num_games
    up = state.up if rows is None else state.up[rows]
    joined = np.empty((len(words), state.information.num_words), U64)
    joined[:, :NUM_WORDS] = words
    for place, seat in enumerate(seats, NUM_WORDS):
        slot = ((state.clock if viewer is None else viewer) + seat) & 3
        # Each field has four rows of the block, one a slot; flat index: row * num_games + game.
        own, hand, down = (
            flat.take((NUM_SEATS * field + slot) * num_games + games) for field in (OWN, HAND, DOWN)
        )
        joined[:, place] = own.view(U64)
        joined[:, place + len(seats)] = _tiles_word(state, hand, down, up)
    return joined


def pack_state(state: State) -> Words:
    """Packs everything there is to know, for centralised critics: uint64 [N, 11].

    With messages there is a twelfth word, of the messages.
    """
    views = [
        _pack_slots(state, state.slot_of(seat), hide_question=True) for seat in range(NUM_SEATS)
    ]
    words = np.empty((state.num_games, state_words(state.information)), U64)
    words[:, STATE_NOTES_WORD:STATE_TILES_WORD] = views[0][:, NOTES_WORD : NOTES_WORD + 2]
    words[:, STATE_TABLE_WORD] = views[0][:, TABLE_WORD] & NO_MESSAGES
    for seat, view in enumerate(views):
        words[:, STATE_PLAYS_WORD + seat] = view[:, PLAYS_WORD]
        words[:, STATE_TILES_WORD + seat] = view[:, TILES_WORD]
    seat_bit = np.where(state.status < tables.WAITING, 1 << np.maximum(state.seat, 0), 0)
    question = _status_bits()[0, state.status] >> U64(TABLE_ASKED_CALL)
    question &= U64(3)  # call, choice
    bits = seat_bit.astype(U64) | question << U64(NUM_SEATS)
    words[:, STATE_TABLE_WORD] |= bits << U64(_STATE_ASKED)
    if state.tables.bits:
        asking = (state.status == tables.MESSAGE_CHOICE).astype(U64)
        messages = asking << U64(tables.MESSAGE_BITS * NUM_SEATS)
        for seat, view in enumerate(views):
            own = (view[:, TABLE_WORD] >> U64(tables.FRAME_MESSAGES)) & U64(_MESSAGE_MASK)
            messages |= own << U64(tables.MESSAGE_BITS * seat)
        words[:, STATE_MESSAGES_WORD] = messages
    return words


def state_words(information: InformationStructure) -> int:
    """Returns how many words the whole state has."""
    return STATE_WORDS + (information.channel is not None)


def expand(words: Words) -> Observation:
    """Writes packed words as one bit a byte: uint8 [N, 64 * words]."""
    return np.unpackbits(words.view(np.uint8), axis=1, bitorder="little")


def compress(observation: npt.ArrayLike, information: InformationStructure = PLAIN) -> Words:
    """Packs observations, the inverse of ``expand``: uint64 [N, D / 64].

    Args:
        observation: [N, D] or [D] zeros and ones of any number type; D is 512 in the base game.
        information: the options of the game.
    """
    array = np.atleast_2d(observation)
    size = information.observation_size
    if array.ndim != 2 or array.shape[1] != size:
        raise ObservationError(
            f"expected an observation of shape [N, {size}], got {describe(observation)}"
        )
    bits = array.astype(bool)
    if not np.array_equal(bits, array):
        raise ObservationError("expected an observation of zeros and ones, got other numbers")
    unused = _UNUSED if information.channel is None else _UNUSED_WITH_MESSAGES
    if bits[:, unused].any():
        raise ObservationError("expected zeros between the slices of the observation, got ones")
    return np.packbits(bits, axis=1, bitorder="little").view(U64)
