"""Holds what one player's page shows: a match, and beside it a round that is tried again."""

from __future__ import annotations

from contextlib import ExitStack
from dataclasses import dataclass, replace
from pathlib import Path
from typing import Final

from goita_agents.files import locked
from goita_env.errors import SettingError
from goita_env.records import DealRecord
from goita_lab.pages.languages import LanguageName
from goita_lab.pages.play import savegame
from goita_lab.pages.play.background import Background, Progress
from goita_lab.pages.play.seating import new_seed
from goita_lab.pages.play.table import PlayTable
from goita_lab.pages.watch.reading import of_match, rounds_of

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

    def analysis(self, language: LanguageName = "en") -> Progress | str:
        """Returns the page of the rounds that are over, or how far it is.

        The first call begins it, and the first one after another round.

        Raises:
            SettingError: if none is over, or the analysis failed.
        """
        match = self.match
        wanted = match, len(match.results), match.taken_back
        if self._analysed != wanted:
            keep = self.path and self.path.with_name(f"{self.path.name}.analysis")
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

        Raises:
            SettingError: if there is no such deal or move.
            AgentError: if an agent cannot be built anew.
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
        """Begins another match with the same players and rules in the first free file.

        Raises:
            SettingError: if the present match is not over.
        """
        if self.match.asks != "match":
            raise SettingError("A new match begins when this one is over.")
        settings = replace(self.match.settings, seed=new_seed(), first=None)
        with ExitStack() as stack:
            path = savegame.lock_free_name(stack)
            self._sit(savegame.begin(settings, path), path, stack)

    def open(self, name: str) -> None:
        """Goes on with another match of the working folder.

        Raises:
            SettingError: if there is none of that name, or it is played by somebody else.
            AgentError, RecordError: as ``savegame.resume``.
        """
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
