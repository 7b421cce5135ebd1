"""Runs work in processes of this machine.

A result must not depend on who computes it. So libraries that multiply matrices are held to one
thread in every worker: the number of threads changes the last bit of a sum, and a network's closest
choices depend on that.
"""

from __future__ import annotations

import os
import signal
import sys
import threading
import time
from collections.abc import Callable, Iterable, Iterator
from concurrent.futures import FIRST_COMPLETED, Future, wait
from concurrent.futures.process import BrokenProcessPool
from contextlib import contextmanager, suppress
from functools import cache, partial
from itertools import chain, islice
from queue import Empty
from typing import Any, Self, TypeVar

from goita_env.errors import GoitaError

T = TypeVar("T")
R = TypeVar("R")


class WorkerError(GoitaError):
    """A worker that died: killed, out of memory, or brought down by a library.

    Attributes:
        items: what the workers were at.
    """

    def __init__(self, text: str, items: tuple[Any, ...] = ()) -> None:
        super().__init__(text)
        self.items = items


@contextmanager
def one_thread() -> Iterator[None]:
    """Holds the libraries that multiply matrices to one thread."""
    with _libraries().limit(limits=1):
        yield


@cache
def _libraries() -> Any:
    from threadpoolctl import ThreadpoolController

    return ThreadpoolController()


class Processes:
    """Child processes that run functions, and end when this process does.

    What a child prints goes to standard error: standard output is for tables.
    """

    def __init__(self, workers: int = 1) -> None:
        self.workers = workers
        self._executor: Any = None

    def __enter__(self) -> Self:
        return self

    def __exit__(self, *_: object) -> None:
        self.end()

    def submit(self, work: Callable[[], R]) -> Future[R]:
        """Runs a function in a child; the first call starts them, and one after a child died."""
        from joblib.externals.loky import ProcessPoolExecutor

        call = partial(run, os.getcwd(), work, os.getpid())
        future: Future[R]
        if self._executor is not None:
            # A broken pool has killed its other children itself.
            with suppress(BrokenProcessPool):
                future = self._executor.submit(call)
                return future
        self._executor = ProcessPoolExecutor(self.workers, timeout=300)
        future = self._executor.submit(call)
        return future

    def each(self, work: Callable[[T], R], items: Iterable[T]) -> Iterator[R]:
        """Yields the result of every item in any order; a WorkerError if a child died."""
        waiting, running = iter(items), dict[Future[R], T]()
        broken: BrokenProcessPool | None = None
        while broken is None:
            for item in islice(waiting, 2 * self.workers - len(running)):
                running[self.submit(partial(work, item))] = item
            if not running:
                return
            for future in wait(running, return_when=FIRST_COMPLETED).done:
                try:
                    result = future.result()
                except BrokenProcessPool as error:
                    broken = error
                else:
                    del running[future]
                    yield result
        text = f"expected workers to stay alive, but one died: {broken}"
        raise WorkerError(text, tuple(running.values())) from broken

    def end(self) -> None:
        """Kills the children, whatever they do."""
        executor, self._executor = self._executor, None
        if executor is None:
            return
        # What waits is taken away first: the executor's thread would look for it after the shutdown
        # has thrown it away, and end by a KeyError.
        with suppress(Empty):
            while True:
                executor._work_ids.get_nowait()
        executor.shutdown(wait=True, kill_workers=True)


def capped(workers: int, items: Iterable[T]) -> tuple[int, Iterator[T]]:
    """Returns how many processes are of use, and the items.

    More than there are cores or items only take time to start; standard error is told if fewer
    are started than were asked for.
    """
    if workers == 1:
        return 1, iter(items)
    from joblib.externals.loky import cpu_count

    waiting, cores = iter(items), cpu_count()
    first = list(islice(waiting, workers))
    most = max(1, min(len(first), cores))
    if first and most < workers:
        why = f"this machine has {cores} core(s)" if most == cores else "there is no more work"
        _tell(f"started {most} of {workers} processes: {why}\n")
    return min(workers, most), chain(first, waiting)


@cache
def _tell(line: str) -> None:
    """Says something on standard error, once."""
    sys.stderr.write(line)


def on_processes(work: Callable[[T], R], items: Iterable[T], workers: int) -> Iterator[R]:
    """Yields the result of every item in any order, computed on processes of this machine.

    ``work`` can be pickled and has one thread for matrices. ``items`` are taken as workers become
    free; with one worker the work is done in this process. No more are started than are of use
    (``capped``).

    Raises:
        WorkerError: if a process died.
    """
    workers, items = capped(workers, items)
    if workers > 1:
        with Processes(workers) as processes:
            yield from processes.each(work, items)
        return
    for item in items:
        with one_thread():
            done = work(item)
        yield done


def run(folder: str, work: Callable[[], R], parent: int | None = None) -> R:
    """Runs a function in a worker: from a folder, if it is there, with one thread for matrices."""
    if parent is not None:
        _follow(parent)
    if os.getcwd() != folder and os.path.isdir(folder):  # a user's class may have left it
        os.chdir(folder)
    with one_thread():
        return work()


@cache
def _follow(parent: int) -> None:
    """Prepares a child: it leaves Ctrl-C to the parent, and ends within a second after it."""
    # Not SIG_IGN: programs that are started from here would inherit it.
    signal.signal(signal.SIGINT, lambda *_: None)
    os.dup2(2, 1)

    def look() -> None:
        while os.getppid() == parent:
            time.sleep(1)
        os._exit(1)

    threading.Thread(target=look, daemon=True).start()
