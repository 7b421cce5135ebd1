"""Holds records of deals, whatever their notation; replays and checks them.

Deals, moves and plays are counted from 1 in messages. Moves are all decisions of a deal, passes
included; plays leave the passes out, as the rows of a YAML kifu do.
"""

from __future__ import annotations

import reprlib
from collections.abc import Iterator, Sequence
from dataclasses import dataclass, field, replace
from itertools import chain
from typing import Final, TypeAlias, Unpack

from goita_env import actions
from goita_env.checks import check_action, check_dealer, check_scores, is_writable
from goita_env.errors import RecordError, SettingError
from goita_env.game import Game
from goita_env.hands import format_hand, parse_hands
from goita_env.information import PLAIN, InformationStructure, check_information
from goita_env.render import svg
from goita_env.render.pen import Drawing
from goita_env.render.svg import Options
from goita_env.rules import JGA, Rules, get_rules
from goita_env.tiles import DIGITS, KING, NUM_SEATS, SECOND_KING_DIGIT

Move: TypeAlias = tuple[int, int]
"""(seat, action) of one decision, the seat from 0 to 3."""

_FIRST_KING_DIGIT: Final = DIGITS[KING]
_BRIEF: Final = reprlib.Repr()
_BRIEF.maxstring, _BRIEF.maxother, _BRIEF.maxlevel = 80, 80, 2


def brief(value: object) -> str:
    return _BRIEF.repr(value)


@dataclass(frozen=True)
class Problem:
    """An error in a record, and its place."""

    deal: int
    """Number of the deal in its source, from 1."""
    message: str
    move: int | None = None
    """Number of the move in the deal, from 1, passes counted; None: the deal as a whole."""
    play: int | None = None
    """Number of the play that the move is or precedes, from 1."""
    source: str = ""
    """Name of the file, or any other name that the reader was given."""
    unfinished: bool = False
    """The deal only breaks off: none of its moves is wrong."""

    def __str__(self) -> str:
        source = f"{self.source}: " if self.source else ""
        move = "" if self.move is None else f", move {self.move} (play {self.play})"
        return f"{source}deal {self.deal}{move}: {self.message}"


@dataclass(frozen=True)
class Result:
    """How a deal ended."""

    finished: bool
    """A seat ended the round, or a redeal was decided; False: the record breaks off before."""
    winner: int | None
    """Seat that ended the round; None: no seat did."""
    points: int
    """Points of the round, for the winner's team."""
    scores: tuple[int, int]
    """Points of seats 0 and 2, and of seats 1 and 3, after the deal."""

    @property
    def gained(self) -> int | None:
        """Points of seats 0 and 2, minus those of seats 1 and 3; None: no seat ended the round."""
        return None if self.winner is None else self.points * (1 - 2 * (self.winner & 1))


