"""Solves on all cores: threads suffice, since the search runs outside Python's lock."""

from __future__ import annotations

import os
from collections.abc import Callable, Sequence
from concurrent.futures import ThreadPoolExecutor
from queue import SimpleQueue
from typing import TypeVar

from goita_agents.base import is_whole
from goita_agents.solver.solver import Solver, load_kernel
from goita_env.errors import SettingError

T = TypeVar("T")
R = TypeVar("R")


def on_all_cores(
    work: Callable[[Solver, T], R],
    items: Sequence[T],
    workers: int | None = None,
    progress: Callable[[int], None] | None = None,
) -> list[R]:
    """Returns the results of work on every item, in order; each thread has its own solver.

    There are so many threads, at most one a core; None: one a core. ``progress`` is told how many
    items are done. Ctrl-C soon breaks off what has begun.

    Raises:
        SettingError: if the number of workers is not above 0.
    """
    workers = cores() if workers is None else workers
    if not is_whole(workers) or workers < 1:
        raise SettingError(f"expected 1 worker or more, got {workers!r}")
    load_kernel()
    workers = max(1, min(workers, cores(), len(items)))
    solvers = [Solver() for _ in range(workers)]
    free: SimpleQueue[Solver] = SimpleQueue()
    for solver in solvers:
        free.put(solver)

    def one(item: T) -> R:
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
