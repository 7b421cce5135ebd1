"""Reads files of recorded games, in whichever notation of ``goita_env.records`` they are.

The content tells the notation, not the name of the file.
"""

from __future__ import annotations

import re
from collections import Counter
from collections.abc import Hashable, Iterable, Iterator, Sequence
from dataclasses import dataclass, replace
from pathlib import Path
from typing import Final

import numpy as np

from goita_agents.files import read_text
from goita_env import actions
from goita_env.errors import RecordError, SettingError
from goita_env.hands import parse_hands
from goita_env.information import PLAIN
from goita_env.records import DealRecord, Problem, Record, complete, history, kifu
from goita_env.records.model import brief
from goita_env.rules import JGA, Rules, get_rules
from goita_env.tiles import NUM_KINDS

MOST_BYTES: Final = 4 * 10**7
"""Size of the longest text that a notation takes, in UTF-8."""

SUFFIXES: Final = (".json", ".txt", ".yaml", ".yml")
"""Of the records in a folder; hidden files are none."""

_HISTORY: Final = re.compile(r"\s*[0-9x]{8},")
_KIFU: Final = re.compile(r"^[ \t]*[\"']?(?:version|p[0-3]|log)[\"']?\s*:", re.MULTILINE)


def is_history(text: str) -> bool:
    """Tells whether a text begins like a history string."""
    return _HISTORY.match(text) is not None


def read_record(path: Path, rules: str | Rules = JGA, *, strict: bool = True) -> Record:
    """Reads history strings, a YAML kifu or a complete record from a file.

    Args:
        path: the file; its name is the source of the record.
        rules: the rule set of a kifu or of history strings; a complete record holds its own.
        strict: as in ``history.loads``.

    Raises:
        RecordError: if it is in no known notation or, if strict, a deal is malformed.
        SettingError: if it is too large or no text in UTF-8.
        ImportError: if a kifu lacks its extra.
        OSError: if it cannot be read.
    """
    return _parsed(read_text(path, MOST_BYTES), rules, strict, path.name)


def _parsed(text: str, rules: str | Rules, strict: bool, source: str) -> Record:
    if is_history(text):
        return history.loads(text, rules=rules, strict=strict, source=source)
    if text.lstrip().startswith("{"):
        return complete.loads(text, strict=strict, source=source)
    if _KIFU.search(text):
        return kifu.loads(text, rules=rules, strict=strict, source=source)
    first = text.strip().partition("\n")[0]
    raise RecordError(
        f"{source}: expected history strings, a YAML kifu or a complete record in JSON, "
        f"got {brief(first)}"
    )


def check_plain(deals: Iterable[DealRecord], what: str) -> None:
    """Raises a RecordError where a deal is not of the base game, all that ``what`` knows."""
    for deal in deals:
        if deal.information != PLAIN:
            raise RecordError(
                f"expected deals of the base game, which is all that {what} knows, got deal "
                f"{deal.number} with {deal.information!r}"
            )


@dataclass(frozen=True)
class Recorded:
    """A deal of a file."""

    file: Path
    deal: DealRecord
    players: tuple[str, ...]
    sound: bool
    game: int
    """Number of the unit: a file, or a line of history strings; see ``read_records``."""


@dataclass(frozen=True)
class Records:
    """The deals of several files, none of them twice."""

    deals: tuple[Recorded, ...]
    problems: tuple[Problem, ...]
    """What is unsound in the files that were read."""
    notes: tuple[str, ...]
    """What readers say, files that are no records, repeats left out, files that are one unit."""


