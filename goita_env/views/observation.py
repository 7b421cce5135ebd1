"""Lays out the observation: one table of named slices, from which bits, views and docs follow.

An observation is 512 bits, packed in eight 64-bit words: a word of plays for each seat, a word for
every two seats of notes, a word of tiles and a word of the table. Seats are relative to the viewer:
0 the viewer, 1 the next seat, 2 the partner, 3 the seat before.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import Final

import numpy as np
import numpy.typing as npt

from goita_env.engine.history import (
    FRAME_DEALER,
    FRAME_OTHER_SCORE,
    FRAME_OWN_SCORE,
    NOTE_BITS,
    NOTE_CALLED,
    NOTE_CONTINUE,
    NOTE_PASSES_OPPONENT,
    NOTE_PASSES_PARTNER,
    NOTE_PLAYS,
    NOTE_REDEAL,
    SCORE_BITS,
)
from goita_env.tiles import COUNTS, HAND_SIZE, MAX_PLAYS, NUM_KINDS, NUM_SEATS, PAWN

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

# Bits of the word of the table, beside those of the engine's frame: dealer and scores.
TABLE_ATTACK: Final = 0
TABLE_ATTACKER: Final = 8
TABLE_PASSES: Final = 12
TABLE_KING_UP: Final = 19
TABLE_ASKED_CALL: Final = 20
TABLE_ASKED_CHOICE: Final = 21

HAND_COUNTS: Final = tuple(min(count, HAND_SIZE) for count in COUNTS)
"""Most tiles of each kind in one hand: the widths of the hand's thermometers."""
UNSEEN_START: Final = sum(HAND_COUNTS)
"""First bit of the unseen tiles in the word of tiles."""


@dataclass(frozen=True)
class Slice:
    """Names a run of bits of the observation."""

    name: str
    start: int
    size: int
    meaning: str

    @property
    def stop(self) -> int:
        """Returns the index after the last bit."""
        return self.start + self.size


def _slices() -> tuple[Slice, ...]:
    """Lists all slices in order."""
    seats = ("own", "next seat's", "partner's", "previous seat's")
    slices = []
    for seat, whose in enumerate(seats):
        for play in range(4):
            start = 64 * (PLAYS_WORD + seat) + 16 * play
            hidden = "shown to oneself even if face down" if seat == 0 else "all zero if face down"
            slices += [
                Slice(
                    f"block_{seat}_{play}", start, 8, f"{whose} block {play + 1}: kind, {hidden}"
                ),
                Slice(f"attack_{seat}_{play}", start + 8, 8, f"{whose} attack {play + 1}: kind"),
            ]
    for seat, whose in enumerate(seats):
        start = 64 * NOTES_WORD + NOTE_BITS * seat
        slices += [
            Slice(f"events_{seat}", start + NOTE_PLAYS, MAX_PLAYS, f"bit e: play e was {whose}"),
            Slice(
                f"passed_opponents_{seat}",
                start + NOTE_PASSES_OPPONENT,
                NUM_KINDS - 1,
                f"{whose} passes on opponents' attacks, by kind (kings left out)",
            ),
            Slice(
                f"passed_partner_{seat}",
                start + NOTE_PASSES_PARTNER,
                NUM_KINDS - 1,
                f"{whose} passes on its partner's attacks, by kind (kings left out)",
            ),
            Slice(f"called_{seat}", start + NOTE_CALLED, 1, f"{whose} call of a special hand"),
            Slice(f"redeal_{seat}", start + NOTE_REDEAL, 1, f"{whose} choice: redeal"),
            Slice(f"continue_{seat}", start + NOTE_CONTINUE, 1, f"{whose} choice: continue"),
        ]
    start = 64 * TILES_WORD
    slices += [
        Slice("hand", start, UNSEEN_START, "tiles in hand: a thermometer for each kind"),
        Slice(
            "unseen", start + UNSEEN_START, sum(COUNTS), "tiles hidden from the viewer, likewise"
        ),
    ]
    start = 64 * TABLE_WORD
    slices += [
        Slice("attack", start + TABLE_ATTACK, 8, "the last attack: kind"),
        Slice("attacker", start + TABLE_ATTACKER, 4, "seat of the last attack"),
        Slice("passes", start + TABLE_PASSES, 3, "passes since the last attack: a thermometer"),
        Slice("dealer", start + FRAME_DEALER, 4, "seat of the dealer"),
        Slice("king_up", start + TABLE_KING_UP, 1, "a king lies face up"),
        Slice("asked_call", start + TABLE_ASKED_CALL, 1, "the viewer is asked: call or silent"),
        Slice(
            "asked_choice", start + TABLE_ASKED_CHOICE, 1, "the viewer is asked: redeal or continue"
        ),
        Slice(
            "own_score",
            start + FRAME_OWN_SCORE,
            SCORE_BITS,
            "own team's points before the round: a thermometer of tens",
        ),
        Slice(
            "other_score",
            start + FRAME_OTHER_SCORE,
            SCORE_BITS,
            "the other team's points, likewise",
        ),
    ]
    return tuple(slices)


SLICES: Final = _slices()
"""Every named slice, in order; bits between them are always zero."""


def thermometers(limits: tuple[int, ...]) -> npt.NDArray[np.uint64]:
    """Returns the bits of each kind's thermometer by count: uint64 [8, 11], kinds side by side."""
    bits = np.zeros((NUM_KINDS, COUNTS[PAWN] + 1), np.uint64)
    start = 0
    for kind, limit in enumerate(limits):
        for count in range(COUNTS[PAWN] + 1):
            bits[kind, count] = ((1 << min(count, limit)) - 1) << start
        start += limit
    return bits


def documentation() -> str:
    """Returns the table of ``docs/observation.md`` as Markdown."""
    lines = [
        f"Layout version {OBSERVATION_VERSION}: {OBSERVATION_SIZE} bits as uint8, "
        f"{NUM_SEATS} seats relative to the viewer "
        "(0 own, 1 next, 2 partner, 3 previous).",
        "",
        "| slice | bits | meaning |",
        "|---|---|---|",
    ]
    lines += [f"| `{s.name}` | {s.start}:{s.stop} | {s.meaning} |" for s in SLICES]
    return "\n".join(lines) + "\n"
