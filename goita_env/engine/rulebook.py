"""Says the rules of play and scoring as a player would: one short function a rule.

``tables`` expands them into arrays. What the texts differ on is a field of ``Rules``, read here;
the questions before play are in ``questions``, who deals next and when a match ends in ``match``.
"""

from __future__ import annotations

from goita_env.rules import Rules
from goita_env.tiles import KING, LANCE, PAWN, POINTS


def receives(block: int, attack: int) -> bool:
    """Tells whether a block stops an attack: the same kind, or a king but for pawn, lance and king.

    A king attack is never received: "unblockable" (booklet, example of a round).
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


def call_points(rules: Rules, pawns: int, others: tuple[int, ...]) -> int:
    """Returns the points of calling six or more pawns with these other tiles (booklet B)."""
    if pawns == 8:
        return 100
    if pawns == 7:
        return 2 * POINTS[others[0]]
    alike = others[0] == others[1] and (others[0] != KING or rules.kings_are_alike)
    return max(POINTS[kind] for kind in others) * (2 if alike and rules.six_alike_doubles else 1)


def must_call(rules: Rules, pawns: int) -> bool:
    """Tells whether a seat that was dealt five or more pawns has a duty to call."""
    return (rules.call_five if pawns == 5 else rules.call_six_or_more) == "duty"
