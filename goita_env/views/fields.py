"""Reads the fields of a view from its packed words, each when it is first asked for."""

from __future__ import annotations

from functools import cached_property
from typing import Final

import numpy as np
import numpy.typing as npt

from goita_env import actions
from goita_env.engine.history import (
    FRAME_DEALER,
    FRAME_OTHER_SCORE,
    FRAME_OWN_SCORE,
    NOTE_CALLED,
    NOTE_CONTINUE,
    NOTE_PASSES_OPPONENT,
    NOTE_PASSES_PARTNER,
    NOTE_PLAYS,
    NOTE_REDEAL,
    SCORE_BITS,
)
from goita_env.tiles import (
    COUNTS,
    HAND_SIZE,
    MAX_PLAYS,
    NUM_KINDS,
    NUM_SEATS,
    PAWN,
)
from goita_env.views import packing
from goita_env.views.observation import (
    HAND_COUNTS,
    NOTES_WORD,
    PLAYS_WORD,
    TABLE_ASKED_CALL,
    TABLE_ASKED_CHOICE,
    TABLE_ATTACK,
    TABLE_ATTACKER,
    TABLE_KING_UP,
    TABLE_PASSES,
    TABLE_WORD,
    TILES_WORD,
    UNSEEN_START,
)

NONE: Final = -1
"""Where there is no kind, seat or event."""

FACE_DOWN: Final = 8
"""In place of a kind: a tile that lies face down and is not the viewer's own."""

U64 = np.uint64
Int8 = npt.NDArray[np.int8]
Bool = npt.NDArray[np.bool_]

_PLACE: Final = np.full(256, NONE, np.int8)
"""Place of the one in a one-hot byte, NONE for zero."""
for _bit in range(8):
    _PLACE[1 << _bit] = _bit
_EVENTS: Final = np.arange(MAX_PLAYS, dtype=np.uint32)


def _thermometer_masks(limits: tuple[int, ...], start: int) -> npt.NDArray[np.uint64]:
    """Returns the masks of each kind's thermometer in the word of tiles: [8]."""
    starts = start + np.concatenate(([0], np.cumsum(limits)[:-1]))
    return np.array(
        [((1 << n) - 1) << int(s) for n, s in zip(limits, starts, strict=True)], dtype=U64
    )


_HAND_MASKS: Final = _thermometer_masks(HAND_COUNTS, 0)
_UNSEEN_MASKS: Final = _thermometer_masks(COUNTS, UNSEEN_START)


