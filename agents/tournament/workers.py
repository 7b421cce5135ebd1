"""Has work done by processes of this machine, or by a Ray cluster.

A block's result depends on its task alone, so it is the same whoever plays it. For that the
libraries that multiply matrices are held to one thread in every worker: how they split a sum among
threads shows in its last bit, and a network's closest choices depend on that.
"""

from __future__ import annotations

import os
import signal
import threading
import time
import warnings
from collections.abc import Callable, Iterable, Iterator
from contextlib import contextmanager
from functools import cache
from importlib.util import find_spec
from itertools import islice
from typing import Any, Final, Literal, TypeVar

from agents.tournament.task import BlockResult, Task
from goita_env.errors import GoitaError, SettingError

Backend = Literal["loky", "ray"]

T = TypeVar("T")
R = TypeVar("R")

MAX_WORKERS: Final = 1024

_WAVE: Final = 16
"""Blocks for each worker that Ray is handed at a time; joblib has no stream of results there."""


class WorkerError(GoitaError):
    """Reports that a worker died: killed, out of memory, or brought down by a library."""


def check_workers(workers: int, backend: Backend) -> None:
    """Checks a number of workers, and that a Ray cluster has as many processors.

    Raises:
        SettingError: if it is impossible, or Ray is not installed or not reached.
    """
    if not 1 <= workers <= MAX_WORKERS:
        raise SettingError(f"expected 1 to {MAX_WORKERS:,} workers, got {workers!r}")
    if backend not in ("loky", "ray"):
        raise SettingError(f"expected a backend of 'loky', 'ray', got {backend!r}")
    if backend == "ray":
        if find_spec("ray") is None:
            raise SettingError(
                "expected ray for --backend ray, but it is not installed: "
                "pip install 'goita-env[ray,eval]', in an environment of its own (docs/scaling.md)"
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
    """Returns the libraries that multiply matrices, looked for once."""
    from threadpoolctl import ThreadpoolController

    return ThreadpoolController()


def on_processes(work: Callable[[T], R], items: Iterable[T], workers: int) -> Iterator[R]:
    """Does something with every item on processes of this machine; they are gone at the end.

    Args:
        work: a function that can be pickled; matrices are held to one thread.
        items: taken as workers become free.
        workers: processes; one is this process itself.

    Yields:
        What came out, in any order.

    Raises:
        WorkerError: if a process died.
    """
    if workers == 1:
        for item in items:
            with one_thread():
                done = work(item)
            yield done
        return
    from joblib import Parallel, delayed
    from joblib.externals.loky import get_reusable_executor
    from joblib.externals.loky.process_executor import TerminatedWorkerError

    # A stop must not wait for what is under way, nor leave a process behind.
    parallel = Parallel(n_jobs=workers, backend="loky", return_as="generator_unordered")
    results = parallel(delayed(_work_for)(os.getpid(), work, item) for item in items)
    finished = False
    try:
        # "yield from" would close the results, with a warning, before we can.
        for result in results:  # noqa: UP028
            yield result
        finished = True
    except TerminatedWorkerError as error:
        raise WorkerError(f"expected workers to stay alive, but one died: {error}") from error
    finally:
        with warnings.catch_warnings(action="ignore", category=UserWarning):
            results.close()  # joblib warns of what is cancelled, which is meant
        get_reusable_executor().shutdown(wait=True, kill_workers=not finished)


def _work_for(parent: int, work: Callable[[T], R], item: T) -> R:
    """Does one for another process, and ends when that one does, however it is stopped."""
    follow(parent)
    with one_thread():
        return work(item)


@cache
def follow(parent: int) -> None:
    """Leaves Ctrl-C to our parent, and begins to look once a second whether it still is."""
    # Not SIG_IGN: programs that are started from here would inherit it.
    signal.signal(signal.SIGINT, lambda *_: None)

    def look() -> None:
        while os.getppid() == parent:
            time.sleep(1)
        os._exit(1)

    threading.Thread(target=look, daemon=True).start()


def play_on_ray(
    work: Callable[[Task], BlockResult], tasks: Iterable[Task], workers: int
) -> Iterator[BlockResult]:
    """Plays blocks on a Ray cluster, a wave at a time.

    Args:
        work: plays a block.
        tasks: the blocks; taken as they are needed.
        workers: how many work at a time.
    """
    from joblib import delayed

    waiting, folder = iter(tasks), os.getcwd()
    with ray_pool(workers) as parallel:
        from ray.exceptions import RayTaskError

        while wave := list(islice(waiting, _WAVE * workers)):
            try:
                yield from parallel(delayed(_work_in)(folder, work, task) for task in wave)
            except RayTaskError as error:
                raise error.cause or error from error


def _work_in(folder: str, work: Callable[[T], R], item: T) -> R:
    """Does one from a folder, where that is there, with one thread for matrices."""
    if folder != os.getcwd() and os.path.isdir(folder):
        os.chdir(folder)
    with one_thread():
        return work(item)


@contextmanager
def ray_pool(workers: int) -> Iterator[Any]:
    """Yields joblib's ``Parallel`` on a Ray cluster, its workers spread over the nodes."""
    from joblib import Parallel, parallel_config
    from ray.util.joblib import register_ray

    register_ray()
    _connect()
    # A processor for each worker: else Ray puts them all on one node.
    claim = {"num_cpus": 1, "scheduling_strategy": "SPREAD"}
    config = parallel_config(backend="ray", n_jobs=workers, ray_remote_args=claim)
    with config, Parallel() as parallel:
        yield parallel


def _connect() -> int:
    """Joins the Ray cluster of RAY_ADDRESS, else one of this machine; returns its processors."""
    import ray

    if not ray.is_initialized():
        ray.init(log_to_driver=False, logging_level="ERROR")
    return int(ray.cluster_resources().get("CPU", 0))
