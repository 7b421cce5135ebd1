"""Tells what a seat may know: everything an agent sees is a ``View``.

A view reads the same packed words that the observation expands, so the two carry the same information.
Seats in a view are relative to the viewer: 0 itself, 1 the next seat, 2 the partner, 3 the previous.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from functools import cached_property
from typing import Final, Protocol, Self

import numpy as np
import numpy.typing as npt

from goita_env import actions, core, observation
from goita_env.errors import HandsError, SettingError
from goita_env.layout import (
    HAND_COUNTS,
    NOTE_CALLED,
    NOTE_CONTINUE,
    NOTE_PASSES_OPPONENT,
    NOTE_PASSES_PARTNER,
    NOTE_PLAYS,
    NOTE_REDEAL,
    NOTES_WORD,
    PLAYS_WORD,
    SCORE_BITS,
    TABLE_ASKED_CALL,
    TABLE_ASKED_CHOICE,
    TABLE_ATTACK,
    TABLE_ATTACKER,
    TABLE_DEALER,
    TABLE_KING_UP,
    TABLE_OTHER_SCORE,
    TABLE_OWN_SCORE,
    TABLE_PASSES,
    TABLE_WORD,
    TILES_WORD,
    UNSEEN_START,
)
from goita_env.rules import JGA, Rules, get_rules
from goita_env.tables import (
    ALL_TILES,
    CALL_CHOICE,
    CHOOSE,
    FRESH,
    KING_PERMIT,
    RADIX,
    attack_status,
    tables,
)
from goita_env.tiles import (
    COUNTS,
    HAND_SIZE,
    KING,
    MAX_DECISIONS,
    MAX_PLAYS,
    NUM_KINDS,
    NUM_SEATS,
    PAWN,
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
_OWN_KINGS: Final = U64(0x8080808080808080)


def _thermometer_masks(limits: tuple[int, ...], start: int) -> npt.NDArray[np.uint64]:
    """Returns the masks of each kind's thermometer in the word of tiles: [8]."""
    starts = start + np.concatenate(([0], np.cumsum(limits)[:-1]))
    return np.array(
        [((1 << n) - 1) << int(s) for n, s in zip(limits, starts, strict=True)], dtype=U64
    )


_HAND_MASKS: Final = _thermometer_masks(HAND_COUNTS, 0)
_UNSEEN_MASKS: Final = _thermometer_masks(COUNTS, UNSEEN_START)


@dataclass(frozen=True)
class Decisions:
    """Lists the round so far with one entry a play-or-pass decision; see ``View.decisions``."""

    seat: Int8
    """[N, 46] Relative seat that decided, NONE after the last decision."""
    event: Int8
    """[N, 46] Number of the play in the view's events, NONE for a pass and after the end."""
    length: Int8
    """[N] Decisions so far."""


