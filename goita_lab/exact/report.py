"""Shows the points of agents with unknown partners in a small game: as a table, and as JSON."""

from __future__ import annotations

from pathlib import Path
from typing import Any, Final

import numpy as np

from goita_agents.asking import fault_lines
from goita_lab.arena.report.figures import signed
from goita_lab.arena.report.plots import stacked_bars
from goita_lab.arena.report.runs import runs_tables
from goita_lab.arena.report.tables import Table
from goita_lab.arena.report.to_terminal import draw
from goita_lab.arena.statistics.intervals import rank_correlation
from goita_lab.exact.teamwork import OPPONENT_TEAMS, Score, TeamworkResults
from goita_lab.provenance import marks

EXACT_LEGEND: Final = (
    "All figures are exact means over partners, opponents and seats. Controls are in brackets. "
    "Regret: points of the best response to the partner and its opponents, minus the agent's. "
    "Avoidable: regret minus that of the Bayes-optimal agent, which knows the list of partners and "
    "opponents but not which of them it meets. Listeners: opponents that know the partner's "
    "signals. Strength: points with a copy of itself as partner, against equilibria."
)


def rank_correlations(results: TeamworkResults) -> dict[str, float | None]:
    """Returns Spearman's rank correlations of regret and weakness; None of fewer than four rows."""
    correlations: dict[str, float | None] = {}
    for name, rows in {
        "all": results.rows,
        "agents": [row for row in results.rows if row.agent],
    }.items():
        regret = [float(row.score.regret.mean()) for row in rows]
        correlations[name] = rank_correlation(regret, [-row.score.strength for row in rows])
    return correlations


def to_json(results: TeamworkResults) -> dict[str, Any]:
    """Returns all figures: points and regrets by partner and opponents."""
    return {
        "rules": results.rules,
        "split": results.split,
        "opponents": OPPONENT_TEAMS,
        "partners": results.partners,
        "train_partners": results.train_partners,
        "agents": [
            {
                "name": row.name,
                "agent": row.agent,
                "strength": row.score.strength,
                "faults": len(row.faults),
                **_figures(row.score, ""),
                **_figures(row.train, "train_"),
            }
            for row in results.rows
        ],
        "rank_correlation": rank_correlations(results),
        **results.origin,
    }


def _figures(score: Score, prefix: str) -> dict[str, Any]:
    return {
        f"{prefix}points": score.points.tolist(),
        f"{prefix}regret": score.regret.tolist(),
        f"{prefix}price": score.price,
        f"{prefix}avoidable_regret": score.avoidable_regret,
    }


def table(results: TeamworkResults) -> Table:
    """Returns the table of agents and controls, the least regret first."""
    rows = []
    for row in results.rows:
        regret, train = row.score.regret, row.train
        # A column for each of OPPONENT_TEAMS: two equilibria, then two pairs of listeners.
        with_equilibria, with_listeners = regret[:, :2], regret[:, 2:]
        figures = (
            regret.mean(),
            with_equilibria.mean(),
            with_listeners.mean(),
            row.score.avoidable_regret,
            train.regret.mean(),
            train.avoidable_regret,
        )
        rows.append(
            (
                row.name if row.agent else f"({row.name})",
                signed(float(row.score.points.mean())),
                *(f"{figure:.2f}" for figure in figures),
                signed(row.score.strength),
            )
        )
    heads = ("agent", "points", "regret", "with equilibria", "with listeners", "avoidable")
    title = (
        f"{results.rules}: points a round with unknown partners, {results.split} split; controls ()"
    )
    return Table(title, (*heads, "train: regret", "train: avoidable", "strength"), tuple(rows))


def plot_regret(results: TeamworkResults, path: Path) -> None:
    """Draws the regret of agents and controls as price of not knowing and avoidable regret."""
    rows = sorted(results.rows, key=lambda row: float(row.score.regret.mean()))
    parts = {
        "price of not knowing": np.array([row.score.price for row in rows]),
        "avoidable regret": np.array([row.score.avoidable_regret for row in rows]),
    }
    names = [row.name if row.agent else f"({row.name})" for row in rows]
    stacked_bars(names, parts, f"{results.rules}: regret, points a round", path)


def terminal(results: TeamworkResults) -> str:
    """Returns the table and what its figures mean, for a terminal."""
    prices = results.rows[0].score.price, results.rows[0].train.price
    lines = ["price of not knowing: {:.2f}, train split {:.2f}".format(*prices)]
    lines += [
        f"rank correlation of low regret with strength, {name}: {correlation:.2f}"
        for name, correlation in rank_correlations(results).items()
        if correlation is not None
    ]
    faults = [line for row in results.rows for line in fault_lines(row.name, row.faults)]
    regret = {row.name: float(row.score.regret.mean()) for row in results.rows if row.agent}
    tables = [table(results), *runs_tables("regret", regret)]
    parts = (*map(draw, tables), *faults, EXACT_LEGEND, "\n".join(lines))
    return "\n\n".join(parts) + "\n" + marks(results.origin)
