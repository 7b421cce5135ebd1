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
from goita_lab.signals.measures.principles import FEWEST
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
"""Measures of the table of figures, by their names in the JSON, and what they are in."""
SHARES: Final = ("share", "efficiency")
"""Figures of them that are ratios."""

CHARTS: Final = (
    ("What an action tells the partner about a hand, nats", "content.expected"),
    ("What a seat knows of its partner's hand by its policy, nats", "split.policy"),
    ("What an action tells an opponent, nats", "partner_opponent_gap.opponent"),
    ("What listening to the partner is worth, points a round", "value.partner"),
    ("What one signal is worth to its sender's team, points", "shuffled.information"),
)
"""Title of each chart, and what it shows."""


def html(found: Study, command: str) -> str:
    """Returns a study as an HTML page; ``command``: what was run, for the page's foot."""
    template = _environment().get_template("report.html")
    told = {
        "figures": figures(found),
        "charts": charts(found),
        "lead": next(iter(found.agents), None),
    }
    return template.render(study=found, plan=found.plan, command=command, **told)


@dataclass(frozen=True)
class Chart:
    """A chart that shows intervals on one scale."""

    title: str
    rows: list[tuple[str, Interval]]

    @property
    def scale(self) -> Scale:
        return Scale.of(interval for _, interval in self.rows)


def charts(found: Study) -> list[Chart]:
    """Returns the charts of a page; rows whose figure is open or not measured are left out."""
    shown = []
    for title, place in CHARTS:
        every = [
            (short_name(agent.agent), agent_figures(agent).get(place))
            for agent in (*found.agents, *found.controls)
        ]
        rows = [(agent, interval) for agent, interval in every if interval is not None]
        if rows:
            shown.append(Chart(title, rows))
    return shown


def figures(found: Study) -> list[tuple[str, str, list[str]]]:
    """Returns the rows of the table of figures: name, unit, cells of agents, then of controls.

    The last three say how many deals were played.
    """
    agents = [*found.agents, *found.controls]
    every, rows = [agent_figures(agent) for agent in agents], []
    for place in dict.fromkeys(place for one in every for place in one):
        measure, _, part = place.partition(".")
        unit = "" if part in SHARES else UNITS[measure]
        cells = [bounds(one[place], 3) if place in one else "" for one in every]
        rows.append((place.replace(".", ": ").replace("_", " "), unit, cells))
    none = [""] * len(found.controls)
    rows.append(("Deals with one listener", "", [str(one.split.deals) for one in agents]))
    played = [str(len(one.points.unsearched)) for one in found.agents]
    rows.append(("Deals with searches", "", played + none))
    signals = [str(one.shuffled.points.shape[1]) for one in found.agents]
    rows.append(("Signals", "", signals + none))
    return rows


def agent_figures(agent: ControlStudy) -> dict[str, Interval | None]:
    """Returns the figures of an agent that have intervals, by measure and name: "value.partner"."""
    cells: dict[str, Interval | None] = {}
    for measure in (name for name in UNITS if hasattr(agent, name)):
        result = getattr(agent, measure)
        if isinstance(result, Interval):
            cells[measure] = result
        else:
            cells |= {f"{measure}.{name}": value for name, value in result.figures().items()}
    return cells


def bounds(found: Interval | None, decimals: int = 2) -> str:
    """Returns ``value [low, high]``, without the sign of what rounds to zero; None: "open"."""
    if found is None:
        return "open"
    return true_minus(estimate(found, decimals, "-"))


def heat(value: float) -> str:
    """Returns the style of a cell: warm above 0, cold below, full at ``HOT`` nats."""
    share = min(abs(value) / HOT, 1.0)
    hue = "214, 96, 48" if value > 0 else "58, 110, 180"
    return f"background: rgba({hue}, {0.85 * share:.2f})"


@cache
def _environment() -> Environment:
    found = environment(__package__)
    found.filters |= {"short": short_name, "bounds": bounds, "heat": heat}
    found.globals |= {"runs_needed": RUNS_NEEDED, "fewest": FEWEST}
    return found