class View:
    """Shows N positions as one seat each may know them.

    Attributes:
        words: uint64 [N, 8] the packed observation; all fields are read from it.
        game: int64 [N] tells games apart, for agents with a memory.
        rules: the rule set.
    """

    def __init__(
        self,
        words: observation.Words,
        game: npt.NDArray[np.int64] | None = None,
        rules: str | Rules = JGA,
    ) -> None:
        self.words = words
        self.game = np.arange(len(words)) if game is None else game
        self.rules = get_rules(rules)

    def __len__(self) -> int:
        """Returns N."""
        return len(self.words)

    def __getitem__(self, index: slice | npt.NDArray[np.int64] | npt.NDArray[np.bool_]) -> Self:
        """Returns the views of a slice, an index array or a mask."""
        return type(self)(self.words[index], self.game[index], self.rules)

    def __repr__(self) -> str:
        """Shows the size and the rule set."""
        return f"View({len(self)} positions, {self.rules.name})"

    def observation(self) -> observation.Observation:
        """Returns the flat observation: uint8 [N, 512]."""
        return observation.expand(self.words)

    # ---------------------------------------------------------------------------------- own tiles

    @cached_property
    def hand(self) -> Int8:
        """[N, 8] Tiles of each kind in the viewer's hand."""
        word = self.words[:, TILES_WORD, None]
        return np.bitwise_count(word & _HAND_MASKS).astype(np.int8)

    @cached_property
    def unseen(self) -> Int8:
        """[N, 8] Tiles of each kind hidden from the viewer: in others' hands or laid face down."""
        word = self.words[:, TILES_WORD, None]
        return np.bitwise_count(word & _UNSEEN_MASKS).astype(np.int8)

    @cached_property
    def own_face_down(self) -> Int8:
        """[N, 8] Tiles of each kind that the viewer laid face down."""
        hidden = self.event_face_down & (self.event_seat == 0)
        kinds = np.where(hidden, self.event_block, NONE)
        return (kinds[:, :, None] == np.arange(NUM_KINDS)).sum(axis=1).astype(np.int8)

    # ------------------------------------------------------------------------------------ the table

    @cached_property
    def attack(self) -> Int8:
        """[N] Kind of the last attack, NONE before the first."""
        return _PLACE[self._table(TABLE_ATTACK, 8)]

    @cached_property
    def attacker(self) -> Int8:
        """[N] Seat of the last attack, NONE before the first."""
        return _PLACE[self._table(TABLE_ATTACKER, 4)]

    @cached_property
    def passes(self) -> Int8:
        """[N] Passes since the last attack, 0 to 3."""
        return np.bitwise_count(self._table(TABLE_PASSES, 3)).astype(np.int8)

    @cached_property
    def dealer(self) -> Int8:
        """[N] Seat of the dealer."""
        return _PLACE[self._table(TABLE_DEALER, 4)]

    @cached_property
    def king_up(self) -> Bool:
        """[N] A king lies face up."""
        return self._table(TABLE_KING_UP, 1).astype(bool)

    @cached_property
    def scores(self) -> npt.NDArray[np.int16]:
        """[N, 2] Points of the viewer's team and of the other before this round."""
        tens = [
            np.bitwise_count(self._table(start, SCORE_BITS))
            for start in (TABLE_OWN_SCORE, TABLE_OTHER_SCORE)
        ]
        return 10 * np.stack(tens, axis=1).astype(np.int16)

    @cached_property
    def leads(self) -> Bool:
        """[N] On its turn the viewer leads: a block face down, no pass."""
        opens = (self.attack == NONE) & (self.dealer == 0)
        return opens | ((self.attacker == 0) & (self.passes == 3))

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

    # ------------------------------------------------------------------------------- plays by seat

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
        return _PLACE[self._block_bytes()[1]]

    @cached_property
    def hand_sizes(self) -> Int8:
        """[N, 4] Tiles in each seat's hand."""
        plays = np.bitwise_count(self._notes(NOTE_PLAYS, MAX_PLAYS))
        return (HAND_SIZE - 2 * plays).astype(np.int8)

    @cached_property
    def face_up(self) -> Int8:
        """[N, 4, 8] Tiles of each kind that each seat has played face up."""
        up = np.concatenate((self.attacks, self.blocks), axis=2)
        up[:, 0, 4:][self.face_down[:, 0]] = NONE
        return (up[:, :, :, None] == np.arange(NUM_KINDS)).sum(axis=2).astype(np.int8)

    @cached_property
    def face_down(self) -> Bool:
        """[N, 4, 4] The block of each seat's play lies face down."""
        down = self.blocks == FACE_DOWN
        game, event = np.nonzero(self.event_face_down & (self.event_seat == 0))
        down[game, 0, self._event_play[game, event]] = True
        return down

    @cached_property
    def passed_opponents(self) -> Bool:
        """[N, 4, 7] Each seat has passed on an opponent's attack of the kind (kings left out)."""
        kinds = np.arange(NUM_KINDS - 1, dtype=np.uint32)
        return (self._notes(NOTE_PASSES_OPPONENT, 7)[:, :, None] >> kinds & 1).astype(bool)

    @cached_property
    def passed_partner(self) -> Bool:
        """[N, 4, 7] Each seat has passed on its partner's attack of the kind (kings left out)."""
        kinds = np.arange(NUM_KINDS - 1, dtype=np.uint32)
        return (self._notes(NOTE_PASSES_PARTNER, 7)[:, :, None] >> kinds & 1).astype(bool)

    # --------------------------------------------------------------------------- the round in order

    @cached_property
    def num_plays(self) -> Int8:
        """[N] Plays in this round so far, at most 13."""
        plays = np.bitwise_count(self._notes(NOTE_PLAYS, MAX_PLAYS))
        return plays.sum(axis=1).astype(np.int8)

    @cached_property
    def event_seat(self) -> Int8:
        """[N, 13] Seat of each play in order, NONE after the last."""
        bits = self._event_bits()
        return np.where(bits.any(axis=1), bits.argmax(axis=1), NONE).astype(np.int8)

    @cached_property
    def event_block(self) -> Int8:
        """[N, 13] Block of each play, FACE_DOWN if the viewer doesn't know it, NONE after the last."""
        return self._by_event(self.blocks)

    @cached_property
    def event_attack(self) -> Int8:
        """[N, 13] Attack of each play, NONE after the last."""
        return self._by_event(self.attacks)

    @cached_property
    def event_face_down(self) -> Bool:
        """[N, 13] The play's block lies face down: the first, and any after its seat's own attack."""
        seat = self.event_seat
        down = np.ones(seat.shape, bool)
        down[:, 1:] = seat[:, 1:] == seat[:, :-1]
        return down & (seat != NONE)

    def decisions(self) -> Decisions:
        """Returns the round so far with one entry a decision, passes included.

        Passes between plays follow from who plays next.
        """
        seat, plays = self.event_seat.astype(np.int64), self.num_plays
        gap = np.zeros(seat.shape, np.int64)
        gap[:, 1:] = (seat[:, 1:] - seat[:, :-1] - 1) % NUM_SEATS + 1
        place = gap.cumsum(axis=1)
        games = np.arange(len(self))
        last = np.where(plays > 0, place[games, np.maximum(plays, 1) - 1] + 1, 0)
        length = last + self.passes
        event = np.full((len(self), MAX_DECISIONS), NONE, np.int8)
        game, number = np.nonzero(seat != NONE)
        event[game, place[game, number]] = number
        clock = np.arange(MAX_DECISIONS)
        seats = (self.dealer[:, None] + clock) % NUM_SEATS
        seats[clock >= length[:, None]] = NONE
        return Decisions(seats.astype(np.int8), event, length.astype(np.int8))

    # ---------------------------------------------------------------------------------------- acting

    def legal(self) -> Bool:
        """Returns what the viewer may do if it is asked now: bool [N, 69].

        It equals the action mask of an asked seat: what is legal hangs on what the seat knows.
        """
        t = tables(self.rules)
        status = np.zeros(len(self), np.int64)
        turn = self.attack != NONE
        status[turn] = attack_status(
            self.attack[turn].astype(np.int64), self.passes[turn], self.king_up[turn]
        )
        pawns = self.hand[:, PAWN]
        status[self.asked_call] = t.question[pawns[self.asked_call]]
        status[self.asked_choice] = CHOOSE
        code = self.hand @ np.array(RADIX)
        if self.rules.second_king_after_own_face_down:
            own = np.bitwise_count(self.words[:, PLAYS_WORD] & _OWN_KINGS)
            code |= np.where(own + self.hand[:, KING] == 2, KING_PERMIT, 0)
        blocks, permit, low = t.asks[:, status]
        pairs = t.pairs[code | permit] & blocks
        return unpack_legal(
            (pairs << 1 | low).view(U64), (pairs.view(U64) >> U64(63)) | t.answers[status]
        )

    # --------------------------------------------------------------------------------- bit reading

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
        return (self._notes(NOTE_PLAYS, MAX_PLAYS)[:, :, None] >> _EVENTS & 1).astype(bool)

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


