"""Reads decisions of recorded games: saved games, logs of decisions, records of people.

A game has all decisions that share hands: a deal of a tournament in all its pairings and seatings,
a round of a log in both seatings, a file of one match, or a line of a file of history strings.
Games of several sources are one game if a deal's hands are the same. Files may come from others:
they are validated, and names in them load no agent.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Hashable, Iterator, Sequence
from dataclasses import dataclass, field, replace
from itertools import chain, groupby
from pathlib import Path
from typing import Final, NamedTuple

import numpy as np

from goita_agents.base import Bool, Int
from goita_agents.registry import short_name
from goita_env import actions
from goita_env.actions import NUM_ACTIONS
from goita_env.errors import RecordError, SettingError
from goita_env.hands import parse_hands
from goita_env.information import PLAIN
from goita_env.records import DealRecord
from goita_env.rules import JGA, Rules
from goita_env.tiles import NUM_KINDS
from goita_env.views import Replay
from goita_env.views.observation import Words
from goita_lab.arena.tournament.games_folder import MANIFEST, read_games
from goita_lab.imitate.examples import Examples
from goita_lab.record_files import SUFFIXES, check_plain, dealt, files_of, joined, read_records
from goita_lab.signals.log.files import part_indices as log_parts

LISTED_PLAYERS: Final = 12  # Names of players in an error.


@dataclass(frozen=True)
class Reading:
    """The decisions of recorded games, and what was left out."""

    examples: Examples
    players: Counter[str] = field(default_factory=Counter)
    """Decisions with a choice by the player's name, before one was selected."""
    unsound: tuple[str, ...] = ()
    """Deals of records that were left out: file, deal and what is wrong."""
    notes: tuple[str, ...] = ()
    """Remarks of the readers, and files in folders that are not records."""


@dataclass(frozen=True)
class _Part:
    """The decisions of one source, with their players."""

    examples: Examples | None
    """None if the source has no sound deal."""
    players: list[str]
    """Name of each decision's player."""
    keys: list[Hashable]
    """Of each decision. Decisions with the same key are of one game, whatever their sources."""
    unsound: tuple[str, ...] = ()
    notes: tuple[str, ...] = ()


def read_examples(
    sources: Sequence[Path], player: str | None = None, rules: str | Rules = JGA
) -> Reading:
    """Reads the decisions of recorded games that have more than one legal action.

    Args:
        sources: folders of saved games (``goita evaluate --save-games``) or one of their files,
            folders of a log (``goita_lab.signals log``), files of records in any notation, or
            folders of them.
        player: only this player's decisions: the agent's text in saved games and logs, or its short
            name if it has one, the name of the seat's player in records; None: all players.
        rules: the rule set of a kifu or of history strings; other sources contain theirs.

    Raises:
        GoitaError: if a source has no recorded games, or a saved game or a log has an illegal
            move; the message names the file.
        SettingError: if there is no decision with a choice, or no such decision of the player.
        OSError: if a file cannot be read.
        ImportError: if a log or a kifu lacks its extra.
    """
    parts = list(_parts(sources, rules))
    names = np.array([name for part in parts for name in part.players], dtype=object)
    decisions = Counter(names.tolist())
    if not decisions:
        raise SettingError(
            f"expected decisions with a choice, got none in {', '.join(map(str, sources))}"
            + "".join(f"; {line}" for part in parts for line in part.unsound[:1])
        )
    examples = Examples.join([part.examples for part in parts if part.examples])
    keys = chain.from_iterable(part.keys for part in parts)  # one a decision
    examples = replace(examples, game=np.array(joined(examples.game.tolist(), keys)))
    if player is not None:
        if player not in decisions:
            listed = ", ".join(repr(name) for name, _ in decisions.most_common(LISTED_PLAYERS))
            raise SettingError(f"expected a player of the games, such as {listed}; got {player!r}")
        examples = examples.of_rows(np.flatnonzero(names == player))
    return Reading(
        examples,
        decisions,
        tuple(line for part in parts for line in part.unsound),
        tuple(line for part in parts for line in part.notes),
    )


def _parts(sources: Sequence[Path], rules: str | Rules) -> Iterator[_Part]:
    """Yields the decisions of each source; all records are read together, at the first of them."""
    records = [source for source in sources if _holds_records(source)]
    for source in sources:
        if source not in records:
            yield _log(source) if log_parts(source) else _saved(source)
        elif source == records[0]:
            yield from _records(records, rules)


