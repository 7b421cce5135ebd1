"""States the rules as a player would: one short function a rule.

``tables`` expands them into arrays. A point on which the texts differ is a field of ``Rules``;
the next dealer and the end of a match are in ``episodes``.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import Literal

from goita_env import actions
from goita_env.rules import Rules
from goita_env.tiles import KING, LANCE, NUM_SEATS, PAWN, POINTS


def receives(block: int, attack: int) -> bool:
    """Tells whether a block stops an attack: one of its kind, or a king.

    A king does not stop pawn, lance or king. A king attack is never received: "unblockable"
    (booklet, example of a round).
    """
    if attack == KING:
        return False
    return block == attack or (block == KING and attack not in (PAWN, LANCE))


def king_may_attack(rules: Rules, kings: int, tiles: int, permitted: bool) -> bool:
    """Tells whether a seat with ``kings`` of ``tiles`` tiles in hand may attack with a king.

    ``permitted``: a king lies face up on the table, or the seat was dealt both and the rule set
    lets it attack after one went face down (booklet, special rule on kings, 1 and 2).
    """
    return permitted or kings == 2 or (rules.last_king and tiles == 2)


def finish_points(rules: Rules, block: int, attack: int, face_down: bool) -> int:
    """Returns the points of a round whose seventh and eighth tiles are these (booklet D)."""
    alike = block == attack and (block != KING or rules.kings_are_alike)
    return POINTS[attack] * (2 if face_down and alike else 1)


def call_points(rules: Rules, pawns: int, other_tiles: tuple[int, ...]) -> int:
    """Returns the points of calling six or more pawns with these other tiles (booklet B)."""
    if pawns == 8:
        return 100
    if pawns == 7:
        return 2 * POINTS[other_tiles[0]]
    alike = other_tiles[0] == other_tiles[1] and (other_tiles[0] != KING or rules.kings_are_alike)
    return max(POINTS[kind] for kind in other_tiles) * (
        2 if alike and rules.six_alike_doubles else 1
    )


def must_call(rules: Rules, pawns: int) -> bool:
    """Tells whether a seat that was dealt five or more pawns has a duty to call."""
    return (rules.call_five if pawns == 5 else rules.call_six_or_more) == "duty"


@dataclass(frozen=True)
class Question:
    """A question: whether a seat calls five or more pawns, or whether a caller's deal is played.

    No text gives an order, so it is ours: from the dealer on, each seat that was dealt five or more
    pawns acts once; then, where five were called, the caller's partner chooses. Seats are
    counted from the dealer (0: the dealer).
    """

    holders: tuple[int, ...]
    """Seats that were dealt five or more pawns, in order; two at most."""
    six_or_more: bool
    """The only holder has six or more."""
    called: tuple[int, ...] = ()
    """Holders that have called five, in order."""
    seat: int = -1
    """The acting seat."""
    choosing: bool = False
    """The acting seat chooses redeal or continue, as a caller's partner."""


Ending = Literal["play", "redeal", "call", "fives"]
"""How questions end: play begins; a redeal; six or more were called; two fives of partners."""


def answer(rules: Rules, question: Question, action: int) -> Question | Ending:
    """Returns the next question, or how the questions end."""
    q = question
    if q.choosing:
        if action == actions.CONTINUE:
            return "play"
        other_partner = partner(q.called[-1])
        if len(q.called) == 2 and q.seat != other_partner:
            # Two seats called, and the first one's partner chose a redeal. There is one only "if
            # both partners choose to reshuffle" (booklet B), so the other partner chooses, too.
            return Question(q.holders, q.six_or_more, q.called, other_partner, choosing=True)
        return "redeal"

    called = (*q.called, q.seat) if action == actions.CALL else q.called
    if called and q.six_or_more:
        return "call"
    if later := [seat for seat in q.holders if seat > q.seat]:
        return Question(q.holders, q.six_or_more, called, later[0])
    winners = called if rules.partners_fives_win == "called" else q.holders
    if len(winners) == 2 and winners[1] == partner(winners[0]):
        return "fives"
    if not called:
        return "play"
    if len(called) == 2 and rules.opponents_fives == "redeal":
        return "redeal"
    return Question(q.holders, q.six_or_more, called, partner(called[0]), choosing=True)


def partner(seat: int) -> int:
    return (seat + 2) % NUM_SEATS
