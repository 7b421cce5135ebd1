"""Builds the page of a study: one HTML file without external resources."""

from __future__ import annotations

from dataclasses import dataclass
from functools import cache
from typing import Final

from jinja2 import Environment

from goita_agents.registry import short_name
from goita_lab.arena.report.figures import estimate, true_minus
from goita_lab.arena.report.to_html import Scale, environment
from goita_lab.arena.statistics.intervals import Interval
from goita_lab.signals.measures.crossplay import RUNS_NEEDED
from goita_lab.signals.measures.principles import MIN_PRINCIPLE_ACTIONS
from goita_lab.signals.study import ControlStudy, Study

HOT: Final = 2.0
"""Nats at which a cell has its full colour."""

UNITS: Final = {
    "content": "nats",
    "uniform_content": "nats",
    "split": "nats",
    "consistency": "nats",
    "coordination": "nats",
    "partner_opponent_gap": "nats",
    "levels": "points",
    "value": "points",
    "ceilings": "points",
    "opponent_information_cost": "points",
    "shuffled": "points",
    "influence": "nats",
}
"""Measures of the table of figures by their names in the JSON, with their units."""
RATIO_FIGURES: Final = ("share", "efficiency")
"""Figures of these measures that are ratios and have no unit."""

CHART_FIGURES: Final = (
    ("What an action reveals to the partner about a hand, nats", "content.expected"),
    ("What a seat knows of its partner's hand by its policy, nats", "split.policy"),
    ("What an action reveals to an opponent, nats", "partner_opponent_gap.opponent"),
    ("What listening to the partner is worth, points a round", "value.partner"),
    ("What one signal is worth to its sender's team, points", "shuffled.information"),
)
"""Title of each chart, and the figure that it shows."""


def html(study: Study, command: str) -> str:
    """Returns a study as an HTML page; ``command``: what was run, for the page's foot."""
    template = _environment().get_template("report.html")
    tables = {"figures": figures(study), "charts": charts(study)}
    lead = next(iter(study.agents), None)
    return template.render(study=study, plan=study.plan, command=command, lead=lead, **tables)


@dataclass(frozen=True)
class Chart:
    """A chart that shows intervals on one scale."""

    title: str
    rows: list[tuple[str, Interval]]

    @property
    def scale(self) -> Scale:
        return Scale.of(interval for _, interval in self.rows)


def charts(study: Study) -> list[Chart]:
    """Returns the charts of a page; rows whose figure is open or not measured are left out."""
    measured_charts = []
    for title, name in CHART_FIGURES:
        intervals = [
            (short_name(agent.agent), agent_figures(agent).get(name))
            for agent in (*study.agents, *study.controls)
        ]
        rows = [(agent, interval) for agent, interval in intervals if interval is not None]
        if rows:
            measured_charts.append(Chart(title, rows))
    return measured_charts


def figures(study: Study) -> list[tuple[str, str, list[str]]]:
    """Returns the rows of the table of figures: name, unit, cells of agents, then of controls.

    The last three rows say how many deals were played.
    """
    agents = [*study.agents, *study.controls]
    columns, rows = [agent_figures(agent) for agent in agents], []
    for name in dict.fromkeys(name for column in columns for name in column):
        measure, _, figure = name.partition(".")
        unit = "" if figure in RATIO_FIGURES else UNITS[measure]
        cells = [bounds(column[name], 3) if name in column else "" for column in columns]
        rows.append((name.replace(".", ": ").replace("_", " "), unit, cells))
    empty = [""] * len(study.controls)
    rows.append(("Deals with one listener", "", [str(agent.split.deals) for agent in agents]))
    searched = [str(len(agent.points.unsearched)) for agent in study.agents]
    rows.append(("Deals with searches", "", searched + empty))
    signals = [str(agent.shuffled.points.shape[1]) for agent in study.agents]
    rows.append(("Signals", "", signals + empty))
    return rows


def agent_figures(agent: ControlStudy) -> dict[str, Interval | None]:
    """Returns the figures of an agent that have intervals, by measure and name: "value.partner"."""
    cells: dict[str, Interval | None] = {}
    for measure in (name for name in UNITS if hasattr(agent, name)):
        measured = getattr(agent, measure)
        if isinstance(measured, Interval):
            cells[measure] = measured
        else:
            cells |= {f"{measure}.{name}": figure for name, figure in measured.figures().items()}
    return cells


def bounds(interval: Interval | None, decimals: int = 2) -> str:
    """Returns ``value [low, high]``, numbers that round to zero without a sign; None: "open"."""
    return "open" if interval is None else true_minus(estimate(interval, decimals, "-"))


def heat(value: float) -> str:
    """Returns the style of a cell: warm above 0, cold below, full at ``HOT`` nats."""
    share = min(abs(value) / HOT, 1.0)
    hue = "214, 96, 48" if value > 0 else "58, 110, 180"
    return f"background: rgba({hue}, {0.85 * share:.2f})"


@cache
def _environment() -> Environment:
    jinja = environment(__package__)
    jinja.filters |= {"short": short_name, "bounds": bounds, "heat": heat}
    jinja.globals |= {"runs_needed": RUNS_NEEDED, "fewest": MIN_PRINCIPLE_ACTIONS}
    return jinja