@dataclass(frozen=True)
class DealRecord:
    """A record of one deal: the dealt hands and all known decisions.

    Raises:
        HandsError: if the hands are not a deal of the 32 tiles.
        ActionError: if a move has no such action.
        SettingError: if the rules, the dealer, the scores or a move's seat are impossible.
    """

    hands: tuple[str, ...]
    """Four strings of eight digits as dealt, in the order written; the kings are 8 and 9."""
    dealer: int
    moves: tuple[Move, ...] = ()
    """(seat, action) of every decision in order, passes included; pre-play decisions as far as
    they are known, for no notation stores them."""
    scores: tuple[int, int] = (0, 0)
    """Points of seats 0 and 2, and of seats 1 and 3, before the deal."""
    rules: Rules = JGA
    second_king_first: bool = False
    """A seat that was dealt both kings plays the second (9, 玉) first; otherwise they are alike."""
    number: int = field(default=1, compare=False)
    """Number of the deal in its source, from 1; messages name it."""
    information: InformationStructure = PLAIN
    """Shown tiles and messages, which are moves. Only ``complete`` stores it."""

    def __post_init__(self) -> None:
        object.__setattr__(self, "rules", get_rules(self.rules))
        num_actions = check_information(self.information).num_actions
        parse_hands(self.hands, self.rules.deck)
        check_dealer([self.dealer], 1)
        check_scores([self.scores], 1, self.rules.scores_below)
        for move in self.moves:
            if not isinstance(move, Sequence) or len(move) != 2 or move[0] not in range(NUM_SEATS):
                raise SettingError(f"expected a seat 0..3 and its action, got {brief(move)}")
            check_action(move[1], num_actions)
        even, odd = self.scores
        object.__setattr__(self, "hands", tuple(self.hands))
        object.__setattr__(self, "scores", (int(even), int(odd)))
        object.__setattr__(self, "moves", tuple((int(seat), int(a)) for seat, a in self.moves))

    def begin(self) -> Game:
        """Returns the game as it was dealt, before the first move."""
        return Game(
            self.rules,
            hands=self.hands,
            dealer=self.dealer,
            scores=self.scores,
            seed=0,
            information=self.information,
        )

    def replay(self) -> Iterator[Game]:
        """Yields the game, always the same, after each move of the record.

        Pre-play decisions that the record doesn't hold are answered such that play begins:
        silence, or where the rule set makes calling a duty, the call and "continue". They are
        moves of the game, but nothing is yielded for them. After a redeal the game is at the start
        of another deal, which is not in the record.

        Raises:
            RecordError: if a move is illegal, naming deal and move.
        """
        yield from _replay(self, "")

    def answered(self) -> DealRecord:
        """Returns the deal with the pre-play decisions that ``replay`` adds among its moves."""
        game, problem = _play_all(self, "")
        unplayed = self.moves[problem.move - 1 :] if problem and problem.move else ()
        return replace(self, moves=(*game.deals[0].moves, *unplayed))

    def result(self) -> Result:
        """Replays the deal and says how it ended.

        Raises:
            RecordError: if a move is illegal.
        """
        game, problem = _play_all(self, "")
        if problem:
            raise RecordError(str(problem))
        if _redealt(game):
            return Result(finished=True, winner=None, points=0, scores=self.scores)
        return Result(
            finished=game.done, winner=game.winner, points=game.points, scores=game.scores
        )

    def drawings(self, seat: int | None = None, **options: Unpack[Options]) -> list[Drawing]:
        """Draws every position of the deal, as ``goita_env.render.animation`` takes them.

        Args:
            seat: draw this seat's view; None: the whole table.
            options: how (``goita_env.render.svg.Options``).

        Raises:
            RecordError: if a move is illegal.
            SettingError: if there is no such seat, or an option is impossible.
        """
        games = (game for game in chain([self.begin()], self.replay()) if not _redealt(game))
        return [svg.draw(game if seat is None else game.view(seat), **options) for game in games]


@dataclass(frozen=True)
class Record:
    """A record of several deals in order, as a file contains them.

    Deals that a special hand decided leave no entry, so scores and dealer may jump from deal to
    deal.
    """

    deals: tuple[DealRecord, ...] = ()
    players: tuple[str, ...] = ("", "", "", "")
    """Names of the players by seat; empty where they are unknown."""
    problems: tuple[Problem, ...] = ()
    """Its errors, if the record was read with ``strict=False``."""
    source: str = ""
    """Name of the file, or any other name that the reader was given; messages begin with it."""
    notes: tuple[str, ...] = ()
    """Changes that the reader made in sound deals: scores that no deal begins with."""

    def __post_init__(self) -> None:
        object.__setattr__(self, "deals", tuple(self.deals))
        object.__setattr__(self, "players", tuple(self.players))
        if len(self.players) != NUM_SEATS or not all(isinstance(p, str) for p in self.players):
            raise SettingError(f"expected four names, got {brief(self.players)}")
        if odd := [name for name in self.players if not is_writable(name)]:
            raise SettingError(f"expected names that UTF-8 can write, got {brief(odd[0])}")

    def replay(self) -> Iterator[Game]:
        """Yields the game after each move: one ``Game`` for each deal, the same for all its moves.

        Raises:
            RecordError: if a move is illegal, naming deal and move.
        """
        for deal in self.deals:
            yield from _replay(deal, self.source)

    def results(self) -> tuple[Result, ...]:
        """Returns how each deal ended.

        Raises:
            RecordError: if a move is illegal.
        """
        return tuple(deal.result() for deal in self.deals)


def from_game(game: Game, players: Sequence[str] = ("", "", "", "")) -> Record:
    """Returns the record of all deals of a game, as far as they have been played."""
    deals = [
        DealRecord(
            hands=mark_kings([format_hand(hand) for hand in deal.hands]),
            dealer=deal.dealer,
            moves=tuple(deal.moves),
            scores=deal.scores,
            rules=game.rules,
            number=deal_number,
            information=game.information,
        )
        for deal_number, deal in enumerate(game.deals, 1)
    ]
    return Record(tuple(deals), tuple(players))


def check(record: Record) -> list[Problem]:
    """Lists the errors in a record: at most one problem for each deal, with its place.

    They are illegal moves, moves after the end, and deals that break off; the problems that the
    reader found come first. Nothing is raised.
    """
    reported = {problem.deal for problem in record.problems}
    problems = [
        check_deal(deal, record.source) for deal in record.deals if deal.number not in reported
    ]
    return [*record.problems, *(problem for problem in problems if problem)]


