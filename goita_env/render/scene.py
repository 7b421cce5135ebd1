"""Describes a position as it is drawn: seats, tiles, scores, and the next decision.

The four places count from the bottom counter-clockwise. A ``Scene`` shows what one seat may know
(``View.scene``) or the whole table (``Game.scene``, ``Positions.scene``).
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import Protocol

from goita_env.errors import SettingError
from goita_env.render.translation import Phrase
from goita_env.tiles import NONE


@dataclass(frozen=True)
class Place:
    """One seat."""

    name: str
    """"you", "next", ... or "seat 2"."""
    remarks: tuple[str, ...]
    """Any of "dealer", "passed", "to move"."""
    calls: tuple[str, ...]
    """What it called and chose before play: "called five pawns", "chose: redeal"."""
    blocks: tuple[int, ...]
    """[4] Kinds in order of play, FACE_DOWN for one that is unknown, NONE where none lies."""
    attacks: tuple[int, ...]
    """[4] Kinds in order of play, NONE where none lies."""
    face_down: tuple[bool, ...]
    """[4] Which blocks lie face down."""
    hand: tuple[int, ...] | None
    """Kinds in ascending order, None where they are hidden."""
    tiles: int
    last: int
    """Which of its plays was the last of all, NONE: none."""


@dataclass(frozen=True)
class Scene:
    """A position."""

    rules: str
    places: tuple[Place, ...]
    """The seats from the bottom counter-clockwise."""
    scores: tuple[tuple[str, int], ...]
    """Each team's name and points before the round: first that of the bottom seat if a view is
    shown, else that of seats 0 and 2."""
    bottom_team: int
    """Which of the two is the bottom seat's."""
    attack: int
    """Kind of the attack that is to be met, NONE: none."""
    mover: int
    """Place of the seat that acts next, NONE: there is none."""
    template: str
    """The moment in words: "{tile}" stands for the attack, "{who}", "{points}" for the fields."""
    who: str = ""
    """The seat that acts; ``moment`` begins with it unless the template contains it."""
    points: int = 0
    """Of the round, at its end."""
    dealer: int = NONE
    decisions: tuple[int, ...] = ()
    """The round from the dealer on: number of the play, NONE for a pass."""

    def moment(self, tile: str) -> Phrase:
        """Says which seat acts now, and how; ``tile``: how the attack is written."""
        what = self.what(tile)
        if not self.who or "{who}" in self.template:
            return what
        return Phrase("{who}: {what}", who=self.who, what=what)

    def what(self, tile: str) -> Phrase:
        """Says the same without the name of the acting seat."""
        text = self.template if tile else self.template.replace(" the {tile},", "")
        return Phrase(text, who=self.who, tile=tile, points=self.points)

    def calls(self) -> list[str]:
        """Lists the special hands called, then what the callers' partners chose."""
        calls = [(place.name, call) for place in self.places for call in place.calls]
        calls.sort(key=lambda call: call[1].startswith("chose"))
        return [Phrase("{who} {call}", who=name, call=call) for name, call in calls]


class Drawable(Protocol):
    """What every drawing takes in place of a ``Scene``: a game, a view, positions."""

    def scene(self) -> Scene: ...


def as_scene(position: Scene | Drawable) -> Scene:
    """Returns the scene of a position that is to be drawn; a SettingError if it has none."""
    if isinstance(position, Scene):
        return position
    if isinstance(position, type) or not callable(getattr(position, "scene", None)):
        raise SettingError(
            f"expected a Game, a View, Positions or a Scene to draw, got {position!r}; "
            "an environment draws itself: env.render()"
        )
    return position.scene()
