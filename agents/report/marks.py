"""Draws the pieces of the report's page: escaped text, dots with whiskers."""

from __future__ import annotations

import re
from collections.abc import Iterable
from dataclasses import dataclass
from html import escape
from math import ceil, floor, log10

from agents.report.data import Estimate, clean, interval, signed


def text(told: str) -> str:
    """Returns anybody's text as HTML that says the same and does nothing."""
    return escape(clean(told))


def name(agent: str) -> str:
    """Returns an agent's name, which may wrap at its signs and keeps to its direction."""
    return "<bdi>" + re.sub("([:,/_])", r"\1<wbr>", text(agent)) + "</bdi>"


def figure(number: str) -> str:
    """Returns a formatted number with a true minus sign."""
    return escape(number).replace("-", "−")


def sure(found: Estimate, decimals: int = 2) -> str:
    """Returns a mean with its interval on one line."""
    return figure(f"{signed(found.mean, decimals)} {interval(found, decimals)}".strip())


@dataclass(frozen=True)
class Scale:
    """Maps values onto the width of a drawing, and says which of them are marked."""

    low: float
    high: float
    ticks: tuple[float, ...]

    def at(self, value: float) -> str:
        """Returns where a value lies, as a share of the width."""
        return f"{100 * (value - self.low) / (self.high - self.low):.2f}%"


def scale(found: Iterable[Estimate]) -> Scale:
    """Returns a scale that holds all means, intervals and zero, with about five round marks."""
    values = [0.0]
    for one in found:
        values += [value for value in (one.mean, one.low, one.high) if value is not None]
    low, high = min(values), max(values)
    if high == low:
        low, high = low - 1, high + 1
    low, high = low - 0.03 * (high - low), high + 0.03 * (high - low)
    power = 10.0 ** floor(log10((high - low) / 5))
    distance = next(power * digit for digit in (1, 2, 5, 10) if power * digit * 5.5 >= high - low)
    ticks = (
        number * distance for number in range(ceil(low / distance), floor(high / distance) + 1)
    )
    return Scale(low, high, tuple(ticks))


def whisker(found: Estimate, on: Scale, *, sided: bool = False) -> str:
    """Returns a dot on its interval as an SVG as wide as its place.

    Args:
        found: what is drawn.
        on: the scale.
        sided: whether colour says which side of zero the interval lies on.
    """
    side = ""
    if sided:
        side = " open" if found.open else " below" if found.mean < 0 else ""
    parts = ["<svg aria-hidden='true'>"]
    for tick in on.ticks:
        zero = " class='zero'" if tick == 0 else ""
        parts.append(f"<line{zero} x1='{on.at(tick)}' x2='{on.at(tick)}' y1='0' y2='100%'/>")
    if found.low is not None and found.high is not None and found.high > found.low:
        ends = f"x1='{on.at(found.low)}' x2='{on.at(found.high)}' y1='50%' y2='50%'"
        parts.append(f"<line class='whisker{side}' {ends}/>")
    parts.append(f"<circle class='dot{side}' cx='{on.at(found.mean)}' cy='50%' r='5'/></svg>")
    return "".join(parts)


def axis(on: Scale) -> str:
    """Returns the numbers under a column of whiskers."""
    marks = "".join(
        f"<text x='{on.at(tick)}' y='100%' dy='-4'>{figure(signed(tick, _decimals(on)))}</text>"
        for tick in on.ticks
    )
    return f"<svg aria-hidden='true'>{marks}</svg>"


def _decimals(on: Scale) -> int:
    """Returns how many decimals tell the marks of a scale apart."""
    distance = on.ticks[1] - on.ticks[0] if len(on.ticks) > 1 else 1.0
    return max(0, -floor(log10(distance) + 1e-9))
