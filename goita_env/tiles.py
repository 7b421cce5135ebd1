"""Names the equipment: kinds, counts, points, characters, seats and teams. Constants only.

The Japanese terms of the game, once: the pawn is *shi*, the lance *kyo*, the knight *bakko*, the
silver *gin*, the gold *kin*, the bishop *kaku*, the rook *hisha*, the kings *o* and *gyoku*; five,
six, seven and eight pawns in a dealt hand are *goshi*, *rokushi*, *nanashi* and *hachishi*.
"""

from __future__ import annotations

from typing import Final, Literal

PAWN, LANCE, KNIGHT, SILVER, GOLD, BISHOP, ROOK, KING = range(8)

NUM_KINDS: Final = 8

FACE_DOWN: Final = 8
"""In place of a kind: a tile that lies face down and is not the viewer's own."""

NONE: Final = -1
"""Where there is no kind, seat or event."""

COUNTS: Final = (10, 4, 4, 4, 4, 2, 2, 2)
"""Tiles of each kind in the set of 32."""

POINTS: Final = (10, 20, 20, 30, 30, 40, 40, 50)
"""Points of each kind as the last tile of a round."""

NUM_TILES: Final = sum(COUNTS)
HAND_SIZE: Final = 8

DIGITS: Final = "12345678"
"""Digit of each kind in records; 9 is read as the second king."""

LETTERS: Final = "PLNSGBRK"
"""Letter of each kind in drawings without characters."""

NAMES: Final = ("pawn", "lance", "knight", "silver", "gold", "bishop", "rook", "king")

CHARACTERS: Final = "し香馬銀金角飛王"
"""Character of each kind in records and drawings; 玉 is the second king."""

SECOND_KING_DIGIT: Final = "9"
SECOND_KING_CHARACTER: Final = "玉"

NUM_SEATS: Final = 4
"""Seats 0 to 3 in turn order, counter-clockwise at a table."""

PARTNER: Final = 2
"""The partner's seat in a view, where the viewer's is 0."""

RelativeSeat = Literal["next", "partner", "previous"]

RELATIVE_SEATS: Final[dict[RelativeSeat, int]] = {"next": 1, "partner": PARTNER, "previous": 3}
"""The other seats in a view; the next one and the previous are the opponents."""

TEAMS: Final = (("player_0", "player_2"), ("player_1", "player_3"))
"""The two partnerships, by the names of their seats in the environments."""

MATCH_POINTS: Final = 150
"""Points of two fives of partners, and the most that a match goes to (``Rules.match_points``)."""

MAX_PLAYS: Final = 13
"""Most plays in a round: the fourth play of a seat ends it (4 + 3 + 3 + 3)."""

MAX_DECISIONS: Final = 46
"""Most play-or-pass decisions in a round."""
