"""Draws a whole deal on a sheet: the hands as dealt, then every play in a table.

A row is a seat, the dealer's first; a column is a round of turns, so one reads down, then on to the
right. Of a play the block comes first and the attack second; a line stands for a pass.
"""

from __future__ import annotations

from typing import Final, Unpack

from goita_env.errors import SettingError
from goita_env.render import words
from goita_env.render.pen import Drawing, Pen, document, width
from goita_env.render.scene import Drawable, Place, Scene, as_scene
from goita_env.render.svg import Options
from goita_env.render.translation import ENGLISH, Joined, Phrase
from goita_env.tiles import NAMES, NONE, NUM_SEATS

_WIDTH: Final = 600
_ROW: Final = 38


def render(shown: Scene | Drawable, **options: Unpack[Options]) -> str:
    """Draws the present deal of a game as SVG text.

    Args:
        shown: a game, positions or the scene of a whole table.
        options: theme, faces and size (``svg.Options``); the others don't matter here.

    Raises:
        SettingError: if it cannot be drawn, if hands are hidden, or an option is impossible.
    """
    return document(draw(shown, **options), options.get("size"))


def draw(shown: Scene | Drawable, **options: Unpack[Options]) -> Drawing:
    """Draws what ``render`` does, for animations and for pages that use a drawing's parts."""
    shown = as_scene(shown)
    if not shown.dealt:
        raise SettingError("expected a whole table to draw on a sheet, got what one seat may know")
    say = options.get("language", ENGLISH)
    pen = Pen(options.get("theme", "light"), options.get("faces", "characters"), say)
    order = [(shown.dealer + row) % NUM_SEATS for row in range(NUM_SEATS)]
    rows = [(shown.places[place], shown.dealt[place]) for place in order]
    first = 16 + max(46.0, *(width(say(place.name), 16) for place, _ in rows))
    high = 2 * NUM_SEATS * _ROW + 62 + (24 if shown.calls() else 0)
    pen.box(0, 0, _WIDTH, high, pen.colors.ground)
    said: list[str] = [Phrase("Rules {rules}.", rules=shown.rules)]
    for row, (place, kinds) in enumerate(rows):
        y = 26 + _ROW * row
        pen.tiles([(first + 18 + 32 * n, y, kind, False) for n, kind in enumerate(kinds)], 0.62)
        dealt = Joined(", ", [NAMES[kind] for kind in kinds])
        said.append(Phrase("{who}: dealt {tiles}.", who=place.name, tiles=dealt))
    names = [(10.0, 32.0 + _ROW * row, place.name) for row, (place, _) in enumerate(rows)]
    pen.texts(names, 16)
    facts = [Phrase("{team}: {points}", team=name, points=points) for name, points in shown.scores]
    facts.append(Phrase("dealer: {who}", who=rows[0][0].name))
    lines = [(first + 290, 32.0 + _ROW * row, fact) for row, fact in enumerate(facts)]
    pen.texts(lines, 16, pen.colors.faint)
    top = NUM_SEATS * _ROW + 12
    pen.box(8, top, _WIDTH - 16, NUM_SEATS * _ROW + 8, pen.colors.board, 8)
    pen.texts([(x + 6, y + top - 2, name) for x, y, name in names], 16)
    said.append(_plays(pen, [place for place, _ in rows], shown.decisions, top, first))
    y = top + NUM_SEATS * _ROW + 32
    pen.text(14, y, shown.moment(""), 16)
    if shown.calls():
        pen.text(14, y + 24, Joined(", ", shown.calls()), 16, pen.colors.faint)
    title = say("Goita, a deal: {moment}", moment=shown.moment(words.tile(shown.attack)))
    return pen.drawing(_WIDTH, high, title, "\n".join(map(say, [*said, *shown.calls()])))


def _plays(
    pen: Pen, rows: list[Place], decisions: tuple[int, ...], top: float, first: float
) -> str:
    columns = max(-(-len(decisions) // NUM_SEATS), 1)
    wide = min((_WIDTH - first - 24) / columns, 78.0)
    scale, made = round(min(wide / 84, 0.62), 2), [0] * NUM_SEATS
    passes, said = "", list[str]()
    for number, event in enumerate(decisions):
        row, of = number % NUM_SEATS, rows[number % NUM_SEATS]
        x = first + 16 + wide * (number // NUM_SEATS)
        y = top + 22 + _ROW * row
        if event == NONE:
            passes += f"M{x + wide / 2 - 12:.0f} {y:.0f}h12"
            said.append(Phrase("{who} passed", who=of.name))
            continue
        at, made[row] = made[row], made[row] + 1
        block, attack, down = of.blocks[at], of.attacks[at], of.face_down[at]
        pen.tiles([(x + 24 * scale, y, block, down), (x + 72 * scale, y, attack, False)], scale)
        play = words.play(NAMES[block], attack, down=down)
        said.append(Phrase("{who} played {play}", who=of.name, play=play))
    if passes:
        pen.path(passes, stroke=pen.colors.faint, weight=2)
    return Phrase("{said}.", said=Joined("; ", said)) if said else "Nothing was played."
