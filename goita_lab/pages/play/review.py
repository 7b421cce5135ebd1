"""Reviews the rounds of a match that are over: analyses them in processes of their own.

Each deal is analysed twice: with few worlds, so that its review is there soon, and then again with
more where these may change a verdict.
"""

from __future__ import annotations

import os
import time
from collections import defaultdict
from collections.abc import Sequence
from concurrent.futures import Future
from dataclasses import dataclass, replace
from functools import partial
from threading import RLock
from typing import Final

from goita_env.errors import SettingError
from goita_lab.pages.languages import LanguageName
from goita_lab.pages.watch.analysis import Analysis, analyse, key_of, refine
from goita_lab.pages.watch.pages import Review, page
from goita_lab.pages.watch.reading import Source, Watched, rounds_of
from goita_lab.processes import Processes

AGENT: Final = "champion"
"""Whose search values the decisions."""

WORLDS: Final = (256, 1024)
"""Worlds a decision and type: of the first analysis of a deal, and of the second."""

WORKERS: Final = 2

SECONDS: Final = 7
"""CPU time of the first analysis of a deal, about; the second takes as long."""

PATIENCE: Final = 20.0
"""Seconds after the last question how far it is when no more analyses are begun: nobody waits."""

_PRIORITY: Final = 10
"""Of the workers, as ``nice`` counts: who plays meanwhile should not wait for them."""


@dataclass(frozen=True)
class Progress:
    """How far a review is."""

    rounds: int
    """Rounds that are over; one with a redeal has several deals."""
    ready: tuple[int, ...]
    """Those whose analysis is there, from 1."""
    refined: int
    """How many of them were analysed with most worlds."""
    seconds: int
    """Until the others are ready, about."""


class Reviewer:
    """A reviewer that analyses deals in the background.

    At most ``WORKERS`` work at a time, of them at most one on a second analysis: a round that has
    just ended is begun at once. ``worlds``: as ``WORLDS``.
    """

    def __init__(self, agent: str = AGENT, worlds: tuple[int, int] = WORLDS) -> None:
        self._agent, self._worlds = agent, worlds
        self._processes = Processes(WORKERS)
        self._lock = RLock()  # what is done already calls back at once
        self._running: dict[str, Future[Analysis]] = {}
        self._found: dict[str, Analysis] = {}
        self._wanted: dict[str, Watched] = {}
        self._asked = 0.0
        self._failure = ""
        self._page: tuple[object, str] = (None, "")

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
            self._asked = time.monotonic()
            self._wanted = {_key(one): one for one in reversed(deals)}
            self._start()
            rounds = defaultdict[int, set[str]](set)
            for number, one in zip(rounds_of(deals), deals, strict=True):
                rounds[number].add(_key(one))
            found = self._found.keys()
            ready = tuple(number for number, keys in rounds.items() if found >= keys)
            refined = sum(all(map(self._is_refined, keys)) for keys in rounds.values())
            left = -(-len(self._wanted.keys() - found) // WORKERS)
            return Progress(len(rounds), ready, refined, SECONDS * left)

    def page(
        self, source: Source, seat: int, language: LanguageName = "en", as_file: bool = False
    ) -> str:
        """Returns the page of some deals for the player of a seat, with the reviews that are there.

        Args:
            source: the deals.
            seat: of the player.
            language: in which the page is told.
            as_file: for a file: without what needs a server.

        Raises:
            SettingError: if there is none yet.
        """
        progress = self.ask(source.deals)
        if not progress.ready:
            raise SettingError("The review is not ready yet.")
        with self._lock:
            found = [self._found.get(_key(one)) for one in source.deals]
            wanted = (source, seat, progress, language, as_file)
            if self._page[0] != wanted:
                first = next(filter(None, found))
                worlds = max(one.settings.worlds for one in found if one)
                whole = replace(
                    first,
                    settings=replace(first.settings, worlds=worlds),
                    deals=tuple(one.deals[0] if one else () for one in found),
                    players=tuple(one.players[0] if one else () for one in found),
                )
                review = Review(seat, progress.ready, progress.refined, as_file)
                self._page = wanted, page(source, whole, review, language)
            return self._page[1]

    def close(self) -> None:
        """Ends what is under way."""
        with self._lock:
            self._wanted = {}
        self._processes.end()

    def _is_refined(self, key: str) -> bool:
        found = self._found.get(key)
        return found is not None and found.settings.worlds == self._worlds[1]

    def _start(self) -> None:
        """Begins what is wanted, in its order, as far as workers are free and somebody waits."""
        if time.monotonic() > self._asked + PATIENCE:
            return
        for key, watched in self._wanted.items():
            if key not in self._found:
                self._begin(key, partial(_analysed, watched, self._agent, self._worlds[0]))
        for key, watched in self._wanted.items():
            # What is under way and was found before is a second analysis.
            if (
                key in self._found
                and not self._is_refined(key)
                and not self._found.keys() & self._running
            ):
                self._begin(key, partial(_refined, watched, self._found[key], self._worlds[1]))

    def _begin(self, key: str, work: partial[Analysis]) -> None:
        if len(self._running) < WORKERS and key not in self._running:
            future = self._running[key] = self._processes.submit(work)
            future.add_done_callback(partial(self._take, key))

    def _take(self, key: str, future: Future[Analysis]) -> None:
        with self._lock:
            self._running.pop(key, None)
            if future.cancelled() or not self._wanted:
                return
            if error := future.exception():
                self._failure = f"The review failed: {str(error).partition(chr(10))[0]}"
                self._wanted = {}
                return
            self._found[key] = future.result()
            self._start()


def _key(watched: Watched) -> str:
    return key_of(watched.deal, watched.earlier)


def _analysed(watched: Watched, agent: str, worlds: int) -> Analysis:
    """Returns the analysis of a deal alone; runs in a process of its own, behind the server's."""
    _behind()
    return analyse(Source("", (watched,), 1), agent, worlds=worlds)


def _refined(watched: Watched, found: Analysis, worlds: int) -> Analysis:
    _behind()
    return refine(Source("", (watched,), 1), found, worlds)


def _behind() -> None:
    if hasattr(os, "setpriority"):
        os.setpriority(os.PRIO_PROCESS, 0, _PRIORITY)