def read_records(paths: Sequence[Path], rules: str | Rules, what: str) -> Records:
    """Reads records that ``what`` learns from or counts, such that no deal counts twice.

    A deal that another file holds, too, is left out, and so is a part of it. Files that share hands
    are one unit, even where a deal was played differently.

    Args:
        paths: files, and folders of files with ``SUFFIXES``.
        rules: as in ``read_record``, which reads each file with ``strict=False``.
        what: as in ``check_plain``.

    Raises:
        RecordError, SettingError: if a file is no record of the base game; one of a folder becomes
            a note instead, unless no file is left.
        ImportError: if a kifu lacks its extra.
        OSError: if a file cannot be read.
    """
    rules = get_rules(rules)
    found: list[Recorded] = []
    problems: list[Problem] = []
    notes: list[str] = []
    for path in paths:
        for file in files_of(path) if path.is_dir() else [path]:
            try:
                text = read_text(file, MOST_BYTES)
                record = _parsed(text, rules, False, file.name)
                check_plain(record.deals, what)
            except (RecordError, SettingError) as error:
                if file == path:
                    raise
                notes.append(f"left out: {file}: {error}")
                continue
            notes += record.notes
            problems += record.problems
            found += _recorded(file, record, is_history(text), len(found))
    if not found:
        where = ", ".join(map(str, paths))
        why = next((str(one) for one in (*problems, *notes)), "got none")
        raise SettingError(f"expected recorded deals in {where}: {why}")
    numbers = joined([one.game for one in found], [dealt(one.deal) for one in found])
    repeats = _repeats(found)
    kept = [
        replace(one, game=game)
        for at, (one, game) in enumerate(zip(found, numbers, strict=True))
        if at not in repeats
    ]
    parts = Counter((found[at].file, found[repeats[at]].file) for at in sorted(repeats))
    notes += [
        f"left out: deals of {file} that {of} holds, too: {many}"
        for (file, of), many in parts.items()
    ]
    return Records(tuple(kept), tuple(problems), (*notes, *_units(found, numbers)))


def files_of(folder: Path) -> list[Path]:
    """Returns the files of a folder that may be records, by name; hidden ones are none."""
    return sorted(
        file
        for file in folder.iterdir()
        if file.suffix.lower() in SUFFIXES and not file.name.startswith(".") and file.is_file()
    )


def _recorded(file: Path, record: Record, lines: bool, begin: int) -> Iterator[Recorded]:
    """Yields the deals of a file, whose games are numbered from ``begin`` on.

    ``lines``: each line is a game.
    """
    unsound = {problem.deal for problem in record.problems}
    for number, deal in enumerate(record.deals, begin):
        sound = deal.number not in unsound
        yield Recorded(file, deal, record.players, sound, number if lines else begin)


def dealt(deal: DealRecord) -> bytes:
    """Returns the tiles of each kind dealt to each seat: int8 [4, 8] in a row."""
    kinds = parse_hands(deal.hands, deal.rules.deck)[:, :, None] == np.arange(NUM_KINDS)
    return bytes(kinds.sum(axis=1).ravel().tolist())


def joined(games: Iterable[int], shared: Iterable[Hashable]) -> list[int]:
    """Returns numbers of games in which those that share something are one.

    Args:
        games: number of the game of each deal or decision.
        shared: what makes two of them the same game, such as what was ``dealt``.
    """
    lower: dict[int, int] = {}
    first: dict[Hashable, int] = {}

    def find(game: int) -> int:
        while game in lower:
            game = lower[game]
        return game

    games = list(games)
    for game, key in zip(games, shared, strict=True):
        one, other = sorted((find(game), find(first.setdefault(key, game))))
        if one < other:
            lower[other] = one
    return [find(game) for game in games]


def _repeats(found: Sequence[Recorded]) -> dict[int, int]:
    """Returns by index of each deal that is left out the one that stays: the longest record of it.

    Answers before play are not compared: some notations leave them out.
    """
    plays = [tuple(move for move in one.deal.moves if move[1] < actions.CALL) for one in found]
    best = sorted(
        range(len(found)),
        key=lambda at: (-len(plays[at]), not found[at].sound, not any(found[at].players)),
    )
    kept: dict[Hashable, list[int]] = {}
    repeats: dict[int, int] = {}
    for at in best:
        same = kept.setdefault((dealt(found[at].deal), found[at].deal.dealer), [])
        of = next((one for one in same if plays[one][: len(plays[at])] == plays[at]), None)
        if of is None:
            same.append(at)
        else:
            repeats[at] = of
    return repeats


def _units(found: Sequence[Recorded], games: Sequence[int]) -> list[str]:
    """Says which files are one unit."""
    files: dict[int, dict[str, None]] = {}
    for one, game in zip(found, games, strict=True):
        files.setdefault(game, {})[str(one.file)] = None
    several = dict.fromkeys(" and ".join(each) for each in files.values() if len(each) > 1)
    return [f"one unit, since hands are the same: {names}" for names in several]
