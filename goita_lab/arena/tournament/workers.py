"""Runs work in processes of this machine or on a Ray cluster.

A block's result must not depend on who plays it. So libraries that multiply matrices are held to
one thread in every worker: the number of threads changes the last bit of a sum, and a network's
closest choices depend on that.
"""

from __future__ import annotations

import os
import signal
import threading
import time
from collections.abc import Callable, Iterable, Iterator
from concurrent.futures import FIRST_COMPLETED, Future, wait
from concurrent.futures.process import BrokenProcessPool
from contextlib import contextmanager
from functools import cache, partial
from importlib.util import find_spec
from itertools import islice
from typing import Any, Final, Literal, Self, TypeVar

from goita_env.errors import GoitaError, SettingError
from goita_lab.arena.tournament.task import BlockResult, Task

Backend = Literal["loky", "ray"]

T = TypeVar("T")
R = TypeVar("R")

MAX_WORKERS: Final = 1024

_WAVE: Final = 16
"""Blocks per worker that Ray is given at a time; joblib streams no results from there."""


class WorkerError(GoitaError):
    """Reports that a worker died: killed, out of memory, or brought down by a library."""


def check_workers(workers: int, backend: Backend) -> None:
    """Raises a SettingError if workers are too few or too many, or Ray is not installed."""
    if not 1 <= workers <= MAX_WORKERS:
        raise SettingError(f"expected 1 to {MAX_WORKERS:,} workers, got {workers!r}")
    if backend not in ("loky", "ray"):
        raise SettingError(f"expected a backend of 'loky', 'ray', got {backend!r}")
    if backend == "ray":
        if find_spec("ray") is None:
            raise SettingError(
                "expected ray for --backend ray, but it is not installed: "
                "pip install -e '.[ray,eval]', in an environment of its own (docs/scaling.md)"
            )
        processors = _connect()
        if workers > processors:
            raise SettingError(
                f"expected no more workers than the Ray cluster has processors, {processors}, "
                f"got {workers!r}"
            )


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
    """Runs functions in child processes, which end when this process does.

    What a child prints goes to standard error: standard output is for tables.
    """

    def __init__(self, workers: int = 1) -> None:
        self.workers = workers
        self._executor: Any = None

    def __enter__(self) -> Self:
        return self

    def __exit__(self, *_: object) -> None:
        self.end()

    def submit(self, work: Callable[[], R], workers: int | None = None) -> Future[R]:
        """Runs a function in a child; the first call starts so many children; None: all."""
        from joblib.externals.loky import get_reusable_executor

        if self._executor is None:
            self._executor = get_reusable_executor(
                max_workers=workers or self.workers, timeout=300, reuse=False
            )
        future: Future[R] = self._executor.submit(_run, os.getcwd(), work, os.getpid())
        return future

    def end(self) -> None:
        """Kills the children, whatever they do."""
        executor, self._executor = self._executor, None
        if executor is None:
            return
        # The executor's thread may be looking for work that a shutdown has just thrown away: it
        # then ends by a KeyError, which nobody should read.
        before, threading.excepthook = threading.excepthook, lambda _: None
        try:
            executor.shutdown(wait=True, kill_workers=True)
        finally:
            threading.excepthook = before


def on_processes(work: Callable[[T], R], items: Iterable[T], workers: int) -> Iterator[R]:
    """Yields the result of every item in any order, computed on processes of this machine.

    ``work`` can be pickled and has one thread for matrices. ``items`` are taken as workers become
    free; with one worker the work is done in this process.

    Raises:
        WorkerError: if a process died.
    """
    if workers == 1:
        for item in items:
            with one_thread():
                done = work(item)
            yield done
        return
    waiting, running = iter(items), set[Future[R]]()
    with Processes(workers) as processes:
        try:
            while True:
                for item in islice(waiting, 2 * workers - len(running)):
                    running.add(processes.submit(partial(work, item)))
                if not running:
                    return
                finished, running = wait(running, return_when=FIRST_COMPLETED)
                for future in finished:
                    yield future.result()
        except BrokenProcessPool as error:
            raise WorkerError(f"expected workers to stay alive, but one died: {error}") from error


def _run(folder: str, work: Callable[[], R], parent: int | None = None) -> R:
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


def play_on_ray(
    work: Callable[[Task], BlockResult], tasks: Iterable[Task], workers: int
) -> Iterator[BlockResult]:
    """Plays blocks on a Ray cluster, a wave at a time; ``tasks`` are taken as needed."""
    from joblib import delayed

    waiting, folder = iter(tasks), os.getcwd()
    with ray_pool(workers) as parallel:
        from ray.exceptions import RayTaskError

        while wave := list(islice(waiting, _WAVE * workers)):
            try:
                yield from parallel(delayed(_run)(folder, partial(work, task)) for task in wave)
            except RayTaskError as error:
                raise error.cause or error from error


@contextmanager
def ray_pool(workers: int) -> Iterator[Any]:
    """Yields joblib's ``Parallel`` on a Ray cluster, its workers spread over the nodes."""
    from joblib import Parallel, parallel_config
    from ray.util.joblib import register_ray

    register_ray()
    _connect()
    # One processor per worker: otherwise Ray puts all workers on one node.
    claim = {"num_cpus": 1, "scheduling_strategy": "SPREAD"}
    config = parallel_config(backend="ray", n_jobs=workers, ray_remote_args=claim)
    with config, Parallel() as parallel:
        yield parallel


def _connect() -> int:
    """Joins the cluster of RAY_ADDRESS, else one of this machine; returns its processors."""
    import ray

    if not ray.is_initialized():
        ray.init(log_to_driver=False, logging_level="ERROR")
    return int(ray.cluster_resources().get("CPU", 0))
