"""Draws the learning curves of runs together.

goita plot runs/A runs/B                one panel an opponent, into curve.png
goita plot runs/A -o strength.svg       into another file
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, field
from io import BytesIO
from pathlib import Path
from typing import Final

from goita_agents.base import Float
from goita_agents.files import is_stdout, write_whole
from goita_env.errors import SettingError
from goita_lab import cli
from goita_lab.learning.measuring import PAST_SNAPSHOT, read_curve

PICTURE_SUFFIXES: Final = (".png", ".svg")
MARKED_POINTS: Final = 12
"""Most measurements of a curve that has a mark at each of them."""


@dataclass(frozen=True)
class Args:
    """Options of the command line."""

    runs: tuple[str, ...] = field(metadata=cli.POSITIONAL)
    """directories of runs"""
    output: Path = field(default=Path("curve.png"), metadata=cli.short("-o"))
    """picture, .png or .svg"""

    def __post_init__(self) -> None:
        cli.check_outputs(self.output)
        if self.output.suffix not in PICTURE_SUFFIXES and not is_stdout(self.output):
            raise SettingError(
                f"expected a name in {' or '.join(PICTURE_SUFFIXES)}, got {self.output.name!r}"
            )


def main(argv: Sequence[str] | None = None) -> int:
    """Draws the curves and returns the exit code."""
    args = cli.parse(Args, argv, __doc__)
    try:
        draw({run: read_curve(Path(run, "strength.csv")) for run in args.runs}, args.output)
    except (SettingError, OSError) as error:
        cli.fail(error)
    print(args.output)
    return 0


def draw(curves: dict[str, dict[str, Float]], file: Path) -> None:
    """Draws the curves of runs with 95 % intervals: a panel for each opponent, past selves last."""
    import matplotlib as mpl
    from matplotlib.figure import Figure

    opponents = list(dict.fromkeys(opponent for curve in curves.values() for opponent in curve))
    opponents.sort(key=lambda name: name == PAST_SNAPSHOT)
    figure = Figure(figsize=(4.5 * len(opponents), 4), layout="constrained")
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
    with mpl.rc_context({"svg.hashsalt": "goita"}):  # the same curves give the same picture
        picture, vector = BytesIO(), file.suffix == ".svg"
        about = {"Date": None} if vector else None
        figure.savefig(picture, dpi=150, format="svg" if vector else "png", metadata=about)
    write_whole(file, picture.getvalue())
