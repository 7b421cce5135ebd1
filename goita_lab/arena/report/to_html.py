"""Builds the report's HTML page: one file that loads nothing from anywhere.

Its only script saves tables and plots as files; without it the page shows the same.
"""

from __future__ import annotations

import re
from base64 import b64encode
from collections.abc import Iterable
from dataclasses import dataclass
from functools import cache
from hashlib import sha256
from importlib.resources import files
from math import ceil, floor, isfinite, log10

from jinja2 import ChoiceLoader, Environment, PackageLoader
from markupsafe import Markup, escape

from goita_lab.arena.report import figures, tables
from goita_lab.arena.report.runs import opponents_runs_tables
from goita_lab.arena.statistics.intervals import Interval
from goita_lab.arena.tournament.summary import Summary


def html(summary: Summary) -> str:
    """Returns the report as an HTML page that needs no other file."""
    elo = {rating.agent: Interval(rating.elo, *rating.ci95) for rating in summary.ratings}
    all_tables = tables.tables(summary, tables.matrix_table(summary, bounds=True))
    all_tables += opponents_runs_tables(summary)
    rough = any("]?" in cell for table in all_tables for row in table.rows for cell in row)
    variables = {
        "ratings": elo,
        "scale": Scale.of(elo.values()),
        "tables": all_tables,
        "rough": figures.ROUGH_INTERVAL_NOTE if rough else "",
        "faults": tables.fault_texts(summary.faults),
        "facts": tables.facts(summary),
    }
    return environment(__package__).get_template("page.html").render(summary=summary, **variables)


@dataclass(frozen=True)
class Scale:
    """A scale: it maps values onto the width of a drawing, and chooses its tick marks."""

    low: float
    high: float
    ticks: tuple[float, ...]

    @classmethod
    def of(cls, intervals: Iterable[Interval]) -> Scale:
        """Returns a scale that covers all intervals and zero, with about five round ticks."""
        ends = [end for interval in intervals for end in (interval.low, interval.high)]
        values = [0.0, *filter(isfinite, ends)]
        low, high = min(values), max(values)
        if high == low:
            low, high = low - 1, high + 1
        low, high = low - 0.03 * (high - low), high + 0.03 * (high - low)
        # The least of 1, 2, 5 and 10 times a power of ten with at most five and a half steps.
        power = 10.0 ** floor(log10((high - low) / 5))
        tick = next(power * digit for digit in (1, 2, 5, 10) if power * digit * 5.5 >= high - low)
        multiples = range(ceil(low / tick), floor(high / tick) + 1)
        return cls(low, high, tuple(multiple * tick for multiple in multiples))

    def at(self, value: float) -> str:
        """Returns the place of a value as a share of the width; values beyond lie at the edge."""
        share = (value - self.low) / (self.high - self.low)
        return f"{100 * min(1.0, max(0.0, share)):.2f}%"

    @property
    def decimals(self) -> int:
        """Returns the number of decimals that all ticks need."""
        distance = self.ticks[1] - self.ticks[0] if len(self.ticks) > 1 else 1.0
        return max(0, -floor(log10(distance) + 1e-9))


@cache
def environment(package: str) -> Environment:
    """Returns the environment of a package's templates, which may include those of this package.

    All text is cleaned and escaped, whatever its source.
    """
    environment = Environment(
        loader=ChoiceLoader([PackageLoader(package), PackageLoader(__package__)]),
        autoescape=True,
        trim_blocks=True,
        lstrip_blocks=True,
        finalize=lambda value: figures.clean(value) if type(value) is str else value,
    )
    environment.filters |= {
        "name": _name,
        "figure": figures.true_minus,
        "signed": lambda *arguments: figures.true_minus(figures.signed(*arguments)),
    }
    script = files(__package__).joinpath("templates", "save.js").read_text(encoding="utf-8")
    digest = b64encode(sha256(script.encode()).digest()).decode()
    environment.globals |= {"SAVE": Markup(script), "SAVE_HASH": f"sha256-{digest}"}
    return environment


def _name(agent: str) -> Markup:
    """Returns an agent's name, which may wrap after punctuation and keeps its own direction."""
    text = re.sub("([:,/_])", r"\1<wbr>", str(escape(figures.clean(agent))))
    return Markup(f"<bdi>{text}</bdi>")
