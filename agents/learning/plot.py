"""Draws the learning curves of runs together.

python -m agents.learning.plot runs/A runs/B                one panel an opponent, into curve.png
python -m agents.learning.plot runs/A --file strength.svg   into another file
"""

from __future__ import annotations

import sys
from collections.abc import Sequence
from dataclasses import dataclass, field
from pathlib import Path
from typing import Final

from agents import cli
from agents.learning.measuring import PAST, Measured, read_csv
from agents.learning.run_files import RunFiles
from goita_env.errors import SettingError

MAX_PANELS: Final = 32  # Opponents of one picture.
FEW: Final = 12
"""Measurements of a curve, at most, that are marked one by one."""


@dataclass(frozen=True)
class Args:
    """Options of the command line."""

    runs: tuple[str, ...] = field(metadata=cli.POSITIONAL)
    """directories of runs"""
    file: Path = Path("curve.png")
    """picture, .png or .svg"""


def main(argv: Sequence[str] | None = None) -> int:
    args = cli.parse(Args, argv, __doc__)
    try:
        draw({run: read_csv(RunFiles(Path(run)).strength) for run in args.runs}, args.file)
    except SettingError as error:
        cli.fail(error)
    print(args.file)
    return 0


def draw(curves: dict[str, list[Measured]], file: Path) -> None:
    """Draws the curves of runs by name, with 95 % intervals; a panel an opponent, the past last."""
    if file.suffix not in (".png", ".svg"):
        raise SettingError(f"expected a picture .png or .svg, got {str(file)!r}")
    try:
        import matplotlib as mpl
        from matplotlib.figure import Figure
    except ImportError as error:
        raise SettingError(f"expected matplotlib (extra [train]): {error}") from error
    opponents = list(dict.fromkeys(row.opponent for rows in curves.values() for row in rows))
    if not opponents:
        raise SettingError(f"expected measurements, got none in {', '.join(curves)}")
    if len(opponents) > MAX_PANELS:
        raise SettingError(f"expected at most {MAX_PANELS} opponents, got {len(opponents)}")
    opponents.sort(key=lambda name: name == PAST)
    figure = Figure(figsize=(4.5 * len(opponents), 4), layout="constrained")
    panels = figure.subplots(1, len(opponents), squeeze=False, sharey=True)[0]
    for panel, opponent in zip(panels, opponents, strict=True):
        for number, (name, rows) in enumerate(curves.items()):
            mine = [row for row in rows if row.opponent == opponent]
            made = [row.decisions / 1e6 for row in mine]
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
        panel.set_xlabel("decisions (million)")
    panels[0].set_ylabel("points per round, with 95 % intervals")
    for text in panels[0].legend(fontsize=8).get_texts():
        text.set_parse_math(False)
    with mpl.rc_context({"svg.hashsalt": "goita"}):  # the same curves give the same picture
        figure.savefig(file, dpi=150, metadata={"Date": None} if file.suffix == ".svg" else None)


if __name__ == "__main__":
    sys.exit(main())
