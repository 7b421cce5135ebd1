"""Checks that an exam is worth taking: are its points those of tournaments?

::

    python research/exam/check.py -o exam_check.json
    python research/exam/check.py --exam other.npz

Agents and members of the population take the exam and play duplicate deals against ``heuristic``.
Printed are the rank correlations of the points that they lose in the exam, and of the share that
they know, with their points a round, with intervals over agents (bootstrap).
"""

from __future__ import annotations

import sys
from collections.abc import Sequence
from dataclasses import dataclass, field
from pathlib import Path
from typing import Final

import numpy as np
from scipy.stats import spearmanr

from goita_agents.files import json_text, write_whole
from goita_agents.population import Population
from goita_agents.population.manifest import INFORMATION
from goita_lab import cli, provenance
from goita_lab.arena import play_pair
from goita_lab.exam.answers import take
from goita_lab.exam.questions import SHIPPED, Questions
from goita_lab.exam.report import OPPONENTS, PARTNER
from goita_lab.work import shown

AGENTS: Final = ("champion", "heuristic", "greedy", "random", "people")
MEMBERS: Final = 20
DEALS: Final = 1000
EVERY: Final = 6
"""Beliefs are asked of every so many positions: a network takes up to half a second for each."""
RESAMPLES: Final = 2000


@dataclass(frozen=True)
class Args:
    """Options of the command line."""

    output: Path = field(default=Path("exam_check.json"), metadata=cli.short("-o"))
    """file of the figures"""
    exam: Path = SHIPPED
    """file of the exam"""
    seed: int = 1
    """seed of the deals"""


def main(argv: Sequence[str] | None = None) -> int:
    args = cli.parse(Args, argv, __doc__)
    whole = Questions.load(args.exam)
    few = whole.select(np.arange(0, len(whole), EVERY))
    members = Population().members.items()
    sets = ("train", "validation")
    names = [n for n, one in members if one.split in sets and one.method not in INFORMATION]
    places = np.linspace(0, len(names) - 1, MEMBERS).round().astype(int)
    agents = [*AGENTS, *(f"population:{names[place]}" for place in places)]
    rows, progress = [], shown()
    for number, agent in enumerate(agents):
        progress("agents", number, len(agents))
        lost = float(take(agent, whole, believes=False).lost.mean())
        answers = take(agent, few)
        known = [answers.share(seats) for seats in (PARTNER, OPPONENTS)]
        points = 0.0
        if agent != "heuristic":
            points = play_pair(agent, "heuristic", DEALS, seed=args.seed).points_per_round
        rows.append((lost, *(one.mean if one else np.nan for one in known), points))
    table = np.array(rows)
    heads = ("points lost", "known of partner", "known of opponents")
    found = {head: correlation(table[:, column], table[:, 3]) for column, head in enumerate(heads)}
    for head, (mean, low, high) in found.items():
        print(f"{head:20} {mean:+.2f} [{low:+.2f}, {high:+.2f}]")
    told = {"agents": agents, "columns": [*heads, "points"], "rows": rows, "correlations": found}
    write_whole(args.output, json_text({**told, **provenance.provenance(agents)}))
    return 0


def correlation(one: np.ndarray, other: np.ndarray) -> tuple[float, float, float]:
    """Returns Spearman's rank correlation with a 95 % interval over agents."""
    rng, many = np.random.default_rng(0), len(one)
    draws = [rng.integers(0, many, many) for _ in range(RESAMPLES)]
    again = [spearmanr(one[draw], other[draw]).statistic for draw in draws]
    low, high = np.nanquantile(again, (0.025, 0.975))
    return float(spearmanr(one, other).statistic), float(low), float(high)


if __name__ == "__main__":
    sys.exit(main())
