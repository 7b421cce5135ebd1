"""Shows results on pages: as tables in Markdown, and as SVG for light and for dark pages."""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass
from functools import partial
from io import BytesIO
from typing import Any, Final, Literal

import numpy as np
from tabulate import tabulate

from goita_agents.base import Float
from goita_lab.arena.report.figures import estimate
from goita_lab.arena.statistics.intervals import Interval


@dataclass(frozen=True)
class Colors:
    """Colours of a picture, whose ground is transparent."""

    ink: str  #: Of text and axes.
    series: tuple[str, ...]  #: Of what is drawn, by its place in the legend.


THEMES: Final = {
    "light": Colors("#333333", ("#1f6fc4", "#c2500a", "#14805e", "#a8338a", "#8a6000", "#5b4bb5")),
    "dark": Colors("#d0d0d0", ("#6cb2ff", "#ff9d5c", "#4fd1a5", "#f08bd0", "#e0b84c", "#b3a6ff")),
}
"""Colours by the theme of the page; a page chooses between ``NAME-light.svg`` and
``NAME-dark.svg``."""

INK: Final = "#808080"
"""Colour of text and axes in a picture for both themes: legible on white and on black."""
MARKERS: Final = (("o", 5), ("s", 5), ("^", 6), ("D", 5), ("v", 6), ("*", 9))
"""Forms of points with their sizes, so that nobody needs colours to tell series apart."""
LINE_STYLES: Final = ("-", "--", "-.", ":", (0, (6, 1, 1, 1, 1, 1)), (0, (1, 3)))
WIDTH: Final = 7.3
"""Inches: 700 pixels, which fit the text of a page."""
FONT_SIZE: Final = 9.5
"""Points: 12.7 pixels."""

Side = Literal["left", "right", "above", "below"]

OFFSETS: Final[Mapping[Side, tuple[tuple[int, int], str, str]]] = {
    "left": ((-6, 0), "right", "center"),
    "right": ((6, 0), "left", "center"),
    "above": ((0, 6), "center", "bottom"),
    "below": ((0, -6), "center", "top"),
}
"""Where a label begins, in points from its own point, and how it is aligned."""


@dataclass(frozen=True)
class Label:
    """A text at a point of a picture."""

    x: float
    y: float
    text: str
    side: Side = "right"


bounds = partial(estimate, sign="-")
"""Writes a mean and its interval without plus signs."""


def table(heads: Sequence[str], rows: Sequence[Sequence[str]]) -> str:
    """Returns a table in Markdown, whose first column is text and whose others are figures."""
    sides = ("left", *("right" for _ in heads[1:]))
    return tabulate(rows, heads, "pipe", disable_numparse=True, colalign=sides)


def dots(
    rows: Mapping[str, Interval] | Mapping[str, Mapping[str, Interval]], label: str, colors: Colors
) -> bytes:
    """Draws means with their intervals in rows, and a line at 0: a forest plot.

    Args:
        rows: an interval by the name of its row, or several by name and series.
        label: of the axis.
        colors: those of the page's theme.
    """
    grouped = {
        name: {"": cells} if isinstance(cells, Interval) else cells for name, cells in rows.items()
    }
    series = [*dict.fromkeys(kind for cells in grouped.values() for kind in cells)]
    styles = dict(zip(series, zip(colors.series, MARKERS, strict=True), strict=False))
    lines = len(grouped) * (0.5 + 0.5 * len(series))  # of text, with half a line between rows
    figure, axes = _begin((WIDTH, 0.8 + 0.3 * lines), colors.ink)
    for place, cells in enumerate(grouped.values()):
        for kind, interval in cells.items():
            color, (marker, size) = styles[kind]
            # Series lie above each other in the middle 60 % of their row.
            y = place + 0.6 * ((series.index(kind) + 0.5) / len(series) - 0.5)
            axes.plot([interval.low, interval.high], [y, y], color=color, linewidth=2)
            name = None if place else kind  # one entry of the legend for all rows
            axes.plot([interval.mean], [y], marker, color=color, ms=size, label=name)
    axes.set_yticks(range(len(grouped)), list(grouped))
    axes.set_ylim(len(grouped) - 0.5, -0.5)
    axes.axvline(0, color=colors.ink, linewidth=1)
    axes.set_xlabel(label)
    return _end(figure, [axes], colors if len(series) > 1 else None)