def _holds_records(source: Path) -> bool:
    """Returns whether a source holds records; False: saved games or a log."""
    if not source.exists():
        raise SettingError(f"expected recorded games, got {str(source)!r}, which does not exist")
    if not source.is_dir():
        return source.suffix != ".jsonl"
    if (source / MANIFEST).exists() or log_parts(source):
        return False
    if not files_of(source):
        raise SettingError(
            f"expected saved games ({MANIFEST}), a log (decisions-*.parquet) or records "
            f"({', '.join(SUFFIXES)}) in {str(source)!r}, got none"
        )
    return True


def _saved(source: Path) -> _Part:
    """Reads saved games; a RecordError names the first deal with an illegal move."""
    deals = list(read_games(source))
    if not deals:
        raise RecordError(f"expected saved games in {str(source)!r}, got none")
    game_of_deal: dict[int, int] = {}  # deals are numbered in the order of their first appearance
    games = [game_of_deal.setdefault(saved.deal, len(game_of_deal)) for saved in deals]
    players = [tuple(map(short_name, saved.agents)) for saved in deals]
    records = [saved.record for saved in deals]
    check_plain(records, "goita imitate")
    part, illegal = _replayed(records, players, games, list(map(dealt, records)))
    for index, problem in illegal.items():
        saved = deals[index]
        raise RecordError(
            f"{source}: deal {saved.deal}, seating {saved.seating}, number "
            f"{saved.record.number}: {problem}"
        )
    return part


def _log(folder: Path) -> _Part:
    """Reads the decisions with a choice of a log."""
    from goita_lab.signals import log

    play = log.read(folder)
    if play.information != PLAIN:
        raise log.LogError(
            f"expected a log of the base game in {str(folder)!r}, got {play.information!r}"
        )
    rows = np.flatnonzero(play.choice)
    deal = play.deal[rows]
    examples = Examples(
        rules=play.rules,
        words=play.words[rows],
        legal=play.legal[rows],
        action=play.action[rows].astype(np.int64),
        game=play.round[deal],
    )
    names = np.array(play.agents, dtype=object)[play.seating[deal, play.seat[rows]]]
    key_by_deal = [hands.tobytes() for hands in play.hands]
    keys: list[Hashable] = [key_by_deal[index] for index in deal.tolist()]
    return _Part(examples, players=names.tolist(), keys=keys)


def _records(sources: Sequence[Path], rules: str | Rules) -> Iterator[_Part]:
    """Yields the problems and notes of records without decisions, then the decisions of a file."""
    records = read_records(sources, rules, "goita imitate")
    problems = tuple(map(str, records.problems))
    yield _Part(examples=None, players=[], keys=[], unsound=problems, notes=records.notes)
    sound = (record for record in records.deals if record.sound)
    for file, group in groupby(sound, lambda record: record.file):
        in_file = list(group)
        deals = [record.deal for record in in_file]
        players, games = [record.players for record in in_file], [record.game for record in in_file]
        part, illegal = _replayed(deals, players, games, list(map(dealt, deals)))
        unsound = [
            f"{file.name}: deal {deals[index].number}, {problem}"
            for index, problem in illegal.items()
        ]
        yield replace(part, unsound=tuple(unsound))


def _replayed(
    deals: Sequence[DealRecord],
    players: Sequence[tuple[str, ...]],
    games: Sequence[int],
    keys: Sequence[Hashable],
) -> tuple[_Part, dict[int, str]]:
    """Returns the decisions of deals, and the illegal moves by index of the deal.

    ``players``, ``games`` and ``keys`` are by deal: the players' names by seat, the number of the
    game, and the key of ``_Part.keys``.
    """
    rules, *further = {deal.rules: None for deal in deals}
    if further:
        raise SettingError(
            f"expected games of one rule set, got {rules.name} and {further[0].name}"
        )
    decisions = replay(deals, rules)
    game = np.array(games)[decisions.deal]
    examples = Examples(rules, decisions.words, decisions.legal, decisions.action, game)
    indices, seats = decisions.deal.tolist(), decisions.seat.tolist()
    names = [players[deal][seat] for deal, seat in zip(indices, seats, strict=True)]
    part = _Part(examples, players=names, keys=[keys[deal] for deal in indices])
    return part, decisions.illegal


DEFAULTS = (actions.SILENT, actions.CONTINUE, actions.CALL)
"""Answers before play where a record has none: with these, play begins."""


@dataclass(frozen=True)
class Replayed:
    """The decisions with a choice of several deals, in order of time."""

    deal: Int  #: [D] index of the deal.
    seat: Int  #: [D] seat that decided.
    words: Words  #: [D, 8]
    legal: Bool  #: [D, 69]
    action: Int  #: [D]
    illegal: dict[int, str]
    """By index of a deal, why its first illegal move is illegal; such a deal has no decisions."""


