"""Computes coordination regret from results: ``python research/coordination/regret.py``.

Regret is what the best response to a partner makes, minus what the agent makes beside it, against
the same opponents, in points a round. research/log/coordination_regret.md says why it was given up.
Intervals are over partners.
"""

from __future__ import annotations

from collections.abc import Mapping
from itertools import groupby
from pathlib import Path
from typing import Any, Final

import msgspec
import numpy as np

from goita_lab.arena.statistics.intervals import mean_interval
from goita_lab.arena.statistics.runs import over_runs
from research.population.respond import Response, read
from research.tables import bounds, table

RESULTS: Final = Path(__file__).parents[2] / "benchmarks/results/coordination.json"


def main() -> int:
    """Prints the regret of each agent, or of the runs of each method, and returns 0."""
    results, responses = msgspec.json.decode(RESULTS.read_bytes()), read()
    best = {
        one["partner"]: of_response(responses[one["partner"]])
        for one in results["partners"]
        if one["counted"]
    }
    regrets = {one["agent"]: regret(one, best) for one in results["entries"]}
    rows = []
    for name, some in groupby(regrets, key=method_of):
        found = [regrets[agent] for agent in some]
        means = [float(np.mean(one)) for one in found]
        shown = mean_interval(found[0]) if len(found) == 1 else over_runs(means)
        rows.append([f"{name}, {len(found)} runs" if len(found) > 1 else name, bounds(shown, "+")])
    print(table(["agent", "regret"], rows))
    return 0


def of_response(response: Response) -> float:
    """Returns what the best response to a partner makes, the mean over opponents."""
    return float(np.mean([mean for mean, _, _ in response.points.values()]))


def regret(entry: Mapping[str, Any], best: Mapping[str, float]) -> list[float]:
    """Returns the regret of an entry beside each partner."""
    return [
        best[row["partner"]] - row["points"]["mean"]
        for row in entry["partners"]
        if row["partner"] in best
    ]


def method_of(agent: str) -> str:
    """Returns the method of a member of the population, else the agent."""
    return agent.removeprefix("population:").rpartition("-")[0] or agent


if __name__ == "__main__":
    raise SystemExit(main())
