"""Builds the page of a study: one HTML file without external resources."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass, replace
from functools import cache
from math import isfinite
from typing import Final

from jinja2 import Environment

from goita_agents.registry import short_name
from goita_lab.arena.report.figures import true_minus
from goita_lab.arena.report.to_html import Scale, environment
from goita_lab.arena.statistics.intervals import Interval
from goita_lab.signals import tables
from goita_lab.signals.measures.conventions import PUBLIC
from goita_lab.signals.measures.crossplay import RUNS_NEEDED
from goita_lab.signals.study import AgentStudy, ControlStudy, Study

HOT: Final = 2.0
"""Nats, of content or of lift, at which a cell has its full colour."""
SHOWN_TABLES: Final = 6
"""Tables of first leads that a page shows for each agent; half as many of later leads."""
SHARED_ROWS: Final[tuple[tuple[str, str, int, Callable[[ControlStudy], Interval | None]], ...]] = (
    ("Expected content of the partner's action", "nats", 2, lambda a: a.content.expected),
    ("The same under the uniform model", "nats", 2, lambda a: a.uniform_content.expected),
    ("Knowledge of the partner's hand: uniform model", "nats", 2, lambda a: a.split.uniform),
    ("Knowledge of it: policy information", "nats", 2, lambda a: a.split.policy),
    ("Share of policy information", "", 2, lambda a: a.split.share),
    ("Speaker consistency", "nats", 3, lambda a: a.consistency.interval),
    ("Instantaneous coordination", "nats", 3, lambda a: a.coordination.interval),
)
"""Name, unit, decimals and value of the rows that controls have, too."""

AGENT_ROWS: Final[tuple[tuple[str, str, int, Callable[[AgentStudy], Interval | None]], ...]] = (
    ("Content for the partner", "nats", 2, lambda a: a.partner_opponent_gap.partner),
    ("Content for an opponent", "nats", 2, lambda a: a.partner_opponent_gap.opponent),
    ("Partner-opponent gap", "nats", 3, lambda a: a.partner_opponent_gap.gap),
    ("Policy alone", "points", 2, lambda a: a.levels.policy),
    ("Search, others uniform: over the policy", "points", 2, lambda a: a.levels.uniform),
    ("Search, others legal: over the policy", "points", 2, lambda a: a.levels.legal),
    ("Search that listens: over the policy", "points", 2, lambda a: a.levels.listening),
    ("The searcher in its place: over the policy", "points", 2, lambda a: a.searcher_gain),
    ("Listening over search, others uniform", "points", 2, lambda a: a.levels.over_uniform),
    ("Listening over search, others legal", "points", 2, lambda a: a.levels.over_legal),
    ("Value of listening to the partner", "points", 2, lambda a: a.value.partner),
    (
        "Listening over search, others uniform: deaf opponents",
        "points",
        2,
        lambda a: a.value.total_deaf,
    ),
    (
        "Value of listening to the partner: deaf opponents",
        "points",
        2,
        lambda a: a.value.partner_deaf,
    ),
    ("Shapley share: partner", "points", 2, lambda a: a.value.shapley_partner),
    ("Shapley share: next", "points", 2, lambda a: a.value.shapley_next),
    ("Shapley share: previous", "points", 2, lambda a: a.value.shapley_previous),
    ("Partner's hand shown, over listening", "points", 2, lambda a: a.ceilings.partner_shown),
    ("All hands shown, over listening", "points", 2, lambda a: a.ceilings.all_shown),
    ("Efficiency", "", 2, lambda a: a.ceilings.efficiency),
    ("Opponent information cost", "points", 2, lambda a: a.opponent_information_cost),
    ("One signal: information V0−V1", "points", 2, lambda a: a.shuffled.information),
    ("One signal: material V0−V2", "points", 2, lambda a: a.shuffled.material),
    ("One signal: misinformation V4−V3", "points", 2, lambda a: a.shuffled.misinformation),
    ("Causal influence on the partner", "nats", 3, lambda a: a.influence.influence),
    ("The same beyond a uniform listener", "nats", 3, lambda a: a.influence.beyond),
)
"""The rows of agents alone."""


SHARED_CHARTS: Final[tuple[tuple[str, Callable[[ControlStudy], Interval | None]], ...]] = (
    ("What an action tells the partner about a hand, nats", lambda a: a.content.expected),
    ("What a seat knows of its partner's hand by its policy, nats", lambda a: a.split.policy),
)
"""Title and value of the charts that show controls, too."""

CHARTS: Final[tuple[tuple[str, Callable[[AgentStudy], Interval | None]], ...]] = (
    ("What an action tells an opponent, nats", lambda a: a.partner_opponent_gap.opponent),
    ("What listening to the partner is worth, points a round", lambda a: a.value.partner),
    ("What one signal is worth to its sender's team, points", lambda a: a.shuffled.information),
)
"""The charts of agents alone."""


def html(found: Study, command: str) -> str:
    """Returns a study as an HTML page; ``command``: what was run, for the page's foot."""
    template, found = _environment().get_template("report.html"), _named(found)
    told = {
        "figures": figures(found),
        "charts": charts(found),
        "lead": next(iter(found.agents), None),
    }
    return template.render(study=found, plan=found.plan, command=command, **told)


