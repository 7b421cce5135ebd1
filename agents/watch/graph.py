"""Draws a round's expected points, and what each decision lost, as SVG for the analysis page.

Three bands one below the other: what seats 0 and 2 could expect before each move; what the move
lost by what its seat could know; what it lost against perfect play. Colours come from the page's
style sheet by class, so that one drawing serves both themes. A move is as wide as any other: the
one with number n lies between the positions n - 1 and n.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass
from math import ceil
from typing import Final

from agents.watch.decisions import Decision
from agents.watch.judging import verdict

LEFT: Final = 52
"""Where the first position stands."""
RIGHT: Final = 586
"""Where the last one does."""

_CURVE: Final = (38, 160)
"""Top and bottom of the band of expected points."""
_LOST: Final = (206, 262)
_OPEN: Final = (308, 364)
BOTTOM: Final = _OPEN[1]
_MARK: Final = 14
"""Room for the mark over the longest bar."""


@dataclass(frozen=True)
class Graph:
    """Holds a graph and the same in words."""

    svg: str
    """What stands inside of ``<svg>``."""
    label: str


def draw(decisions: Sequence[Decision], moves: int, result: int | None) -> Graph:
    """Draws the graph of a deal.

    Args:
        decisions: of the deal, in order.
        moves: how many moves it has, at least as many as the decisions reach.
        result: points that seats 0 and 2 made, minus those of the others; None: no round was ended.
    """
    step = (RIGHT - LEFT) / max(moves, 1)

    def at(position: float) -> float:
        return LEFT + step * position

    known = [
        (one.move - 1, _sign(one) * one.expected) for one in decisions if one.expected is not None
    ]
    seen = [
        (one.move - 1, _sign(one) * one.open_value)
        for one in decisions
        if one.open_value is not None
    ]
    last = [] if result is None else [(moves, float(result))]
    points = [value for _, value in (*known, *seen, *last)]
    edge = max(10, 10 * ceil(max(map(abs, points), default=0) / 10))
    parts = [_scale(edge)]
    for series, name in (([*seen, *last], "open"), ([*known, *last], "search")):
        parts.append(_line(series, at, edge, name))
    parts += [_dot(at(x), _height(value, edge), "search") for x, value in known]
    parts += [_diamond(at(x), _height(value, edge)) for x, value in last]
    parts += _bars(decisions, at, step)
    clear = [str(one.move) for one in decisions if verdict(one) == "clear"]
    ends = f" The round ended with {result:+}." if result is not None else ""
    span = f"from {min(points):+.0f} to {max(points):+.0f}" if points else "unknown"
    errors = f"clear losses at moves {', '.join(clear)}" if clear else "no clear loss"
    label = f"Expected points of seats 0 and 2 before each move, {span}; {errors}.{ends}"
    return Graph("".join(parts), label)


def _sign(decision: Decision) -> int:
    """Returns what turns the mover's points into those of seats 0 and 2."""
    return 1 - 2 * (decision.seat & 1)


def _height(value: float, edge: float) -> float:
    """Returns where a number of points lies in the upper band."""
    top, bottom = _CURVE
    return (top + bottom) / 2 - value / edge * (bottom - top) / 2


def _scale(edge: int) -> str:
    """Returns the lines and the words of the three bands."""
    top, bottom = _CURVE
    parts = [_words(top - 16, "expected points of seats 0 and 2")]
    for value in (edge, 0, -edge):
        y = _height(value, edge)
        parts.append(
            f'<path class="{"axis" if value == 0 else "grid"}" d="M{LEFT} {y:.1f}H{RIGHT}"/>'
        )
        parts.append(
            f'<text class="tick" x="{LEFT - 6}" y="{y + 5:.1f}">{value:+}</text>'.replace("+0", "0")
        )
    for (top, bottom), text in (
        (_LOST, "points lost, by what the seat could know"),
        (_OPEN, "points lost against perfect play, hands open"),
    ):
        parts.append(_words(top - 10, text))
        parts.append(f'<path class="axis" d="M{LEFT} {bottom}H{RIGHT}"/>')
    return "".join(parts)


def _words(y: float, text: str) -> str:
    """Returns the title of a band."""
    return f'<text x="2" y="{y}">{text}</text>'


def _line(
    series: Sequence[tuple[int, float]], at: Callable[[float], float], edge: int, name: str
) -> str:
    """Returns a line through values, each (position, points)."""
    if len(series) < 2:
        return ""
    path = "L".join(f"{at(x):.1f} {_height(value, edge):.1f}" for x, value in series)
    return f'<path class="{name}" d="M{path}"/>'


def _dot(x: float, y: float, name: str) -> str:
    """Returns the mark of a decision."""
    return f'<circle class="dot {name}" cx="{x:.1f}" cy="{y:.1f}" r="3.5"/>'


def _diamond(x: float, y: float) -> str:
    """Returns the mark of the result."""
    return f'<path class="result" d="M{x:.1f} {y - 7:.1f}l7 7-7 7-7-7z"/>'


def _bars(decisions: Sequence[Decision], at: Callable[[float], float], step: float) -> list[str]:
    """Returns the bars of what was lost, each as wide as most of its move."""
    parts, wide = [], min(step * 0.6, 18)
    losses = (
        (_LOST, {one.move: one.loss for one in decisions}),
        (_OPEN, {one.move: float(one.open_loss) for one in decisions}),
    )
    verdicts = {one.move: verdict(one) for one in decisions}
    for (top, bottom), lost in losses:
        most = max([10.0, *lost.values()])
        parts.append(f'<text class="tick" x="{LEFT - 6}" y="{top + _MARK + 5}">{most:.0f}</text>')
        for move, loss in lost.items():
            if not loss > 0:
                continue
            high, x = max((bottom - top - _MARK) * loss / most, 1.5), at(move - 0.5)
            name = "hands" if top == _OPEN[0] else verdicts[move]
            parts.append(
                f'<rect class="bar {name}" x="{x - wide / 2:.1f}" y="{bottom - high:.1f}" '
                f'width="{wide:.1f}" height="{high:.1f}"/>'
            )
            if name == "clear":
                parts.append(f'<text class="mark" x="{x:.1f}" y="{bottom - high - 3:.1f}">!</text>')
    return parts
