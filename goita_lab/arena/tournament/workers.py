"""Plays blocks in this process, in processes of this machine, or on a Ray cluster."""

from __future__ import annotations

import os
from collections.abc import Callable, Iterable, Iterator
from contextlib import contextmanager
from functools import partial
from importlib.util import find_spec
from itertools import islice
from typing import Any, Final, Literal

from goita_agents.registry import is_own, short_name
from goita_env.errors import SettingError, install
from goita_lab.arena.tournament.block import play_block
from goita_lab.arena.tournament.task import BlockResult, Task
from goita_lab.processes import WorkerError, on_processes, run

Backend = Literal["loky", "ray"]

MAX_WORKERS: Final = 1024

_WAVE: Final = 16
"""Blocks per worker that Ray is given at a time; joblib streams no results from there."""


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
                f"{install('ray,lab')}, in an environment of its own (docs/scaling.md)"
            )
        processors = _connect()
        if workers > processors:
            raise SettingError(
                f"expected no more workers than the Ray cluster has processors, {processors}, "
                f"got {workers!r}"
            )


def play_blocks(
    tasks: Iterable[Task],
    workers: int = 1,
    backend: Backend = "loky",
    *,
    save: bool = False,
    strict: bool = False,
) -> Iterator[BlockResult]:
    """Yields the results of blocks as they are finished, in any order.

    Args:
        tasks: taken as workers become free, so it may end early.
        workers: number of processes; with one the blocks are played in this process.
        backend: "loky" for this machine, "ray" for a cluster (``check_workers`` first).
        save: let the results hold the games.
        strict: raise at the first fault of an agent.

    Raises:
        AgentError: what a block raised.
        WorkerError: if a worker died; it names the pairings that were being played.
    """
    work = partial(play_block, save=save, guarded=True, strict=strict)
    if backend == "ray":
        yield from play_on_ray(work, tasks, workers)
        return
    try:
        yield from on_processes(work, tasks, workers)
    except WorkerError as error:
        raise WorkerError(f"{error}\n{_played(error.items)}") from error


def _played(running: Iterable[Task]) -> str:
    """Says in which pairings a worker has died, and what to do about it."""
    names = {" against ".join(map(short_name, task.agents)): task for task in running}
    text = f"played: {', '.join(names)}"
    if any(is_own(spec) for task in names.values() for spec in task.agents):
        text += '; "exec:goita bot MODULE:CLASS" plays a class in processes of its own'
    return text


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
                yield from parallel(delayed(run)(folder, partial(work, task)) for task in wave)
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
