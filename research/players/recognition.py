"""Measures what a search gains in a match, and of that a library of players, by round.

::

    python research/players/recognition.py --opponents population:entropy-3 heuristic --matches 40
    python research/players/recognition.py --partners population:entropy-3 --opponents greedy

Each match is played by the champion alone and by each search, on the same deals as far as the
scores go the same way, with the teams exchanged. Gains are those over the first of these and over
the last, the control. Points are those of rounds, the third and later ones apart. Intervals are
over matches: the ratio of points and rounds of each, linearised.
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
"""The search, and a control that knows no library; it carries what it learns of its first types."""
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
    """what is compared with the champion alone"""
    matches: int = 40
    """matches of each cell, each played by both teams at both sides"""
    seed: int = 0
    """seed of the deals"""
    workers: int = 1
    """processes"""
    results: Path | None = None
    """file that keeps finished blocks, so that a stopped run goes on"""
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
    found: dict[str, list[list[list[int]]]] = {}
    for key, some in played.items():
        found.setdefault(key.rpartition(" ")[0], []).extend(some)
    rows, told = [], {}
    for cell in cells:
        figures = {}
        for name, first in (("all rounds", 1), (f"from round {FROM_ROUND}", FROM_ROUND)):
            own = per_match(found[" ".join(cell)], first)
            figures[name] = mean_interval(own)
            for over in (agents[0], agents[-1]):
                gain = own - per_match(found[" ".join((over, *cell[1:]))], first)
                figures[f"{name}, over {over}"] = mean_interval(gain)
        told[" ".join(cell)] = figures
        shown_figures = [estimate(one) for one in figures.values()]
        rows.append([cell[0], " / ".join(cell[1:]), *shown_figures])
    gains = ["over the first", "over the last"]
    heads = ["agent", "partner / opponents", "all rounds", *gains, f"from round {FROM_ROUND}"]
    print(table([*heads, *gains], rows))
    if args.json is not None:
        args.json.write_text(json_text(plain(told)))
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
    return [matches[one] for one in sorted(matches)]


def per_match(matches: list[list[list[int]]], first: int) -> Float:
    """Returns points per round from a round on, linearised: [matches]."""
    points = np.array([sum(p for n, p in one if n >= first) for one in matches], float)
    rounds = np.array([sum(n >= first for n, _ in one) for one in matches], float)
    ratio = points.sum() / rounds.sum()
    return np.asarray(ratio + (points - ratio * rounds) / rounds.mean())


if __name__ == "__main__":
    raise SystemExit(main())
