"""Measures the gain of a search in a match, and of its library of players, by round.

::

    python research/players/recognition.py --opponents population:entropy-3 heuristic --matches 40
    python research/players/recognition.py --partners population:entropy-3 --opponents greedy

Each match is played by the champion without search and by each search, with the teams exchanged, on
the same deals as long as the scores are the same. Gains are over the champion without search and
over the last search, the control. Points are those of rounds, and those from the third round on.
Intervals are over matches: the ratio of points and rounds of each, linearised.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from pathlib import Path

import numpy as np

from goita_agents.base import Float
from goita_agents.files import json_text
from goita_lab import cli
from goita_lab.arena.report.figures import estimate
from goita_lab.arena.statistics.intervals import mean_interval
from goita_lab.arena.tournament.block import play_block
from goita_lab.arena.tournament.plan import Task, seatings_of, tasks
from goita_lab.provenance import plain
from goita_lab.work import Runner, stderr_progress
from research.drawing import table

SEARCHES = ("champion:search=on", "champion:search=on,library=(champion)")
"""The search, and a control without a library, which only carries its beliefs about first types."""
FROM_ROUND = 3
BLOCK = 4
"""Matches that are played side by side, twice."""


@dataclass(frozen=True)
class Args:
    """Options of the command line."""

    opponents: tuple[str, ...]
    """agents at both seats of the other team"""
    partners: tuple[str, ...] | None = None
    """agents in the partner's seat (default: the champion or search itself)"""
    searches: tuple[str, ...] = SEARCHES
    """agents that are compared with the champion without search"""
    matches: int = 40
    """matches of each cell, each played by both teams at both sides"""
    seed: int = 0
    """seed of the deals"""
    workers: int = 1
    """processes"""
    results: Path | None = None
    """file that keeps finished blocks, so that a stopped run can be resumed"""
    json: Path | None = None
    """file for all figures"""


def main(argv: Sequence[str] | None = None) -> int:
    args = cli.parse(Args, argv, __doc__)
    agents = ("champion", *args.searches)
    cells = [
        (agent, *((partner,) if partner else ()), opponent)
        for partner in args.partners or ("",)
        for opponent in args.opponents
        for agent in agents
    ]
    todo = {
        f"{' '.join(cell)} {task.block}": task
        for cell in cells
        for task in tasks(
            cell,
            args.matches,
            seed=args.seed,
            episode="match",
            block_deals=BLOCK,
            seatings=seatings_of(cell),
        )
    }
    runner = Runner(args.workers, args.results, stderr_progress())
    played = runner.run(play, todo, lambda _: list[list[list[int]]], {"seed": args.seed})
    matches_of: dict[str, list[list[list[int]]]] = {}
    for key, matches in played.items():
        matches_of.setdefault(key.rpartition(" ")[0], []).extend(matches)
    rows, figures_of = [], {}
    for cell in cells:
        figures = {}
        for name, first in (("all rounds", 1), (f"from round {FROM_ROUND}", FROM_ROUND)):
            own = per_match(matches_of[" ".join(cell)], first)
            figures[name] = mean_interval(own)
            for over in (agents[0], agents[-1]):
                gain = own - per_match(matches_of[" ".join((over, *cell[1:]))], first)
                figures[f"{name}, over {over}"] = mean_interval(gain)
        figures_of[" ".join(cell)] = figures
        shown_figures = [estimate(figure) for figure in figures.values()]
        rows.append([cell[0], " / ".join(cell[1:]), *shown_figures])
    gains = ["over the first", "over the last"]
    heads = ["agent", "partner / opponents", "all rounds", *gains, f"from round {FROM_ROUND}"]
    print(table([*heads, *gains], rows))
    if args.json is not None:
        args.json.write_text(json_text(plain(figures_of)))
    return 0


def play(task: Task) -> list[list[list[int]]]:
    """Plays a block of matches; returns each match's rounds: [number, points of the first team]."""
    matches: dict[int, list[list[int]]] = {}
    counts: dict[tuple[int, int], int] = {}
    for deal in play_block(task, save=True).games:
        result = deal.record.result()
        if result.winner is None:
            continue
        game = deal.deal, deal.seating
        counts[game] = counts.get(game, 0) + 1
        # The first team sits at seats 0 and 2 in every second seating.
        won = (result.winner + deal.seating) % 2 == 0
        points = result.points if won else -result.points
        matches.setdefault(deal.deal, []).append([counts[game], points])
    return [matches[match] for match in sorted(matches)]


def per_match(matches: list[list[list[int]]], first: int) -> Float:
    """Returns points per round from a round on, linearised: [matches]."""
    points = np.array([sum(p for n, p in match if n >= first) for match in matches], float)
    rounds = np.array([sum(n >= first for n, _ in match) for match in matches], float)
    ratio = points.sum() / rounds.sum()
    return np.asarray(ratio + (points - ratio * rounds) / rounds.mean())


if __name__ == "__main__":
    raise SystemExit(main())
