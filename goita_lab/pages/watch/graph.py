"""Draws a round's expected points, and what each decision lost, as SVG for the analysis page.

Two bands one below the other: what seats 0 and 2 could expect before each move; what the move lost
by what its seat could know. Colours come from the page's
style sheet by class, so that one drawing serves both themes. Move n lies between the positions
n - 1 and n.
"""

from __future__ import annotations

from collections.abc import Callable, Collection, Sequence
from dataclasses import dataclass
from math import ceil
from typing import Final

from goita_env.render.translation import ENGLISH, Joined, Language, Phrase
from goita_lab.arena.report.figures import true_minus
from goita_lab.pages.watch.decisions import Decision, verdict

LEFT: Final = 52
"""Of the first position."""
RIGHT: Final = 586
"""Of the last one."""

_CURVE: Final = (38, 160)
"""Top and bottom of the band of expected points, then of that of points lost."""
_LOST: Final = (206, 262)
BOTTOM: Final = _LOST[1]
_MARK: Final = 14
"""Height of the mark over the longest bar."""


@dataclass(frozen=True)
class Graph:
    """A graph."""

    svg: str
    """The content of ``<svg>``."""
    label: str
    """The same in words."""


def draw(
    decisions: Sequence[Decision],
    moves: int,
    result: int | None,
    say: Language = ENGLISH,
    viewer: int | None = None,
) -> Graph:
    """Draws the graph of a deal.

    Args:
        decisions: of the deal, in order.
        moves: how many moves it has, at least as many as the decisions reach.
        result: points that seats 0 and 2 made, minus those of the others; None: no round was ended.
        say: tells its words in a language.
        viewer: whose team's points are drawn, and whose decisions alone are marked; None: those of
            seats 0 and 2, and of all.
    """
    step, side = (RIGHT - LEFT) / max(moves, 1), 0 if viewer is None else viewer % 2

    def at(position: float) -> float:
        return LEFT + step * position

    signs = {one.move: -1 if (one.seat - side) % 2 else 1 for one in decisions}
    known = [(o.move - 1, signs[o.move] * o.expected) for o in decisions if o.expected is not None]
    seen = [
        (o.move - 1, signs[o.move] * o.open_value) for o in decisions if o.open_value is not None
    ]
    result = None if result is None else -result if side else result
    last = [] if result is None else [(moves, float(result))]
    points = [value for _, value in (*known, *seen, *last)]
    edge = max(10, 10 * ceil(max(map(abs, points), default=0) / 10))
    parts = [
        _scale(edge, say, viewer is not None),
        _line([*seen, *last], at, edge, "open"),
        _line([*known, *last], at, edge, "search"),
    ]
    for x, value in known:
        place = f'cx="{at(x):.1f}" cy="{_height(value, edge):.1f}"'
        parts.append(f'<circle class="dot search" {place} r="3.5"/>')
    for x, value in last:
        y = _height(value, edge) - 7
        parts.append(f'<path class="result" d="M{at(x):.1f} {y:.1f}l7 7-7 7-7-7z"/>')
    errors = [
        one.move for one in decisions if verdict(one) == "clear" and viewer in (None, one.seat)
    ]
    parts += _bars(decisions, at, errors)
    marked = ", ".join(map(str, errors))
    whose = _team(viewer is not None)
    if not points:
        return Graph("".join(parts), say("No points are known."))
    span = Phrase("{low} to {high}", low=f"{min(points):+.0f}", high=f"{max(points):+.0f}")
    label = Joined(
        " ",
        [
            Phrase("{whose} before each move: {span}.", whose=whose, span=span),
            Phrase("Errors at moves {moves}.", moves=marked) if marked else "No error.",
            *([] if result is None else [Phrase("The round ended with {n}.", n=f"{result:+}")]),
        ],
    )
    return Graph("".join(parts), true_minus(say(label)))


def _team(is_own: bool) -> str:
    return "expected points of your team" if is_own else "expected points of seats 0 and 2"


def _height(value: float, edge: float) -> float:
    top, bottom = _CURVE
    return (top + bottom) / 2 - value / edge * (bottom - top) / 2


def _scale(edge: int, say: Language, is_own: bool) -> str:
    parts = [_title(_CURVE[0] - 16, say(_team(is_own)))]
    for value in (edge, 0, -edge):
        y, name = _height(value, edge), "grid" if value else "axis"
        parts.append(f'<path class="{name}" d="M{LEFT} {y:.1f}H{RIGHT}"/>')
        parts.append(_tick(f"{y + 5:.1f}", true_minus(f"{value:+}") if value else "0"))
    top, bottom = _LOST
    parts.append(_title(top - 10, say("points lost, by what the player could know")))
    parts.append(f'<path class="axis" d="M{LEFT} {bottom}H{RIGHT}"/>')
    return "".join(parts)


def _title(y: float, text: str) -> str:
    return f'<text x="2" y="{y}">{text}</text>'


def _tick(y: object, text: str) -> str:
    return f'<text class="tick" x="{LEFT - 6}" y="{y}">{text}</text>'


def _line(
    series: Sequence[tuple[int, float]], at: Callable[[float], float], edge: int, name: str
) -> str:
    """Returns a line through values, each (position, points)."""
    if len(series) < 2:
        return ""
    path = "L".join(f"{at(x):.1f} {_height(value, edge):.1f}" for x, value in series)
    return f'<path class="{name}" d="M{path}"/>'


def _bars(
    decisions: Sequence[Decision], at: Callable[[float], float], errors: Collection[int]
) -> list[str]:
    """Returns the bars of points lost by move, each as wide as most of its move."""
    top, bottom = _LOST
    most = max([10.0, *(one.loss for one in decisions)])
    wide, scale = min((at(1) - at(0)) * 0.6, 18), (bottom - top - _MARK) / most
    parts = [_tick(top + _MARK + 5, f"{most:.0f}")]
    for one in decisions:
        x, high = at(one.move - 0.5), max(scale * one.loss, 1.5)
        kind = "error" if one.move in errors else "loss"
        if one.loss > 0:
            parts.append(
                f'<rect class="bar {kind}" x="{x - wide / 2:.1f}" y="{bottom - high:.1f}" '
                f'width="{wide:.1f}" height="{high:.1f}"/>'
            )
        if one.move in errors:
            parts.append(f'<text class="mark" x="{x:.1f}" y="{bottom - high - 3:.1f}">!</text>')
    return parts