class ViewFields:
    """Holds packed observations of N positions and reads what they say; ``View`` adds the rest.

    Attributes:
        words: uint64 [N, 8] the packed observation; all fields are read from it.
    """

    def __init__(self, words: packing.Words) -> None:
        self.words = words

    def __len__(self) -> int:
        """Returns N."""
        return len(self.words)

    # ------------------------------------------------------------------------------------ own tiles

    @cached_property
    def hand(self) -> Int8:
        """[N, 8] Tiles of each kind in the viewer's hand."""
        word = self.words[:, TILES_WORD, None]
        found: Int8 = np.bitwise_count(word & _HAND_MASKS).astype(np.int8)
        return found

    @cached_property
    def unseen(self) -> Int8:
        """[N, 8] Tiles of each kind hidden from the viewer: in others' hands or laid face down."""
        word = self.words[:, TILES_WORD, None]
        found: Int8 = np.bitwise_count(word & _UNSEEN_MASKS).astype(np.int8)
        return found

    @cached_property
    def own_face_down(self) -> Int8:
        """[N, 8] Tiles of each kind that the viewer laid face down."""
        hidden = self.event_face_down & (self.event_seat == 0)
        kinds = np.where(hidden, self.event_block, NONE)
        found: Int8 = (kinds[:, :, None] == np.arange(NUM_KINDS)).sum(axis=1).astype(np.int8)
        return found

    # ------------------------------------------------------------------------------------ the table

    @cached_property
    def attack(self) -> Int8:
        """[N] Kind of the last attack, NONE before the first and at the end of the round."""
        found: Int8 = _PLACE[self._table(TABLE_ATTACK, 8)]
        return found

    @cached_property
    def attacker(self) -> Int8:
        """[N] Seat of the last attack, NONE before the first and at the end of the round."""
        found: Int8 = _PLACE[self._table(TABLE_ATTACKER, 4)]
        return found

    @cached_property
    def passes(self) -> Int8:
        """[N] Passes since the last attack, 0 to 3."""
        return np.bitwise_count(self._table(TABLE_PASSES, 3)).astype(np.int8)

    @cached_property
    def dealer(self) -> Int8:
        """[N] Seat of the dealer."""
        found: Int8 = _PLACE[self._table(FRAME_DEALER, 4)]
        return found

    @cached_property
    def king_up(self) -> Bool:
        """[N] A king lies face up."""
        return self._table(TABLE_KING_UP, 1).astype(bool)

    @cached_property
    def scores(self) -> npt.NDArray[np.int16]:
        """[N, 2] Points of the viewer's team and of the other before this round."""
        tens = [
            np.bitwise_count(self._table(start, SCORE_BITS))
            for start in (FRAME_OWN_SCORE, FRAME_OTHER_SCORE)
        ]
        return 10 * np.stack(tens, axis=1).astype(np.int16)

    @cached_property
    def leads(self) -> Bool:
        """[N] On its turn the viewer leads: a block face down, no pass."""
        opens = (self.attack == NONE) & (self.dealer == 0)
        found: Bool = opens | ((self.attacker == 0) & (self.passes == 3))
        return found

    @cached_property
    def asked_call(self) -> Bool:
        """[N] The viewer is asked: call or silent."""
        return self._table(TABLE_ASKED_CALL, 1).astype(bool)

    @cached_property
    def asked_choice(self) -> Bool:
        """[N] The viewer is asked: redeal or continue."""
        return self._table(TABLE_ASKED_CHOICE, 1).astype(bool)

    @cached_property
    def called(self) -> Int8:
        """[N, 4] Pawns that each seat called, 0 if it called none."""
        called = self._notes(NOTE_CALLED, 1)
        shown = (self._play_bytes() == 1 << PAWN).sum(axis=2)
        many = (self.num_plays == 0)[:, None] & (shown > 5)
        return np.where(called == 0, 0, np.where(many, shown, 5)).astype(np.int8)

    @cached_property
    def choices(self) -> Int8:
        """[N, 4] What each seat chose as a caller's partner: REDEAL, CONTINUE or 0."""
        redeal, on = self._notes(NOTE_REDEAL, 1), self._notes(NOTE_CONTINUE, 1)
        return (redeal * actions.REDEAL + on * actions.CONTINUE).astype(np.int8)

    # -------------------------------------------------------------------------------- plays by seat

    @cached_property
    def blocks(self) -> Int8:
        """[N, 4, 4] Kind of each seat's blocks in order of play, FACE_DOWN, NONE if not played.

        The viewer's own face-down blocks show their kind. A called hand of six or more pawns lies
        here and in ``attacks`` as eight tiles, though none was played.
        """
        blocks, attacks = self._block_bytes()
        return np.where((blocks == 0) & (attacks != 0), np.int8(FACE_DOWN), _PLACE[blocks])

    @cached_property
    def attacks(self) -> Int8:
        """[N, 4, 4] Kind of each seat's attacks in order of play, NONE if not played."""
        found: Int8 = _PLACE[self._block_bytes()[1]]
        return found

    @cached_property
    def hand_sizes(self) -> Int8:
        """[N, 4] Tiles in each seat's hand; none in a hand of six or more pawns that was called."""
        plays = np.bitwise_count(self._notes(NOTE_PLAYS, MAX_PLAYS))
        found: Int8 = np.where(self.called > 5, 0, HAND_SIZE - 2 * plays).astype(np.int8)
        return found

    @cached_property
    def face_up(self) -> Int8:
        """[N, 4, 8] Tiles of each kind that each seat has played face up."""
        up = np.concatenate((self.attacks, self.blocks), axis=2)
        up[:, 0, 4:][self.face_down[:, 0]] = NONE
        found: Int8 = (up[:, :, :, None] == np.arange(NUM_KINDS)).sum(axis=2).astype(np.int8)
        return found

    @cached_property
    def face_down(self) -> Bool:
        """[N, 4, 4] The block of each seat's play lies face down."""
        down = self.blocks == FACE_DOWN
        game, event = np.nonzero(self.event_face_down & (self.event_seat == 0))
        down[game, 0, self._event_play[game, event]] = True
        found: Bool = down
        return found

    @cached_property
    def passed_opponents(self) -> Bool:
        """[N, 4, 7] Each seat has passed on an opponent's attack of the kind (kings left out)."""
        kinds = np.arange(NUM_KINDS - 1, dtype=np.uint32)
        return ((self._notes(NOTE_PASSES_OPPONENT, 7)[:, :, None] >> kinds) & 1).astype(bool)

    @cached_property
    def passed_partner(self) -> Bool:
        """[N, 4, 7] Each seat has passed on its partner's attack of the kind (kings left out)."""
        kinds = np.arange(NUM_KINDS - 1, dtype=np.uint32)
        return ((self._notes(NOTE_PASSES_PARTNER, 7)[:, :, None] >> kinds) & 1).astype(bool)

    # --------------------------------------------------------------------------- the round in order

    @cached_property
    def num_plays(self) -> Int8:
        """[N] Plays in this round so far, at most 13."""
        plays = np.bitwise_count(self._notes(NOTE_PLAYS, MAX_PLAYS))
        found: Int8 = plays.sum(axis=1).astype(np.int8)
        return found

    @cached_property
    def event_seat(self) -> Int8:
        """[N, 13] Seat of each play in order, NONE after the last."""
        bits = self._event_bits()
        return np.where(bits.any(axis=1), bits.argmax(axis=1), NONE).astype(np.int8)

    @cached_property
    def event_block(self) -> Int8:
        """[N, 13] Block of each play, FACE_DOWN if unknown to the viewer, NONE after the last."""
        return self._by_event(self.blocks)

    @cached_property
    def event_attack(self) -> Int8:
        """[N, 13] Attack of each play, NONE after the last."""
        return self._by_event(self.attacks)

    @cached_property
    def event_face_down(self) -> Bool:
        """[N, 13] The play's block lies face down: the first, any after its seat's own attack."""
        seat = self.event_seat
        down = np.ones(seat.shape, bool)
        down[:, 1:] = seat[:, 1:] == seat[:, :-1]
        found: Bool = down & (seat != NONE)
        return found

    # ---------------------------------------------------------------------------------- bit reading

    def _table(self, start: int, size: int) -> npt.NDArray[np.int64]:
        """Returns a field of the word of the table: [N]."""
        return (self.words[:, TABLE_WORD].view(np.int64) >> start) & ((1 << size) - 1)

    def _notes(self, start: int, size: int) -> npt.NDArray[np.uint32]:
        """Returns a field of each seat's notes: [N, 4]."""
        words = np.ascontiguousarray(self.words[:, NOTES_WORD : NOTES_WORD + 2])
        return (words.view(np.uint32) >> np.uint32(start)) & np.uint32((1 << size) - 1)

    def _play_bytes(self) -> npt.NDArray[np.uint8]:
        """Returns the bytes of each seat's plays: [N, 4, 8]."""
        words = np.ascontiguousarray(self.words[:, PLAYS_WORD : PLAYS_WORD + NUM_SEATS])
        return words.view(np.uint8).reshape(-1, NUM_SEATS, 8)

    def _block_bytes(self) -> tuple[npt.NDArray[np.uint8], npt.NDArray[np.uint8]]:
        """Returns blocks and attacks as one-hot bytes: two arrays [N, 4, 4]."""
        plays = self._play_bytes()
        return plays[:, :, 0::2], plays[:, :, 1::2]

    def _event_bits(self) -> Bool:
        """Returns which seat made which play: [N, 4, 13]."""
        return ((self._notes(NOTE_PLAYS, MAX_PLAYS)[:, :, None] >> _EVENTS) & 1).astype(bool)

    @cached_property
    def _event_play(self) -> npt.NDArray[np.int64]:
        """[N, 13] Which of its seat's plays (0 to 3) each event is."""
        counts = self._event_bits().cumsum(axis=2) - 1
        seat = np.maximum(self.event_seat, 0)[:, None].astype(np.int64)
        return np.take_along_axis(counts, seat, axis=1)[:, 0].clip(0, 3)

    def _by_event(self, plays: Int8) -> Int8:
        """Returns a field of plays by seat in the order of events: [N, 13]."""
        index = np.maximum(self.event_seat, 0) * 4 + self._event_play
        found = np.take_along_axis(plays.reshape(len(self), 16), index, axis=1)
        return np.where(self.event_seat == NONE, np.int8(NONE), found)
