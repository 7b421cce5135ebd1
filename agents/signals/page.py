"""Builds the page of a study: one HTML file, no scripts, nothing loaded from anywhere."""

from __future__ import annotations

from collections.abc import Sequence
from functools import cache
from math import isfinite
from typing import Any, Final

from jinja2 import Environment, PackageLoader

from agents.signals import sentences
from agents.signals.contexts import KINDS
from agents.signals.measures.content import Content
from agents.signals.measures.conventions import PUBLIC, ConventionTable
from agents.signals.measures.crossplay import RUNS_NEEDED
from agents.signals.study import AgentStudy, ControlStudy, Study
from agents.statistics.intervals import Interval

HOT: Final = 2.0
"""Nats, of content or of lift, at which a cell has its full colour."""

SHOWN_TABLES: Final = 6
"""Tables of the first lead that a page shows."""


def html(found: Study, command: str) -> str:
    """Returns a study as an HTML page that needs no other file.

    Args:
        found: the study.
        command: what was run, for the page's foot.
    """
    return (
        _environment()
        .get_template("report.html")
        .render(study=found, plan=found.plan, command=command, figures=figures(found))
    )


def figures(found: Study) -> list[tuple[str, str, list[str]]]:
    """Returns the rows of the table of figures: name, unit, a cell an agent and a cell a control.

    Controls have cells in the rows that do not search; in the others theirs are empty.
    """
    rows: list[tuple[str, str, list[str]]] = []
    agents = found.agents
    every: list[AgentStudy | ControlStudy] = [*agents, *found.controls]

    def row(name: str, unit: str, cells: Sequence[Interval | None], decimals: int = 2) -> None:
        texts = [sentences.bounds(cell, decimals) if cell else "open" for cell in cells]
        rows.append((name, unit, texts + [""] * (len(every) - len(cells))))

    row("Expected content of the partner's action", "nats", [content(a).expected for a in every])
    row("The same by the rules alone", "nats", [a.rules_content.expected for a in every])
    row("Known of the partner's hand: from the rules", "nats", [a.split.rules for a in every])
    row("Known of it: policy information", "nats", [a.split.policy for a in every])
    row("Share of policy information", "", [a.split.share for a in every])
    row("Content for the partner, all listening", "nats", [a.friend_or_foe.friend for a in agents])
    row("Content for an opponent", "nats", [a.friend_or_foe.foe for a in agents])
    row("Friend minus foe", "nats", [a.friend_or_foe.balance for a in agents], 3)
    row("Policy alone", "points", [a.levels["policy alone"] for a in agents])
    for level, over in (
        ("Deaf search, others uniform: over the policy alone", "deaf, uniform player"),
        ("Deaf search, hard facts: over the policy alone", "deaf, hard facts"),
        ("Search that listens: over the policy alone", "listening"),
        ("Listening over deaf search, others uniform", "listening over uniform player"),
        ("Listening over deaf search, hard facts", "listening over hard facts"),
    ):
        row(level, "points", [a.levels[over] for a in agents])
    row("Value of listening to the partner", "points", [a.value["partner"] for a in agents])
    for who in ("partner", "next", "previous"):
        row(f"Shapley share: {who}", "points", [a.value[f"shapley {who}"] for a in agents])
    row("Partner's hand shown beside it", "points", [a.ceilings["partner shown"] for a in agents])
    row("All hands shown beside it", "points", [a.ceilings["all shown"] for a in agents])
    row("Efficiency", "", [a.ceilings.get("efficiency") for a in agents])
    row("A listening opponent", "points", [a.eavesdropping for a in agents])
    row("One signal: information V0−V1", "points", [a.shuffled.information for a in agents])
    row("One signal: material V0−V2", "points", [a.shuffled.material for a in agents])
    row("One signal: misinformation V4−V3", "points", [a.shuffled.misinformation for a in agents])
    row("Speaker consistency", "nats", [a.consistency.interval for a in every], 3)
    row("Instantaneous coordination", "nats", [a.coordination.interval for a in every], 3)
    row("Causal influence on the partner", "nats", [a.influence.influence for a in agents], 3)
    row("The same beyond the rules", "nats", [a.influence.beyond for a in agents], 3)
    return rows


def content(one: AgentStudy | ControlStudy) -> Content:
    """Returns the content of all actions."""
    return one.content if isinstance(one, ControlStudy) else one.content["all"][0]


def heat(value: float) -> str:
    """Returns the colour of a cell: warm above 0, cold below, full at ``HOT`` nats."""
    share = min(abs(value) / HOT, 1.0) if isfinite(value) else 1.0
    hue = "214, 96, 48" if value > 0 else "58, 110, 180"
    return f"background: rgba({hue}, {0.85 * share:.2f})"


def tables(one: AgentStudy) -> list[ConventionTable]:
    """Returns the tables of the first lead that are shown."""
    return one.tables[:SHOWN_TABLES]


def cell(value: float) -> str:
    """Returns a lift as text."""
    return f"{value:+.1f}".replace("-", "−") if isfinite(value) else "never"


@cache
def _environment() -> Environment:
    """Returns what fills the template; all text is escaped, whoever it comes from."""
    environment = Environment(
        loader=PackageLoader("agents.signals"),
        autoescape=True,
        trim_blocks=True,
        lstrip_blocks=True,
    )
    names: dict[str, Any] = {"bounds": sentences.bounds, "heat": heat, "cell": cell}
    environment.filters |= names
    environment.globals |= {
        "about": sentences.about,
        "between": sentences.between,
        "tables": tables,
        "actions": PUBLIC,
        "kinds": KINDS,
        "runs_needed": RUNS_NEEDED,
    }
    return environment
