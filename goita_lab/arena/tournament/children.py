"""Plays blocks in child processes, and finds out whose code ended one.

A user's class may end its process or never return. The blocks that were under way are then played
again one at a time. If the process of a block ends again, the player whose code ran at that moment
forfeits, and the block is played to its end with random actions in its place.
"""

from __future__ import annotations

import os
import signal
import tempfile
import time
import traceback
from collections.abc import Callable, Iterable, Iterator
from concurrent.futures import FIRST_COMPLETED, Future, wait
from concurrent.futures.process import BrokenProcessPool
from contextlib import suppress
from functools import partial
from itertools import islice
from pathlib import Path
from typing import Final

from goita_agents.base import Agent, AgentError, close
from goita_agents.faults import Fault, contained
from goita_agents.registry import check_plays, content_hash, is_own, prepare
from goita_env.errors import GoitaError
from goita_env.information import PLAIN, Information
from goita_lab.arena.tournament.block import play_block
from goita_lab.arena.tournament.guarded import Watch
from goita_lab.arena.tournament.task import BlockResult, Task
from goita_lab.arena.tournament.workers import (
    Backend,
    Processes,
    WorkerError,
    one_thread,
    play_on_ray,
)


class BrokenBlockError(GoitaError):
    """Reports that a block could not be played on in its process, with the traceback."""


Play = Callable[..., BlockResult]

LOOK: Final = 2.0  # Seconds between two checks whether a child hangs.