def _named(found: Study) -> Study:
    """Returns a study whose agents have their short names."""
    agents = [
        replace(
            one,
            agent=short_name(one.agent),
            model_mismatch=[replace(it, model=short_name(it.model)) for it in one.model_mismatch],
            model_mismatch_cost={short_name(k): it for k, it in one.model_mismatch_cost.items()},
        )
        for one in found.agents
    ]
    return replace(
        found,
        plan=replace(found.plan, agents=tuple(map(short_name, found.plan.agents))),
        agents=agents,
        controls=[replace(one, agent=short_name(one.agent)) for one in found.controls],
        distances={(short_name(a), short_name(b)): it for (a, b), it in found.distances.items()},
    )


@dataclass(frozen=True)
class Chart:
    """A chart that shows intervals on one scale."""

    title: str
    rows: list[tuple[str, Interval]]

    @property
    def scale(self) -> Scale:
        return Scale.of(interval for _, interval in self.rows)


def charts(found: Study) -> list[Chart]:
    """Returns the charts of a page; rows whose figure is open are left out."""
    told: list[tuple[str, list[tuple[str, Interval | None]]]] = [
        (title, [(one.agent, value(one)) for one in (*found.agents, *found.controls)])
        for title, value in SHARED_CHARTS
    ]
    told += [(title, [(one.agent, value(one)) for one in found.agents]) for title, value in CHARTS]
    shown = []
    for title, values in told:
        rows = [(agent, interval) for agent, interval in values if interval is not None]
        if rows:
            shown.append(Chart(title, rows))
    return shown


def figures(found: Study) -> list[tuple[str, str, list[str]]]:
    """Returns the rows of the table of figures: name, unit, cells of agents, then of controls.

    The last three say how many deals were played: an agent's work ends early where intervals are
    narrow enough.
    """
    every: list[ControlStudy] = [*found.agents, *found.controls]
    rows = []
    for name, unit, decimals, shared in SHARED_ROWS:
        rows.append((name, unit, [bounds(shared(one), decimals) for one in every]))
    for name, unit, decimals, value in AGENT_ROWS:
        cells = [bounds(value(one), decimals) for one in found.agents]
        rows.append((name, unit, cells + [""] * len(found.controls)))
    none = [""] * len(found.controls)
    rows.append(("Deals with one listener", "", [str(one.split.deals) for one in every]))
    played = [str(len(one.points.unsearched)) for one in found.agents]
    rows.append(("Deals with searches", "", played + none))
    signals = [str(one.shuffled.points.shape[1]) for one in found.agents]
    rows.append(("Signals", "", signals + none))
    return rows


def bounds(found: Interval | None, decimals: int = 2) -> str:
    """Returns ``value [low, high]``, without the sign of what rounds to zero; None: "open"."""
    if found is None:
        return "open"
    return true_minus(tables.bounds(found, decimals=decimals))


def heat(value: float) -> str:
    """Returns the style of a cell: warm above 0, cold below, full at ``HOT`` nats."""
    share = min(abs(value) / HOT, 1.0) if isfinite(value) else 1.0
    hue = "214, 96, 48" if value > 0 else "58, 110, 180"
    return f"background: rgba({hue}, {0.85 * share:.2f})"


def cell(value: float) -> str:
    return true_minus(f"{value:+.1f}") if isfinite(value) else "never"


@cache
def _environment() -> Environment:
    found = environment(__package__)
    found.filters |= {"bounds": bounds, "heat": heat, "cell": cell}
    found.globals |= {"actions": PUBLIC, "runs_needed": RUNS_NEEDED, "shown_tables": SHOWN_TABLES}
    return found
