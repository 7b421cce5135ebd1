"""Names seats as a player does: you, next, partner, previous."""

from __future__ import annotations

from dataclasses import replace
from typing import Final

from goita_env.render.scene import Scene
from goita_env.render.translation import Phrase
from goita_env.tiles import NUM_SEATS

PLACES: Final = ("you", "next", "partner", "previous")
"""The seats from the player's own counter-clockwise."""


PERSONS: Final = ("you", "the player at your right", "your partner", "the player at your left")
"""What sentences call those who sit there."""


def person(seat: int, viewer: int | None) -> str:
    """Returns what a sentence calls who sits at a seat; a viewer of None sees numbers."""
    return f"seat {seat}" if viewer is None else PERSONS[(seat - viewer) % NUM_SEATS]


def place(seat: int, viewer: int) -> str:
    """Returns what a viewer calls a seat."""
    return PLACES[(seat - viewer) % NUM_SEATS]


def round_end(who: str, points: int) -> Phrase:
    """Returns who ended a round, and with how many points; ``who``: as ``place`` names a seat."""
    text = "you end the round: {points} points"
    if who != PLACES[0]:
        text = "{who} ends the round: {points} points"
    return Phrase(text, who=who, points=points)


def seen_from(scene: Scene, viewer: int) -> Scene:
    """Returns a scene whose seats have numbers with the names that a viewer has for them."""
    names = {f"seat {seat}": place(seat, viewer) for seat in range(NUM_SEATS)}
    own, others = scene.scores if viewer % 2 == 0 else scene.scores[::-1]
    bottom = [*names].index(scene.places[0].name)
    return replace(
        scene,
        places=tuple(replace(one, name=names[one.name]) for one in scene.places),
        scores=(("you and partner", own[1]), ("the others", others[1])),
        bottom_team=(bottom - viewer) % 2,
        who=names.get(scene.who, scene.who),
    )
