"""Checks that an exam is worth taking: are its points those of tournaments?

::

    python research/exam/check.py -o exam_check.json
    python research/exam/check.py --exam other.npz

Agents and members of the population take the exam and play duplicate deals against ``heuristic``.
Printed are the rank correlations of the points that they lose in the exam, and of the share that
they know, with their points a round, with intervals over agents (bootstrap); the same of the points
of agents that lose few. Readers are then scored in other ways: what they know of all seats, by the
Brier score too, and of seats that they played themselves, or others did.
"""

from __future__ import annotations

import sys
from collections.abc import Sequence
from dataclasses import dataclass, field
from pathlib import Path
from typing import Final

import numpy as np

from goita_agents.base import Float
from goita_agents.files import write_whole
from goita_agents.population import Population
from goita_agents.population.manifest import INFORMATION
from goita_lab import cli, provenance
from goita_lab.arena import play_pair
from goita_lab.arena.report.figures import estimate
from goita_lab.arena.statistics.intervals import Interval, ratio_interval
from goita_lab.exam.answers import counted, score, take
from goita_lab.exam.questions import SHIPPED, Questions
from goita_lab.exam.report import OPPONENTS, PARTNER
from goita_lab.work import stderr_progress
from research.intervals import rank_correlation

AGENTS: Final = ("champion", "heuristic", "greedy", "random", "people")
MEMBERS: Final = 20
DEALS: Final = 1000
CLOSE: Final = 12
"""Of the agents, those that lose the fewest points: they are close to each other."""
READERS: Final = ("champion", "heuristic", "people")
UNLIKE: Final = ("people:temperature=0", "champion:temperature=1", "champion:temperature=6")
"""The same networks, surer of each move, or less sure."""
EVERY: Final = 6
"""Beliefs are asked of every so many positions: a network takes up to half a second for each."""


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
    rows, progress = [], stderr_progress()
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
    found = {
        head: rank_correlation(table[:, column], table[:, 3]) for column, head in enumerate(heads)
    }
    close = table[table[:, 0].argsort()[:CLOSE]]
    found[f"points lost, the best {CLOSE}"] = rank_correlation(close[:, 0], close[:, 3])
    beliefs = {one: take(one, whole).believed for one in (*READERS, *UNLIKE)}
    beliefs["counts unseen tiles"] = counted(whole.view())
    readers = {
        reader: shares(reader, believed, whole)
        for reader, believed in beliefs.items()
        if believed is not None
    }
    told = {"agents": agents, "columns": [*heads, "points"], "rows": rows}
    ends = {head: (one.mean, one.low, one.high) for head, one in found.items()}
    told |= {"correlations": ends, "readers": readers}
    write_whole(args.output, provenance.to_json(told, agents))
    for head, interval in found.items():
        print(f"{head:32} {estimate(interval)}")
    for reader, each in readers.items():
        print(f"{reader:24}", *(f"{name} {estimate(one)}" for name, one in each.items()), sep="  ")
    return 0


def shares(reader: str, believed: Float, exam: Questions) -> dict[str, Interval | None]:
    """Returns the share of all seats that a reader knew, scored in other ways."""
    itself = np.array([[one == reader for one in line[1:]] for line in exam.players])
    on = (exam.phase() > 0)[:, None]
    found = {}
    for name, by, seats in (
        ("log", score, on),
        ("Brier", brier, on),
        ("itself", score, on & itself),
        ("others", score, on & ~itself),
    ):
        known, could = (
            ((by(one, exam.exact) - by(exam.facts, exam.exact)) * seats).sum(axis=1)
            for one in (believed, exam.exact)
        )
        some = could > 0
        found[name] = ratio_interval(known[some], could[some]) if some.sum() > 1 else None
    return found


def brier(believed: Float, exact: Float) -> Float:
    """Returns the expected Brier score of beliefs [N, 3, 8] with its sign turned: [N, 3]."""
    return np.asarray(-(exact * (1 - believed) ** 2 + (1 - exact) * believed**2).sum(axis=2))


if __name__ == "__main__":
    sys.exit(main())
