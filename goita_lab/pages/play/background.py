"""Analyses the rounds of a match that are over, in one process behind the server's."""

from __future__ import annotations

import os
import signal
from dataclasses import dataclass
from multiprocessing import get_context
from pathlib import Path
from typing import TYPE_CHECKING, Any, Final

from goita_env.errors import SettingError
from goita_lab.pages.languages import LanguageName
from goita_lab.pages.watch.analysis import Analysis, analyse
from goita_lab.pages.watch.pages import page
from goita_lab.pages.watch.reading import Source

if TYPE_CHECKING:
    from multiprocessing.connection import Connection
    from multiprocessing.context import SpawnProcess

AGENT: Final = "champion"
"""Whose search values the decisions."""

NICENESS: Final = 10
"""Who plays meanwhile should not wait for the analysis."""


@dataclass(frozen=True)
class Progress:
    """How far an analysis is."""

    done: int
    """Deals that are analysed; a round with a redeal has several."""
    of: int


class Background:
    """An analysis in the background.

    Args:
        agent: as ``analyse`` takes it.
        options: others of ``analyse``.
    """

    def __init__(self, agent: str = AGENT, **options: Any) -> None:
        self._agent, self._options = agent, options
        self._process: SpawnProcess | None = None
        self._told: Connection | None = None
        self._source = Source("", (), 0)
        self._progress = Progress(0, 0)
        self._analysis: Analysis | None = None
        self._pages: dict[LanguageName, str] = {}

    def begin(self, source: Source, keep: Path | None) -> None:
        """Begins an analysis; another one that is under way ends.

        Args:
            source: the deals.
            keep: the file that keeps what is ready, of these deals and others of the match.

        Raises:
            SettingError: if there are no deals.
        """
        if not source.deals:
            raise SettingError("An analysis begins when the first round is over.")
        self.close()
        self._source, self._progress = source, Progress(0, len(source.deals))
        self._analysis, self._pages = None, {}
        context = get_context("spawn")
        self._told, telling = context.Pipe(duplex=False)
        work = (telling, os.getpid(), source, self._agent, keep, self._options)
        self._process = context.Process(target=_work, args=work, daemon=True)
        self._process.start()
        telling.close()

    def progress(self) -> Progress | None:
        """Tells how far it is; None: it is ready.

        Raises:
            SettingError: if it failed. It has to be begun again.
        """
        while self._told is not None and self._told.poll():
            try:
                told = self._told.recv()
            except (EOFError, OSError):
                told = "its process ended"
            if isinstance(told, Progress):
                self._progress = told
                continue
            self.close()
            if isinstance(told, str):
                raise SettingError(f"The analysis failed: {told}")
            self._analysis = told
        return None if self._analysis is not None else self._progress

    def page(self, seat: int, language: LanguageName) -> str:
        """Returns the page of an analysis that is ready, for the player of a seat."""
        if language not in self._pages:
            self._pages[language] = page(self._source, self._analysis, seat, language)
        return self._pages[language]

    def close(self) -> None:
        """Ends what is under way."""
        process, told, self._process, self._told = self._process, self._told, None, None
        if process is not None:
            process.kill()
            process.join()
        if told is not None:
            told.close()


def _work(
    telling: Connection,
    parent: int,
    source: Source,
    agent: str,
    keep: Path | None,
    options: dict[str, Any],
) -> None:
    """Analyses, and tells how far it is, then what it found, or in a line what was wrong."""
    signal.signal(signal.SIGINT, signal.SIG_IGN)  # Ctrl-C is the server's
    if hasattr(os, "nice"):
        os.nice(NICENESS)
    try:

        def progress(done: int, of: int) -> None:
            if os.getppid() != parent:
                raise SystemExit
            telling.send(Progress(done, of))

        telling.send(analyse(source, agent, keep=keep, progress=progress, **options))
    except Exception as error:
        telling.send(str(error).partition("\n")[0] or type(error).__name__)
