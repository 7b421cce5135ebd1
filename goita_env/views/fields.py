"""Reads the fields of a view from its packed words, each at its first use."""

from __future__ import annotations

from functools import cached_property
from typing import Any, Final, Self

import numpy as np
import numpy.typing as npt

from goita_env.actions import CONTINUE, PASS, REDEAL
from goita_env.arrays import Bits, Bool, Int, Int8
from goita_env.information import PLAIN, InformationStructure
from goita_env.rules import JGA, Rules, get_rules
from goita_env.tiles import (
    COUNTS,
    FACE_DOWN,
    MAX_DECISIONS,
    MAX_PLAYS,
    NONE,
    NUM_KINDS,
    NUM_SEATS,
    PAWN,
)
from goita_env.views.observation import (
    HAND_COUNTS,
    MESSAGE_SLICES,
    NOTES_WORD,
    NUM_WORDS,
    PLAYS_WORD,
    SLICES,
    TABLE_WORD,
    TILES_WORD,
    UNSEEN_START,
)

_PLACE_OF_BIT: Final = np.full(256, NONE, np.int8)
"""Place of the one in a one-hot byte, NONE for zero."""
for _bit in range(8):
    _PLACE_OF_BIT[1 << _bit] = _bit
_EVENTS: Final = np.arange(MAX_PLAYS, dtype=np.uint32)
_ATTACKS_PASSED: Final = np.arange(NUM_KINDS - 1, dtype=np.uint32)
_KINDS: Final = np.arange(NUM_KINDS)
_SLICE_BITS: Final = {
    bits.name: (bits.start, (1 << bits.size) - 1) for bits in (*SLICES, *MESSAGE_SLICES)
}
"""First bit and mask of every slice of the observation."""


def _thermometer_masks(limits: tuple[int, ...], start: int) -> Bits:
    """[8] The masks of each kind's thermometer in the word of tiles."""
    starts = start + np.cumsum(limits) - limits
    masks = [(1 << limit) - 1 for limit in limits]
    return np.array(masks, np.uint64) << starts.astype(np.uint64)


_HAND_MASKS: Final = _thermometer_masks(HAND_COUNTS, 0)
_UNSEEN_MASKS: Final = _thermometer_masks(COUNTS, UNSEEN_START)


