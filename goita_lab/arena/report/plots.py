"""Draws figures of reports with matplotlib: a cross table as a heat map, regret as stacked bars."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from io import BytesIO
from pathlib import Path
from typing import TYPE_CHECKING, Final

import numpy as np

from goita_agents.base import Float
from goita_agents.files import is_stdout, write_whole
from goita_env.errors import SettingError, naming_extras
from goita_lab.arena.report.tables import pair_scores, strongest_first

if TYPE_CHECKING:
    from matplotlib.figure import Figure

    from goita_lab.arena.tournament.summary import Summary

PICTURE_SUFFIXES: Final = (".png", ".svg", ".pdf")


def check_picture_path(path: Path | None) -> None:
    """Raises a SettingError if a name ends in another way than ``PICTURE_SUFFIXES``."""
    if path is not None and path.suffix not in PICTURE_SUFFIXES and not is_stdout(path):
        expected = ", ".join(PICTURE_SUFFIXES)
        raise SettingError(f"expected a name in one of {expected}, got {path.name!r}")


def new_figure(width: float, height: float) -> Figure:
    """Returns an empty figure of so many inches, without a window."""
    with naming_extras():
        from matplotlib.figure import Figure

    return Figure(figsize=(width, height), layout="constrained")


def save_figure(figure: Figure, path: Path) -> None:
    """Writes a figure; the same figure gives the same bytes."""
    import matplotlib as mpl

    kind = path.suffix.removeprefix(".") or "png"
    dates = {"svg": {"Date": None}, "pdf": {"CreationDate": None}}
    with mpl.rc_context({"svg.hashsalt": "goita"}):
        picture = BytesIO()
        figure.savefig(picture, dpi=150, format=kind, metadata=dates.get(kind))
    write_whole(path, picture.getvalue())


def cross_table(summary: Summary, path: Path) -> None:
    """Draws the points per round of every two agents of a tournament, row against column."""
    names, scores = strongest_first(summary), pair_scores(summary)
    points = [
        [scores[row, column].mean if (row, column) in scores else np.nan for column in names]
        for row in names
    ]
    heat_map(names, names, np.array(points), "Points per round, row against column", path)


def heat_map(
    rows: Sequence[str], columns: Sequence[str], points: Float, title: str, path: Path
) -> None:
    """Draws points as colours, float [rows, columns], NaN where there are none."""
    figure = new_figure(3.2 + 0.55 * len(columns), 2.2 + 0.45 * len(rows))
    panel = figure.subplots()
    limit = float(np.nanmax(abs(points), initial=1.0))
    image = panel.imshow(points, cmap="RdBu", vmin=-limit, vmax=limit)
    for row, column in np.argwhere(~np.isnan(points)):
        value = points[row, column]
        shade = "white" if abs(value) > 0.6 * limit else "black"
        panel.text(column, row, f"{value:+.1f}", ha="center", va="center", color=shade, fontsize=8)
    panel.set_xticks(
        range(len(columns)), columns, rotation=45, ha="right", fontsize=8, parse_math=False
    )
    panel.set_yticks(range(len(rows)), rows, fontsize=8, parse_math=False)
    panel.set_title(title, fontsize=10)
    figure.colorbar(image, ax=panel, shrink=0.8)
    save_figure(figure, path)


def stacked_bars(names: Sequence[str], parts: Mapping[str, Float], title: str, path: Path) -> None:
    """Draws a bar for each name, which the parts, float [n] by their name, make up."""
    figure = new_figure(7, 1.2 + 0.35 * len(names))
    panel = figure.subplots()
    places, left = np.arange(len(names)), np.zeros(len(names))
    for part, widths in parts.items():
        panel.barh(places, widths, left=left, label=part)
        left = left + widths
    panel.set_yticks(places, names, fontsize=8, parse_math=False)
    panel.invert_yaxis()
    panel.set_title(title, fontsize=10)
    panel.legend(fontsize=8)
    save_figure(figure, path)
