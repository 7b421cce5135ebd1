"""Uses all cores: threads suffice, for the search runs outside Python's lock."""

from __future__ import annotations

import os
from collections.abc import Callable, Sequence
from concurrent.futures import ThreadPoolExecutor
from queue import SimpleQueue
from typing import TypeVar

from agents.solver.engine import Solver, load_kernel
from agents.solver.limits import is_whole
from goita_env.errors import SettingError

T = TypeVar("T")
R = TypeVar("R")


def on_all_cores(
    work: Callable[[Solver, T], R],
    items: Sequence[T],
    workers: int | None = None,
    progress: Callable[[int], None] | None = None,
) -> list[R]:
    """Does something with every item, each thread with a solver of its own.

    Args:
        work: called with a solver and an item.
        items: what there is to do.
        workers: threads; None: one a core.
        progress: called with the number of items that are done, in order.

    Returns:
        What came out, in order.

    Raises:
        KeyboardInterrupt: soon after Ctrl-C; what has begun is broken off.
        SettingError: if the number of workers is not above 0.
    """
    workers = cores() if workers is None else workers
    if not is_whole(workers) or workers < 1:
        raise SettingError(f"expected 1 worker or more, got {workers!r}")
    load_kernel()
    solvers = [Solver() for _ in range(min(workers, len(items)))]
    free: SimpleQueue[Solver] = SimpleQueue()
    for solver in solvers:
        free.put(solver)

    def one(item: T) -> R:
        """Does one with a solver that is free."""
        solver = free.get()
        try:
            return work(solver, item)
        finally:
            free.put(solver)

    found: list[R] = []
    with ThreadPoolExecutor(workers) as pool:
        try:
            for result in pool.map(one, items):
                found.append(result)
                if progress is not None:
                    progress(len(found))
        except BaseException:
            pool.shutdown(wait=False, cancel_futures=True)
            for solver in solvers:
                solver.stop.set()
            raise
    return found


def cores() -> int:
    """Returns how many cores this process may use."""
    return len(os.sched_getaffinity(0)) if hasattr(os, "sched_getaffinity") else os.cpu_count() or 1
