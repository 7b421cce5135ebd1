"""Measures how long the solver takes, by how much of a round has been played.

python benchmarks/solver.py                      the table, in two minutes or so
python benchmarks/solver.py --positions 200 --json FILE

Positions come from random deals and uniform random legal play. Times are CPU seconds of one core,
the table of positions emptied before each; the compiler's time is not in them. "one action" is
comparing one action with the best (``Solver.compare``), "all actions" valuing every legal action
(``Solver.values``).
"""

from __future__ import annotations

import json
import platform
import sys
import time
from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass
from functools import partial
from itertools import islice
from pathlib import Path
from typing import Any, Final

import numpy as np

from goita_agents import solver
from goita_agents.solver.position import position_of
from goita_env import Game, actions
from goita_env.errors import SettingError
from goita_env.rules import JGA, Rules
from goita_lab import cli

KNOWN: Final = "11244556,12234569,11123378,11113457,s3,371,411,115,2p,3p,4p,145,252,3p,4p,124,2p"
"""A position of four legal actions that has been measured elsewhere."""

DEPTHS: Final = (6, 5, 4, 3, 2, 1, 0)
"""Plays made before the position."""


@dataclass(frozen=True)
class Args:
    """Options of the command line."""

    positions: int = 100
    """positions of each depth"""
    seed: int = 1
    """of deals and random play"""
    rules: Rules = JGA
    """rule set"""
    json: Path | None = None
    """file to which all times are written"""

    def __post_init__(self) -> None:
        """Checks the number."""
        if self.positions < 1:
            raise SettingError(f"expected 1 position or more, got {self.positions!r}")


def positions(depth: int, seed: int, rules: Rules) -> Iterator[tuple[solver.Position, int]]:
    """Yields positions after so many random plays, each with a random legal action, for ever.

    Deals with questions are left out.
    """
    deal = 0
    while True:
        deal += 1
        rng = np.random.default_rng([seed, depth, deal])
        game = Game(rules, seed=int(rng.integers(2**32)))
        if game.legal_actions()[0] >= actions.CALL:
            continue
        plays = 0
        while plays < depth and not game.done:
            action = int(rng.choice(game.legal_actions()))
            game.play(action)
            plays += action != actions.PASS
        if not game.done:
            yield solver.Position.from_game(game), int(rng.choice(game.legal_actions()))


def timed(call: Callable[[], object]) -> float:
    """Returns the CPU seconds that a call takes."""
    start = time.process_time()
    call()
    return time.process_time() - start


def measure(args: Args) -> dict[str, Any]:
    """Times the positions of all depths."""
    times: dict[str, Any] = {"python": platform.python_version(), "depths": {}}
    solver.solve(KNOWN)  # compiles
    for depth in DEPTHS:
        places = positions(depth, args.seed, args.rules)
        rows: dict[str, list[float]] = {"one action": [], "all actions": [], "nodes": []}
        for place, action in islice(places, args.positions):
            rows["one action"].append(timed(partial(solver.Solver().compare, place, action)))
            fresh = solver.Solver()
            rows["all actions"].append(timed(partial(fresh.values, place)))
            rows["nodes"].append(fresh.nodes)
        times["depths"][depth] = rows
        sys.stderr.write(f"{depth} plays: {args.positions} positions\n")
    place = position_of(KNOWN)
    times["known"] = [timed(lambda: solver.Solver().values(place)) for _ in range(20)]
    return times


def table(times: dict[str, Any]) -> str:
    """Returns the times as a table in Markdown: medians, 90 % and the longest, in milliseconds."""
    lines = [
        "| plays before | one action: median | 90 % | longest "
        "| all actions: median | 90 % | longest | nodes |",
        "|--:|--:|--:|--:|--:|--:|--:|--:|",
    ]
    for depth, rows in times["depths"].items():
        cells = [
            f"{1_000 * q:.2f}" if q < 0.01 else f"{1_000 * q:.0f}"
            for name in ("one action", "all actions")
            for q in np.quantile(rows[name], (0.5, 0.9, 1.0))
        ]
        label = "0 (whole deal)" if depth == 0 else depth
        lines.append(f"| {label} | {' | '.join(cells)} | {np.median(rows['nodes']):,.0f} |")
    milliseconds = 1_000 * float(np.median(times["known"]))
    return "\n".join([*lines, "", f"The known position, all four actions: {milliseconds:.2f} ms"])


def main(argv: Sequence[str] | None = None) -> int:
    """Measures, prints the table and returns the exit code."""
    args = cli.parse(Args, argv, __doc__)
    times = measure(args)
    if args.json:
        args.json.write_text(json.dumps(times, indent=1) + "\n", encoding="utf-8")
    sys.stdout.write(table(times) + "\n")
    return 0


if __name__ == "__main__":
    cli.run(main)