def unpack_legal(low: observation.Words, high: observation.Words) -> Bool:
    """Returns legal actions as bool [N, 69]; ``low``, ``high``: [N] bits of 0-63 and 64-68."""
    words = np.empty((len(low), 2), U64)
    words[:, 0] = low
    words[:, 1] = high
    # Whole bytes unpack twice as fast as 69 bits; the rows of the result stand 72 bytes apart.
    bits = np.unpackbits(words.view(np.uint8)[:, :9], axis=1, bitorder="little")
    return bits.view(bool)[:, : actions.NUM_ACTIONS]


def from_observation(
    array: npt.ArrayLike,
    game: npt.NDArray[np.int64] | None = None,
    rules: str | Rules = JGA,
) -> View:
    """Returns the views of observations: [N, 512] or [512] zeros and ones.

    Raises:
        ObservationError: if it is no observation of this layout.
    """
    return View(observation.compress(array), game, rules)


def asked_view(state: core.State, game: npt.NDArray[np.int64] | None = None) -> View:
    """Returns what the asked seats may know."""
    return View(observation.pack(state), game, state.rules)


def seat_view(
    state: core.State, seat: int | npt.NDArray[np.int64], game: npt.NDArray[np.int64] | None = None
) -> View:
    """Returns what given seats (one for all games, or [N]) may know, asked or not."""
    return View(observation.pack_seat(state, seat), game, state.rules)


