"""Reviews the rounds of a match that are over: analyses them in processes of their own.

Each round is analysed twice: with few worlds, so that a page is there soon, and then with more.
"""

from __future__ import annotations

import os
from collections.abc import Sequence
from concurrent.futures import Future
from dataclasses import dataclass, replace
from functools import partial
from threading import RLock
from typing import Final

from goita_env.errors import SettingError
from goita_lab.pages.watch.analysis import Analysis, analyse, key_of
from goita_lab.pages.watch.pages import Review, page
from goita_lab.pages.watch.reading import Source, Watched
from goita_lab.processes import Processes

AGENT: Final = "champion"
"""Whose search values the decisions."""

WORLDS: Final = (256, 1024)
"""Worlds a decision and type: of the first analysis of a round, and of the second."""

WORKERS: Final = 2

_PRIORITY: Final = 10
"""Of the workers, as ``nice`` counts: who plays meanwhile should not wait for them."""

Job = tuple[str, int]
"""A round, by ``analysis.key_of``, and the number of worlds."""


@dataclass(frozen=True)
class Progress:
    """How far a review is."""

    rounds: int
    """Deals to be analysed."""
    done: dict[int, int]
    """How many of them are, by the number of worlds."""

    @property
    def worlds(self) -> int:
        """Worlds with which all are analysed; 0: there is no page yet."""
        return max((worlds for worlds, done in self.done.items() if done == self.rounds), default=0)


class Reviewer:
    """A reviewer that analyses rounds in the background, at most ``WORKERS`` at a time."""

    def __init__(self, agent: str = AGENT, worlds: Sequence[int] = WORLDS) -> None:
        self._agent, self._worlds = agent, tuple(worlds)
        self._processes = Processes(WORKERS)
        self._lock = RLock()  # what is done already calls back at once
        self._running: dict[Job, Future[Analysis]] = {}
        self._done: dict[Job, Analysis] = {}
        self._wanted: dict[Job, Watched] = {}
        self._failure = ""

    def ask(self, deals: Sequence[Watched]) -> Progress:
        """Has deals analysed that are not yet, the last one first; returns how far it is.

        Raises:
            SettingError: if there are none, or an analysis failed.
        """
        if not deals:
            raise SettingError("A review begins when the first round is over.")
        with self._lock:
            if self._failure:
                failure, self._failure = self._failure, ""
                raise SettingError(failure)
            keys = [_key(one) for one in deals]
            self._wanted = {
                (key, worlds): one
                for worlds in self._worlds
                for key, one in reversed([*zip(keys, deals, strict=True)])
            }
            self._start()
            return self._progress(keys)

    def page(self, source: Source, seat: int) -> str:
        """Returns the page of deals whose analysis is there, for the player of a seat.

        Raises:
            SettingError: if it is not there yet.
        """
        progress = self.ask(source.deals)
        if not progress.worlds:
            raise SettingError("The review is not ready yet.")
        found = [self._done[_key(one), progress.worlds] for one in source.deals]
        whole = replace(found[0], deals=tuple(one.deals[0] for one in found))
        return page(source, whole, Review(seat, refines=progress.worlds < self._worlds[-1]))

    def close(self) -> None:
        """Ends what is under way."""
        with self._lock:
            self._wanted = {}
        self._processes.end()

    def _progress(self, keys: Sequence[str]) -> Progress:
        done = {w: sum((key, w) in self._done for key in keys) for w in self._worlds}
        return Progress(len(keys), done)

    def _start(self) -> None:
        """Begins what is wanted, in its order, as far as workers are free."""
        for job, watched in self._wanted.items():
            if len(self._running) >= WORKERS:
                return
            if job not in self._done and job not in self._running:
                future = self._processes.submit(partial(_analysed, watched, self._agent, job[1]))
                self._running[job] = future
                future.add_done_callback(partial(self._take, job))

    def _take(self, job: Job, future: Future[Analysis]) -> None:
        with self._lock:
            self._running.pop(job, None)
            if future.cancelled() or not self._wanted:
                return
            if error := future.exception():
                self._failure = f"The review failed: {str(error).partition(chr(10))[0]}"
                self._wanted = {}
                return
            self._done[job] = future.result()
            self._start()


def _key(watched: Watched) -> str:
    return key_of(watched.deal, watched.earlier)


def _analysed(watched: Watched, agent: str, worlds: int) -> Analysis:
    """Returns the analysis of a deal alone; runs in a process of its own, behind the server's."""
    if hasattr(os, "setpriority"):
        os.setpriority(os.PRIO_PROCESS, 0, _PRIORITY)
    return analyse(Source("", (watched,), 1), agent, worlds=worlds)
