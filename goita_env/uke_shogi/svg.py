"""Draws the table of Uke-Shogi as SVG: from a view what one seat may know, from a game all hands.

Seats sit counter-clockwise around a table with a side for each, seat 0 or the viewer at the bottom.
Outside of the table lie the hands, on it what each seat has played.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from math import cos, pi, sin, tan
from typing import Final

from goita_env.render.pen import Faces, Pen, document, number, width, wrapped
from goita_env.render.themes import Theme
from goita_env.render.words import counted
from goita_env.tiles import NAMES
from goita_env.uke_shogi.game import UkeShogiGame
from goita_env.uke_shogi.rules import PASS, hand_points
from goita_env.uke_shogi.view import UkeShogiView
from goita_env.views.fields import FACE_DOWN

_SIZE: Final = 600
_MIDDLE: Final = _SIZE / 2
_MANY: Final = 10
"""Hands of more tiles are drawn smaller, and the table too."""
_NAMES_AT: Final = 140
"""How far from the middle the names stand."""


@dataclass(frozen=True)
class _Seat:
    """Shows one seat."""

    name: str
    remarks: tuple[str, ...]
    """Any of "dealer", "passed", "to move", "wins", and what is paid or to be paid."""
    hand: Sequence[int] | None
    """Kinds in ascending order; None where they are hidden."""
    tiles: int
    """Tiles in the hand."""
    played: Sequence[int]
    """Kinds, in order of play where that is known."""


def draw(
    shown: UkeShogiGame | UkeShogiView,
    theme: Theme = "light",
    faces: Faces = "characters",
    size: float | None = None,
) -> str:
    """Returns a drawing as SVG text.

    Args:
        shown: a game, of which all is drawn, or what one seat may know of it.
        theme: "light" or "dark".
        faces: "characters" as on the tiles, "letters" (PLNSGBRK) or "digits".
        size: width and height in pixels; None: 600.

    Raises:
        SettingError: if an option is impossible.
    """
    pen, rules = Pen(theme, faces), shown.rules
    seats = _of_game(shown) if isinstance(shown, UkeShogiGame) else _of_view(shown)
    moment = _moment(seats, shown.led, rules.must_match)
    aside = rules.tiles - rules.players * rules.hand_size
    many = rules.hand_size > _MANY
    scale, step, edge = (0.5, 24, 213) if many else (0.62, 29, 229)
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
    _centre(pen, moment, shown.led, aside)
    said = [
        f"{rules.players} players, {rules.tiles} tiles{f', {aside} of them aside' * (aside > 0)}.",
        *map(_sentence, seats),
    ]
    return document(
        pen.drawing(_SIZE, _SIZE, f"Uke-Shogi: {moment}", "\n".join(said)),
        size,
    )


def _of_game(game: UkeShogiGame) -> list[_Seat]:
    """Returns the seats with all hands open."""
    since = game.view(0).passed_since
    found, gains = [], game.rewards()
    for seat, hand in enumerate(game.hands):
        state = {
            "dealer": seat == game.dealer,
            "passed": since[seat],
            "to move": seat == game.seat,
            "wins": seat == game.winner,
        }
        remarks = [remark for remark, holds in state.items() if holds]
        if game.winner is not None:
            remarks.append(f"{gains[seat]:+.3g}")
        elif game.rules.payment:
            remarks.append(_points(hand))
        played = [act - 1 for one, act in game.moves if one == seat and act != PASS]
        found.append(_Seat(f"seat {seat}", tuple(remarks), _kinds(hand), sum(hand), played))
    return found


def _of_view(view: UkeShogiView) -> list[_Seat]:
    """Returns the seats as the viewer sees them; the others are named by their distance."""
    found = []
    for place, played in enumerate(view.played.tolist()):
        tiles, own = int(view.tiles_left[place]), place == 0
        state = {
            "passed": view.passed_since[place],
            "to move": place == view.asked,
            "wins": tiles == 0,
        }
        remarks = [remark for remark, holds in state.items() if holds]
        if not own:
            remarks.append(f"{tiles} tile{'s' * (tiles != 1)}")
        elif view.rules.payment:
            remarks.append(_points(view.hand.tolist()))
        hand = _kinds(view.hand.tolist()) if own else None
        name = "you" if own else f"seat +{place}"
        found.append(_Seat(name, tuple(remarks), hand, tiles, _kinds(played)))
    return found


def _kinds(counts: Sequence[int]) -> list[int]:
    """Lists tiles of each kind, kind by kind."""
    return [kind for kind, count in enumerate(counts) for _ in range(count)]


def _points(hand: Sequence[int]) -> str:
    """Says what a hand would have to pay."""
    points = hand_points(hand)
    return f"{points} point{'s' * (points != 1)}"


def _moment(seats: Sequence[_Seat], led: int | None, must_match: bool) -> str:
    """Says what is asked now, or how it ended."""
    if led is None:
        asked = "lead a tile"
    else:
        asked = f"match the {NAMES[led]}{' or pass' * (not must_match)}"
    for seat in seats:
        if "wins" in seat.remarks:
            return f"{seat.name}: the last tile is played"
        if "to move" in seat.remarks:
            return f"{seat.name}: {asked}"
    raise AssertionError("somebody moves or has won")


def _board(pen: Pen, players: int, edge: float) -> float:
    """Draws the table; returns how long a side is.

    Args:
        pen: draws it.
        players: has as many sides, or twice as many where these would be long.
        edge: how far a side lies from the middle.
    """
    sides = players if players > 3 else 2 * players
    corners = [_point(edge / cos(pi / sides), (n + 0.5) / sides) for n in range(sides)]
    outline = "L".join(f"{number(x)} {number(y)}" for x, y in corners)
    pen.path(f"M{outline}z", pen.colors.board)
    return 2 * edge * tan(pi / sides)


def _point(away: float, turn: float) -> tuple[float, float]:
    """Returns the point so far from the middle, so many turns counter-clockwise from below it."""
    return _MIDDLE + away * sin(2 * pi * turn), _MIDDLE + away * cos(2 * pi * turn)


def _row(pen: Pen, kinds: Sequence[int], away: float, step: float, scale: float) -> None:
    """Lays tiles side by side before the seat at the bottom, so far from the middle."""
    left = _MIDDLE - step * (len(kinds) - 1) / 2
    row = [(left + step * n, _MIDDLE + away, kind, False) for n, kind in enumerate(kinds)]
    pen.tiles(row, scale)


def _words(pen: Pen, seat: _Seat, x: float, y: float) -> None:
    """Writes a seat's name and what is said of it, line under line around a point."""
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
    """Draws the kind that is to be matched, and writes what is asked."""
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


def _sentence(seat: _Seat) -> str:
    """Says in words what is drawn of a seat."""
    said = [", ".join([seat.name, *seat.remarks])]
    said += [f"played {', '.join(NAMES[kind] for kind in seat.played)}"] if seat.played else []
    held = f"{seat.tiles} hidden" if seat.hand is None else counted(seat.hand) or "nothing"
    return f"{'; '.join([*said, f'in hand {held}'])}."
