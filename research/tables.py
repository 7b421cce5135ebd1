"""Writes results as text for pages: intervals, and tables in Markdown."""

from __future__ import annotations

from collections.abc import Sequence

from tabulate import tabulate

from goita_lab.arena.statistics.intervals import Interval


def bounds(found: Interval | None, sign: str = "", decimals: int = 2) -> str:
    """Returns a mean and its interval: "1.00 [-0.50, 2.50]"; what rounds to zero has no minus.

    "?" behind it: of few values, so it is a rough one. ``sign``: "+" for signs on all figures.
    """
    if found is None:
        return ""
    values = (f"{value:{sign}z.{decimals}f}" for value in (found.mean, found.low, found.high))
    mean, low, high = values
    return f"{mean} [{low}, {high}]{'?' * found.few}"


def table(heads: Sequence[str], rows: Sequence[Sequence[str]]) -> str:
    """Returns a table in Markdown, whose first column is text and whose others are figures."""
    sides = ("left", *("right" for _ in heads[1:]))
    return tabulate(rows, heads, "pipe", disable_numparse=True, colalign=sides)
