"""Draws the learning curves of runs together.

goita plot runs/A runs/B                one panel an opponent, into curve.png
goita plot runs/A -o strength.svg       into another file
goita plot runs/A runs/B --minutes      strength against the time it took
goita plot A=runs/A-1,runs/A-2 B=runs/B-1,runs/B-2
                                        runs with several seeds: their mean and range
"""

from __future__ import annotations

import csv
from collections.abc import Callable, Sequence
from dataclasses import dataclass, field
from io import StringIO
from pathlib import Path
from typing import Final

import numpy as np

from goita_agents.base import Float
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
    """directories of runs; NAME=RUN,RUN,... draws the mean and the range of several as one curve"""
    output: Path = field(default=Path("curve.png"), metadata=cli.short("-o"))
    """picture, .png or .svg"""
    minutes: bool = False
    """draw against the minutes of the training's clock, measuring included, instead of decisions"""


def main(argv: Sequence[str] | None = None) -> int:
    args = cli.parse(Args, argv, __doc__)
    try:
        draw([_curve(text, args.minutes) for text in args.runs], args.output, args.minutes)
    except (SettingError, OSError) as error:
        cli.fail(error)
    print(args.output)
    return 0


Points = tuple[Float, Float, Float, Float]
"""Decisions (million) or minutes, and points per round with lower and upper ends, each [M]."""


@dataclass(frozen=True)
class Curve:
    """What was measured of a run, or of several that belong together."""

    name: str
    runs: tuple[list[Measured], ...]
    clocks: tuple[Callable[[int], float], ...]
    """How far each run was at a number of decisions."""

    def points(self, opponent: str) -> Points:
        """Returns the curve against an opponent: with 95 % intervals of one run, else the range.

        Several runs are compared where all of them were, between measurements on straight lines.
        """
        runs = []
        for rows, clock_of in zip(self.runs, self.clocks, strict=True):
            mine = [row for row in rows if row.opponent == opponent]
            table = [
                (clock_of(row.decisions), row.points_per_round, row.low, row.high) for row in mine
            ]
            runs.append(np.array(table).reshape(-1, 4).T)
        if len(runs) == 1:
            made, points, low, high = runs[0]
            return made, points, low, high
        if not all(run.size for run in runs):
            return (np.zeros(0),) * 4
        first, last = max(run[0, 0] for run in runs), min(run[0, -1] for run in runs)
        made = np.unique(np.concatenate([run[0] for run in runs]))
        made = made[(made >= first) & (made <= last)]
        each = np.array([np.interp(made, run[0], run[1]) for run in runs])
        return made, each.mean(axis=0), each.min(axis=0), each.max(axis=0)


def _curve(text: str, minutes: bool) -> Curve:
    """Returns the curve that an argument of the command line names."""
    name, is_group, listed = text.partition("=")
    files = [RunFiles(Path(run)) for run in (listed.split(",") if is_group else [text])]
    clocks = tuple(clock(of.logs()) if minutes else _millions for of in files)
    if len(files) > 1:
        name = f"{name}, {len(files)} runs"
    return Curve(name, tuple(read_csv(of.strength) for of in files), clocks)


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


def draw(curves: Sequence[Curve], file: Path, minutes: bool = False) -> None:
    """Draws curves, of a run with 95 % intervals; a panel an opponent, the past last."""
    if file.suffix not in (".png", ".svg"):
        raise SettingError(f"expected a picture .png or .svg, got {str(file)!r}")
    try:
        import matplotlib as mpl
        from matplotlib.figure import Figure
    except ImportError as error:
        raise SettingError(f"expected matplotlib: {error}; {install('lab')}") from error
    opponents = list(
        dict.fromkeys(row.opponent for one in curves for run in one.runs for row in run)
    )
    if not opponents:
        raise SettingError(
            f"expected measurements, got none in {', '.join(one.name for one in curves)}"
        )
    opponents.sort(key=lambda name: name == PAST)
    figure = Figure(figsize=(4.5 * len(opponents), 4), layout="constrained")
    panels = figure.subplots(1, len(opponents), squeeze=False, sharey=True)[0]
    for panel, opponent in zip(panels, opponents, strict=True):
        for number, curve in enumerate(curves):
            made, points, low, high = curve.points(opponent)
            colour = f"C{number}"
            marker = "." if len(made) <= FEW else ""  # few points with a line look like many
            panel.plot(made, points, marker=marker, color=colour, label=curve.name)
            panel.fill_between(made, low, high, color=colour, alpha=0.2, linewidth=0)
            if len(made) == 1:  # an area of one point shows nothing
                panel.vlines(made, low, high, color=colour, alpha=0.4)
        panel.axhline(0, color="grey", linewidth=0.8)
        own = "its own snapshot at 75 % of the decisions"
        title = f"against {own if opponent == PAST else opponent}"
        panel.set_title(title, fontsize=10, parse_math=False)  # a file's "$" is no formula
        panel.set_xlabel("minutes" if minutes else "decisions (million)")
    ranged = any(len(one.runs) > 1 for one in curves)
    bands = "mean and range of the runs" if ranged else "with 95 % intervals"
    panels[0].set_ylabel(f"points per round, {bands}")
    for text in panels[0].legend(fontsize=8).get_texts():
        text.set_parse_math(False)
    with mpl.rc_context({"svg.hashsalt": "goita"}):  # the same curves give the same picture
        figure.savefig(file, dpi=150, metadata={"Date": None} if file.suffix == ".svg" else None)


def _millions(decisions: int) -> float:
    return decisions / 1e6
