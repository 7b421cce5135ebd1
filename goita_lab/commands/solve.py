"""Prints the points of each legal action with open hands and perfect play, and one best line.

goita solve 11244556,12234569,11123378,11113457,s3,371,411,115,2p,3p,4p,145,252,3p,4p,124,2p
goita solve 11244556,12234569,11123378,11113457,s3,371,411,115 --seconds 10
"""

from __future__ import annotations

import sys
from collections.abc import Sequence
from dataclasses import dataclass, field

from goita_agents.solver import Solution, solve
from goita_env import actions
from goita_env.errors import GoitaError
from goita_env.rules import JGA, Rules
from goita_lab import cli


def report(solution: Solution) -> str:
    """Returns a solution as text: each action with its points, then the line."""
    position, best = solution.position, solution.best
    # Seats are counted from 1, as history strings do.
    rows = [f"seat {position.seat + 1} to move ({position.rules.name}); points for its team:", ""]
    # By the middle of the bounds, the best first; ties by action.
    order = sorted((-low - high, action) for action, (low, high) in solution.bounds.items())
    for _, action in order:
        low, high = solution.bounds[action]
        points = f"{low:+}" if low == high else f"{low:+} to {high:+}"
        word = "pass" if action == actions.PASS else actions.name(action)
        rows.append(f"  {word:>4}  {points}{'  best' if action in best else ''}")
    moves = ",".join(f"{seat + 1}{actions.name(action)}" for seat, action in solution.line)
    rows += ["", f"line  {moves or '-'}"]
    state = "finished" if solution.finished else "not finished"
    return "\n".join([*rows, f"{state}, {solution.nodes:,} nodes, {solution.seconds:.3f} s"])


@dataclass(frozen=True)
class Args:
    """Options of the command line."""

    history: str = field(metadata=cli.POSITIONAL)
    """the deal and the moves that were made: HANDS,sDEALER,MOVES"""
    rules: Rules = JGA
    nodes: int | None = None
    """number of positions after which the search stops"""
    seconds: float | None = None
    """time after which the search stops"""


def main(argv: Sequence[str] | None = None) -> int:
    args = cli.parse(Args, argv, __doc__)
    try:
        solution = solve(args.history, nodes=args.nodes, seconds=args.seconds, rules=args.rules)
    except GoitaError as error:
        cli.fail(str(error).partition("\n")[0])
    sys.stdout.write(report(solution) + "\n")
    return 0
