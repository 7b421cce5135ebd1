"""Reads decisions of recorded games: saved games, logs of decisions, records of people.

A game is what shares hands: a deal of a tournament in all its pairings and seatings, a round of a
log in both seatings, a file of one match, or a line of a file of history strings. Files may be
somebody else's: they are validated, and names in them load nothing.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterable, Sequence
from dataclasses import dataclass, field, replace
from pathlib import Path
from typing import Final

import numpy as np

from agents.files import read_text
from agents.imitate.examples import Examples
from agents.imitate.replaying import replay
from agents.record_files import MOST_BYTES, check_plain, is_history, read_record
from agents.registry import short_name
from agents.signals.playing import deal_rounds
from agents.tournament.games_folder import MANIFEST, read_games
from goita_env.errors import RecordError, SettingError
from goita_env.information import PLAIN
from goita_env.records import DealRecord
from goita_env.rules import JGA, Rules

RECORDS: Final = ("*.yaml", "*.yml", "*.json", "*.txt")
"""Records of games in a folder, if it is neither one of saved games nor a log."""

LOGS: Final = "decisions-*.parquet"

SHOWN: Final = 12  # Names of players in an error.


@dataclass(frozen=True)
class Reading:
    """Holds what was read, and what was left out."""

    examples: Examples
    players: Counter[str] = field(default_factory=Counter)
    """Decisions with a choice by the player's name, before one was selected."""
    unsound: tuple[str, ...] = ()
    """Deals of records that were left out: file, deal and what is wrong."""


@dataclass(frozen=True)
class _Part:
    """Holds the decisions of one source with the name of each one's player."""

    examples: Examples | None
    """None: it holds no sound deal."""
    players: list[str]
    unsound: tuple[str, ...] = ()


def read_examples(
    sources: Sequence[Path], player: str | None = None, rules: str | Rules = JGA
) -> Reading:
    """Reads the decisions with a choice of recorded games.

    Args:
        sources: folders of saved games (``evaluate.py --save-games``) or one of their files,
            folders of a log (``agents.signals log``), files of records in any notation, or folders
            of them.
        player: only this player's decisions: the agent's text in saved games and logs, or its short
            name if it has one, the name of the seat's player in records; None: everybody's.
        rules: the rule set of a kifu or of history strings; other sources know theirs.

    Raises:
        GoitaError: if something is not a recorded game, or a saved game or a log holds an illegal
            move; names the file.
        SettingError: if there is no decision with a choice, or none of the player; if a source is
            given twice or lies in another one, so that games could be learned from and held out.
        OSError: if a file cannot be read.
        ImportError: if a log or a kifu lacks its extra.
    """
    places = Counter(source.resolve() for source in sources)
    for place, times in places.items():
        if times > 1 or not places.keys().isdisjoint(place.parents):
            raise SettingError(f"expected each game once, got {str(place)!r} twice")
    parts = [part for source in sources for part in _read(source, rules)]
    names = np.array([name for part in parts for name in part.players], dtype=object)
    known = Counter(names.tolist())
    if not known:
        raise SettingError(
            f"expected decisions with a choice, got none in {', '.join(map(str, sources))}"
        )
    examples = Examples.join([part.examples for part in parts if part.examples])
    if player is not None:
        if player not in known:
            listed = ", ".join(repr(name) for name, _ in known.most_common(SHOWN))
            raise SettingError(f"expected a player of the games, such as {listed}; got {player!r}")
        examples = examples.of_rows(np.flatnonzero(names == player))
    return Reading(examples, known, tuple(line for part in parts for line in part.unsound))


