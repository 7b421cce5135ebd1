"""Says where the public history of a round lies in the bits that a step writes.

The engine keeps, for every seat, what all have seen of it, in the form in which it can be shown:
``notes`` grows bit by bit as the round goes on, ``frame`` is set with the deal. ``views`` packs
both into observations as they are.
"""

from __future__ import annotations

from typing import Final

from goita_env.tiles import MATCH_POINTS, MAX_PLAYS, NUM_KINDS

# Bits of a seat's notes.
NOTE_PLAYS: Final = 0
"""Bit e: play e of the round was this seat's."""
NOTE_PASSES_OPPONENT: Final = NOTE_PLAYS + MAX_PLAYS
"""It passed on an opponent's attack of this kind; kings, which all pass on, are left out."""
NOTE_PASSES_PARTNER: Final = NOTE_PASSES_OPPONENT + NUM_KINDS - 1
"""It passed on its partner's attack of this kind."""
NOTE_CALLED: Final = NOTE_PASSES_PARTNER + NUM_KINDS - 1
NOTE_REDEAL: Final = NOTE_CALLED + 1
NOTE_CONTINUE: Final = NOTE_REDEAL + 1
NOTE_BITS: Final = 32

# Bits of a seat's frame: dealer and scores as the seat sees them.
FRAME_DEALER: Final = 15
"""One of four bits: the seat of the dealer, counted from the viewer."""
FRAME_OWN_SCORE: Final = 22
"""A thermometer of tens: the points of the viewer's team before the round."""
FRAME_OTHER_SCORE: Final = FRAME_OWN_SCORE + MATCH_POINTS // 10 - 1
SCORE_BITS: Final = MATCH_POINTS // 10 - 1
"""A score before a round is a multiple of ten below 150."""


def score_bits(score: int) -> int:
    """Returns the thermometer of a score (a multiple of ten, 0 to 140)."""
    return (1 << score // 10) - 1
