"""Does long work on workers, and keeps finished tasks, from which a stopped run continues.

Workers are processes of this machine, or of the Ray cluster that RAY_ADDRESS names.

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
from collections.abc import Callable, Collection, Iterable, Iterator, Mapping
from concurrent.futures import FIRST_COMPLETED, Future, wait
from concurrent.futures.process import BrokenProcessPool
from contextlib import ExitStack, contextmanager
from dataclasses import dataclass
from datetime import timedelta
from functools import cache, partial
from importlib.util import find_spec
from itertools import chain, islice
from pathlib import Path
from typing import Any, Final, Self, TypeVar

from goita_agents.identity import Identities
from goita_env.errors import GoitaError, SettingError, install
from goita_lab.store import TaskStore

T = TypeVar("T")
R = TypeVar("R")

TASKS_KIND: Final = "pieces of work"
"""What a file of tasks holds, in words."""
MAX_WORKERS: Final = 1024

PROGRESS_INTERVAL: Final = 60.0
"""Seconds between two lines of progress without a terminal."""
_WIPE: Final = "\x1b[2K"

ADDRESS: Final = "RAY_ADDRESS"
"""The variable of Ray itself that names a cluster."""

Submit = Callable[[Callable[[], Any]], "Future[Any]"]

Progress = Callable[[str, int, int], object]
"""Receives what is done, how many of it are finished, and how many there are."""


class WorkerError(GoitaError):
    """A worker that died: killed, out of memory, or brought down by a library.

    Attributes:
        items: what the workers were doing; not what was waiting for one of them.
    """

    def __init__(self, text: str, items: tuple[Any, ...] = ()) -> None:
        super().__init__(text)
        self.items = items


def check_workers(workers: int) -> None:
    """Raises a SettingError if workers are too few or too many, or Ray is meant and missing."""
    if not 1 <= workers <= MAX_WORKERS:
        raise SettingError(f"expected 1 to {MAX_WORKERS:,} workers, got {workers!r}")
    if workers > 1 and ADDRESS in os.environ and find_spec("ray") is None:
        raise SettingError(
            f"expected ray for the cluster of {ADDRESS}, but it is not installed: "
            f"{install('ray,lab')}, in an environment of its own (docs/tournaments.md)"
        )


@dataclass(frozen=True)
class Runner:
    """How tasks are done, which changes no result."""

    workers: int = 1
    """Processes of this machine, or of a Ray cluster."""
    results: Path | None = None
    """File that keeps finished tasks, so that a stopped run can continue; None for no file."""
    progress: Progress = lambda *_: None
    anew: bool = False
    """Begin the file anew, whatever it holds."""
    identities: Identities | None = None
    """What the agents were made of when a command began; agents are added. None: when work begins.
    """

    def __post_init__(self) -> None:
        check_workers(self.workers)

    @contextmanager
    def opened(self, arguments: Mapping[str, Any]) -> Iterator[OpenRunner]:
        """Opens the file and the workers for several runs.

        Args:
            arguments: all that results depend on, except the keys of tasks and their agents, as
                JSON.

        Raises:
            SettingError: if the file holds something else, is of other arguments or versions, is
                damaged, or is open in another program.
            OSError: if the file cannot be read or written.
        """
        identities = self.identities or Identities()
        with ExitStack() as stack:
            store = None
            if self.results is not None:
                store = TaskStore(self.results, TASKS_KIND, arguments, identities, anew=self.anew)
                stack.enter_context(store)
            workers = stack.enter_context(Workers(self.workers))
            yield OpenRunner(workers, store, identities, self.progress)

    def run(
        self,
        work: Callable[[T], R],
        todo: Mapping[str, T],
        kind: Callable[[T], Any],
        arguments: Mapping[str, Any],
        what: str = "tasks",
        agents: Callable[[T], Collection[str]] = lambda _: (),
        finished: Callable[[str, R], object] = lambda *_: None,
    ) -> dict[str, R]:
        """Does tasks as ``OpenRunner.run`` does, in a file and by workers of their own."""
        with self.opened(arguments) as runner:
            return runner.run(work, todo, kind, what, agents, finished)


class OpenRunner:
    """Does tasks in a file and by workers that are open."""

    def __init__(
        self,
        workers: Workers,
        store: TaskStore | None,
        identities: Identities,
        progress: Progress,
    ) -> None:
        self._workers, self._store, self._identities = workers, store, identities
        self._progress, self._done, self._total = progress, 0, 0

    def run(
        self,
        work: Callable[[T], R],
        todo: Mapping[str, T],
        kind: Callable[[T], Any],
        what: str = "tasks",
        agents: Callable[[T], Collection[str]] = lambda _: (),
        finished: Callable[[str, R], object] = lambda *_: None,
    ) -> dict[str, R]:
        """Returns the results of tasks by key, in the order of ``todo``.

        Args:
            work: does a task; it can be pickled.
            todo: the tasks by key.
            kind: returns the type of a task's result, as ``goita_lab.store`` keeps it.
            what: the tasks in words, for the progress.
            agents: returns the specs, the texts that name agents, of those on which a task depends.
                If such an agent has changed, the task is done again.
            finished: called with the key and the result of each task when it is finished, first
                with those of the file.

        Raises:
            SettingError: if a kept result is damaged, or the file cannot be written.
            WorkerError: if a worker died.
        """
        store, results = self._store, dict[str, R]()
        specs_of = {key: agents(task) for key, task in todo.items()}
        # Before the store is read: its keys hold these identities, so that a task of an agent that
        # has changed has another key.
        for spec in dict.fromkeys(chain.from_iterable(specs_of.values())):
            if spec not in self._identities.specs:
                self._identities.add(spec)
        if store is not None:
            sys.stderr.write(store.note(specs_of))
            kept_keys = [key for key in todo if store.has(key, specs_of[key])]
            results = {key: store.value(key, specs_of[key], kind(todo[key])) for key in kept_keys}
        missing = [(key, task) for key, task in todo.items() if key not in results]
        self._done, self._total = self._done + len(results), self._total + len(todo)
        self._progress(what, self._done, self._total)
        for key, result in results.items():
            finished(key, result)
        for key, result in self._workers.map(partial(_keyed, work), missing):
            results[key] = result
            if store is not None:
                store.add(key, specs_of[key], result)
            self._done += 1
            self._progress(what, self._done, self._total)
            finished(key, result)
        return {key: results[key] for key in todo}


HERE: Final = Runner()
"""Works in this process, keeps no file and shows no progress."""


def _keyed(work: Callable[[T], R], task: tuple[str, T]) -> tuple[str, R]:
    return task[0], work(task[1])


def stderr_progress() -> Progress:
    """Returns a progress on standard error: a line on a terminal, elsewhere one a minute."""
    terminal, last_line = sys.stderr.isatty(), time.monotonic()
    first_seen: dict[str, tuple[float, int]] = {}  # of each kind of work: when, and how much done

    def show(what: str, finished: int, total: int) -> None:
        """Shows how far the work ``what`` is; one text of ``what`` is one kind of work."""
        nonlocal last_line
        # The finished line is wiped out; more of the same may follow, as after a snapshot.
        if finished >= total:
            if terminal:
                sys.stderr.write(f"\r{_WIPE}")
                sys.stderr.flush()
            return
        now = time.monotonic()
        since, first = first_seen.setdefault(what, (now, finished))
        time_left = "not known"
        if finished > first:
            seconds = (now - since) * (total - finished) / (finished - first)
            time_left = str(timedelta(seconds=round(seconds)))
        line = f"{what}: {finished:,} of {total:,}, time left: {time_left}"
        if terminal:
            sys.stderr.write(f"\r{_WIPE}{line}")
            sys.stderr.flush()
        elif now - last_line >= PROGRESS_INTERVAL:
            last_line = now
            sys.stderr.write(f"{line}\n")

    return show


def on_workers(work: Callable[[T], R], items: Iterable[T], workers: int) -> Iterator[R]:
    """Yields the result of every item as ``Workers.map`` does, by workers of its own."""
    with Workers(workers) as pool:
        yield from pool.map(work, items)


class Workers:
    """Workers that do items of any work, until the block of a ``with`` statement ends.

    Args:
        workers: with 1 the work is done in this process. No more are started than are of use
            (``capped``).
    """

    def __init__(self, workers: int) -> None:
        check_workers(workers)
        self._most, self._started = workers, 0
        self._stack = ExitStack()
        self._submit: Submit | None = None

    def __enter__(self) -> Self:
        return self

    def __exit__(self, *error: object) -> None:
        self._stack.close()

    def map(self, work: Callable[[T], R], items: Iterable[T]) -> Iterator[R]:
        """Yields the result of every item in any order.

        Args:
            work: does an item; it can be pickled, and has one thread for matrices.
            items: taken as workers become free, so they may depend on results that were yielded.

        Raises:
            WorkerError: if a worker died.
        """
        workers, items = capped(self._most, items)
        if workers == 1:
            for item in items:
                with one_thread():
                    result = work(item)
                yield result
            return
        submit, running = self._submitter(workers), dict[Future[R], T]()
        while True:
            # Two items for each worker: one is done, the other waits, so that no worker does.
            for item in islice(items, 2 * self._started - len(running)):
                running[submit(partial(_run, os.getcwd(), partial(work, item)))] = item
            if not running:
                return
            for future in wait(running, return_when=FIRST_COMPLETED).done:
                try:
                    result = future.result()
                except BrokenProcessPool as error:
                    text = f"expected workers to stay alive, but one died: {error}"
                    # A cluster names the task that was lost. Processes of this machine begin work
                    # in the order in which it was submitted, so they were at the first items
                    # without a result.
                    lost = [running[future]]
                    if ADDRESS not in os.environ:
                        lost = [item for future, item in running.items() if not _succeeded(future)]
                    raise WorkerError(text, tuple(lost[:workers])) from error
                del running[future]
                yield result

    def _submitter(self, workers: int) -> Submit:
        """Returns the function that gives work to the workers; starts more if they are of use."""
        if self._submit is None or workers > self._started:
            self._stack.close()
            start = _ray() if ADDRESS in os.environ else _processes(workers)
            self._submit, self._started = self._stack.enter_context(start), workers
        return self._submit


def _succeeded(future: Future[Any]) -> bool:
    return future.done() and future.exception() is None


def capped(workers: int, items: Iterable[T]) -> tuple[int, Iterator[T]]:
    """Returns how many workers are of use, and the items.

    More than there are cores or items only take time to start; a line on standard error says if
    fewer are started than requested.
    """
    if workers == 1:
        return 1, iter(items)
    waiting, cores = iter(items), _cores()
    first = list(islice(waiting, workers))
    useful = max(1, min(len(first), cores))
    if first and useful < workers:
        why = f"there are {cores} core(s)" if useful == cores else "there is no more work"
        _tell(f"started {useful} of {workers} workers: {why}\n")
    return min(workers, useful), chain(first, waiting)


@contextmanager
def one_thread() -> Iterator[None]:
    """Holds the libraries that multiply matrices to one thread."""
    with _libraries().limit(limits=1):
        yield


@cache
def _libraries() -> Any:
    from threadpoolctl import ThreadpoolController

    return ThreadpoolController()


@cache
def _tell(line: str) -> None:
    """Says something on standard error, once."""
    sys.stderr.write(line)


def _cores() -> int:
    if ADDRESS in os.environ:
        return int(_cluster().cluster_resources().get("CPU", 0))
    from loky import cpu_count

    return int(cpu_count())


@contextmanager
def _processes(workers: int) -> Iterator[Submit]:
    """Yields a function that runs work in a child process.

    The children end with the block, or with this process. What a child prints goes to standard
    error: standard output is for tables.
    """
    from loky import ProcessPoolExecutor

    executor = ProcessPoolExecutor(
        workers, timeout=300, initializer=_follow, initargs=[os.getpid()]
    )
    try:
        yield executor.submit
    finally:
        executor.shutdown(wait=True, kill_workers=True)


@contextmanager
def _ray() -> Iterator[Submit]:
    """Yields a function that runs work on the cluster, spread over its nodes."""
    ray, running = _cluster(), set()
    # One processor each: otherwise Ray puts all on one node.
    task = ray.remote(num_cpus=1, scheduling_strategy="SPREAD", max_retries=0)(_answer)

    def submit(work: Callable[[], R]) -> Future[R]:
        task_reference, future = task.remote(work), Future[R]()
        running.add(task_reference)
        future.add_done_callback(lambda _: running.discard(task_reference))
        task_reference.future().add_done_callback(partial(_settle, future))
        return future

    try:
        yield submit
    finally:
        for reference in list(running):
            ray.cancel(reference, force=True)


def _answer(work: Callable[[], R]) -> tuple[R | None, Exception | None]:
    """Returns a result or the error, which Ray would wrap in one of its own."""
    try:
        return work(), None
    except Exception as error:
        return None, error


def _settle(future: Future[R], reply: Future[tuple[R, Exception | None]]) -> None:
    """Hands on what came from the cluster; a worker that died is one as on this machine."""
    if (lost := reply.exception()) is not None:
        future.set_exception(BrokenProcessPool(str(lost)))
        return
    result, error = reply.result()
    future.set_exception(error) if error is not None else future.set_result(result)


def _cluster() -> Any:
    """Joins the cluster; returns Ray."""
    import ray

    if not ray.is_initialized():
        ray.init(log_to_driver=False, logging_level="ERROR")
    return ray


def _run(folder: str, work: Callable[[], R]) -> R:
    """Runs a function in a worker: from a folder, if it is there, with one thread for matrices."""
    if os.getcwd() != folder and os.path.isdir(folder):  # a user's class may have left it
        os.chdir(folder)
    with one_thread():
        return work()


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
