"""Reads recorded deals: in any notation, or saved by a tournament."""

from __future__ import annotations

import re
from collections.abc import Sequence
from dataclasses import dataclass, replace
from itertools import accumulate, islice
from pathlib import Path
from typing import Final

from goita_env.actions import CALL, REDEAL
from goita_env.checks import read_limited
from goita_env.errors import RecordError, SettingError
from goita_env.records import DealRecord, Problem, Record, history
from goita_env.rules import JGA, Rules
from goita_lab.arena.tournament.games_folder import MOST_BYTES, game_files, read_games
from goita_lab.record_files import is_history, read_record

UNFINISHED: Final = "The deal is unfinished: the record ends here"

MOST: Final = 50
"""Deals that are read where none are named."""
MOST_EARLIER: Final = 100
"""Rounds of a match before the first deal of a page that are looked at."""


@dataclass(frozen=True)
class Watched:
    """A deal of a page, and who played it."""

    deal: DealRecord
    players: tuple[str, ...] = ("", "", "", "")
    note: str = ""
    """What is unsound, or that it is unfinished."""
    earlier: tuple[DealRecord, ...] = ()
    """The rounds of the same match before it, as far as the record has them."""

    @property
    def gained(self) -> int | None:
        """Points of seats 0 and 2, minus the others'; None: no round was ended."""
        try:
            return self.deal.result().gained
        except RecordError:
            return None


@dataclass(frozen=True)
class Source:
    """The deals of a page."""

    title: str
    deals: tuple[Watched, ...]
    total: int
    """Deals that the record holds, those left out included."""
    problems: tuple[Problem, ...] = ()
    notes: tuple[str, ...] = ()
    """What else the reader of the record says."""

    def remarks(self) -> list[str]:
        """Lists what is unsound or left out, and which of these deals are unfinished."""
        shown = {watched.deal.number for watched in self.deals}
        return [
            *self.notes,
            *(str(one) for one in self.problems if not one.unfinished or one.deal in shown),
        ]


def read(what: str, *, rules: str | Rules = JGA, deals: str | None = None) -> Source:
    """Reads deals of a record.

    Args:
        what: a file, a folder of saved games, or a history string.
        rules: the rule set of a kifu or a history string; other records know theirs.
        deals: which, counted from 1: "3" or "5-9"; None: the first ``MOST``.

    Raises:
        RecordError: if it is no record, or has no such deal.
        SettingError: if ``deals`` is malformed, or a file is too large or no text.
        ImportError: if a kifu lacks its extra.
    """
    first, last = _range(deals) if deals else (1, MOST)
    path = Path(what)
    if is_history(what) and not path.exists():
        found = _recorded(history.loads(what, rules=rules, strict=False), "a deal")
    elif path.is_dir() or path.suffix == ".jsonl":
        found = _saved(path, last)
    else:
        found = _recorded(read_record(path, rules, strict=False), path.name)
    chosen = found.deals[first - 1 : last]
    if not chosen:
        why = "".join(f"; {problem}" for problem in found.problems[:1])
        raise RecordError(f"expected deals {first} to {last}, got {found.total} in {what!r}{why}")
    shown = _with_earlier(found.deals[:last], first - 1)
    return replace(found, deals=shown)


def of_match(record: Record, title: str) -> Source:
    """Returns all deals of a record, each with the earlier rounds of its match."""
    found = _recorded(record, title)
    return replace(found, deals=_with_earlier(found.deals, 0)) if found.deals else found


def _with_earlier(deals: tuple[Watched, ...], first: int) -> tuple[Watched, ...]:
    """Returns the deals from ``first`` on, each with the earlier rounds of its match."""
    begun = first
    while begun > max(0, first - MOST_EARLIER) and _goes_on(deals[begun - 1], deals[begun]):
        begun -= 1
    found: list[Watched] = []
    for one in deals[begun:]:
        goes_on = bool(found) and _goes_on(found[-1], one)
        earlier = (*found[-1].earlier, found[-1].deal) if goes_on else ()
        found.append(replace(one, earlier=earlier))
    return tuple(found[first - begun :])


def rounds_of(deals: Sequence[Watched]) -> list[int]:
    """Numbers the round of each deal from 1: tiles that were dealt again belong to the same one."""
    return list(accumulate((one.gained is not None for one in deals[:-1]), initial=1))


def _goes_on(before: Watched, after: Watched) -> bool:
    """Tells whether a deal is the next one of the same match: its scores are those left before.

    A score of 0:0 begins a match, but for tiles that were dealt again.
    """
    if before.players != after.players or before.deal.rules != after.deal.rules:
        return False
    try:
        return after.deal.scores == before.deal.result().scores != (0, 0)
    except RecordError:
        redealt = before.deal.moves[-1:] and before.deal.moves[-1][1] in (REDEAL, CALL)
        return bool(redealt) and after.deal.scores == before.deal.scores


def _range(text: str) -> tuple[int, int]:
    """Returns the first and the last deal of "3" or "5-9"."""
    match = re.fullmatch(r"(\d+)(?:-(\d+))?", text)
    first, last = (int(match[1]), int(match[2] or match[1])) if match else (0, 0)
    if not 1 <= first <= last:
        raise SettingError(f"expected deals as 3 or 5-9, got {text!r}")
    return first, last


def _recorded(record: Record, title: str) -> Source:
    notes = {
        problem.deal: UNFINISHED if problem.unfinished else problem.message
        for problem in record.problems
    }
    deals = [
        Watched(one.answered(), record.players, notes.get(one.number, "")) for one in record.deals
    ]
    return Source(title, tuple(deals), len(deals), record.problems, record.notes)


def _saved(path: Path, last: int) -> Source:
    """Returns the games of a folder, or of one of its files, up to a deal."""
    deals = tuple(Watched(one.record, one.agents) for one in islice(read_games(path), last))
    total = sum(read_limited(file, MOST_BYTES).count(b"\n") for file in game_files(path))
    return Source(path.stem, deals, total)
