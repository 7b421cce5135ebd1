"""Solves positions of play in which all hands are known.

::

    from goita_agents import solver

    solution = solver.solve("11244556,12234569,11123378,11113457,s3,371,411,115")
    solution.value, solution.values, solution.best, solution.line

    goita solve "11244556,12234569,11123378,11113457,s3,371,411,115"

``solve`` takes a game, a record, a history string or positions; ``solve_many`` uses all cores. A
``Solver`` remembers what it has searched of a round.
"""

from __future__ import annotations

import os
from collections.abc import Iterable
from concurrent.futures import ThreadPoolExecutor
from threading import local

from goita_agents.base import is_whole
from goita_agents.solver.position import Position, Solvable, position_of
from goita_agents.solver.solution import Solution
from goita_agents.solver.solver import Limits, Solver, load_kernel
from goita_env.errors import SettingError
from goita_env.rules import JGA, Rules
from goita_env.worlds import Positions

__all__ = ["Position", "Solution", "Solver", "solve", "solve_many"]


def solve(
    position: Solvable,
    *,
    nodes: int | None = None,
    seconds: float | None = None,
    rules: str | Rules = JGA,
) -> Solution:
    """Solves a position with a new solver.

    Where a limit was reached, ``finished`` is False and ``bounds`` holds the bounds found so far.

    Args:
        position: a position of play, a game at one, or the record of a deal (or its history
            string) that ends at one.
        nodes: most positions to search; None: no limit.
        seconds: most seconds to search; None: no limit.
        rules: the rule set of a history string.

    Raises:
        SettingError: if a limit is not above 0, or the position is not one of play.
        HandsError, RecordError: if the position or its record is impossible.
    """
    return Solver().solve(position, nodes=nodes, seconds=seconds, rules=rules)


def solve_many(
    positions: Iterable[Solvable] | Positions,
    *,
    nodes: int | None = None,
    workers: int | None = None,
    rules: str | Rules = JGA,
) -> list[Solution]:
    """Solves positions on all cores; the search runs outside Python's lock, so threads suffice.

    After Ctrl-C the searches under way end within some milliseconds.

    Args:
        positions: in the forms that ``solve`` takes, or as ``worlds.determinize`` returns them.
        nodes: most positions to search for each.
        workers: threads, each with its own table; None: one for each core.
        rules: the rule set of history strings.

    Raises:
        SettingError, HandsError, RecordError: as ``solve``, before anything is searched.
    """
    Limits(nodes)  # refuses a limit that is not a whole number above 0
    if isinstance(positions, str) or not isinstance(positions, Iterable | Positions):
        raise SettingError(f"expected positions one after another, got {positions!r}")
    if isinstance(positions, Positions):
        starts = Position.from_positions(positions)
    else:
        starts = [position_of(position, rules) for position in positions]
    workers = cores() if workers is None else workers
    if not is_whole(workers) or workers < 1:
        raise SettingError(f"expected 1 worker or more, got {workers!r}")
    load_kernel()
    of_thread, solvers = local(), list[Solver]()

    def begin() -> None:
        of_thread.solver = Solver()
        solvers.append(of_thread.solver)

    def solved(position: Position) -> Solution:
        solution: Solution = of_thread.solver.solve(position, nodes=nodes)
        return solution

    with ThreadPoolExecutor(min(workers, cores()), initializer=begin) as pool:
        try:
            return list(pool.map(solved, starts))
        except BaseException:
            pool.shutdown(wait=False, cancel_futures=True)
            for solver in solvers:
                solver.stop.set()
            raise


def cores() -> int:
    """Returns the number of cores that this process may use."""
    return len(os.sched_getaffinity(0)) if hasattr(os, "sched_getaffinity") else os.cpu_count() or 1
