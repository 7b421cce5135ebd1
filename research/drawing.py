"""Shows results on pages: as tables in Markdown, and as SVG that reads on light and dark pages."""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence
from functools import partial
from io import BytesIO
from typing import Any, Final

import numpy as np
from tabulate import tabulate

from goita_agents.base import Float
from goita_lab.arena.report.figures import estimate
from goita_lab.arena.statistics.intervals import Interval

INK: Final = "#808080"
"""Colour of text and axes: legible on white and on black."""
DOT: Final = "#2f7ed8"
LINES: Final = (DOT, "#d95f02", "#1b9e77", "#cc4fa0", "#a07000")


bounds = partial(estimate, sign="-")
"""Writes a mean and its interval without plus signs."""


def table(heads: Sequence[str], rows: Sequence[Sequence[str]]) -> str:
    """Returns a table in Markdown, whose first column is text and whose others are figures."""
    sides = ("left", *("right" for _ in heads[1:]))
    return tabulate(rows, heads, "pipe", disable_numparse=True, colalign=sides)


def dots(rows: Sequence[tuple[str, Interval]], label: str) -> bytes:
    """Draws a mean with its interval in each row, and a line at 0."""
    figure, axes = _begin((7, 0.8 + 0.32 * len(rows)))
    for place, (_, interval) in enumerate(rows):
        axes.plot([interval.low, interval.high], [place, place], color=DOT, linewidth=2)
        axes.plot([interval.mean], [place], "o", color=DOT)
    axes.set_yticks(range(len(rows)), [name for name, _ in rows])
    axes.invert_yaxis()
    axes.axvline(0, color=INK, linewidth=1)
    axes.set_xlabel(label)
    return _end(figure)


def grid(names: Sequence[str], values: Float, label: str) -> bytes:
    """Draws a square table of values [n, n] as colours, white at 0."""
    size = 2.5 + 0.17 * len(names)
    figure, axes = _begin((size + 1, size))
    limit = float(np.abs(values).max()) or 1.0
    image = axes.imshow(values, cmap="RdBu", vmin=-limit, vmax=limit)
    axes.set_xticks(range(len(names)), names, rotation=90, fontsize=6)
    axes.set_yticks(range(len(names)), names, fontsize=6)
    bar = figure.colorbar(image, ax=axes, shrink=0.8)
    bar.set_label(label, color=INK)
    bar.ax.tick_params(colors=INK)
    return _end(figure)


def curves(
    panels: Mapping[str, Mapping[str, Sequence[Sequence[tuple[float, float]]]]], x: str, y: str
) -> bytes:
    """Draws the runs of several methods as lines on logarithmic y, panels side by side.

    Args:
        panels: runs by title and method, each as points (x, y), y above 0.
        x: label of the horizontal axis.
        y: label of the vertical axis.
    """
    figure, all_axes = _panels(panels, x, y)
    for axes, methods in zip(all_axes, panels.values(), strict=True):
        for color, (name, runs) in zip(LINES, methods.items(), strict=False):
            for index, run in enumerate(runs):
                axes.plot(*zip(*run, strict=True), color=color, label=None if index else name)
        axes.set_yscale("log")
        axes.yaxis.set_major_formatter("{x:g}")
        axes.yaxis.set_minor_formatter("{x:g}")
    return _end(figure, all_axes)


def scatter(
    panels: Mapping[str, Mapping[str, Sequence[tuple[float, float]]]],
    lines: Mapping[str, float],
    x: str,
    y: str,
) -> bytes:
    """Draws points of several kinds, panels side by side, and a dashed line in each.

    Args:
        panels: points (x, y) by title and kind.
        lines: height of the line by title.
        x: label of the horizontal axis.
        y: label of the vertical axis.
    """
    figure, all_axes = _panels(panels, x, y)
    for axes, (title, kinds) in zip(all_axes, panels.items(), strict=True):
        for color, (name, points) in zip(LINES, kinds.items(), strict=False):
            axes.plot(*zip(*points, strict=True), "o", color=color, label=name, markersize=5)
        axes.axhline(lines[title], color=INK, linestyle="--", linewidth=1)
        axes.set_ylim(bottom=0)
    return _end(figure, all_axes)


def _panels(titles: Iterable[str], x: str, y: str) -> tuple[Any, Any]:
    """Begins a picture with panels side by side; ``x``, ``y``: labels of their axes."""
    names = list(titles)
    figure, all_axes = _begin((1.2 + 3.8 * len(names), 3.6), len(names))
    for axes, title in zip(all_axes := np.atleast_1d(all_axes), names, strict=True):
        axes.set_title(title, color=INK)
        axes.set_xlabel(x)
    all_axes[0].set_ylabel(y)
    return figure, all_axes


def _begin(size: tuple[float, float], panels: int = 1) -> tuple[Any, Any]:
    import matplotlib as mpl  # takes a third of a second to load
    from matplotlib.figure import Figure

    mpl.rcParams["svg.hashsalt"] = "goita"  # the same picture, the same bytes
    figure = Figure(figsize=size, layout="constrained")
    figure.patch.set_alpha(0)
    all_axes = figure.subplots(1, panels)
    for axes in np.atleast_1d(all_axes):
        axes.patch.set_alpha(0)
        axes.tick_params(which="both", colors=INK)
        axes.xaxis.label.set_color(INK)
        axes.yaxis.label.set_color(INK)
        for spine in axes.spines.values():
            spine.set_color(INK)
    return figure, all_axes


def _end(figure: Any, all_axes: Sequence[Any] = ()) -> bytes:
    """Returns a picture as SVG, with one legend for all panels."""
    if len(all_axes):
        entries = all_axes[-1].get_legend_handles_labels()
        figure.legend(*entries, loc="outside right center", labelcolor=INK, frameon=False)
    data = BytesIO()
    figure.savefig(data, format="svg", transparent=True, metadata={"Date": None})
    return data.getvalue()
