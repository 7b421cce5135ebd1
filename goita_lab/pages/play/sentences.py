"""Describes a match to a player: actions and moves in words, and the scene of a position."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import replace
from typing import Final

from goita_env import Game, actions
from goita_env.render import words
from goita_env.render.scene import Scene
from goita_env.tiles import NAMES, NUM_SEATS

PLACES: Final = ("you", "next", "partner", "previous")
"""The seats from the player's own counter-clockwise."""

_NUMBERS: Final = {5: "five", 6: "six", 7: "seven", 8: "eight"}


def place(seat: int, viewer: int) -> str:
    """Returns what a viewer calls a seat."""
    return PLACES[(seat - viewer) % NUM_SEATS]


MEANINGS: Final = {
    actions.CALL: "Call: you show your pawns. With five, your partner chooses whether the tiles "
    "are dealt again; with more, the round ends and scores at once.",
    actions.SILENT: "Keep silent: nobody learns that you were asked.",
    actions.REDEAL: "Redeal: the tiles are dealt again, because a seat called five pawns.",
    actions.CONTINUE: "Continue: the round is played with these tiles.",
}
"""What the pre-play decisions do."""


def meaning(legal: Sequence[int]) -> str:
    """Returns what the answers among some actions do; "" where there are none."""
    return " ".join(text for number, text in MEANINGS.items() if number in legal)


def action(number: int) -> str:
    """Returns an action in words: "gold then silver", "pass"."""
    return words.action(number, " then ")


def share(probability: float) -> str:
    """Returns a probability in percent; 0% and 100% only where it is exactly that."""
    rounded = f"{probability:.0%}"
    if rounded == "0%" and probability > 0:
        return "<1%"
    return ">99%" if rounded == "100%" and probability < 1 else rounded


def move(game: Game, number: int, viewer: int) -> str:
    """Returns what a seat learns of the move that is about to be made, "" if nothing.

    It does not learn that another seat was asked and kept silent.
    """
    seat = game.seat
    assert seat is not None
    own, who = seat == viewer, place(seat, viewer)

    def verb(word: str) -> str:
        return word if own else f"{word}{'es' if word == 'pass' else 's'}"

    if (pair := actions.decode(number)) is not None:
        block, attack = (NAMES[kind] for kind in pair)
        if not game.view(seat).leads[0]:
            return f"{who} {verb('receive')} with {block}, {verb('attack')} with {attack}"
        hidden = block if own else "a tile"
        return f"{who} {verb('lay')} {hidden} face down, {verb('attack')} with {attack}"
    if number == actions.PASS:
        return f"{who} {verb('pass')}"
    if number == actions.SILENT:
        return "you keep silent" if own else ""
    if number == actions.CALL:
        return f"{who} {verb('call')} {_NUMBERS[int(game.dealt[seat][0])]} pawns"
    return f"{who} {verb('choose')} to {actions.name(number)}"


def end(winner: int, points: int, viewer: int) -> str:
    """Returns who ended a round, and with how many points."""
    who = "you end" if winner == viewer else f"{place(winner, viewer)} ends"
    return f"{who} the round: {points} points"


def match_end(own: int, other: int) -> str:
    """Returns who won the match."""
    return f"The match is over: you {'win' if own > other else 'lose'}, {own} to {other}."


def leading(scene: Scene) -> Scene:
    """Returns the scene of a player who is asked for the first lead of a round."""
    own, *others = scene.places
    own = replace(own, remarks=(*own.remarks, "to move"))
    told = f"{own.name}: lead with a tile face down and an attack"
    return replace(scene, places=(own, *others), mover=0, template=told)


def ended_scene(over: Game, viewer: int, scores: tuple[int, int]) -> Scene:
    """Returns a round at its end, all hands open, named as a player sees it.

    ``scores``: points of the player's team and of the others, this round included.
    """
    assert over.winner is not None
    scene, (own, other) = over.scene(viewer), scores
    return replace(
        scene,
        places=tuple(
            replace(one, name=name) for one, name in zip(scene.places, PLACES, strict=True)
        ),
        scores=(("you and partner", own), ("the others", other)),
        bottom_team=0,
        template=end(over.winner, over.points, viewer),
    )