IMPORT_SECONDS: Final = 120.0  # Seconds that the import of a user's class may take.


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
        WorkerError: if a process died in which no user's code ran.
    """
    work = partial(play_block, save_share=save_share, guarded=True, strict=strict)
    if backend == "ray":
        yield from play_on_ray(work, tasks, workers)
        return
    with Children(workers, work) as children:
        if workers > 1:
            yield from children.play(tasks)
            return
        for task in tasks:
            if _runs_own(task):
                yield from children.play([task])
            else:
                with one_thread():
                    result = work(task)
                yield result


def inspect_own(
    specs: Iterable[str], information: Information = PLAIN
) -> dict[str, tuple[str, str]]:
    """Imports users' classes in a child process, because importing one runs its code.

    It builds them there, too, where they must say whether they play with such options.

    Returns an error, empty if there is none, and the SHA-256 of the source by the agent's text.
    """
    found = {}
    with Processes() as processes:
        for spec in filter(is_own, specs):
            work = partial(_inspect, spec, information)
            try:
                found[spec] = processes.submit(work).result(IMPORT_SECONDS)
            except BrokenProcessPool:
                found[spec] = f"expected to import {spec!r}, but that ended the process", ""
            except TimeoutError:
                found[spec] = f"expected to import {spec!r} in {IMPORT_SECONDS:.0f} s", ""
                break  # the child hangs and is ended; one such class is enough to report
    return found


class Children(Processes):
    """Plays blocks in child processes by ``work``, like ``play_block``; limits of ``Watch``.

    A pairing with a user's class has children of its own: what the class leaves in them meets no
    other pairing.
    """

    def __init__(
        self, workers: int, work: Play = play_block, limits: tuple[float, float] = (120.0, 10.0)
    ) -> None:
        super().__init__(workers)
        self._folder = tempfile.TemporaryDirectory(prefix="goita-", ignore_cleanup_errors=True)
        self._play = partial(_play, work, self._folder.name, limits)
        self._looked = 0.0
        self._pairing: tuple[str, ...] = ()
        """The agents of the pairing whose classes have run in the children; empty: none has."""

    def __exit__(self, *_: object) -> None:
        self.end()
        self._folder.cleanup()

    def play(self, tasks: Iterable[Task]) -> Iterator[BlockResult]:
        """Yields the results of blocks in any order; raises as ``play_blocks`` does."""
        waiting = iter(tasks)
        running: dict[Future[BlockResult], Task] = {}
        pending: list[Task] = []
        lost: list[Task] = []
        while True:
            try:
                while len(running) < 2 * self.workers and not lost:
                    pending = pending or list(islice(waiting, 1))
                    if not pending:
                        break
                    task = pending[0]
                    if self._pairing not in ((), task.agents):
                        if running:
                            break
                        self.end()
                    if _runs_own(task):
                        self._pairing = task.agents
                    running[self.submit(partial(self._play, task))] = task
                    pending.clear()
            except BrokenProcessPool:
                lost, pending = pending, []
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
                    yield self._play_alone(lost.pop(0))

    def end(self) -> None:
        super().end()
        self._pairing = ()
        for mark in Path(self._folder.name).iterdir():
            mark.unlink()

    def _play_alone(self, task: Task) -> BlockResult:
        """Plays a block in a child that does nothing else, again until its process survives."""
        dead: dict[int, Fault] = {}
        self.end()
        while True:
            future = self.submit(partial(self._play, task, dead=dead), 1)
            try:
                while not wait([future], timeout=LOOK).done:
                    self._end_those_that_hang()
                return future.result()
            except (BrokenProcessPool, BrokenBlockError) as error:
                before = len(dead)
                dead |= self._culprits(task, dead, error)
                if len(dead) == before:
                    raise WorkerError(
                        f"expected workers to stay alive, but one died in block {task.block} of "
                        f"{' against '.join(task.agents)}: {error}"
                    ) from error
            finally:
                self.end()

    def _culprits(self, task: Task, dead: dict[int, Fault], error: Exception) -> dict[int, Fault]:
        """Returns whose code ran in the child that died; if unknown, every user's class."""
        own = [player for player, spec in enumerate(task.agents) if is_own(spec)]
        marks = [(player, seat) for _, player, seat, _ in self._marks() if player >= 0]
        named = marks or [(player, -1) for player in own if player not in dead]
        text = (
            f"expected its process to live and to answer, but it ended or hung in deals "
            f"{task.first} to {task.first + task.deals - 1}"
        )
        trace = str(error) if isinstance(error, BrokenBlockError) else ""
        return {player: Fault("died", seat, -1, text, traceback=trace) for player, seat in named}

    def _marks(self) -> Iterator[tuple[int, int, int, float]]:
        """Yields process, player, seat and deadline of each child."""
        for path in Path(self._folder.name).iterdir():
            yield int(path.name), *Watch.layout.unpack(path.read_bytes())

    def _end_those_that_hang(self) -> None:
        if time.monotonic() < self._looked + LOOK:
            return
        self._looked = time.monotonic()
        for process, player, _, deadline in self._marks():
            if player >= 0 and time.monotonic() > deadline:
                with suppress(ProcessLookupError):
                    os.kill(process, signal.SIGKILL)


def _runs_own(task: Task) -> bool:
    """Returns whether a user's class runs in the process that plays the block."""
    return task.isolation is None and any(map(is_own, task.agents))


def _inspect(spec: str, information: Information) -> tuple[str, str]:
    try:
        with contained():
            build = prepare(spec)
            if information != PLAIN:
                _check_plays(build, spec, information)
            return "", content_hash(spec) or ""
    except AgentError as error:
        return str(error), ""
    except BaseException as error:  # whatever a module raises as it is imported, SystemExit too
        return f"expected to import {spec!r}, but: {type(error).__name__}: {error}", ""


def _check_plays(build: Callable[[], Agent], spec: str, information: Information) -> None:
    """Raises an AgentError if a class does not play such games."""
    try:
        agent = build()
    except BaseException:  # a fault of the class, for which it forfeits as it is seated
        return
    try:
        check_plays(agent, spec, information)
    finally:
        close([agent])


def _play(
    work: Play,
    marks: str,
    limits: tuple[float, float],
    task: Task,
    dead: dict[int, Fault] | None = None,
) -> BlockResult:
    watch = Watch(marks, limits)
    try:
        return work(task, guarded=True, dead=dead, watch=watch)
    except GoitaError:
        raise
    except BaseException as error:  # a class may have broken what it shares the process with
        lines = traceback.format_exception(error, limit=-8)
        raise BrokenBlockError("".join(lines)[-4000:]) from error
