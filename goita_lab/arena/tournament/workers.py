"""Plays blocks in this process, in processes of this machine, or on a Ray cluster.

Blocks with a user's class are played in child processes, even with one worker: importing and
running it runs code that may end its process.
"""

from __future__ import annotations

import os
from collections.abc import Callable, Iterable, Iterator
from concurrent.futures.process import BrokenProcessPool
from contextlib import contextmanager
from functools import partial
from importlib.util import find_spec
from itertools import islice
from typing import Any, Final, Literal

from goita_agents.base import AgentError
from goita_agents.faults import contained
from goita_agents.registry import check_plays, content_hash, is_own, load_agent, short_name
from goita_env.errors import SettingError, install
from goita_env.information import PLAIN, InformationStructure
from goita_lab.arena.tournament.block import play_block
from goita_lab.arena.tournament.task import BlockResult, Task
from goita_lab.processes import Processes, WorkerError, capped, on_processes, run

Backend = Literal["loky", "ray"]

MAX_WORKERS: Final = 1024

IMPORT_SECONDS: Final = 120.0  # Seconds that a user's class may take to be built.

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
    save_share: float = 0.0,
    strict: bool = False,
) -> Iterator[BlockResult]:
    """Yields the results of blocks as they are finished, in any order.

    Args:
        tasks: taken as workers become free, so it may end early.
        workers: number of processes; with one the blocks are played in this process, except those
            with a user's class.
        backend: "loky" for this machine, "ray" for a cluster (``check_workers`` first).
        save_share: share of the deals whose games the results hold.
        strict: raise at the first fault of an agent.

    Raises:
        AgentError: what a block raised.
        WorkerError: if a worker died; it names the pairings that were being played.
    """
    work = partial(play_block, save_share=save_share, guarded=True, strict=strict)
    if backend == "ray":
        yield from play_on_ray(work, tasks, workers)
        return
    workers, tasks = capped(workers, tasks)
    try:
        with Processes(workers) as processes:
            if workers > 1:
                yield from processes.each(work, tasks)
                return
            for task in tasks:
                if _runs_own(task):
                    yield from processes.each(work, [task])
                else:
                    yield from on_processes(work, [task], 1)
    except WorkerError as error:
        raise WorkerError(f"{error}\n{_played(error.items)}") from error


def _played(running: Iterable[Task]) -> str:
    """Says in which pairings a worker has died, and what to do about it."""
    names = {" against ".join(map(short_name, task.agents)): task for task in running}
    text = f"played: {', '.join(names)}"
    if any(map(_runs_own, names.values())):
        text += "; --isolate hosts a class of your own in processes of its own"
    return text


def inspect_own(
    specs: Iterable[str], information: InformationStructure = PLAIN
) -> dict[str, tuple[str, str]]:
    """Imports and builds users' classes in a child process, because that runs their code.

    Returns an error, empty if there is none, and the SHA-256 of the source by the agent's text.
    """
    found = {}
    with Processes() as processes:
        for spec in filter(is_own, specs):
            work = partial(_inspect, spec, information)
            try:
                found[spec] = processes.submit(work).result(IMPORT_SECONDS)
            except BrokenProcessPool:
                found[spec] = f"expected to build {spec!r}, but that ended the process", ""
            except TimeoutError:
                found[spec] = f"expected to build {spec!r} in {IMPORT_SECONDS:.0f} s", ""
                break  # the child hangs and is ended; one such class is enough to report
    return found


def _runs_own(task: Task) -> bool:
    """Returns whether a user's class runs in the process that plays the block."""
    return task.isolation is None and any(map(is_own, task.agents))


def _inspect(spec: str, information: InformationStructure) -> tuple[str, str]:
    try:
        with contained():
            check_plays(load_agent(spec), spec, information)
            return "", content_hash(spec) or ""
    except AgentError as error:
        return str(error), ""
    except BaseException as error:  # whatever a module raises as it is imported, SystemExit too
        return f"expected to build {spec!r}, but: {type(error).__name__}: {error}", ""


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