class DecisionHistory:
    """The round so far with one entry for each decision to play or pass; see ``View.decisions``.

    Attributes:
        seat: int8 [N, 46] relative seat that decided, NONE after the last decision.
        event: int8 [N, 46] number of the play in the view's events, NONE for a pass and after.
        length: int8 [N] decisions so far.
    """

    def __init__(self, view: ViewFields) -> None:
        seat, plays = view.event_seat.astype(np.int64), view.num_plays
        # Turns go round, so the seats of two plays in a row give the passes between them: a play is
        # 1 to 4 decisions after the one before. Sums of these gaps, [N, 13], are the plays' places.
        gap = np.zeros(seat.shape, np.int64)
        gap[:, 1:] = (seat[:, 1:] - seat[:, :-1] - 1) % NUM_SEATS + 1
        place = gap.cumsum(axis=1)
        last = place[np.arange(len(view)), np.maximum(plays, 1) - 1] + 1
        length = np.where(plays > 0, last, 0) + view.passes
        event = np.full((len(view), MAX_DECISIONS), NONE, np.int8)
        row, play = np.nonzero(seat != NONE)
        event[row, place[row, play]] = play
        clock = np.arange(MAX_DECISIONS)
        seats = (view.dealer[:, None] + clock) % NUM_SEATS
        seats[clock >= length[:, None]] = NONE
        self._view, self._plays = view, event != NONE
        self.seat: Int8 = seats.astype(np.int8)
        self.event: Int8 = event
        self.length: Int8 = length.astype(np.int8)

    @cached_property
    def action(self) -> Int:
        """[N, 46] The decisions, PASS after the last; a hidden play's block counts as kind 0."""
        block = np.where(self.hidden, 0, self._of_play(self._view.event_block)).astype(np.int64)
        pairs = 1 + NUM_KINDS * block + self._of_play(self._view.event_attack)
        return np.where(self._plays, pairs, PASS)

    @cached_property
    def play(self) -> Int:
        """[N, 46] Which of its seat's plays (0 to 3) the play is, 0 for a pass."""
        return np.where(self._plays, self._of_play(self._view._event_play), 0)

    @cached_property
    def last(self) -> Bool:
        """[N, 46] It is a play that empties its seat's hand, and so ends the round."""
        return np.asarray(self._plays & (self.play == self._view.rules.hand_size // 2 - 1))

    @cached_property
    def face_down(self) -> Bool:
        """[N, 46] It is a play whose block lies face down."""
        return np.asarray(self._plays & self._of_play(self._view.event_face_down))

    @cached_property
    def hidden(self) -> Bool:
        """[N, 46] It is a play whose block the viewer does not know."""
        return np.asarray(self._plays & (self._of_play(self._view.event_block) == FACE_DOWN))

    def _of_play(self, field: npt.NDArray[Any]) -> npt.NDArray[Any]:
        """[N, 46] A field of plays [N, 13] by decision."""
        return np.take_along_axis(field, np.maximum(self.event, 0).astype(np.intp), axis=1)


class ViewFields:
    """The fields of packed observations of N positions; ``View`` adds the rest.

    Attributes:
        words: uint64 [N, 8] the packed observation; all fields are read from it. Two more words a
            row for each seat whose tiles the options show.
        game: int64 [N] numbers of the games, for agents with a memory.
        rules: the rule set.
        information: the information options.
    """

    def __init__(
        self,
        words: Bits,
        game: Int | None = None,
        rules: str | Rules = JGA,
        information: InformationStructure = PLAIN,
    ) -> None:
        self.words = words
        self.game = np.arange(len(words)) if game is None else game
        self.rules = get_rules(rules)
        self.information = information

    def __len__(self) -> int:
        return len(self.words)

    def __getitem__(self, index: slice | Int | Bool) -> Self:
        """Returns the views of a slice, an index array or a mask."""
        return type(self)(self.words[index], self.game[index], self.rules, self.information)

    # ------------------------------------------------------------------------------------ own tiles

    @cached_property
    def hand(self) -> Int8:
        """[N, 8] Tiles of each kind in the viewer's hand."""
        return self._tiles(_HAND_MASKS)

    @cached_property
    def unseen(self) -> Int8:
        """[N, 8] Tiles of each kind hidden from the viewer: in others' hands or laid face down."""
        return self._tiles(_UNSEEN_MASKS)

    @cached_property
    def own_face_down(self) -> Int8:
        """[N, 8] Tiles of each kind that the viewer laid face down."""
        hidden = self.event_face_down & (self.event_seat == 0)
        kinds = np.where(hidden, self.event_block, NONE)
        return np.asarray((kinds[:, :, None] == _KINDS).sum(axis=1), np.int8)

    # ------------------------------------------------------------------------------------ the table

    @cached_property
    def attack(self) -> Int8:
        """[N] Kind of the last attack, NONE before the first and at the end of the round."""
        return np.asarray(_PLACE_OF_BIT[self._table("attack")])

    @cached_property
    def attacker(self) -> Int8:
        """[N] Seat of the last attack, NONE before the first and at the end of the round."""
        return np.asarray(_PLACE_OF_BIT[self._table("attacker")])

    @cached_property
    def passes(self) -> Int8:
        """[N] Passes since the last attack, 0 to 3."""
        return np.bitwise_count(self._table("passes")).astype(np.int8)

    @cached_property
    def dealer(self) -> Int8:
        """[N] Seat of the dealer."""
        return np.asarray(_PLACE_OF_BIT[self._table("dealer")])

    @cached_property
    def king_up(self) -> Bool:
        """[N] A king lies face up."""
        return self._table("king_up").astype(bool)

    @cached_property
    def scores(self) -> npt.NDArray[np.int16]:
        """[N, 2] Points of the viewer's team and of the other before this round."""
        tens = [np.bitwise_count(self._table(name)) for name in ("own_score", "other_score")]
        return 10 * np.stack(tens, axis=1).astype(np.int16)

    @cached_property
    def mover(self) -> Int8:
        """[N] Seat that plays or passes next, NONE at the end of the round.

        Before the first play it is the dealer, also while questions are answered.
        """
        after = (self.attacker + self.passes + 1) % NUM_SEATS
        over = (self.num_plays > 0) | (self.called > 5).any(axis=1)
        return np.where(self.attack == NONE, np.where(over, NONE, self.dealer), after).astype(
            np.int8
        )

    @cached_property
    def mover_leads(self) -> Bool:
        """[N] The mover leads: it lays a block face down and cannot pass."""
        return np.asarray((self.mover != NONE) & ((self.attack == NONE) | (self.passes == 3)))

    @cached_property
    def leads(self) -> Bool:
        """[N] The viewer leads if it is its turn: a block face down, no pass."""
        opens = (self.attack == NONE) & (self.dealer == 0)
        return np.asarray(opens | ((self.attacker == 0) & (self.passes == 3)))

    @cached_property
    def asked_call(self) -> Bool:
        """[N] The viewer decides: call or silent."""
        return self._table("asked_call").astype(bool)

    @cached_property
    def asked_choice(self) -> Bool:
        """[N] The viewer decides: redeal or continue."""
        return self._table("asked_choice").astype(bool)

    @cached_property
    def called(self) -> Int8:
        """[N, 4] Pawns that each seat called, 0 if it called none."""
        open_pawns = (self._play_bytes() == 1 << PAWN).sum(axis=2)
        is_special = (self.num_plays == 0)[:, None] & (open_pawns > 5)
        return np.where(self._notes("called") == 0, 0, np.where(is_special, open_pawns, 5)).astype(
            np.int8
        )

    @cached_property
    def choices(self) -> Int8:
        """[N, 4] The choice of each seat as a caller's partner: REDEAL, CONTINUE or 0."""
        chosen = self._notes("redeal") * REDEAL + self._notes("continue") * CONTINUE
        return chosen.astype(np.int8)

    # ------------------------------------------------------------------ beyond the base game

    @property
    def asked_message(self) -> Bool:
        """[N] The viewer sends its message."""
        return self._table("asked_message").astype(bool)

    @property
    def messages(self) -> Int8:
        """[N, 4] The message of each seat; 0 for silence, unobserved messages, and before.

        The dealer's message comes first, so the acting seat knows which seats have sent theirs.
        """
        by_seat = [self._table(f"messages_{seat}") for seat in range(NUM_SEATS)]
        return np.stack(by_seat, axis=1).astype(np.int8)

    @property
    def hands(self) -> Int8:
        """[N, 4, 8] Tiles of each kind in the hands of the viewer and the seats that are shown.

        All NONE for the other seats.
        """
        hands = np.full((len(self), NUM_SEATS, NUM_KINDS), NONE, np.int8)
        hands[:, 0] = self.hand
        shown_seats = self.information.shown_seats
        for place, seat in enumerate(shown_seats, NUM_WORDS + len(shown_seats)):
            hands[:, seat] = np.bitwise_count(self.words[:, [place]] & _HAND_MASKS)
        return hands

    @property
    def known_blocks(self) -> Int8:
        """[N, 4, 4] As ``blocks``, with the kinds of shown seats' face-down blocks."""
        blocks = self.blocks.copy()
        for place, seat in enumerate(self.information.shown_seats, NUM_WORDS):
            plays = np.ascontiguousarray(self.words[:, place]).view(np.uint8).reshape(-1, 8)
            blocks[:, seat] = _PLACE_OF_BIT[plays[:, 0::2]]
        return blocks

    # -------------------------------------------------------------------------------- plays by seat

    @cached_property
    def blocks(self) -> Int8:
        """[N, 4, 4] Kind of each seat's blocks in order of play, FACE_DOWN, NONE if not played.

        The viewer's own face-down blocks show their kind. A called hand of six or more pawns lies
        here and in ``attacks`` as eight tiles, though none was played.
        """
        blocks, attacks = self._play_bytes()[:, :, 0::2], self._play_bytes()[:, :, 1::2]
        return np.where((blocks == 0) & (attacks != 0), np.int8(FACE_DOWN), _PLACE_OF_BIT[blocks])

    @cached_property
    def attacks(self) -> Int8:
        """[N, 4, 4] Kind of each seat's attacks in order of play, NONE if not played."""
        return np.asarray(_PLACE_OF_BIT[self._play_bytes()[:, :, 1::2]])

    @cached_property
    def hand_sizes(self) -> Int8:
        """[N, 4] Tiles in each seat's hand; none in a hand of six or more pawns that was called."""
        plays = np.bitwise_count(self._notes("events"))
        return np.where(self.called > 5, 0, self.rules.hand_size - 2 * plays).astype(np.int8)

    @cached_property
    def face_up(self) -> Int8:
        """[N, 4, 8] Tiles of each kind that each seat has played face up."""
        # Four attacks, then four blocks; the viewer's own face-down blocks, which show their kind
        # in ``blocks``, are taken out. Other seats' are FACE_DOWN, which no kind equals.
        up = np.concatenate((self.attacks, self.blocks), axis=2)
        up[:, 0, 4:][self.face_down[:, 0]] = NONE
        return np.asarray((up[:, :, :, None] == _KINDS).sum(axis=2), np.int8)

    @cached_property
    def face_down(self) -> Bool:
        """[N, 4, 4] The block of each seat's play lies face down."""
        down = np.asarray(self.blocks == FACE_DOWN)
        game, event = np.nonzero(self.event_face_down & (self.event_seat == 0))
        down[game, 0, self._event_play[game, event]] = True
        return down

    @cached_property
    def passed_opponents(self) -> Bool:
        """[N, 4, 7] Each seat has passed on an opponent's attack of the kind (kings left out)."""
        return self._passed("passed_opponents")

    @cached_property
    def passed_partner(self) -> Bool:
        """[N, 4, 7] Each seat has passed on its partner's attack of the kind (kings left out)."""
        return self._passed("passed_partner")

    # --------------------------------------------------------------------------- the round in order

    @cached_property
    def num_plays(self) -> Int8:
        """[N] Plays in this round so far, at most 13."""
        return np.asarray(np.bitwise_count(self._notes("events")).sum(axis=1), np.int8)

    @cached_property
    def event_seat(self) -> Int8:
        """[N, 13] Seat of each play in order, NONE after the last."""
        bits = self._event_bits
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
        return np.asarray(down & (seat != NONE))

    def decisions(self) -> DecisionHistory:
        """Returns the round so far with one entry a decision, passes included.

        Passes between plays follow from the plays' seats. Calls and choices before play are in
        ``called`` and ``choices``.
        """
        return DecisionHistory(self)

    # ---------------------------------------------------------------------------------- bit reading

    def _table(self, name: str) -> Int:
        """[N] A slice of the word of the table."""
        start, mask = _SLICE_BITS[name]
        return (self.words[:, TABLE_WORD].view(np.int64) >> (start - 64 * TABLE_WORD)) & mask

    def _tiles(self, masks: Bits) -> Int8:
        """[N, 8] A thermometer for each kind in the word of tiles."""
        return np.asarray(np.bitwise_count(self.words[:, [TILES_WORD]] & masks), np.int8)

    def _passed(self, name: str) -> Bool:
        """[N, 4, 7] A slice of each seat's notes with a bit a kind."""
        return ((self._notes(name)[:, :, None] >> _ATTACKS_PASSED) & 1).astype(bool)

    def _notes(self, name: str) -> npt.NDArray[np.uint32]:
        """[N, 4] A slice of each seat's notes."""
        start, mask = _SLICE_BITS[f"{name}_0"]
        words = np.ascontiguousarray(self.words[:, NOTES_WORD : NOTES_WORD + 2])
        return (words.view(np.uint32) >> np.uint32(start - 64 * NOTES_WORD)) & np.uint32(mask)

    def _play_bytes(self) -> npt.NDArray[np.uint8]:
        """[N, 4, 8] Each seat's plays as one-hot bytes, block and attack in turn."""
        words = np.ascontiguousarray(self.words[:, PLAYS_WORD : PLAYS_WORD + NUM_SEATS])
        return words.view(np.uint8).reshape(-1, NUM_SEATS, 8)

    @cached_property
    def _event_bits(self) -> Bool:
        """[N, 4, 13] Which seat made which play."""
        return ((self._notes("events")[:, :, None] >> _EVENTS) & 1).astype(bool)

    @cached_property
    def _event_play(self) -> Int:
        """[N, 13] Which of its seat's plays (0 to 3) each event is."""
        counts = self._event_bits.cumsum(axis=2) - 1
        seat = np.maximum(self.event_seat, 0)[:, None].astype(np.int64)
        return np.take_along_axis(counts, seat, axis=1)[:, 0].clip(0, 3)

    def _by_event(self, plays: Int8) -> Int8:
        """[N, 13] A field of plays by seat in the order of events."""
        index = np.maximum(self.event_seat, 0) * 4 + self._event_play
        in_order = np.take_along_axis(plays.reshape(len(self), 16), index, axis=1)
        return np.where(self.event_seat == NONE, np.int8(NONE), in_order)
