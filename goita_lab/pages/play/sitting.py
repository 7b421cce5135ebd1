"""Holds what one player's page shows: a match, and beside it a round that is tried again."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, replace
from typing import Final

from goita_env import Game
from goita_env.errors import EpisodeOverError, SettingError
from goita_env.records import DealRecord
from goita_lab.pages.languages import LanguageName
from goita_lab.pages.play import sentences
from goita_lab.pages.play.matches import Matches, settings_of
from goita_lab.pages.play.review import Progress, Reviewer
from goita_lab.pages.play.seating import new_seed
from goita_lab.pages.play.table import PlayTable
from goita_lab.pages.watch.reading import Source, of_match, rounds_of

TITLE: Final = "Review of the match"


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
    """A match of a person, its reviews, and a round of it that is tried again.

    Args:
        match: what is played.
        matches: those of the folder; None: the player cannot begin or open others.
        reviewer: analyses rounds that are over.

    Attributes:
        match: the present match.
        table: what is played now: the match, or a round that is tried again, which no file keeps.
        trial: that round; None: the match itself is played.
    """

    def __init__(
        self,
        match: PlayTable,
        matches: Matches | None = None,
        reviewer: Reviewer | None = None,
    ) -> None:
        self.match = self.table = match
        self.trial: Trial | None = None
        self.matches = matches
        self._reviewer = Reviewer() if reviewer is None else reviewer

    def review(self) -> Progress:
        """Has the rounds analysed that are over; returns how far it is.

        Raises:
            SettingError: if none is over, or the analysis failed.
        """
        return self._reviewer.ask(self._over().deals)

    def review_page(self, language: LanguageName = "en", as_file: bool = False) -> str:
        """Returns the page of the rounds that are over.

        Args:
            language: in which it is told.
            as_file: for a file, without what needs a server.

        Raises:
            SettingError: if it is not ready yet.
        """
        return self._reviewer.page(self._over(), self.match.seat, language, as_file)

    def before(self, deal: int) -> tuple[DealRecord, ...]:
        """Returns the deals of the match before one that is over, from 1; 0: the last one."""
        deals = self.match.finished.deals
        return deals[: (deal or len(deals)) - 1]

    def position(self, deal: int, move: int, line: Sequence[int]) -> Game:
        """Returns a position of a round that is over, or one that never was.

        Args:
            deal: of the deals that are over, from 1; 0: the last one.
            move: of the deal, from 1; the position is the one before it.
            line: actions that are played from there.

        Raises:
            SettingError: if there is no such deal or move.
            IllegalActionError, EpisodeOverError: if an action cannot be played.
        """
        _, one = self._moment(deal, move)
        game = one.begin()
        for action in (*(action for _, action in one.moves[: move - 1]), *line):
            if game.winner is not None or len(game.deals) > 1:
                raise EpisodeOverError("expected no action: the round is over")
            game.play(action)
        return game

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
        played = rounds_of(self._over().deals)[number - 1]
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
        self._reviewer.close()

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

    def _over(self) -> Source:
        return of_match(self.match.finished, TITLE)


def _end(deal: DealRecord, viewer: int) -> str:
    *_, game = deal.replay()
    if game.winner is None:
        return "the tiles were dealt again"
    return sentences.end(game.winner, game.points, viewer)