def _read(source: Path, rules: str | Rules) -> Iterable[_Part]:
    if not source.exists():
        raise SettingError(f"expected recorded games, got {str(source)!r}, which does not exist")
    if source.is_dir():
        if (source / MANIFEST).exists():
            return [_saved(source, "*.jsonl")]
        if any(source.glob(LOGS)):
            return [_log(source)]
        if parts := sorted(source.glob(f"*/{LOGS}")):
            raise SettingError(
                f"expected a log, got the data set {str(source)!r}; name one of its parts, such as "
                f"{str(parts[-1].parent)!r}"
            )
        files = sorted({file for pattern in RECORDS for file in source.glob(pattern)})
        if not files:
            raise SettingError(
                f"expected saved games ({MANIFEST}), a log ({LOGS}) or records "
                f"({', '.join(RECORDS)}) in {str(source)!r}, got none"
            )
        return [_record(file, rules) for file in files]
    if source.suffix == ".jsonl":
        if not (source.parent / MANIFEST).exists():
            raise SettingError(f"expected {MANIFEST} beside {str(source)!r}, got none")
        return [_saved(source.parent, source.name)]
    return [_record(source, rules)]


def _saved(folder: Path, pattern: str) -> _Part:
    deals = list(read_games(folder, pattern))
    if not deals:
        raise RecordError(f"expected saved games in {str(folder)!r}, got none")
    numbers: dict[int, int] = {}
    games = [numbers.setdefault(one.deal, len(numbers)) for one in deals]
    players = [tuple(map(short_name, one.agents)) for one in deals]
    part, illegal = _replayed([one.record for one in deals], players, games)
    for index, problem in illegal.items():
        one = deals[index]
        raise RecordError(
            f"{folder / pattern}: deal {one.deal}, seating {one.seating}, number "
            f"{one.record.number}: {problem}"
        )
    return part


def _log(folder: Path) -> _Part:
    from agents.signals import log

    play = log.read(folder)
    if play.information != PLAIN:
        raise log.LogError(
            f"expected a log of the plain game in {str(folder)!r}, got {play.information!r}"
        )
    rows = np.flatnonzero(play.choice)
    if (play.view(rows).legal() != play.legal[rows]).any():
        raise log.LogError(f"expected the legal actions of each view in {folder}, got others")
    deal = play.deal[rows]
    examples = Examples(
        play.rules,
        play.words[rows],
        play.legal[rows],
        play.action[rows].astype(np.int64),
        # Two teams play each deal twice, in successive rounds.
        play.round[deal] // deal_rounds(len(play.agents), play.drawn),
    )
    names = np.array(play.agents, dtype=object)[play.seating[deal, play.seat[rows]]]
    return _Part(examples, names.tolist())


def _record(file: Path, rules: str | Rules) -> _Part:
    record = read_record(file, rules, strict=False)
    wrong = {problem.deal for problem in record.problems}
    deals = [deal for deal in record.deals if deal.number not in wrong]
    lines = is_history(read_text(file, MOST_BYTES))
    games = list(range(len(deals))) if lines else [0] * len(deals)
    part, illegal = _replayed(deals, [record.players] * len(deals), games)
    unsound = [str(problem) for problem in record.problems]
    unsound += [f"{file.name}: deal {deals[at].number}, {what}" for at, what in illegal.items()]
    return replace(part, unsound=tuple(unsound))


def _replayed(
    deals: Sequence[DealRecord], players: Sequence[tuple[str, ...]], games: Sequence[int]
) -> tuple[_Part, dict[int, str]]:
    """Returns the decisions of deals, and by index of a deal what is illegal in it."""
    check_plain(deals, "agents.imitate")
    parts: list[Examples] = []
    names: list[str] = []
    illegal: dict[int, str] = {}
    for rules in {deal.rules: None for deal in deals}:
        of_rules = [at for at, deal in enumerate(deals) if deal.rules == rules]
        found = replay([deals[at] for at in of_rules], rules)
        number = np.array(games)[of_rules]
        parts.append(Examples(rules, found.words, found.legal, found.action, number[found.deal]))
        names += [
            players[of_rules[deal]][seat]
            for deal, seat in zip(found.deal.tolist(), found.seat.tolist(), strict=True)
        ]
        illegal |= {of_rules[at]: what for at, what in found.illegal.items()}
    return _Part(Examples.join(parts) if parts else None, names), illegal
