"""Draws a round's expected points, and what each decision lost, as SVG for the analysis page.

Three bands one below the other: what seats 0 and 2 could expect before each move; what the move
lost by what its seat could know; what it lost against perfect play. Colours come from the page's
style sheet by class, so that one drawing serves both themes. Move n lies between the positions
n - 1 and n.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass
from math import ceil
from typing import Final

from goita_env.render.translation import ENGLISH, Joined, Language, Phrase
from goita_lab.arena.report.figures import true_minus
from goita_lab.pages.watch.decisions import Decision
from goita_lab.pages.watch.verdicts import agreement

LEFT: Final = 52
"""Of the first position."""
RIGHT: Final = 586
"""Of the last one."""

_CURVE: Final = (38, 160)
"""Top and bottom of the band of expected points, then of the two of points lost."""
_LOST: Final = (206, 262)
_OPEN: Final = (308, 364)
BOTTOM: Final = _OPEN[1]
_MARK: Final = 14
"""Height of the mark over the longest bar."""
_MARKS: Final = {"agreed": "!", "depends": "?"}
"""Marks of decisions that lose under every type, and of those that depend on it."""


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
    said = {one.move: agreement(one) if viewer in (None, one.seat) else "fine" for one in decisions}
    ranges = {o.move: o.loss_range for o in decisions if said[o.move] in _MARKS}
    losses = {one.move: one.loss for one in decisions}
    parts += [
        _bars(losses, _LOST, at, lambda move: said[move], ranges),
        _bars({one.move: one.open_loss for one in decisions}, _OPEN, at, lambda _: "hands", {}),
    ]
    agreed = [str(move) for move, kind in said.items() if kind == "agreed"]
    whose = _team(viewer is not None)
    if not points:
        return Graph("".join(parts), say("No points are known."))
    span = Phrase("{low} to {high}", low=f"{min(points):+.0f}", high=f"{max(points):+.0f}")
    label = Joined(
        " ",
        [
            Phrase("{whose} before each move: {span}.", whose=whose, span=span),
            Phrase("Errors at moves {moves}.", moves=", ".join(agreed)) if agreed else "No error.",
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
    for (top, bottom), text in (
        (_LOST, "points lost, by what the player could know"),
        (_OPEN, "points lost against perfect play, hands open"),
    ):
        parts.append(_title(top - 10, say(text)))
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
    losses: Mapping[int, float],
    band: tuple[int, int],
    at: Callable[[float], float],
    names: Callable[[int], str],
    ranges: Mapping[int, tuple[float, float]],
) -> str:
    """Returns the bars of points lost by move, each as wide as most of its move.

    A line over a bar goes from the lowest to the highest loss by type.
    """
    top, bottom = band
    most = max([10.0, *losses.values(), *(high for _, high in ranges.values())])
    wide, scale = min((at(1) - at(0)) * 0.6, 18), (bottom - top - _MARK) / most
    parts = [_tick(top + _MARK + 5, f"{most:.0f}")]
    for move, loss in losses.items():
        x, name, high = at(move - 0.5), names(move), max(scale * loss, 1.5)
        if loss > 0:
            parts.append(
                f'<rect class="bar {name}" x="{x - wide / 2:.1f}" y="{bottom - high:.1f}" '
                f'width="{wide:.1f}" height="{high:.1f}"/>'
            )
        if move in ranges:
            low, up = (scale * points for points in ranges[move])
            parts.append(f'<path class="range" d="M{x:.1f} {bottom - low:.1f}V{bottom - up:.1f}"/>')
            y = bottom - max(high, up) - 3
            parts.append(f'<text class="mark {name}" x="{x:.1f}" y="{y:.1f}">{_MARKS[name]}</text>')
    return "".join(parts)
