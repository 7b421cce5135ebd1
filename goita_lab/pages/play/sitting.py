"""Holds what one player's page shows: a match, a round that is tried again, and the analysis.

Rounds that are over are analysed in one process behind the server's.
"""

from __future__ import annotations

import os
import signal
from contextlib import ExitStack
from dataclasses import dataclass, replace
from multiprocessing import get_context
from pathlib import Path
from typing import TYPE_CHECKING, Any, Final

from goita_agents.files import locked
from goita_env import __version__
from goita_env.errors import SettingError
from goita_env.records import DealRecord
from goita_lab.pages.languages import LanguageName
from goita_lab.pages.play import savegame
from goita_lab.pages.play.seating import new_seed
from goita_lab.pages.play.table import PlayTable
from goita_lab.pages.watch.analysis import Analysis, analyse
from goita_lab.pages.watch.pages import page
from goita_lab.pages.watch.reading import Source, of_match, rounds_of

if TYPE_CHECKING:
    from multiprocessing.connection import Connection
    from multiprocessing.context import SpawnProcess

TITLE: Final = "Analysis of the match"


@dataclass(frozen=True)
class Trial:
    """Which round is tried again."""

    round: int
    """Of the match, from 1."""
    deal: int
    """Of the deals that are over, from 1."""
    move: int
    """The first one that is made anew, from 1."""


class Sitting:
    """A match of a person, its analysis, and a round of it that is tried again.

    Args:
        match: what is played.
        path: the file that keeps it; what is analysed is kept beside it. None: no file does.
        stack: receives what is to be ended with the match: the lock on its file, its agents.
        background: analyses rounds that are over.

    Attributes:
        match: the present match.
        path: of its file.
        table: what is played now: the match, or a round that is tried again, which no file keeps.
        trial: that round; None: the match itself is played.
    """

    def __init__(
        self,
        match: PlayTable,
        path: Path | None = None,
        stack: ExitStack | None = None,
        background: Background | None = None,
    ) -> None:
        self.match = self.table = match
        self.path, self._stack = path, ExitStack() if stack is None else stack
        self.trial: Trial | None = None
        self._background = Background() if background is None else background
        self._analysed: tuple[PlayTable, int, int] | None = None
        """What is analysed: the match, its rounds that are over, and moves that were taken back."""

    def analysis(self, language: LanguageName = "en") -> AnalysisProgress | str:
        """Returns the page of the rounds that are over, or how far it is.

        The first call begins it, and the first one after another round.
        """
        match = self.match
        wanted = match, len(match.results), match.taken_back
        if self._analysed != wanted:
            # The page cannot begin a file of another version anew.
            keep = self.path and self.path.with_name(f"{self.path.name}.{__version__}.analysed")
            self._background.begin(of_match(match.finished, TITLE), keep)
            self._analysed = wanted
        try:
            progress = self._background.progress()
        except SettingError:
            self._analysed = None
            raise
        return self._background.page(match.seat, language) if progress is None else progress

    def try_again(self, deal: int, move: int) -> None:
        """Goes back in a round that is over, with the same hidden tiles; the match waits.

        Args:
            deal: of the deals that are over, from 1; 0: the last one.
            move: the first one that is made anew, from 1.
        """
        number, one = self._moment(deal, move)
        before = replace(one, moves=one.moves[: move - 1], number=1)
        # Another seed: tiles that are dealt again must not be those of the match's next round.
        settings = replace(self.match.settings, seed=new_seed(), first=before)
        table = PlayTable(settings, [before])
        self.leave()
        played = rounds_of(of_match(self.match.finished, TITLE).deals)[number - 1]
        trial = Trial(played, number, move)
        self.table, self.trial = table, trial

    def leave(self) -> None:
        """Returns to the match."""
        if self.trial is not None:
            self.table.close()
        self.table, self.trial = self.match, None

    def next_round(self) -> None:
        """Begins the next round of the match."""
        if self.trial is not None:
            raise SettingError("A round that is tried again has no next one.")
        self.match.next_round()

    def new_match(self) -> None:
        """Begins another match with the same players and rules in the first free file."""
        if self.match.asks != "match":
            raise SettingError("A new match begins when this one is over.")
        settings = replace(self.match.settings, seed=new_seed(), first=None)
        with ExitStack() as stack:
            path = savegame.lock_free_name(stack)
            self._sit(savegame.begin(settings, path), path, stack)

    def open(self, name: str) -> None:
        """Goes on with another match of the working folder."""
        path = Path(name)
        if not savegame.NAMED.fullmatch(name) or not path.exists():
            raise SettingError(f"expected a match of this folder, got {name!r}")
        with ExitStack() as stack:
            stack.enter_context(locked(path, savegame.FREE))
            self._sit(savegame.resume(path), path, stack)

    def _sit(self, match: PlayTable, path: Path, stack: ExitStack) -> None:
        stack.callback(match.close)
        self.leave()
        self._stack.close()
        self.match = self.table = match
        self.path, self._stack = path, stack.pop_all()

    def close(self) -> None:
        """Ends the match, and what is under way."""
        self.leave()
        self._background.close()
        self._stack.close()

    def _moment(self, deal: int, move: int) -> tuple[int, DealRecord]:
        """Returns the number of a deal that is over, and the deal, if it has such a move."""
        deals = self.match.finished.deals
        number = deal or len(deals)
        if not 1 <= number <= len(deals):
            raise SettingError(f"expected a deal 1..{len(deals)} that is over, got {deal}")
        one = deals[number - 1]
        if not one.moves:
            raise SettingError("Nothing could be decided in this deal.")
        if not 1 <= move <= len(one.moves):
            raise SettingError(f"expected a move 1..{len(one.moves)} of the deal, got {move}")
        return number, one


AGENT: Final = "champion"
"""Whose search values the decisions."""

NICENESS: Final = 10
"""Who plays meanwhile should not wait for the analysis."""


@dataclass(frozen=True)
class AnalysisProgress:
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
        self._progress = AnalysisProgress(0, 0)
        self._analysis: Analysis | None = None
        self._pages: dict[LanguageName, str] = {}

    def begin(self, source: Source, keep: Path | None) -> None:
        """Begins an analysis; another one that is under way ends.

        Args:
            source: the deals.
            keep: the file that keeps what is ready, of these deals and others of the match.
        """
        if not source.deals:
            raise SettingError("An analysis begins when the first round is over.")
        self.close()
        self._source, self._progress = source, AnalysisProgress(0, len(source.deals))
        self._analysis, self._pages = None, {}
        context = get_context("spawn")
        self._told, telling = context.Pipe(duplex=False)
        work = (telling, os.getpid(), source, self._agent, keep, self._options)
        self._process = context.Process(target=_work, args=work, daemon=True)
        self._process.start()
        telling.close()

    def progress(self) -> AnalysisProgress | None:
        """Tells how far it is; None: it is ready."""
        while self._told is not None and self._told.poll():
            try:
                told = self._told.recv()
            except (EOFError, OSError):
                told = "its process ended"
            if isinstance(told, AnalysisProgress):
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
            telling.send(AnalysisProgress(done, of))

        telling.send(analyse(source, agent, keep=keep, progress=progress, **options))
    except Exception as error:
        telling.send(str(error).partition("\n")[0] or type(error).__name__)