def grid(names: Sequence[str], values: Float, label: str) -> bytes:
    """Draws a square table of values [n, n] as colours, white at 0, for both themes."""
    size = 2.5 + 0.17 * len(names)
    figure, axes = _begin((size + 1, size), INK)
    limit = float(np.abs(values).max()) or 1.0
    image = axes.imshow(values, cmap="RdBu", vmin=-limit, vmax=limit)
    axes.set_xticks(range(len(names)), names, rotation=90, fontsize=6)
    axes.set_yticks(range(len(names)), names, fontsize=6)
    bar = figure.colorbar(image, ax=axes, shrink=0.8)
    bar.set_label(label, color=INK)
    bar.ax.tick_params(colors=INK)
    return _end(figure)


def curves(
    panels: Mapping[str, Mapping[str, Sequence[Sequence[tuple[float, float]]]]],
    x: str,
    y: str,
    colors: Colors,
) -> bytes:
    """Draws the runs of several methods as lines on logarithmic y, panels side by side.

    Args:
        panels: runs by title and method, each as points (x, y), y above 0.
        x: label of the horizontal axis.
        y: label of the vertical axis.
        colors: those of the page's theme.
    """
    from matplotlib.ticker import LogLocator

    figure, all_axes = _panels(panels, x, y, colors)
    styles = [*zip(colors.series, LINE_STYLES, strict=True)]
    for axes, methods in zip(all_axes, panels.values(), strict=True):
        for (color, style), (name, runs) in zip(styles, methods.items(), strict=False):
            for index, run in enumerate(runs):
                label = None if index else name  # one entry of the legend for all runs
                axes.plot(*zip(*run, strict=True), color=color, linestyle=style, label=label)
        axes.set_yscale("log")
        axes.yaxis.set_major_locator(LogLocator(subs=(1, 2, 5)))
        axes.yaxis.set_major_formatter("{x:g}")
        axes.yaxis.set_minor_formatter("")
    return _end(figure, all_axes, colors)


def scatter(
    panels: Mapping[str, Mapping[str, Sequence[tuple[float, float]]]],
    lines: Mapping[str, float],
    x: str,
    y: str,
    colors: Colors,
    labels: Mapping[str, Sequence[Label]] | None = None,
) -> bytes:
    """Draws points of several kinds, panels side by side, and a dashed line in each.

    Args:
        panels: points (x, y) by title and kind; all panels have the same kinds, in one order.
        lines: height of the line by title.
        x: label of the horizontal axis.
        y: label of the vertical axis.
        colors: those of the page's theme.
        labels: texts at points by title.
    """
    figure, all_axes = _panels(panels, x, y, colors)
    styles = [*zip(colors.series, MARKERS, strict=True)]
    for axes, (title, kinds) in zip(all_axes, panels.items(), strict=True):
        for (color, (marker, size)), (name, points) in zip(styles, kinds.items(), strict=False):
            axes.plot(*np.reshape(points, (-1, 2)).T, marker, color=color, label=name, ms=size)
        axes.axhline(lines[title], color=colors.ink, linestyle="--", linewidth=1)
        axes.margins(x=0.1, y=0.15)
        axes.set_ylim(bottom=0)
        axes.xaxis.set_major_formatter("{x:g}")
        for label in (labels or {}).get(title, ()):
            offset, horizontal, vertical = OFFSETS[label.side]
            axes.annotate(
                label.text,
                (label.x, label.y),
                xytext=offset,
                textcoords="offset points",
                ha=horizontal,
                va=vertical,
                color=colors.ink,
                fontsize=FONT_SIZE,
            )
    return _end(figure, all_axes, colors)


