"""Holds what one player's page shows: a match, and beside it a round that is tried again."""

from __future__ import annotations

from dataclasses import dataclass, replace
from typing import Final

from goita_env.errors import SettingError
from goita_env.records import DealRecord
from goita_lab.pages.languages import LanguageName
from goita_lab.pages.play import sentences
from goita_lab.pages.play.background import Background, Progress
from goita_lab.pages.play.matches import Matches, settings_of
from goita_lab.pages.play.seating import new_seed
from goita_lab.pages.play.table import PlayTable
from goita_lab.pages.watch.reading import of_match, rounds_of

TITLE: Final = "Analysis of the match"


@dataclass(frozen=True)
class Trial:
    """Which round is tried again, and how it went in the match."""

    round: int
    """Of the match, from 1."""
    deal: int
    """Of the deals that are over, from 1."""
    move: int
    """The first one that is made anew, from 1."""
    was: str
    """The end of the deal in the match, in words."""


class Sitting:
    """A match of a person, its analysis, and a round of it that is tried again.

    Args:
        match: what is played.
        matches: those of the folder; None: the player cannot begin or open others, and no file
            keeps what is analysed.
        background: analyses rounds that are over.

    Attributes:
        match: the present match.
        table: what is played now: the match, or a round that is tried again, which no file keeps.
        trial: that round; None: the match itself is played.
    """

    def __init__(
        self,
        match: PlayTable,
        matches: Matches | None = None,
        background: Background | None = None,
    ) -> None:
        self.match = self.table = match
        self.trial: Trial | None = None
        self.matches = matches
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
            path = None if self.matches is None else self.matches.path
            keep = None if path is None else path.with_name(f"{path.name}.analysis")
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
        settings = replace(self.match.settings, seed=new_seed(), first=before, taken_back=0)
        table = PlayTable(settings, [before])
        self.leave()
        played = rounds_of(of_match(self.match.finished, TITLE).deals)[number - 1]
        trial = Trial(played, number, move, _end(one, self.match.seat))
        self.table, self.trial = table, trial

    def leave(self) -> None:
        """Returns to the match."""
        if self.trial is not None:
            self.table.close()
        self.table, self.trial = self.match, None

    def new_match(self, wanted: dict[str, str] | None = None) -> None:
        """Begins another match; the present one stays in its file.

        Args:
            wanted: its players and rules, as ``settings_of`` takes them; None: those of the
                present match, which has to be over.

        Raises:
            SettingError: if another cannot be begun.
        """
        if self.matches is None or (wanted is None and self.match.asks != "match"):
            raise SettingError("A new match begins when this one is over.")
        self._sit(self.matches.begin(settings_of(self.match.settings, wanted)))

    def open(self, file: str) -> None:
        """Goes on with another match of the folder.

        Raises:
            SettingError: if there is none of that name.
        """
        if self.matches is None:
            raise SettingError(f"expected a match of this folder, got {file!r}")
        self._sit(self.matches.open(file))

    def _sit(self, match: PlayTable) -> None:
        self.leave()
        self.match.close()
        self.match = self.table = match

    def close(self) -> None:
        """Ends what is under way; the match itself stays open."""
        self.leave()
        self._background.close()

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


def _end(deal: DealRecord, viewer: int) -> str:
    *_, game = deal.replay()
    if game.winner is None:
        return "the tiles were dealt again"
    return sentences.end(game.winner, game.points, viewer)
