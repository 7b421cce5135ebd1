"""Draws the learning curves of runs together.

goita plot runs/A runs/B                one panel an opponent, into curve.png
goita plot runs/A -o strength.svg       into another file
goita plot runs/A runs/B --minutes      strength against the time it took
"""

from __future__ import annotations

import csv
from collections.abc import Callable, Sequence
from dataclasses import dataclass, field
from io import StringIO
from pathlib import Path
from typing import Final

import numpy as np

from goita_env.errors import SettingError, install
from goita_lab import cli
from goita_lab.learning.measuring import PAST, Measured, read_csv
from goita_lab.learning.run_files import RunFiles

FEW: Final = 12
"""Measurements of a curve, at most, that are marked one by one."""


@dataclass(frozen=True)
class Args:
    """Options of the command line."""

    runs: tuple[str, ...] = field(metadata=cli.POSITIONAL)
    """directories of runs"""
    output: Path = field(default=Path("curve.png"), metadata=cli.short("-o"))
    """picture, .png or .svg"""
    minutes: bool = False
    """draw against the minutes of the training's clock, measuring included, instead of decisions"""


def main(argv: Sequence[str] | None = None) -> int:
    args = cli.parse(Args, argv, __doc__)
    try:
        files = {run: RunFiles(Path(run)) for run in args.runs}
        clocks = {run: clock(of.logs()) for run, of in files.items()} if args.minutes else None
        draw({run: read_csv(of.strength) for run, of in files.items()}, args.output, clocks)
    except SettingError as error:
        cli.fail(error)
    print(args.output)
    return 0


def clock(logs: Sequence[Path]) -> Callable[[int], float]:
    """Returns the minutes that a number of decisions took, by the logs of a run and its resumes.

    A log begins where its run was resumed. What an earlier one says of later decisions is left
    out, for they were made again.

    Raises:
        SettingError: if there is no log, or a file is none.
    """
    made, seconds = [0.0], [0.0]
    for log in logs:
        rows = _read_log(log)
        begun = rows[0][0] - rows[0][2]  # decisions before the log's first rollout
        before = float(np.interp(begun, made, seconds))
        kept = int(np.searchsorted(made, begun, side="right"))
        made, seconds = [*made[:kept], begun], [*seconds[:kept], before]
        made += [row[0] for row in rows]
        seconds += [before + row[1] for row in rows]
    if len(made) == 1:
        raise SettingError("expected the log of a run, got no progress.csv")
    return lambda decisions: float(np.interp(decisions, made, seconds)) / 60


_LOGGED: Final = ("time/total_timesteps", "time/time_elapsed", "rollout/decisions")


def _read_log(path: Path) -> list[tuple[float, ...]]:
    """Returns decisions, seconds and new decisions of each row of a log."""
    try:
        table = csv.DictReader(StringIO(path.read_text(encoding="utf-8"), newline=""))
        rows = [tuple(float(row[name]) for name in _LOGGED) for row in table]
    except (OSError, ValueError, TypeError, KeyError, csv.Error) as error:
        raise SettingError(f"expected the log of a run, got {path}: {error!r}") from error
    if not rows:
        raise SettingError(f"expected the log of a run, got {path}")
    return rows


def draw(
    curves: dict[str, list[Measured]],
    file: Path,
    clocks: dict[str, Callable[[int], float]] | None = None,
) -> None:
    """Draws the curves of runs by name, with 95 % intervals; a panel an opponent, the past last.

    ``clocks`` say how many minutes a number of decisions took; without, decisions are drawn.
    """
    if file.suffix not in (".png", ".svg"):
        raise SettingError(f"expected a picture .png or .svg, got {str(file)!r}")
    try:
        import matplotlib as mpl
        from matplotlib.figure import Figure
    except ImportError as error:
        raise SettingError(f"expected matplotlib: {error}; {install('lab')}") from error
    opponents = list(dict.fromkeys(row.opponent for rows in curves.values() for row in rows))
    if not opponents:
        raise SettingError(f"expected measurements, got none in {', '.join(curves)}")
    opponents.sort(key=lambda name: name == PAST)
    figure = Figure(figsize=(4.5 * len(opponents), 4), layout="constrained")
    panels = figure.subplots(1, len(opponents), squeeze=False, sharey=True)[0]
    for panel, opponent in zip(panels, opponents, strict=True):
        for number, (name, rows) in enumerate(curves.items()):
            mine = [row for row in rows if row.opponent == opponent]
            clock_of = (clocks or {}).get(name, _millions)
            made = [clock_of(row.decisions) for row in mine]
            colour = f"C{number}"
            marker = "." if len(mine) <= FEW else ""  # few points with a line look like many
            points = [row.points_per_round for row in mine]
            panel.plot(made, points, marker=marker, color=colour, label=name)
            bounds = [row.low for row in mine], [row.high for row in mine]
            panel.fill_between(made, *bounds, color=colour, alpha=0.2, linewidth=0)
            if len(mine) == 1:  # an area of one point shows nothing
                panel.vlines(made, *bounds, color=colour, alpha=0.4)
        panel.axhline(0, color="grey", linewidth=0.8)
        own = "its own snapshot at 75 % of the decisions"
        title = f"against {own if opponent == PAST else opponent}"
        panel.set_title(title, fontsize=10, parse_math=False)  # a file's "$" is no formula
        panel.set_xlabel("minutes" if clocks else "decisions (million)")
    panels[0].set_ylabel("points per round, with 95 % intervals")
    for text in panels[0].legend(fontsize=8).get_texts():
        text.set_parse_math(False)
    with mpl.rc_context({"svg.hashsalt": "goita"}):  # the same curves give the same picture
        figure.savefig(file, dpi=150, metadata={"Date": None} if file.suffix == ".svg" else None)


def _millions(decisions: int) -> float:
    return decisions / 1e6