def check_deal(deal: DealRecord, source: str) -> Problem | None:
    """Returns the first illegal move of a deal, or where it breaks off; None if it is sound."""
    game, problem = _play_all(deal, source)
    if problem or game.done or _redealt(game):
        return problem
    message = f"expected a move of seat {game.seat}, got the end of the deal"
    return replace(_problem(deal, len(deal.moves), message, source), unfinished=True)


def mark_kings(hands: Sequence[str]) -> tuple[str, ...]:
    """Returns hands in which the kings are 8 and 9, if both were written alike: 8 comes first."""
    joined = ",".join(hands)
    alike = joined.replace(SECOND_KING_DIGIT, _FIRST_KING_DIGIT)
    if joined.count(_FIRST_KING_DIGIT) != 1 and _FIRST_KING_DIGIT in alike:
        head, _, tail = alike.rpartition(_FIRST_KING_DIGIT)
        joined = head + SECOND_KING_DIGIT + tail
    return tuple(joined.split(","))


def has_entry(deal: DealRecord) -> bool:
    """Tells whether the notations have an entry for a deal: no special hand decided it."""
    before_play = all(action >= actions.CALL for _, action in deal.moves)
    return not (deal.moves and before_play and deal.result().finished)


def check_plain(record: Record, notation: str) -> None:
    """Raises a RecordError where a deal is not of the base game: the notation has no other."""
    for deal in record.deals:
        if deal.information != PLAIN:
            source = f"{record.source}: " if record.source else ""
            raise RecordError(
                f"{source}deal {deal.number}: expected a deal of the base game, since {notation} "
                "has no place for messages or for who was shown which tiles, got "
                f"{deal.information!r}; records.complete keeps them"
            )


def _redealt(game: Game) -> bool:
    return len(game.deals) > 1


def _replay(deal: DealRecord, source: str) -> Iterator[Game]:
    game = deal.begin()
    for move_index in range(len(deal.moves)):
        if problem := _play(deal, game, move_index, source):
            raise RecordError(str(problem))
        yield game


def _play_all(deal: DealRecord, source: str) -> tuple[Game, Problem | None]:
    """Returns the game after the last legal move, and the problem of the next one."""
    game = deal.begin()
    for move_index in range(len(deal.moves)):
        if problem := _play(deal, game, move_index, source):
            return game, problem
    return game, None


def _play(deal: DealRecord, game: Game, move_index: int, source: str) -> Problem | None:
    """Makes a move of the deal; returns its problem, if it has one."""
    seat, action = deal.moves[move_index]
    _answer_unrecorded(game, seat, action)
    if complaint := _complaint(game, seat, action):
        return _problem(deal, move_index, complaint, source)
    game.play(action)
    return None


def _answer_unrecorded(game: Game, seat: int, action: int) -> None:
    """Answers the pre-play decisions, up to the one that the recorded move answers."""
    while game.seat is not None and not _redealt(game):
        legal = game.legal_actions()
        if legal[0] < actions.CALL:
            return
        if seat == game.seat and action >= actions.CALL and _kind(action) == _kind(legal[0]):
            return
        defaults = (actions.SILENT, actions.CONTINUE, actions.CALL, actions.MESSAGE)
        game.play(next(answer for answer in defaults if answer in legal))


def _kind(answer: int) -> int:
    """Returns the kind of an answer: 0 a call or silence, 1 a choice, 2 a message."""
    # The numbers of calls and silence are below those of choices, and these below messages'.
    return (answer >= actions.REDEAL) + (answer >= actions.MESSAGE)


def _complaint(game: Game, seat: int, action: int) -> str | None:
    """Says why a seat cannot take an action now; None: it can."""
    num_actions = game.information.num_actions
    got = f"got {actions.name(action, num_actions)!r}"
    if _redealt(game):
        return f"expected no move after a redeal, {got} of seat {seat}"
    if game.seat is None:
        end = f"the end (seat {game.winner} ended the round: {game.points} points)"
        return f"expected no move after {end}, {got} of seat {seat}"
    if seat != game.seat:
        return f"expected a move of seat {game.seat}, {got} of seat {seat}"
    legal = game.legal_actions()
    if action not in legal:
        names = " ".join(actions.name(legal_action, num_actions) for legal_action in legal)
        return f"expected one of {names} from seat {seat}, {got}"
    return None


def _problem(deal: DealRecord, move_index: int, message: str, source: str) -> Problem:
    return Problem(
        deal=deal.number,
        message=message,
        move=move_index + 1,
        play=count_plays(deal.moves[:move_index]) + 1,
        source=source,
    )


def count_plays(moves: Sequence[Move]) -> int:
    return sum(actions.PASS < action < actions.CALL for _, action in moves)