class DealRecord(Protocol):
    """Describes a deal's record as ``suppose`` reads it."""

    rules: Rules
    dealer: int
    scores: tuple[int, int]

    @property
    def moves(self) -> Sequence[tuple[int, int]]:
        """Returns (seat, action) of every decision in order, passes and questions included."""


def suppose(
    record: DealRecord, seat: int, hands: npt.ArrayLike, face_down: npt.ArrayLike | None = None
) -> list[View]:
    """Replays what a seat would have seen at each of its decisions, had it been dealt other hands.

    Args:
        record: a deal: dealer, scores, and (seat, action) of every decision.
        seat: the seat whose eyes are borrowed.
        hands: int [M, 8] the hands supposed for it, kinds 0 to 7.
        face_down: int [M, d] the tiles supposed for its face-down blocks, in order of play;
            None: those of the record.

    Returns:
        A view [M] for each decision of the seat, in order.

    Raises:
        HandsError: if a supposed hand doesn't hold what the seat played.
        SettingError: if the seat is none.
    """
    if seat not in range(NUM_SEATS):
        raise SettingError(f"expected a seat 0..3, got {seat!r}")
    kinds = np.asarray(hands)
    if kinds.ndim != 2 or kinds.shape[1] != HAND_SIZE or kinds.dtype.kind not in "iu":
        raise HandsError(f"expected hands of shape [M, {HAND_SIZE}], got shape {kinds.shape!r}")
    if kinds.size and not 0 <= kinds.min() <= kinds.max() < NUM_KINDS:
        raise HandsError("expected kinds 0..7 in the supposed hands, got others")
    many = len(kinds)
    own = (kinds[:, :, None] == np.arange(NUM_KINDS)).sum(axis=1)

    # Slots are seats here (offset 0), and the others' hands are the whole set: never looked at.
    state = core.State.empty(many, record.rules)
    codes = np.full((many, NUM_SEATS), ALL_TILES)
    codes[:, seat] = own @ np.array(RADIX)
    scores = np.repeat(np.array(record.scores)[:, None], many, axis=1)
    state.clock = record.dealer
    core.deal(state, np.arange(many), codes, np.full(many, record.dealer), scores, questions=False)

    supposed = None if face_down is None else np.asarray(face_down)
    views: list[View] = []
    played, downs, attacker = np.zeros((many, NUM_KINDS), np.int64), 0, None
    for mover, action in record.moves:
        state.clock = mover
        pair = actions.decode(action)
        if action >= actions.CALL:
            if mover == seat:
                choosing = action in (actions.REDEAL, actions.CONTINUE)
                state.status[:] = CHOOSE if choosing else CALL_CHOICE
                views.append(asked_view(state))
                state.status[:] = FRESH
            core.note(state, action)
            continue
        if mover == seat:
            views.append(asked_view(state))
        chosen = np.full(many, action)
        if pair is not None:
            block = np.full(many, pair[0])
            if mover == seat:
                if attacker in (None, seat) and supposed is not None:
                    if downs >= supposed.shape[1]:
                        raise HandsError(
                            f"expected a tile for each face-down block of seat {seat}, "
                            f"got {supposed.shape[1]} for at least {downs + 1}"
                        )
                    block = supposed[:, downs]
                    downs += 1
                    chosen = 1 + NUM_KINDS * block + pair[1]
                played[np.arange(many), block] += 1
                played[:, pair[1]] += 1
            attacker = mover
        core.step(state, chosen)
    short = np.flatnonzero((played > own).any(axis=1))
    if len(short):
        raise HandsError(
            f"expected hands that hold what seat {seat} played, "
            f"got {kinds[short[0]].tolist()!r} (hand {int(short[0])})"
        )
    return views
