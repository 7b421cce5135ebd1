"""Checks that an exam is worth taking: are its points those of tournaments?

::

    python research/exam/check.py -o exam_check.json
    python research/exam/check.py --exam other.npz

Agents and members of the population take the exam and play duplicate deals against ``heuristic``.
Printed are the rank correlations of the points that they lose in the exam, and of the share that
they know, with their points a round, with intervals over agents (bootstrap); the same of the points
of agents that lose few. Models of the other seats are then scored in other ways: their knowledge of
all seats, by the Brier score too, and of seats that they played themselves, or others did.
"""

from __future__ import annotations

import sys
from collections.abc import Sequence
from dataclasses import asdict, dataclass, field
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
from goita_lab.exam.answers import Sheet, controls, take
from goita_lab.exam.questions import SHIPPED, Questions
from goita_lab.exam.report import OPPONENTS, PARTNER, knowledge_table, main_table
from goita_lab.exam.scoring import brier, counted, score
from goita_lab.work import stderr_progress
from research.intervals import rank_correlation

AGENTS: Final = ("champion", "heuristic", "greedy", "random", "people")
MEMBERS: Final = 20
DEALS: Final = 1000
BEST_AGENTS: Final = 12
"""Number of agents with the fewest points lost, which are close to each other."""
MODELS: Final = ("champion", "heuristic", "people")
UNLIKE: Final = ("people:temperature=0", "champion:temperature=1", "champion:temperature=6")
"""The same networks with other temperatures: surer of each move, or less sure."""
HEADS: Final = ("points lost", "known of partner", "known of opponents")
"""Columns of the figures of agents; the last one is their points against ``heuristic``."""
BELIEF_STEP: Final = 6
"""Agents state beliefs in one of so many positions: a network takes up to half a second each."""


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
    exam = Questions.load(args.exam)
    agents = [*AGENTS, *chosen_members()]
    rows = measured(agents, exam, args.seed)
    correlations = correlated(np.array(rows))
    answers = {agent: take(agent, exam) for agent in (*AGENTS, *UNLIKE)}
    sheet = Sheet(exam, tuple(answers[agent] for agent in AGENTS), (), controls(exam))
    beliefs = {model: answers[model].believed for model in (*MODELS, *UNLIKE)}
    beliefs["counts unseen tiles"] = counted(exam.view())
    models = {
        model: shares(model, believed, exam)
        for model, believed in beliefs.items()
        if believed is not None
    }
    tables = {"points": main_table(sheet), "knowledge": knowledge_table(sheet)}
    figures = {
        "agents": agents,
        "columns": [*HEADS, "points"],
        "rows": rows,
        "correlations": {name: (c.mean, c.low, c.high) for name, c in correlations.items()},
        "tables": {name: table and asdict(table) for name, table in tables.items()},
        "models": models,
    }
    write_whole(args.output, provenance.to_json(figures, agents))
    for name, interval in correlations.items():
        print(f"{name:32} {estimate(interval)}")
    for model, by_score in models.items():
        texts = (f"{name} {estimate(share)}" for name, share in by_score.items())
        print(f"{model:24}", *texts, sep="  ")
    return 0


def chosen_members() -> list[str]:
    """Returns members of the population, at equal distances in its list."""
    sets = ("train", "validation")
    names = [
        name
        for name, member in Population().members.items()
        if member.split in sets and member.method not in INFORMATION
    ]
    places = np.linspace(0, len(names) - 1, MEMBERS).round().astype(int)
    return [f"population:{names[place]}" for place in places]


def measured(agents: Sequence[str], exam: Questions, seed: int) -> list[tuple[float, ...]]:
    """Returns a row for each agent: points lost, shares known, points against ``heuristic``."""
    part = exam.select(np.arange(0, len(exam), BELIEF_STEP))
    rows, progress = [], stderr_progress()
    for index, agent in enumerate(agents):
        progress("agents", index, len(agents))
        lost = float(take(agent, exam, with_beliefs=False).lost.mean())
        answers = take(agent, part)
        known = [answers.share(seats) for seats in (PARTNER, OPPONENTS)]
        points = 0.0
        if agent != "heuristic":
            points = play_pair(agent, "heuristic", DEALS, seed=seed).points_per_round
        rows.append((lost, *(share.mean if share else np.nan for share in known), points))
    return rows


def correlated(rows: Float) -> dict[str, Interval]:
    """Returns the rank correlation of each column of ``HEADS`` with the points against a bot."""
    correlations = {
        head: rank_correlation(rows[:, column], rows[:, -1]) for column, head in enumerate(HEADS)
    }
    best = rows[rows[:, 0].argsort()[:BEST_AGENTS]]
    correlations[f"points lost, the best {BEST_AGENTS}"] = rank_correlation(best[:, 0], best[:, -1])
    return correlations


def shares(model: str, believed: Float, exam: Questions) -> dict[str, Interval | None]:
    """Returns the share of the hidden hands that a model of the others knew, scored in four ways.

    "itself" counts seats that the modelled agent played, "others" all other seats.
    """
    itself = np.array([[player == model for player in line[1:]] for line in exam.players])
    in_play = (exam.phase() > 0)[:, None]
    shares_by_score = {}
    for name, rule, seats in (
        ("log", score, in_play),
        ("Brier", brier, in_play),
        ("itself", score, in_play & itself),
        ("others", score, in_play & ~itself),
    ):
        of_facts = rule(exam.facts, exam.exact)
        gain, greatest_gain = (
            ((rule(belief, exam.exact) - of_facts) * seats).sum(axis=1)
            for belief in (believed, exam.exact)
        )
        rows = greatest_gain > 0
        share = ratio_interval(gain[rows], greatest_gain[rows]) if rows.sum() > 1 else None
        shares_by_score[name] = share
    return shares_by_score


if __name__ == "__main__":
    sys.exit(main())
