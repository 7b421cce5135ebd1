"""Holds what one player's page shows: a match, a round that is tried again, and the analysis.

A second process analyses the rounds that are over.
"""

from __future__ import annotations

import os
import signal
from collections.abc import Sequence
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
from goita_lab.pages.watch.pages import page, renewal
from goita_lab.pages.watch.reading import Source, of_match, rounds_of

if TYPE_CHECKING:
    from multiprocessing.connection import Connection
    from multiprocessing.context import SpawnProcess

ANALYSIS_TITLE: Final = "Analysis of the match"


@dataclass(frozen=True)
class Trial:
    """The round that is tried again, and from where."""

    round: int
    """Number of the round in the match, from 1."""
    deal: int
    """Number among the deals that are over, from 1."""
    move: int
    """The first move that is made anew, from 1."""


class Sitting:
    """A match of a person, its analysis, and a round of it that is tried again.

    Args:
        match: the match.
        path: the file that keeps the match; a file next to it keeps the analysis. None: no file.
        stack: ends with the match, and closes what it holds: the lock on the file, the agents.
        background: analyses the rounds that are over.

    Attributes:
        match: the present match.
        path: its file.
        table: the match, or the round that is tried again, which no file keeps.
        trial: the round that is tried again; None: ``table`` is the match.
        prepares_hints: each hint is begun when the person's turn comes.
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
        self.prepares_hints = False
        self._background = Background() if background is None else background
        self._analysed: tuple[PlayTable, int, int] | None = None
        """What is analysed: the match, its number of rounds that are over, and of moves that were
        taken back; None: nothing."""

    def analysis(self, language: LanguageName = "en") -> AnalysisProgress | str:
        """Returns the page of the deals that are analysed, or the progress if none is yet.

        The first call, and the first call after another round, begins an analysis of the rounds
        that are over.
        """
        match = self.match
        finished = match, len(match.results), match.taken_back
        if self._analysed != finished:
            # A file of another version would be refused, and a page has no option to overwrite it.
            keep = self.path and self.path.with_name(f"{self.path.name}.{__version__}.analysed")
            self._background.begin(of_match(match.finished, ANALYSIS_TITLE), keep)
            self._analysed = finished
        progress = self._progress()
        return self._background.page(match.seat, language) if progress.done else progress

    def renewal(self, digest: str, done: int, language: LanguageName) -> dict[str, Any]:
        """Returns what a page of the analysis shows of deals that were analysed since, as JSON.

        Args:
            digest: that of the page's deals. If others are analysed by now, "done" is None.
            done: how many analysed deals the page shows.
            language: of the page's texts.
        """
        if digest != self._background.digest:
            return {"done": None}
        progress = self._progress()
        if progress.done <= done:
            return {"done": progress.done}
        return {"done": progress.done, **self._background.renewal(self.match.seat, language)}

    def _progress(self) -> AnalysisProgress:
        try:
            return self._background.progress()
        except SettingError:
            self._analysed = None
            raise

    def try_again(self, deal: int, move: int) -> None:
        """Goes back in a round that is over, with the same hidden tiles; the match waits.

        Args:
            deal: number among the deals that are over, from 1; 0: the last deal.
            move: the first move that is made anew, from 1.
        """
        deals = self.match.finished.deals
        deal = deal or len(deals)
        before = replace(_up_to(deals, deal, move), number=1)
        # Another seed: tiles that are dealt again must not be those of the match's next round.
        settings = replace(self.match.settings, seed=new_seed(), first=before)
        table = PlayTable(settings, [before])
        self.leave()
        rounds = rounds_of(of_match(self.match.finished, ANALYSIS_TITLE).deals)
        self.table, self.trial = table, Trial(rounds[deal - 1], deal, move)

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
        """Continues another match of the working folder."""
        path = Path(name)
        if not savegame.NAMED.fullmatch(name) or not path.exists():
            raise SettingError(f"expected a match of this folder, got {name!r}")
        with ExitStack() as stack:
            stack.enter_context(locked(path, savegame.FREE_MATCH))
            self._sit(savegame.resume(path), path, stack)

    def _sit(self, match: PlayTable, path: Path, stack: ExitStack) -> None:
        stack.callback(match.close)
        self.leave()
        self._stack.close()
        self.match = self.table = match
        self.path, self._stack = path, stack.pop_all()

    def close(self) -> None:
        """Ends the match, a round that is tried again, and an analysis under way."""
        self.leave()
        self._background.close()
        self._stack.close()


def _up_to(deals: Sequence[DealRecord], deal: int, move: int) -> DealRecord:
    """Returns a deal as it was before a move; both are numbers from 1, and are checked."""
    if not 1 <= deal <= len(deals):
        raise SettingError(f"expected a deal 1..{len(deals)} that is over, got {deal}")
    moves = deals[deal - 1].moves
    if not moves:
        raise SettingError("Nothing could be decided in this deal.")
    if not 1 <= move <= len(moves):
        raise SettingError(f"expected a move 1..{len(moves)} of the deal, got {move}")
    return replace(deals[deal - 1], moves=moves[: move - 1])


AGENT: Final = "champion"
"""The agent that analyses the rounds."""

NICENESS: Final = 10
"""Of the analysing process: the match, which is played meanwhile, should not wait for it."""


@dataclass(frozen=True)
class AnalysisProgress:
    """How far an analysis is."""

    done: int
    """Deals that are analysed; a round with a redeal has several."""
    of: int


class Background:
    """An analysis in the background.

    Args:
        agent: the ``agent`` of ``analyse``.
        options: other arguments of ``analyse``.
    """

    def __init__(self, agent: str = AGENT, **options: Any) -> None:
        self._agent, self._options = agent, options
        self._process: SpawnProcess | None = None
        self._messages: Connection | None = None
        self._source = Source("", (), 0)
        self._analysis: Analysis | None = None
        self._pages: dict[LanguageName, str] = {}

    def begin(self, source: Source, keep: Path | None) -> None:
        """Begins an analysis, and ends an earlier one that is under way.

        Args:
            source: the deals.
            keep: the file that keeps analysed deals, also earlier ones of the match; None: no file.
        """
        if not source.deals:
            raise SettingError("An analysis begins when the first round is over.")
        self.close()
        self._source, self._analysis, self._pages = source, None, {}
        context = get_context("spawn")
        self._messages, sender = context.Pipe(duplex=False)
        arguments = (sender, os.getpid(), source, self._agent, keep, self._options)
        self._process = context.Process(target=_analyse, args=arguments, daemon=True)
        self._process.start()
        sender.close()

    @property
    def digest(self) -> str:
        """The digest of the deals."""
        return self._source.digest

    def progress(self) -> AnalysisProgress:
        """Returns how many of the deals are analysed.

        Raises:
            SettingError: if the analysis failed.
        """
        while self._messages is not None and self._messages.poll():
            try:
                message = self._messages.recv()
            except (EOFError, OSError):
                message = "its process ended"
            if isinstance(message, str):
                self.close()
                raise SettingError(f"The analysis failed: {message}")
            self._analysis, self._pages = message, {}
            if not self._analysis.missing:
                self.close()
        total, missing = len(self._source.deals), len(self._source.deals)
        if self._analysis is not None:
            missing = len(self._analysis.missing)
        return AnalysisProgress(total - missing, total)

    def page(self, seat: int, language: LanguageName) -> str:
        """Returns the page of the deals that are analysed, for the player of a seat."""
        if language not in self._pages:
            self._pages[language] = page(self._source, self._analysis, seat, language)
        return self._pages[language]

    def renewal(self, seat: int, language: LanguageName) -> dict[str, Any]:
        """Returns what such a page replaces when more deals are analysed."""
        assert self._analysis is not None
        return renewal(self._source, self._analysis, seat, language)

    def close(self) -> None:
        """Ends the analysis if it is under way."""
        process, messages = self._process, self._messages
        self._process = self._messages = None
        if process is not None:
            process.kill()
            process.join()
        if messages is not None:
            messages.close()


def _analyse(
    sender: Connection,
    parent: int,
    source: Source,
    agent: str,
    keep: Path | None,
    options: dict[str, Any],
) -> None:
    """Sends the analysis after each deal, or the first line of an error."""
    signal.signal(signal.SIGINT, signal.SIG_IGN)  # Ctrl-C stops the server only
    if hasattr(os, "nice"):
        os.nice(NICENESS)
    try:

        def send(analysis: Analysis) -> None:
            if os.getppid() != parent:  # the server has ended
                raise SystemExit
            sender.send(analysis)

        send(analyse(source, agent, keep=keep, partial_analysis=send, **options))
    except Exception as error:
        sender.send(str(error).partition("\n")[0] or type(error).__name__)
