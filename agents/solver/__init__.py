"""Solves positions of play in which all hands are known.

::

    from agents import solver

    solution = solver.solve("11244556,12234569,11123378,11113457,s3,371,411,115")
    solution.value, solution.values, solution.best, solution.line

    python -m agents.solver "11244556,12234569,11123378,11113457,s3,371,411,115"

``solve`` takes a game, a record, a history string or positions; ``solve_many`` uses all cores; a
``Solver`` of one's own remembers a round.
"""

from __future__ import annotations

import sys
from collections.abc import Iterable, Sequence
from dataclasses import dataclass, field

from agents import cli
from agents.solver.cores import on_all_cores
from agents.solver.engine import Solver
from agents.solver.limits import check_limits
from agents.solver.position import Position, Solvable, position_of
from agents.solver.solution import Solution
from goita_env import actions
from goita_env.errors import GoitaError, SettingError
from goita_env.rules import JGA, Rules
from goita_env.worlds import Positions

__all__ = [
    "Position",
    "Solution",
    "Solver",
    "solve",
    "solve_many",
]


def solve(
    position: Solvable,
    *,
    nodes: int | None = None,
    seconds: float | None = None,
    table: bool = True,
    ordering: str = "best",
    rules: str | Rules = JGA,
) -> Solution:
    """Solves a position with a solver of its own.

    Args:
        position: a position of play, a game at one, or the record of a deal (or its history
            string) that ends at one.
        nodes: stop after so many positions; None: no limit.
        seconds: stop after so much time; None: no limit.
        table: keep a table of positions.
        ordering: how moves are tried: "best", "plain" or "reverse"; it changes no value.
        rules: the rule set of a history string; all else knows its own.

    Returns:
        Every action's value; where a limit was reached, ``finished`` is False and ``bounds`` holds
        what is known.

    Raises:
        SettingError: if a limit is not above 0, or the position is not one of play.
        HandsError, RecordError: if the position or its record is impossible.
    """
    solver = Solver(table=table, ordering=ordering)
    return solver.solve(position, nodes=nodes, seconds=seconds, rules=rules)


def solve_many(
    positions: Iterable[Solvable] | Positions,
    *,
    nodes: int | None = None,
    workers: int | None = None,
    rules: str | Rules = JGA,
) -> list[Solution]:
    """Solves positions on all cores; the search runs outside Python's lock, so threads suffice.

    Args:
        positions: as ``solve`` takes them one by one, or what ``worlds.determinize`` returned.
        nodes: limit for each.
        workers: threads, each with a table of its own; None: one a core.
        rules: the rule set of history strings.

    Returns:
        The solutions in order.

    Raises:
        SettingError, HandsError, RecordError: as ``solve``, before anything is searched.
    """
    check_limits(nodes, None)
    if isinstance(positions, str) or not isinstance(positions, Iterable | Positions):
        raise SettingError(f"expected positions one after another, got {positions!r}")
    if isinstance(positions, Positions):
        places = Position.from_positions(positions)
    else:
        places = [position_of(position, rules) for position in positions]
    return on_all_cores(lambda solver, place: solver.solve(place, nodes=nodes), places, workers)


def report(solution: Solution) -> str:
    """Returns a solution as text: each action with its points, then the line."""
    place, best = solution.position, solution.best
    rows = [f"seat {place.seat + 1} to move ({place.rules.name}); points for its team:", ""]
    order = sorted(solution.bounds.items(), key=lambda item: (-sum(item[1]), item[0]))
    for action, (low, high) in order:
        points = f"{low:+}" if low == high else f"{low:+} to {high:+}"
        rows.append(f"  {_word(action):>4}  {points}{'  best' if action in best else ''}")
    moves = ",".join(f"{seat + 1}{actions.name(action)}" for seat, action in solution.line)
    rows += ["", f"line  {moves or '-'}"]
    done = "finished" if solution.finished else "not finished"
    return "\n".join([*rows, f"{done}, {solution.nodes:,} nodes, {solution.seconds:.3f} s"])


def _word(action: int) -> str:
    """Returns an action as the table shows it."""
    return "pass" if action == actions.PASS else actions.name(action)


@dataclass(frozen=True)
class Args:
    """Options of the command line."""

    history: str = field(metadata=cli.POSITIONAL)
    """a deal as far as it was played: HANDS,sDEALER,MOVES"""
    rules: Rules = JGA
    """rule set: jga, pagat, nine, or a JSON file of your own"""
    nodes: int | None = None
    """stop after so many positions"""
    seconds: float | None = None
    """stop after so much time"""


def main(argv: Sequence[str] | None = None) -> int:
    """Solves the position at the end of a history string; returns the exit code."""
    args = cli.parse(
        Args, argv, "Prints the points of each legal action with perfect play, and one best line."
    )
    try:
        solution = solve(args.history, nodes=args.nodes, seconds=args.seconds, rules=args.rules)
    except GoitaError as error:
        cli.fail(str(error).partition("\n")[0])
    except KeyboardInterrupt:
        sys.stderr.write("\n")
        return 130
    sys.stdout.write(report(solution) + "\n")
    return 0
