"""Shows the benchmark's results: tables of text for the terminal, and for a page in Markdown."""

from __future__ import annotations

from collections.abc import Iterable
from pathlib import Path
from typing import Final

import numpy as np

from goita_agents.registry import short_name
from goita_lab.arena.coordination.results import Entry, Estimate, Results, Row
from goita_lab.arena.report.figures import brief, duration, estimate, interval
from goita_lab.arena.report.plots import heat_map
from goita_lab.arena.report.runs import runs_tables
from goita_lab.arena.report.tables import Table
from goita_lab.arena.report.to_terminal import text

COORDINATION_LEGEND: Final = (
    "Points per round, mean over partners, opponents and deals. Intervals are of 95 %: the first "
    "over deals, for these partners; the second over partners, for partners like these. All others "
    "are over deals. The worst partner is chosen on half of the deals and measured on the others."
)


def terminal(results: Results) -> str:
    """Returns the tables of agents and partners, the faults and the facts."""
    tables = [agents_table(results)]
    tables += [differences_table(results)] if results.differences else []
    points = {entry.agent: entry.points.mean for entry in results.entries if entry.points}
    tables += runs_tables("points with unknown partners", points)
    tables += [
        partners_table(f"{entry.agent}: by partner", entry.partners)
        for entry in best_first(results)
        if entry.partners
    ]
    return text(tables, results.faults, results.command, facts(results), note=COORDINATION_LEGEND)


def best_first(results: Results) -> list[Entry]:
    """Returns the entries by points, most points first, entries without points last."""
    return sorted(
        results.entries,
        key=lambda entry: (entry.points is None, -entry.points.mean if entry.points else 0),
    )


def agents_table(results: Results) -> Table:
    """Returns the table of agents, the best first; a cell is an agent, a partner, an opponent."""
    rows = [
        (
            entry.agent,
            _with_both_intervals(entry.points),
            estimate(entry.self_play),
            estimate(entry.worst.points if entry.worst else None),
            entry.worst.partner if entry.worst else "",
            f"{entry.deals:,}",
            brief(entry.ms_per_decision),
            remarks(entry),
        )
        for entry in best_first(results)
    ]
    heads = (
        *("agent", "points with unknown partners", "with itself", "with the worst partner"),
        *("worst partner", "deals a cell", "ms per decision", "remarks"),
    )
    return Table("Agents", heads, tuple(rows), notes=("worst partner", "remarks"))


def plot_partners(results: Results, path: Path) -> None:
    """Draws the points of every agent with every partner as colours."""
    entries = best_first(results)
    points_of = [{row.partner: row.points.mean for row in entry.partners} for entry in entries]
    partners = list(dict.fromkeys(partner for row in points_of for partner in row))
    points = [[row.get(partner, np.nan) for partner in partners] for row in points_of]
    names = [entry.agent for entry in entries]
    heat_map(names, partners, np.array(points), "Points per round with each partner", path)


def differences_table(results: Results) -> Table:
    """Returns the points of each agent minus those of the first, on the same deals."""
    rows = [
        (difference.agent, _with_both_intervals(difference.points), f"{difference.deals:,}")
        for difference in results.differences
    ]
    heads = ("agent", "points", "deals a cell")
    return Table(f"Minus {results.differences[0].minus}", heads, tuple(rows))


def partners_table(title: str, rows: Iterable[Row]) -> Table:
    """Returns the table of an agent's points with each partner."""
    cells = [(row.partner, estimate(row.points)) for row in rows]
    return Table(title, ("partner", "points"), tuple(cells))


def remarks(entry: Entry) -> str:
    """Returns the reservations about an entry: forfeits, faults, missing partners, marks."""
    parts = ["forfeited"] if entry.forfeited else []
    parts += [f"{entry.faults:,} faults"] if entry.faults else []
    parts += [f"without {name}" for name in entry.left_out]
    return ", ".join([*parts, *entry.marks])


def facts(results: Results) -> dict[str, str]:
    """Returns the settings and versions that repeat the run, by name."""
    plan, correlation = results.benchmark, results.rank_correlation
    ranked = {"rank correlation with self-play": f"{correlation:.2f}"} if correlation else {}
    return {
        "seed": f"{plan.seed} ({'given' if plan.seed_given else 'of the operating system'})",
        "episode": plan.episode,
        "task": plan.task.name or "of your own",
        "partners": _names(partner.spec for partner in plan.task.partners),
        "opponents": _names(plan.task.opponents),
        **ranked,
        "time": duration(results.seconds),
        "versions": ", ".join(f"{name} {version}" for name, version in results.versions.items()),
    }


def _names(specs: Iterable[str]) -> str:
    return ", ".join(map(short_name, specs))


def _with_both_intervals(points: Estimate | None) -> str:
    """Returns a mean with the interval over deals, then that over partners; None: no text."""
    if points is None:
        return ""
    partners = f" {interval(points.over_partners)}" if points.over_partners else ""
    return f"{estimate(points.over_deals)}{partners}"
