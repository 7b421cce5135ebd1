"""Plays blocks in processes of their own, and finds out whose code ended one.

A class of the user's may end the process that it runs in, or never return. The blocks that were
under way are then played again one at a time. The one whose process ends again is known to do it,
and so is the player whose code ran at that moment: it is out, and the block is played to its end
with random actions in its place.
"""

from __future__ import annotations

import mmap
import os
import signal
import struct
import tempfile
import threading
import time
import traceback
from collections.abc import Callable, Iterable, Iterator
from concurrent.futures import FIRST_COMPLETED, Future, wait
from concurrent.futures.process import BrokenProcessPool
from contextlib import suppress
from functools import cache, partial
from pathlib import Path
from typing import Any, Final, Self, TypeVar

from agents.base import AgentError
from agents.faults import Fault
from agents.registry import content_hash, is_own, prepare
from agents.tournament.block import play_block
from agents.tournament.task import BlockResult, Task
from agents.tournament.workers import Backend, WorkerError, follow, one_thread, play_on_ray
from goita_env.errors import GoitaError

R = TypeVar("R")


class BrokenBlockError(GoitaError):
    """Reports that a block could not be played on in its process, with the traceback."""


LOOK: Final = 2.0
"""Seconds between two looks at whether a child hangs."""

IMPORT_SECONDS: Final = 120.0
"""How long a class of the user's may take to be imported."""

_MARK: Final = struct.Struct("<qqd")
"""Player, seat, and until when its code may run."""


class Mark:
    """Is the file in which a child notes whose code it runs; another process can read it.

    Args:
        folder: where it lies, named by the child's process number.
        limits: seconds that a call may take, and so many for each of its positions.
    """

    def __init__(self, folder: str, limits: tuple[float, float]) -> None:
        self._limits = limits
        path = Path(folder, str(os.getpid()))
        if not path.exists():
            path.write_bytes(_MARK.pack(-1, -1, 0.0))
        with path.open("r+b") as file:
            self._map = mmap.mmap(file.fileno(), _MARK.size)

    def enter(self, player: int, seat: int, rows: int) -> None:
        """Notes that a player's code runs, for so many positions."""
        deadline = time.monotonic() + self._limits[0] + self._limits[1] * rows
        self._map[:] = _MARK.pack(player, seat, deadline)

    def leave(self) -> None:
        """Notes that it has returned."""
        self._map[:] = _MARK.pack(-1, -1, 0.0)


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
        workers: processes; one of the backend "loky" is this process itself, but for blocks with
            classes of the user's.
        backend: "loky" for this machine, "ray" for a cluster (``check_workers`` first).
        save_share: share of the deals whose games the results hold.
        strict: the first fault of an agent raises.

    Raises:
        AgentError: what a block raised.
        WorkerError: if a process died in which no code of the user's ran.
    """
    work = partial(play_block, save_share=save_share, guarded=True, strict=strict)
    if backend == "ray":
        yield from play_on_ray(work, tasks, workers)
        return
    with Children(workers, save_share, strict) as children:
        if workers > 1:
            yield from children.play(tasks)
            return
        for task in tasks:
            if runs_own(task):
                yield from children.play([task])
            else:
                with one_thread():
                    result = work(task)
                yield result


def runs_own(task: Task) -> bool:
    """Tells whether a block runs a class of the user's in its own process."""
    return task.isolation is None and any(map(is_own, task.agents))


def inspect_own(specs: Iterable[str]) -> dict[str, tuple[str, str]]:
    """Looks at classes of the user's, in a child process: importing one runs its code.

    Args:
        specs: texts of agents; those of the repository are left out.

    Returns:
        For each what is wrong with it, empty if nothing, and the SHA-256 of its source.
    """
    found = {}
    with Children(1) as children:
        for spec in specs:
            if not is_own(spec):
                continue
            try:
                found[spec] = children.submit(partial(_inspect, spec)).result(IMPORT_SECONDS)
            except BrokenProcessPool:
                found[spec] = f"expected to import {spec!r}, but that ended the process", ""
            except TimeoutError:
                found[spec] = f"expected to import {spec!r} in {IMPORT_SECONDS:.0f} s", ""
                break  # the child still tries; it is ended, and one is enough to say
    return found


