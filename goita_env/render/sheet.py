"""Draws a whole deal on a sheet: the hands as dealt, then every play in a table.

A row is a seat, the dealer's first; a column is a round of turns, so one reads down, then on to the
right. Of a play the block comes first and the attack second; a line stands for a pass.
"""

from __future__ import annotations

from typing import Final, Unpack

import numpy as np

from goita_env.engine.state import State
from goita_env.render import scene, words
from goita_env.render.pen import Drawing, Pen, document
from goita_env.render.svg import Options
from goita_env.tiles import NAMES, NUM_SEATS
from goita_env.views import seat_view
from goita_env.views.fields import NONE

_WIDTH: Final = 600
_ROW: Final = 38
_FIRST: Final = 62
"""Where the tiles begin; the names stand before them."""


def deal(state: State, index: int = 0, **options: Unpack[Options]) -> str:
    """Returns the present deal of a game on a sheet, as SVG text.

    Args:
        state: games, of which one's deal is drawn.
        index: its number.
        options: theme, faces and size (``svg.Options``); the others don't matter here.

    Raises:
        SettingError: if there is no such game, or an option is impossible.
    """
    return document(draw(state, index, **options), options.get("size"))


def draw(state: State, index: int = 0, **options: Unpack[Options]) -> Drawing:
    """Returns the drawing of ``deal``.

    Raises:
        SettingError: if there is no such game, or an option is impossible.
    """
    shown = scene.of_table(state, index)
    pen = Pen(options.get("theme", "light"), options.get("faces", "characters"))
    one = state.select(np.array([index]))
    dealer, dealt = int(one.dealer[0]), one.dealt_counts()[0]
    seats = [(dealer + row) % NUM_SEATS for row in range(NUM_SEATS)]
    high = 2 * NUM_SEATS * _ROW + 62 + (24 if shown.calls() else 0)
    pen.box(0, 0, _WIDTH, high, pen.colors.ground)
    said = [f"Rules {shown.rules}."]
    for row, seat in enumerate(seats):
        y = 26 + _ROW * row
        kinds = [kind for kind, n in enumerate(dealt[seat].tolist()) for _ in range(n)]
        pen.tiles([(_FIRST + 18 + 32 * n, y, kind, False) for n, kind in enumerate(kinds)], 0.62)
        said.append(f"Seat {seat} was dealt {', '.join(NAMES[kind] for kind in kinds)}.")
    names = [(10.0, 32.0 + _ROW * row, f"seat {seat}") for row, seat in enumerate(seats)]
    pen.texts(names, 16)
    scores = enumerate(shown.scores)
    lines = [(350.0, 32.0 + _ROW * row, f"{name}: {points}") for row, (name, points) in scores]
    lines.append((350.0, 32.0 + _ROW * 2, f"dealer: seat {dealer}"))
    pen.texts(lines, 16, pen.colors.faint)
    top = NUM_SEATS * _ROW + 12
    pen.box(8, top, _WIDTH - 16, NUM_SEATS * _ROW + 8, pen.colors.board, 8)
    pen.texts([(x + 6, y + top - 2, name) for x, y, name in names], 16)
    said.append(_plays(pen, one, seats, shown, top))
    y = top + NUM_SEATS * _ROW + 32
    pen.text(14, y, shown.moment(""), 16)
    if shown.calls():
        pen.text(14, y + 24, ", ".join(shown.calls()), 16, pen.colors.faint)
    title = f"Goita, a deal: {shown.moment(words.tile(shown.attack))}"
    return pen.drawing(_WIDTH, high, title, "\n".join([*said, *shown.calls()]))


def _plays(pen: Pen, one: State, seats: list[int], shown: scene.Scene, top: float) -> str:
    """Draws the table of plays and passes; returns it in words."""
    decisions = seat_view(one, 0).decisions()
    number = int(decisions.length[0])
    columns = max(-(-number // NUM_SEATS), 1)
    wide = min((_WIDTH - _FIRST - 24) / columns, 78.0)
    scale, made = round(min(wide / 84, 0.62), 2), [0] * NUM_SEATS
    passes, said = "", []
    for place in range(number):
        seat = seats[place % NUM_SEATS]
        x = _FIRST + 16 + wide * (place // NUM_SEATS)
        y = top + 22 + _ROW * (place % NUM_SEATS)
        if decisions.event[0, place] == NONE:
            passes += f"M{x + wide / 2 - 12:.0f} {y:.0f}h12"
            said.append(f"seat {seat} passed")
            continue
        of, play = shown.places[seat], made[seat]
        made[seat] += 1
        block, attack, down = of.blocks[play], of.attacks[play], of.face_down[play]
        pen.tiles([(x + 24 * scale, y, block, down), (x + 72 * scale, y, attack, False)], scale)
        hidden = "face-down " * down
        said.append(f"seat {seat} played {hidden}{NAMES[block]} then {NAMES[attack]}")
    if passes:
        pen.path(passes, stroke=pen.colors.faint, weight=2)
    return f"{'; '.join(said)}." if said else "Nothing was played."
