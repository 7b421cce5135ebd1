"""Reads recorded deals: in any notation, or saved by a tournament."""

from __future__ import annotations

import re
from dataclasses import dataclass, replace
from itertools import islice
from pathlib import Path

from agents.files import read_limited
from agents.record_files import is_history, read_record
from agents.tournament import games_folder
from agents.tournament.games_folder import MANIFEST, read_games
from goita_env.errors import RecordError, SettingError
from goita_env.records import DealRecord, Problem, Record, history
from goita_env.rules import JGA, Rules


@dataclass(frozen=True)
class Watched:
    """Holds a deal of a page, and who played it."""

    deal: DealRecord
    players: tuple[str, ...] = ("", "", "", "")
    note: str = ""
    """Its place in a tournament, or what is unsound."""


@dataclass(frozen=True)
class Source:
    """Holds the deals of a page."""

    title: str
    deals: tuple[Watched, ...]
    total: int
    """Deals that the record holds, those left out included."""
    problems: tuple[Problem, ...] = ()


def read(
    what: str, *, rules: str | Rules = JGA, deals: str | None = None, most: int = 50
) -> Source:
    """Reads deals of a record.

    Args:
        what: a file, a folder of saved games, or a history string.
        rules: the rule set of a kifu or a history string; other records know theirs.
        deals: which, counted from 1: "3" or "5-9"; None: the first ones.
        most: how many of them, if ``deals`` is None.

    Raises:
        RecordError: if it is no record, or has no such deal.
        SettingError: if ``deals`` is malformed, or a file is too large or no text.
        ImportError: if a kifu lacks its extra.
    """
    first, last = _range(deals) if deals else (1, most)
    path = Path(what)
    if is_history(what) and not path.exists():
        found = _recorded(history.loads(what, rules=rules, strict=False), "a deal")
    elif path.is_dir() or path.suffix == ".jsonl":
        found = _saved(path, last)
    else:
        found = _recorded(read_record(path, rules, strict=False), path.name)
    chosen = found.deals[first - 1 : last]
    if not chosen:
        raise RecordError(f"expected deals {first} to {last}, got {found.total} in {what!r}")
    return replace(found, deals=chosen)


def _range(text: str) -> tuple[int, int]:
    """Returns the first and the last deal of "3" or "5-9"."""
    match = re.fullmatch(r"(\d+)(?:-(\d+))?", text)
    first, last = (int(match[1]), int(match[2] or match[1])) if match else (0, 0)
    if not 1 <= first <= last:
        raise SettingError(f"expected deals as 3 or 5-9, got {text!r}")
    return first, last


def _recorded(record: Record, title: str) -> Source:
    notes = {problem.deal: problem.message for problem in record.problems}
    deals = [Watched(deal, record.players, notes.get(deal.number, "")) for deal in record.deals]
    return Source(title, tuple(deals), len(deals), record.problems)


def _saved(path: Path, last: int) -> Source:
    """Returns the games of a folder, or of one of its files, up to a deal."""
    folder, pattern = (path, "*.jsonl") if path.is_dir() else (path.parent, path.name)
    if not (folder / MANIFEST).exists():
        raise RecordError(f"expected a folder of saved games, got no {MANIFEST} in {str(folder)!r}")
    total = sum(
        read_limited(file, games_folder.MOST_BYTES).count(b"\n") for file in folder.glob(pattern)
    )
    deals = [
        Watched(one.record, one.agents, f"deal {one.deal} of the tournament, seating {one.seating}")
        for one in islice(read_games(folder, pattern), last)
    ]
    return Source(path.stem, tuple(deals), total)
