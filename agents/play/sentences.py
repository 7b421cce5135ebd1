"""Says what a seat learns of a move, as it would be told at the table."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Final

from goita_env import Game, actions
from goita_env.tiles import NAMES, NUM_SEATS

PLACES: Final = ("you", "next", "partner", "previous")
"""The seats from the player's own counter-clockwise."""

_NUMBERS: Final = {5: "five", 6: "six", 7: "seven", 8: "eight"}


def place(seat: int, viewer: int) -> str:
    """Returns what a viewer calls a seat."""
    return PLACES[(seat - viewer) % NUM_SEATS]


def move(game: Game, action: int, viewer: int) -> str:
    """Says what a seat learns of the move that is about to be made, "" if nothing.

    That another seat was asked and kept silent is not to be told.

    Args:
        game: stands right before the move.
        action: a legal action.
        viewer: the seat that is told.
    """
    seat = game.seat
    assert seat is not None
    own, who = seat == viewer, place(seat, viewer)

    def verb(word: str) -> str:
        return word if own else f"{word}{'es' if word == 'pass' else 's'}"

    pair = actions.decode(action)
    if pair is not None:
        block, attack = (NAMES[kind] for kind in pair)
        if not face_down(game.moves, seat):
            return f"{who} {verb('receive')} with {block}, {verb('attack')} with {attack}"
        hidden = block if own else "a tile"
        return f"{who} {verb('lay')} {hidden} face down, {verb('attack')} with {attack}"
    if action == actions.PASS:
        return f"{who} {verb('pass')}"
    if action == actions.SILENT:
        return "you keep silent" if own else ""
    if action == actions.CALL:
        pawns = int(game.dealt[seat][0])
        return f"{who} {verb('call')} {_NUMBERS[pawns]} pawns"
    wish = "redeal" if action == actions.REDEAL else "continue"
    return f"{who} {verb('choose')} to {wish}"


def end(winner: int, points: int, viewer: int) -> str:
    """Says who ended a round, and with how many points."""
    who = "you end" if winner == viewer else f"{place(winner, viewer)} ends"
    return f"{who} the round: {points} points"


def face_down(moves: Sequence[tuple[int, int]], seat: int) -> bool:
    """Tells whether a seat that plays now lays its block face down.

    It does if nobody has attacked yet, or the last attack was its own.

    Args:
        moves: (seat, action) of the deal so far.
        seat: the seat.
    """
    attackers = [who for who, action in moves if actions.decode(action) is not None]
    return not attackers or attackers[-1] == seat
