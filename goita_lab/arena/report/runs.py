"""Puts together runs of a training that differ by their seed: the unit of an interval is the run.

Such runs are named NAME-1, NAME-2 and so on, as ``goita train --seeds`` names their folders, and as
agents of the population are.
"""

from __future__ import annotations

import re
from collections.abc import Iterable, Mapping
from itertools import chain, combinations
from typing import Final

from goita_lab.arena.report.figures import estimate
from goita_lab.arena.report.tables import Table, pair_scores, strongest_first
from goita_lab.arena.statistics.intervals import over_runs, runs_difference
from goita_lab.arena.tournament.summary import Summary

NUMBERED: Final = re.compile(r"(.+)-\d+/?")
"""The name of one of several runs; a folder's name may end with a slash."""


def group_runs(names: Iterable[str]) -> dict[str, list[str]]:
    """Returns the names that differ by a final number, by what they share, two or more each."""
    runs: dict[str, list[str]] = {}
    for name in names:
        if match := NUMBERED.fullmatch(name):
            runs.setdefault(match[1], []).append(name)
    return {group: members for group, members in runs.items() if len(members) > 1}


def runs_tables(heading: str, values: Mapping[str, float], against: str = "") -> list[Table]:
    """Returns a table of means over runs and of their differences; no table without such runs.

    Args:
        heading: what the values are.
        values: a value of each agent, by name.
        against: the opponent of all agents, for the title.
    """
    values_of_runs = {
        group: [values[name] for name in members] for group, members in group_runs(values).items()
    }
    means = [
        (group, f"{len(runs)}", estimate(over_runs(runs))) for group, runs in values_of_runs.items()
    ]
    differences = [
        (
            f"{first} minus {second}",
            f"{len(values_of_runs[first])}, {len(values_of_runs[second])}",
            estimate(runs_difference(values_of_runs[first], values_of_runs[second])),
        )
        for first, second in combinations(values_of_runs, 2)
    ]
    if not means:
        return []
    title = "Means over runs, with intervals over runs"
    columns = ("agents", "runs", heading)
    return [Table(title, columns, (*means, *differences), against=against)]


def opponents_runs_tables(summary: Summary) -> list[Table]:
    """Returns the means over runs against each opponent that is not one of several runs."""
    grouped = set(chain.from_iterable(group_runs(summary.agents).values()))
    scores, tables = pair_scores(summary), list[Table]()
    for opponent in strongest_first(summary):
        if opponent in grouped:
            continue
        points = {name: score.mean for (name, other), score in scores.items() if other == opponent}
        tables += runs_tables("points per round", points, against=opponent)
    return tables
