"""Names the colours of the drawings, in two themes."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Final, Literal

Theme = Literal["light", "dark"]


@dataclass(frozen=True)
class Palette:
    """The colour of every part of a drawing, ``#rrggbb``; no two parts of a theme share one."""

    ground: str
    board: str
    slot: str
    """An empty place."""
    wood: str
    edge: str
    ink: str
    back: str
    back_edge: str
    back_line: str
    text: str
    faint: str
    last: str
    """Marks the last attack."""
    mover: str
    """Marks who is to move."""
    on_mover: str
    """Text on it."""
    bar: str
    track: str
    """What a full bar would cover."""


_COLORS: Final = {
    # part: light, dark
    "ground": ("#f7f3ea", "#15181c"),
    "board": ("#ece2cc", "#20252b"),
    "slot": ("#e2d5b9", "#2b323a"),
    "wood": ("#fae5b6", "#e9cf9a"),
    "edge": ("#80602f", "#4c3616"),
    "ink": ("#20150b", "#1b1107"),
    "back": ("#a98556", "#8a6d47"),
    "back_edge": ("#5d4324", "#2a1f10"),
    "back_line": ("#b8976a", "#9a7d56"),
    "text": ("#29231a", "#efebe3"),
    "faint": ("#655b4a", "#b4ac9f"),
    "last": ("#b5261c", "#ff6f5e"),
    "mover": ("#1d5f80", "#8fcbe8"),
    "on_mover": ("#ffffff", "#0d1a22"),
    "bar": ("#3f7f9f", "#5fa9cc"),
    "track": ("#d8cdb3", "#3a434d"),
}
THEMES: Final[dict[str, Palette]] = {
    theme: Palette(**{part: colors[place] for part, colors in _COLORS.items()})
    for place, theme in enumerate(("light", "dark"))
}


def darkened() -> dict[str, str]:
    """Maps every colour of the light theme to that of the dark one."""
    return dict(_COLORS.values())
