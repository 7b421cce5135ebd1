"""Reads files of recorded games, in whichever notation of ``goita_env.records`` they are.

The content of a file decides its notation, not its name.
"""

from __future__ import annotations

import re
from collections.abc import Hashable, Iterable, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Final

import numpy as np

from goita_agents.files import read_text
from goita_env.errors import RecordError, SettingError
from goita_env.hands import parse_hands
from goita_env.information import PLAIN
from goita_env.records import DealRecord, Problem, Record, complete, history, kifu
from goita_env.records.model import brief
from goita_env.rules import JGA, Rules, get_rules
from goita_env.tiles import NUM_KINDS

MAX_RECORD_BYTES: Final = 4 * 10**7
"""Size of the longest text that a notation takes, in UTF-8."""

SUFFIXES: Final = (".json", ".txt", ".yaml", ".yml")
"""Of the records in a folder; hidden files are ignored."""

_HISTORY: Final = re.compile(r"\s*[0-9x]{8},")
_KIFU: Final = re.compile(r"^[ \t]*[\"']?(?:version|p[0-3]|log)[\"']?\s*:", re.MULTILINE)


def is_history(text: str) -> bool:
    """Returns whether a text begins like a history string."""
    return _HISTORY.match(text) is not None


def read_record(path: Path, rules: str | Rules = JGA, *, strict: bool = True) -> Record:
    """Reads history strings, a YAML kifu or a complete record from a file.

    Args:
        path: the file; its name is the source of the record.
        rules: the rule set of a kifu or of history strings; a complete record holds its own.
        strict: as in ``history.loads``.
    """
    return _parsed(read_text(path, MAX_RECORD_BYTES), rules, strict=strict, source=path.name)


def _parsed(text: str, rules: str | Rules, *, strict: bool, source: str) -> Record:
    """Returns the record that a text holds, in whichever notation; ``source``: of the text."""
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
    """Number of the game: a file, or a line of history strings."""


@dataclass(frozen=True)
class Records:
    """The deals of several files."""

    deals: tuple[Recorded, ...]
    problems: tuple[Problem, ...]
    """What is unsound in the files that were read."""
    notes: tuple[str, ...]
    """What readers say, and files that are no records."""


def read_records(paths: Sequence[Path], rules: str | Rules, what: str) -> Records:
    """Reads records that ``what`` learns from or counts.

    Args:
        paths: files, and folders of files with ``SUFFIXES``.
        rules: as in ``read_record``, which reads each file with ``strict=False``.
        what: as in ``check_plain``.
    """
    rules = get_rules(rules)
    deals: list[Recorded] = []
    problems: list[Problem] = []
    notes: list[str] = []
    for path in paths:
        for file in files_of(path) if path.is_dir() else [path]:
            try:
                text = read_text(file, MAX_RECORD_BYTES)
                record = _parsed(text, rules, strict=False, source=file.name)
                check_plain(record.deals, what)
            except (RecordError, SettingError) as error:
                if file == path:
                    raise
                notes.append(f"left out: {file}: {error}")
                continue
            notes += record.notes
            problems += record.problems
            # A file is one game, numbered by its first deal; of history strings each line is one.
            first, unsound = len(deals), {problem.deal for problem in record.problems}
            for index, deal in enumerate(record.deals, first):
                game = index if is_history(text) else first
                sound = deal.number not in unsound
                deals.append(Recorded(file, deal, record.players, sound, game))
    if not deals:
        where = ", ".join(map(str, paths))
        why = next((str(reason) for reason in (*problems, *notes)), "got none")
        raise SettingError(f"expected recorded deals in {where}: {why}")
    return Records(tuple(deals), tuple(problems), tuple(notes))


def files_of(folder: Path) -> list[Path]:
    """Returns the files of a folder that may be records, by name, except hidden ones."""
    return sorted(
        file
        for file in folder.iterdir()
        if file.suffix.lower() in SUFFIXES and not file.name.startswith(".") and file.is_file()
    )


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
    # Union-find: a game with an entry is the same as the game of a lower number that it names.
    lower: dict[int, int] = {}
    first_with: dict[Hashable, int] = {}  # by what is shared: the first game that has it

    def lowest(game: int) -> int:
        while game in lower:
            game = lower[game]
        return game

    games = list(games)
    for game, key in zip(games, shared, strict=True):
        low, high = sorted((lowest(game), lowest(first_with.setdefault(key, game))))
        if low < high:
            lower[high] = low
    return [lowest(game) for game in games]
