"""Draws the table of Uke-Shogi as SVG: from a view what one seat may know, from a game all hands.

Seats sit counter-clockwise around a table with a side for each, seat 0 or the viewer at the bottom.
Outside of the table lie the hands, on it what each seat has played.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from math import cos, pi, sin, tan
from typing import Final, Protocol

from goita_env.errors import SettingError
from goita_env.render.pen import Faces, Pen, document, number, width, wrapped
from goita_env.render.themes import Theme
from goita_env.render.words import counted
from goita_env.tiles import FACE_DOWN, NAMES
from goita_env.uke_shogi.rules import UkeShogiRules

_SIZE: Final = 600
_MIDDLE: Final = _SIZE / 2
_MANY: Final = 10
"""Hands of more tiles are drawn smaller, and the table too."""
_NAMES_AT: Final = 140
"""How far from the middle the names stand."""


@dataclass(frozen=True)
class Seat:
    """One seat as it is drawn."""

    name: str
    remarks: tuple[str, ...]
    """Any of "dealer", "passed", "to move", "wins", and what is paid or to be paid."""
    hand: Sequence[int] | None
    """Kinds in ascending order; None where they are hidden."""
    tiles: int
    played: Sequence[int]
    """Kinds, in order of play where that is known."""


@dataclass(frozen=True)
class UkeShogiTable:
    """A position as it is drawn."""

    rules: UkeShogiRules
    seats: Sequence[Seat]
    """The seats counter-clockwise, from the one at the bottom."""
    led: int | None
    """The kind to match; None where a tile is led, and at the end."""


class HasTable(Protocol):
    """What is drawn: a game with all hands open, or a view with one."""

    def table(self) -> UkeShogiTable: ...


def draw(
    shown: HasTable, theme: Theme = "light", faces: Faces = "characters", size: float | None = None
) -> str:
    """Draws a game, or what one seat may know of it, as SVG text.

    Args:
        shown: a ``UkeShogiGame`` or a ``UkeShogiView``.
        theme: "light" or "dark".
        faces: "characters" as on the tiles, "letters" (PLNSGBRK) or "digits".
        size: width and height in pixels; None: 600.

    Raises:
        SettingError: if it cannot be drawn, or an option is impossible.
    """
    if isinstance(shown, type) or not callable(getattr(shown, "table", None)):
        raise SettingError(f"expected a UkeShogiGame or a UkeShogiView to draw, got {shown!r}")
    table = shown.table()
    pen, rules, seats = Pen(theme, faces), table.rules, table.seats
    moment = _moment(table)
    aside = rules.tiles - rules.players * rules.hand_size
    scale, step, edge = (0.5, 24, 213) if rules.hand_size > _MANY else (0.62, 29, 229)
    pen.box(0, 0, _SIZE, _SIZE, pen.colors.ground)
    longest = int(_board(pen, rules.players, edge) / step)
    for place, seat in enumerate(seats):
        with pen.side(4 * place / rules.players):
            held = seat.hand if seat.hand is not None else [FACE_DOWN] * seat.tiles
            _row(pen, held, edge + 34 * scale + 4, step, scale)
            for row in range(0, len(seat.played), longest):
                away = edge - 34 * scale - 4 - row // longest * 56 * scale
                _row(pen, seat.played[row : row + longest], away, step, scale)
        _words(pen, seat, *_point(_NAMES_AT, place / rules.players))
    _centre(pen, moment, table.led, aside)
    said = [
        f"{rules.players} players, {rules.tiles} tiles{f', {aside} of them aside' * (aside > 0)}.",
        *map(_sentence, seats),
    ]
    drawing = pen.drawing(_SIZE, _SIZE, f"Uke-Shogi: {moment}", "\n".join(said))
    return document(drawing, size)


def kinds(counts: Sequence[int]) -> list[int]:
    """Lists tiles of each kind [8], kind by kind."""
    return [kind for kind, count in enumerate(counts) for _ in range(count)]


def plural(number: int, what: str) -> str:
    return f"{number} {what}{'s' * (number != 1)}"


def _moment(table: UkeShogiTable) -> str:
    asked = "lead a tile"
    if table.led is not None:
        asked = f"match the {NAMES[table.led]}{' or pass' * (not table.rules.must_match)}"
    for seat in table.seats:
        if "wins" in seat.remarks:
            return f"{seat.name}: the last tile is played"
        if "to move" in seat.remarks:
            return f"{seat.name}: {asked}"
    raise AssertionError("somebody moves or has won")


def _board(pen: Pen, players: int, edge: float) -> float:
    """Draws a table with a side for each player, or two; returns how long a side is."""
    sides = players if players > 3 else 2 * players
    corners = [_point(edge / cos(pi / sides), (n + 0.5) / sides) for n in range(sides)]
    outline = "L".join(f"{number(x)} {number(y)}" for x, y in corners)
    pen.path(f"M{outline}z", pen.colors.board)
    return 2 * edge * tan(pi / sides)


def _point(away: float, turn: float) -> tuple[float, float]:
    """Returns the point so far from the middle, so many turns counter-clockwise from below it."""
    return _MIDDLE + away * sin(2 * pi * turn), _MIDDLE + away * cos(2 * pi * turn)


def _row(pen: Pen, kinds: Sequence[int], away: float, step: float, scale: float) -> None:
    left = _MIDDLE - step * (len(kinds) - 1) / 2
    row = [(left + step * n, _MIDDLE + away, kind, False) for n, kind in enumerate(kinds)]
    pen.tiles(row, scale)


def _words(pen: Pen, seat: Seat, x: float, y: float) -> None:
    y += 5 - 9 * len(seat.remarks)
    pen.text(x, y, seat.name, 18, anchor="middle")
    for remark in seat.remarks:
        y += 18
        if remark == "to move":
            wide = width(remark, 15) + 14
            pen.box(x - wide / 2, y - 14, wide, 19, pen.colors.mover, 9)
            pen.text(x, y, remark, 15, pen.colors.on_mover, "middle")
            y += 2
        else:
            pen.text(x, y, remark, 15, pen.colors.faint, "middle")


def _centre(pen: Pen, moment: str, led: int | None, aside: int) -> None:
    y = _MIDDLE
    if led is not None:
        pen.tiles([(_MIDDLE, y - 26, led, False)], 1.2)
        pen.outline(_MIDDLE, y - 26, pen.colors.last, 3, 1.2)
        y += 30
    for line in wrapped(moment, 15, 120):
        pen.text(_MIDDLE, y, line, 15, anchor="middle")
        y += 18
    if aside:
        pen.text(_MIDDLE, y, f"{aside} aside", 15, pen.colors.faint, "middle")


def _sentence(seat: Seat) -> str:
    said = [", ".join([seat.name, *seat.remarks])]
    said += [f"played {', '.join(NAMES[kind] for kind in seat.played)}"] if seat.played else []
    held = f"{seat.tiles} hidden" if seat.hand is None else counted(seat.hand) or "nothing"
    return f"{'; '.join([*said, f'in hand {held}'])}."