def bars(rows: Mapping[str, tuple[float, float, float]], label: str, colors: Colors) -> bytes:
    """Draws medians as horizontal bars on a logarithmic axis, with a line over their range.

    Args:
        rows: median, least and greatest value by the name of the row.
        label: of the axis.
        colors: those of the page's theme.
    """
    figure, axes = _begin((WIDTH, 0.8 + 0.32 * len(rows)), colors.ink)
    for place, (median, least, greatest) in enumerate(rows.values()):
        axes.barh(place, median, height=0.6, color=colors.series[0])
        axes.plot([least, greatest], [place, place], color=colors.ink, linewidth=2)
    axes.set_yticks(range(len(rows)), list(rows))
    axes.set_ylim(len(rows) - 0.5, -0.5)
    axes.set_xscale("log")
    axes.xaxis.set_major_formatter(lambda value, _: f"{value:,.0f}")
    axes.set_xlabel(label)
    return _end(figure)


def steps(
    panels: Mapping[str, Mapping[str, Sequence[float]]],
    x: str,
    ticks: Sequence[str],
    colors: Colors,
) -> bytes:
    """Draws values after each of several moves as lines with points, panels above each other.

    Args:
        panels: values by the label of the vertical axis and by series, one for each tick.
        x: label of the horizontal axis.
        ticks: names of the moves.
        colors: those of the page's theme.
    """
    figure, all_axes = _begin((WIDTH, 2.2 * len(panels) + 0.6), colors.ink, (len(panels), 1))
    for axes, (label, series) in zip(all_axes, panels.items(), strict=True):
        styles = zip(colors.series, MARKERS, strict=True)
        for (color, (marker, size)), (name, values) in zip(styles, series.items(), strict=False):
            axes.plot(values, color=color, marker=marker, ms=size, label=name)
        axes.set_ylim(bottom=0)
        axes.set_ylabel(label, color=colors.ink)
        axes.set_xticks(range(len(ticks)), ticks if axes is all_axes[-1] else [""] * len(ticks))
    all_axes[-1].set_xlabel(x)
    return _end(figure, all_axes, colors)


def _panels(titles: Iterable[str], x: str, y: str, colors: Colors) -> tuple[Any, Any]:
    """Begins a picture with panels side by side; ``x``, ``y``: labels of their axes."""
    names = list(titles)
    figure, all_axes = _begin((WIDTH, 4), colors.ink, (1, len(names)))
    for axes, title in zip(all_axes := np.atleast_1d(all_axes), names, strict=True):
        axes.set_title(title, color=colors.ink, fontsize=FONT_SIZE)
    for axes in all_axes[1:2] if len(names) == 3 else all_axes:  # three are too narrow for it
        axes.set_xlabel(x)
    all_axes[0].set_ylabel(y)
    return figure, all_axes


def _begin(
    size: tuple[float, float], ink: str, panels: tuple[int, int] = (1, 1)
) -> tuple[Any, Any]:
    """Begins a picture with rows and columns of panels, and returns it with their axes."""
    import matplotlib as mpl  # takes a third of a second to load
    from matplotlib.figure import Figure

    mpl.rcParams["svg.hashsalt"] = "goita"  # the same picture, the same bytes
    figure = Figure(figsize=size, layout="constrained")
    figure.patch.set_alpha(0)
    all_axes = figure.subplots(*panels)
    for axes in np.atleast_1d(all_axes):
        axes.patch.set_alpha(0)
        axes.tick_params(which="both", colors=ink, labelsize=FONT_SIZE)
        for label in (axes.xaxis.label, axes.yaxis.label):
            label.set(color=ink, fontsize=FONT_SIZE)
        for spine in axes.spines.values():
            spine.set_color(ink)
    return figure, all_axes


def _end(figure: Any, all_axes: Sequence[Any] = (), colors: Colors | None = None) -> bytes:
    """Returns a picture as SVG; panels share one legend below them, in these colours."""
    if colors is not None:
        entries = all_axes[0].get_legend_handles_labels()
        figure.legend(
            *entries,
            loc="outside lower center",
            ncols=3,
            labelcolor=colors.ink,
            frameon=False,
            fontsize=FONT_SIZE,
        )
    data = BytesIO()
    figure.savefig(data, format="svg", transparent=True, metadata={"Date": None})
    return data.getvalue()
