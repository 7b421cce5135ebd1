"""Draws the table in characters: what one seat may know, or the whole table laid open.

The drawn seat sits at the bottom, the next one to its right, its partner on top, the previous one
on the left. Each has its plays in order of time, blocks in the upper row and attacks below, then
its hand. ``(し)`` lies face down but is known, ``〓`` is a back, ``[金]`` is the last attack.
Only ASCII and characters two columns wide are used, so columns are straight in any terminal.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import Final
from unicodedata import east_asian_width

from goita_env.render.scene import Drawable, Place, Scene, as_scene
from goita_env.tiles import CHARACTERS, DIGITS, FACE_DOWN, NONE

# Columns where the panels of the four seats begin, from the bottom counter-clockwise.
_PANEL_COLUMNS: Final = (23, 41, 23, 4)
_WIDTH: Final = 66


def render(position: Scene | Drawable, *, ascii: bool = False) -> str:  # noqa: A002  (its plain name)
    """Draws a game, a view or positions in characters: panels of the seats within a frame.

    Args:
        position: what is drawn; of several positions the first.
        ascii: digits as in records instead of characters.

    Raises:
        SettingError: if it cannot be drawn, if there is no position.
    """
    scene = as_scene(position)
    brush = _Brush.of(ascii)
    bottom, right, top, left = (  # each: for each of its lines, the column and the text
        # Header and hand begin in the column of the first tile's face.
        [(column + 1, name), (column, blocks), (column, attacks), (column + 1, hand)]
        for column, (name, blocks, attacks, hand) in zip(
            _PANEL_COLUMNS, (_panel(place, brush) for place in scene.places), strict=True
        )
    )
    rules, scores = scene.rules, "   ".join(f"{team}: {points}" for team, points in scene.scores)
    while width(rules) > _WIDTH - 6 - width(scores):
        rules = rules[:-1]
    border, blank = f"+{'-' * _WIDTH}+", _line()
    lines = [
        border,
        _line((2, rules), (_WIDTH - 2 - width(scores), scores)),
        blank,
        *(_line(part) for part in top),
        blank,
        *(_line(*parts) for parts in zip(left, right, strict=True)),
        blank,
        *(_line(part) for part in bottom),
        border,
        *(_line((2, text)) for text in (scene.moment(brush.tile(scene.attack)), *scene.calls())),
        border,
    ]
    return "\n".join(lines)


def signs(*, ascii: bool = False) -> str:  # noqa: A002  (its plain name)
    """Returns the signs of a drawing in words."""
    brush = _Brush.of(ascii)
    face = brush.faces[0]
    return (
        f"Signs: {brush.back} is the back of a tile, ({face}) lies face down and is known to you, "
        f"[{face}] is the last attack, {brush.empty} an empty place. Attacks are in the lower row."
    )


@dataclass(frozen=True)
class _Brush:
    faces: str
    back: str
    empty: str

    @classmethod
    def of(cls, plain: bool) -> _Brush:
        return cls(DIGITS, "#", ".") if plain else cls(CHARACTERS, "〓", "・")

    def tile(self, kind: int) -> str:
        if kind == NONE:
            return self.empty
        return self.back if kind == FACE_DOWN else self.faces[kind]

    def cell(self, kind: int, face_down: bool, last: bool = False) -> str:
        if last:
            return f"[{self.tile(kind)}]"
        if face_down and kind != FACE_DOWN:
            return f"({self.tile(kind)})"
        return f" {self.tile(kind)} "


def _panel(place: Place, brush: _Brush) -> list[str]:
    """Returns the four lines of a seat: its name, its blocks, its attacks and its hand."""
    if place.hand is None:
        hand = f"{brush.back * place.tiles} {place.tiles}" if place.tiles else ""
    else:
        hand = "".join(brush.faces[kind] for kind in place.hand)
    blocks = zip(place.blocks, place.face_down, strict=True)
    return [
        ", ".join([place.name, *place.remarks]),
        "".join(brush.cell(kind, hidden) for kind, hidden in blocks),
        "".join(brush.cell(kind, False, n == place.last) for n, kind in enumerate(place.attacks)),
        hand,
    ]


def width(text: str) -> int:
    return sum(2 if east_asian_width(c) in "WF" else 1 for c in text)


def _line(*parts: tuple[int, str]) -> str:
    """Returns a line of the frame with texts that begin in their columns."""
    line = ""
    for column, text in parts:
        line += " " * (column - width(line)) + text
    return f"|{line}{' ' * (_WIDTH - width(line))}|"
