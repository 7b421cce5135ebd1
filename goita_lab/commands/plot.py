"""Draws the learning curves of several runs in one picture.

goita plot runs/A runs/B                one panel for each opponent, in curve.png
goita plot runs/A-1 runs/A-2 runs/A-3   the mean of the runs with its 95 % interval
goita plot runs/A -o strength.svg       in another file
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from itertools import chain
from pathlib import Path
from typing import Final

import numpy as np

from goita_agents.base import Float
from goita_env.errors import SettingError
from goita_lab import cli
from goita_lab.arena.report.plots import check_picture_path, new_figure, save_figure
from goita_lab.arena.report.runs import group_runs
from goita_lab.arena.statistics.intervals import MIN_RUNS, over_runs
from goita_lab.learning.measuring import PAST_SNAPSHOT, read_curve

MARKED_POINTS: Final = 12
"""Most measurements of a curve that has a mark at each of them."""


@dataclass(frozen=True)
class Args:
    """Options of the command line."""

    runs: tuple[str, ...] = field(metadata=cli.POSITIONAL)
    """directories of runs"""
    output: Path = field(default=Path("curve.png"), metadata=cli.short("-o"))
    """picture, .png, .svg or .pdf"""

    def __post_init__(self) -> None:
        cli.check_outputs(self.output)
        check_picture_path(self.output)


def main(argv: Sequence[str] | None = None) -> int:
    """Draws the curves and returns the exit code."""
    args = cli.parse(Args, argv, __doc__)
    try:
        curves = {run: read_curve(Path(run, "strength.csv")) for run in args.runs}
        draw(averaged(curves), args.output)
    except (SettingError, OSError) as error:
        cli.fail(error)
    print(args.output)
    return 0


def averaged(curves: Mapping[str, dict[str, Float]]) -> dict[str, dict[str, Float]]:
    """Returns the curves by short names, runs NAME-1, NAME-2 and so on as one curve NAME.

    Such a curve is the mean over the runs with Student's 95 % interval over runs. Fewer than
    ``MIN_RUNS`` runs stay as they are.
    """
    groups = {name: runs for name, runs in group_runs(curves).items() if len(runs) >= MIN_RUNS}
    grouped = set(chain.from_iterable(groups.values()))
    drawn = {Path(run).name: curve for run, curve in curves.items() if run not in grouped}
    for name, runs in groups.items():
        opponents = set[str].intersection(*(set(curves[run]) for run in runs))
        drawn[f"{Path(name).name}, mean of {len(runs)} runs"] = {
            opponent: _mean_curve([curves[run][opponent] for run in runs])
            for opponent in curves[runs[0]]
            if opponent in opponents
        }
    return drawn


def _mean_curve(curves: Sequence[Float]) -> Float:
    """Returns decisions, mean, low and high [4, M] at the decisions of the first curve.

    Runs are measured after slightly different numbers of decisions, so the points of each are
    interpolated; what lies beyond the last measurement of a run is left out.
    """
    last = min(curve[0][-1] for curve in curves)
    decisions = np.unique([*curves[0][0][curves[0][0] < last], last])
    points = np.array([np.interp(decisions, curve[0], curve[1]) for curve in curves])  # [runs, M]
    intervals = [over_runs(column.tolist()) for column in points.T]
    rows = [(interval.mean, interval.low, interval.high) for interval in intervals]
    return np.vstack([decisions, np.array(rows).T])


def draw(curves: Mapping[str, dict[str, Float]], file: Path) -> None:
    """Draws curves with 95 % intervals: a panel for each opponent, past selves last."""
    opponents = list(dict.fromkeys(opponent for curve in curves.values() for opponent in curve))
    opponents.sort(key=lambda name: name == PAST_SNAPSHOT)
    figure = new_figure(4.5 * len(opponents), 4)
    panels = figure.subplots(1, len(opponents), squeeze=False, sharey=True)[0]
    for panel, opponent in zip(panels, opponents, strict=True):
        for index, (run, curve) in enumerate(curves.items()):
            if opponent not in curve:
                continue
            decisions, points, low, high = curve[opponent]
            colour, marker = f"C{index}", "." if len(decisions) <= MARKED_POINTS else ""
            panel.plot(decisions / 1e6, points, marker=marker, color=colour, label=run)
            panel.fill_between(decisions / 1e6, low, high, color=colour, alpha=0.2, linewidth=0)
        panel.axhline(0, color="grey", linewidth=0.8)
        own = "its own snapshot at 75 % of the decisions"
        title = f"against {own if opponent == PAST_SNAPSHOT else opponent}"
        panel.set_title(title, fontsize=10, parse_math=False)  # a file's "$" is no formula
        panel.set_xlabel("decisions (million)")
    panels[0].set_ylabel("points per round, with 95 % intervals")
    for text in panels[0].legend(fontsize=8).get_texts():
        text.set_parse_math(False)
    save_figure(figure, file)