def replay(deals: Sequence[DealRecord], rules: Rules) -> Replayed:
    """Returns the recorded decisions with a choice of deals that are played under one rule set.

    Forced moves and answers before play that are not recorded are left out, and so are all
    decisions of a deal with an illegal move.
    """
    table, num_read, illegal = _begun(deals, rules), [0] * len(deals), dict[int, str]()
    empty = np.zeros(0, np.int64)
    # Arrays as in ``Replayed``: none at first, then those of each step of all deals.
    parts = [(empty, empty, table.view(0).words[:0], np.zeros((0, NUM_ACTIONS), bool), empty)]
    while True:
        # ``table.game`` has the indices of the deals that are still on the table.
        unread = [num_read[deal] < len(deals[deal].moves) for deal in table.game.tolist()]
        table.select(np.flatnonzero(unread))
        if not any(unread):
            break
        seats, legal = table.seat, table.choices().legal(np.arange(len(table)))
        moves = [
            _next_move(deals[deal], num_read[deal], seat, legal[row])
            for row, (deal, seat) in enumerate(
                zip(table.game.tolist(), seats.tolist(), strict=True)
            )
        ]
        for deal, move in zip(table.game.tolist(), moves, strict=True):
            if move.is_recorded:
                num_read[deal] += 1
            if move.problem:
                illegal[deal] = move.problem
        # Deals with an illegal move leave the table; among them are those that have ended and have
        # further moves, in which no seat acts.
        is_legal = np.array([not move.problem for move in moves])
        table.select(np.flatnonzero(is_legal))
        seats, legal = seats[is_legal], legal[is_legal]
        action = np.array([move.action for move in moves])[is_legal]
        recorded = np.array([move.is_recorded for move in moves])[is_legal]
        rows = np.flatnonzero(recorded & (legal.sum(axis=1) > 1))
        words = table.view().words[rows]
        parts.append((table.game[rows], seats[rows], words, legal[rows], action[rows]))
        table.step(action)
    deal, seat, words, legal, action = map(np.concatenate, zip(*parts, strict=True))
    sound = ~np.isin(deal, list(illegal))
    return Replayed(deal[sound], seat[sound], words[sound], legal[sound], action[sound], illegal)


def _begun(deals: Sequence[DealRecord], rules: Rules) -> Replay:
    """Returns deals at their first decisions."""
    tiles = [hand for deal in deals for hand in parse_hands(deal.hands, rules.deck)]
    hands = [np.bincount(hand, minlength=NUM_KINDS) for hand in tiles]
    return Replay.of_deals(
        rules,
        np.reshape(hands, (len(deals), -1, NUM_KINDS)),
        np.array([deal.dealer for deal in deals]),
        np.array([deal.scores for deal in deals]),
    )


class _Move(NamedTuple):
    """The next move of a deal."""

    action: int = 0
    is_recorded: bool = False  #: False: the record leaves the answer out.
    problem: str = ""  #: Why the recorded move is illegal.


def _next_move(deal: DealRecord, index: int, seat: int, legal: Bool) -> _Move:
    """Returns the next move of a deal: a default answer before play, or a recorded one.

    Args:
        deal: the record.
        index: index of the record's next move.
        seat: the seat that acts; -1 after the end.
        legal: bool [69] its legal actions.
    """
    moved_seat, action = move = deal.moves[index]
    if (answer := _unrecorded(legal, seat, move)) is not None:
        return _Move(answer)
    if moved_seat == seat and legal[action]:
        return _Move(action, is_recorded=True)
    return _Move(problem=_complaint(legal, seat, move, index))


def _unrecorded(legal: Bool, seat: int, move: tuple[int, int]) -> int | None:
    """Returns the default answer to a pre-play decision that the next move does not answer."""
    answers = np.flatnonzero(legal[actions.CALL :]) + actions.CALL
    if not len(answers):
        return None
    moved_seat, action = move
    # One pre-play decision is to call or not, the other to redeal or not.
    asks_call, answers_call = answers[0] == actions.CALL, action < actions.REDEAL
    if moved_seat == seat and action >= actions.CALL and answers_call == asks_call:
        return None
    return next(answer for answer in DEFAULTS if answer in answers)


def _complaint(legal: Bool, seat: int, move: tuple[int, int], index: int) -> str:
    got = f"got {actions.name(move[1])!r} of seat {move[0]}"
    if seat < 0:
        return f"move {index + 1}: expected no move after the end, {got}"
    names = " ".join(actions.name(action) for action in np.flatnonzero(legal).tolist())
    return f"move {index + 1}: expected one of {names} from seat {seat}, {got}"