class Children:
    """Plays blocks in child processes.

    Args:
        workers: how many.
        save_share: share of the deals whose games the results hold.
        strict: the first fault of an agent raises.
        limits: seconds that a call of a class may take, and so many for each of its positions,
            before its process is ended.
    """

    def __init__(
        self,
        workers: int,
        save_share: float = 0.0,
        strict: bool = False,
        limits: tuple[float, float] = (120.0, 10.0),
    ) -> None:
        self._workers, self._save_share, self._strict = workers, save_share, strict
        self._limits = limits
        self._folder = tempfile.TemporaryDirectory(prefix="goita-", ignore_cleanup_errors=True)
        self._executor: Any = None
        self._size = 0
        self._looked = 0.0

    def __enter__(self) -> Self:
        return self

    def __exit__(self, *_: object) -> None:
        self.end()
        self._folder.cleanup()

    def play(self, tasks: Iterable[Task]) -> Iterator[BlockResult]:
        """Yields the results of blocks in any order.

        Args:
            tasks: taken as children become free.

        Raises:
            AgentError: what a block raised.
            WorkerError: if a child died in which no code of the user's ran.
        """
        waiting = iter(tasks)
        running: dict[Future[BlockResult], Task] = {}
        lost: list[Task] = []
        while True:
            try:
                while len(running) < 2 * self._workers and not lost:
                    task = next(waiting, None)
                    if task is None:
                        break
                    lost.append(task)
                    running[self._submit(task, self._workers)] = lost.pop()
            except BrokenProcessPool:
                pass  # the task is among the lost
            if not running and not lost:
                return
            done, _ = wait(running, timeout=LOOK, return_when=FIRST_COMPLETED)
            self._end_those_that_hang()
            for future in done:
                task = running.pop(future)
                try:
                    yield future.result()
                except (BrokenProcessPool, BrokenBlockError):
                    lost.append(task)
            if lost:
                lost += running.values()
                running.clear()
                while lost:
                    yield self._alone(lost.pop(0))

    def _alone(self, task: Task) -> BlockResult:
        """Plays a block in a child that does nothing else, until its process survives."""
        dead: dict[int, Fault] = {}
        while True:
            self.end()
            future = self._submit(task, 1, dead)
            while not wait([future], timeout=LOOK).done:
                self._end_those_that_hang()
            try:
                return future.result()
            except (BrokenProcessPool, BrokenBlockError) as error:
                before = len(dead)
                dead |= self._found_out(task, dead, error)
                if len(dead) == before:
                    raise WorkerError(
                        f"expected workers to stay alive, but one died in block {task.block} of "
                        f"{' against '.join(task.agents)}: {error}"
                    ) from error
            finally:
                self.end()

    def _found_out(self, task: Task, dead: dict[int, Fault], error: Exception) -> dict[int, Fault]:
        """Returns whose code ran in the child that died: every class of the user's, if unknown."""
        own = [player for player, spec in enumerate(task.agents) if is_own(spec)]
        marks = [(player, seat) for _, player, seat, _ in self._marks() if player >= 0]
        named = marks or [(player, -1) for player in own if player not in dead]
        text = (
            f"expected its process to live and to answer, but it ended or hung in deals "
            f"{task.first} to {task.first + task.deals - 1}"
        )
        trace = str(error) if isinstance(error, BrokenBlockError) else ""
        return {player: Fault("died", seat, -1, text, traceback=trace) for player, seat in named}

    def _submit(
        self, task: Task, workers: int, dead: dict[int, Fault] | None = None
    ) -> Future[BlockResult]:
        """Has a child play a block."""
        work = partial(
            _play,
            task,
            save_share=self._save_share,
            strict=self._strict,
            dead=dead,
            marks=self._folder.name,
            limits=self._limits,
        )
        return self.submit(work, workers)

    def submit(self, work: Callable[[], R], workers: int = 1) -> Future[R]:
        """Has a child do something; the children are begun when they are first needed."""
        from joblib.externals.loky import get_reusable_executor

        if self._executor is None or self._size != workers:
            self.end()
            for mark in Path(self._folder.name).iterdir():
                mark.unlink()
            self._executor = get_reusable_executor(max_workers=workers, timeout=300, reuse=False)
            self._size = workers
        future: Future[R] = self._executor.submit(_do, os.getpid(), os.getcwd(), work)
        return future

    def _marks(self) -> Iterator[tuple[int, int, int, float]]:
        """Yields process, player, seat and deadline of the children, as they last noted them."""
        for path in Path(self._folder.name).iterdir():
            yield int(path.name), *_MARK.unpack(path.read_bytes())

    def _end_those_that_hang(self) -> None:
        """Ends children in which a player's code has run for too long."""
        if time.monotonic() < self._looked + LOOK:
            return
        self._looked = time.monotonic()
        for process, player, _, deadline in self._marks():
            if player >= 0 and time.monotonic() > deadline:
                with suppress(ProcessLookupError):
                    os.kill(process, signal.SIGKILL)

    def end(self) -> None:
        """Ends the children, whatever they do."""
        executor, self._executor = self._executor, None
        if executor is None:
            return
        # The executor's thread may be looking for work that a shutdown has just thrown away: it
        # then ends by a KeyError, which is nothing that anybody should read.
        before, threading.excepthook = threading.excepthook, lambda _: None
        try:
            executor.shutdown(wait=True, kill_workers=True)
        finally:
            threading.excepthook = before


def _do(parent: int, folder: str, work: Callable[[], R]) -> R:
    """Does something for another process, from its folder, and ends when that one does."""
    follow(parent)
    _print_elsewhere()
    if os.getcwd() != folder:  # a class of the user's may have gone elsewhere
        os.chdir(folder)
    with one_thread():
        return work()


@cache
def _print_elsewhere() -> None:
    """Sends what a class prints to standard error: standard output is for the tables."""
    os.dup2(2, 1)


def _inspect(spec: str) -> tuple[str, str]:
    """Returns what is wrong with the text of a class of the user's, and its source's hash."""
    try:
        prepare(spec)
        return "", content_hash(spec) or ""
    except AgentError as error:
        return str(error), ""
    except BaseException as error:  # what a module raises as it is imported, SystemExit too
        return f"expected to import {spec!r}, but: {type(error).__name__}: {error}", ""


def _play(
    task: Task,
    *,
    save_share: float,
    strict: bool,
    dead: dict[int, Fault] | None,
    marks: str,
    limits: tuple[float, float],
) -> BlockResult:
    """Plays a block in a child."""
    mark = Mark(marks, limits)
    try:
        return play_block(
            task, save_share=save_share, guarded=True, strict=strict, dead=dead, watch=mark
        )
    except GoitaError:
        raise
    except BaseException as error:  # a class may have broken what it shares the process with
        lines = traceback.format_exception(error, limit=-8)
        raise BrokenBlockError("".join(lines)[-4000:]) from error
