"""Names the colours of the drawings, in two themes."""

from __future__ import annotations

from dataclasses import dataclass, fields
from typing import Final, Literal

from goita_env.errors import SettingError

Theme = Literal["light", "dark"]


@dataclass(frozen=True)
class Palette:
    """Gives every part of a drawing its colour, ``#rrggbb``; no two parts of a theme share one."""

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


THEMES: Final[dict[str, Palette]] = {
    "light": Palette(
        ground="#f7f3ea",
        board="#ece2cc",
        slot="#e2d5b9",
        wood="#fae5b6",
        edge="#80602f",
        ink="#20150b",
        back="#a98556",
        back_edge="#5d4324",
        back_line="#b8976a",
        text="#29231a",
        faint="#655b4a",
        last="#b5261c",
        mover="#1d5f80",
        on_mover="#ffffff",
        bar="#3f7f9f",
        track="#d8cdb3",
    ),
    "dark": Palette(
        ground="#15181c",
        board="#20252b",
        slot="#2b323a",
        wood="#e9cf9a",
        edge="#4c3616",
        ink="#1b1107",
        back="#8a6d47",
        back_edge="#2a1f10",
        back_line="#9a7d56",
        text="#efebe3",
        faint="#b4ac9f",
        last="#ff6f5e",
        mover="#8fcbe8",
        on_mover="#0d1a22",
        bar="#5fa9cc",
        track="#3a434d",
    ),
}


def palette(theme: Theme) -> Palette:
    """Returns the colours of a theme.

    Raises:
        SettingError: if there is no such theme.
    """
    if theme not in THEMES:
        raise SettingError(f"expected a theme of {tuple(THEMES)}, got {theme!r}")
    return THEMES[theme]


def darkened() -> dict[str, str]:
    """Returns for every colour of the light theme that of the dark one."""
    light, dark = THEMES["light"], THEMES["dark"]
    return {getattr(light, one.name): getattr(dark, one.name) for one in fields(Palette)}
