"""Reads recorded deals: in any notation, or saved by a tournament."""

from __future__ import annotations

import re
from collections.abc import Sequence
from dataclasses import dataclass, replace
from hashlib import blake2b
from itertools import accumulate, islice
from pathlib import Path
from typing import Final

from goita_env.actions import CALL, REDEAL
from goita_env.checks import read_limited
from goita_env.errors import RecordError, SettingError
from goita_env.records import DealRecord, Problem, Record, history
from goita_env.rules import JGA, Rules
from goita_lab.arena.tournament.games_folder import MAX_GAMES_BYTES, game_files, read_games
from goita_lab.record_files import is_history, read_record

UNFINISHED: Final = "The deal is unfinished: the record ends here"

MAX_WATCHED_DEALS: Final = 50
"""Deals that are read if the caller names none."""
MOST_EARLIER: Final = 100
"""Rounds of a match that are read before the first deal of a page."""


@dataclass(frozen=True)
class Watched:
    """A deal of a page, and who played it."""

    deal: DealRecord
    players: tuple[str, ...] = ("", "", "", "")
    note: str = ""
    """What is unsound in the deal, or that the deal is unfinished; empty: neither."""
    earlier: tuple[DealRecord, ...] = ()
    """The rounds of the same match before it, as far as the record has them."""

    @property
    def gained(self) -> int | None:
        """Points of seats 0 and 2, minus those of seats 1 and 3; None: no round was ended."""
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
    """Other remarks on the record, from its reader."""

    @property
    def digest(self) -> str:
        """A digest of the deals: pages of other deals have another one."""
        text = repr([(watched.deal, watched.players) for watched in self.deals])
        return blake2b(text.encode(errors="replace"), digest_size=12).hexdigest()

    def remarks(self) -> list[str]:
        """Lists what is unsound or left out, and which deals of the page are unfinished."""
        deal_numbers = {watched.deal.number for watched in self.deals}
        problems = (
            str(problem)
            for problem in self.problems
            if not problem.unfinished or problem.deal in deal_numbers
        )
        return [*self.notes, *problems]


def read(record: str, *, rules: str | Rules = JGA, deals: str | None = None) -> Source:
    """Reads deals of a record.

    Args:
        record: a file, a folder of saved games, or a history string.
        rules: the rule set of a kifu or a history string; other records know theirs.
        deals: which, counted from 1: "3" or "5-9"; None: the first ``MAX_WATCHED_DEALS``.

    Raises:
        RecordError: if it is no record, or has no such deal.
        SettingError: if ``deals`` is malformed, or a file is too large or no text.
        ImportError: if a kifu lacks its extra.
    """
    first, last = _range(deals) if deals else (1, MAX_WATCHED_DEALS)
    path = Path(record)
    if is_history(record) and not path.exists():
        source = _recorded(history.loads(record, rules=rules, strict=False), "a deal")
    elif path.is_dir() or path.suffix == ".jsonl":
        source = _saved(path, last)
    else:
        source = _recorded(read_record(path, rules, strict=False), path.name)
    if len(source.deals) < first:
        why = "".join(f"; {problem}" for problem in source.problems[:1])
        raise RecordError(
            f"expected deals {first} to {last}, got {source.total} in {record!r}{why}"
        )
    return replace(source, deals=_with_earlier(source.deals[:last], first - 1))


def of_match(record: Record, title: str) -> Source:
    """Returns all deals of a record, each with the earlier rounds of its match."""
    source = _recorded(record, title)
    return replace(source, deals=_with_earlier(source.deals, 0)) if source.deals else source


def _with_earlier(deals: tuple[Watched, ...], first: int) -> tuple[Watched, ...]:
    """Returns the deals from index ``first`` on, each with the earlier rounds of its match."""
    start = first  # becomes the index of the first round of the match, as far as it is read
    while start > max(0, first - MOST_EARLIER) and _same_match(deals[start - 1], deals[start]):
        start -= 1
    completed: list[Watched] = []
    for watched in deals[start:]:
        earlier: tuple[DealRecord, ...] = ()
        if completed and _same_match(completed[-1], watched):
            earlier = (*completed[-1].earlier, completed[-1].deal)
        completed.append(replace(watched, earlier=earlier))
    return tuple(completed[first - start :])


def rounds_of(deals: Sequence[Watched]) -> list[int]:
    """Returns the number of the round of each deal, from 1; a redeal begins no new round."""
    # A deal with points ended its round, so the next deal belongs to the next round.
    steps = (0 if watched.gained is None else 1 for watched in deals[:-1])
    return list(accumulate(steps, initial=1))


def _same_match(before: Watched, after: Watched) -> bool:
    """Returns whether a deal follows another one in a match: it begins with the scores so far.

    A score of 0:0 begins a match, except after a redeal.
    """
    if before.players != after.players or before.deal.rules != after.deal.rules:
        return False
    try:
        scores = before.deal.result().scores
        return after.deal.scores == scores and scores != (0, 0)
    except RecordError:
        redealt = before.deal.moves[-1:] and before.deal.moves[-1][1] in (REDEAL, CALL)
        return bool(redealt) and after.deal.scores == before.deal.scores


def _range(text: str) -> tuple[int, int]:
    """Returns the numbers of the first and the last deal of "3" or "5-9"."""
    match = re.fullmatch(r"(\d+)(?:-(\d+))?", text)
    first, last = (int(match[1]), int(match[2] or match[1])) if match else (0, 0)
    if not 1 <= first <= last:
        raise SettingError(f"expected deals as 3 or 5-9, got {text!r}")
    return first, last


def _recorded(record: Record, title: str) -> Source:
    """Returns all deals of a record, with notes on what is unsound or unfinished in them."""
    notes = {
        problem.deal: UNFINISHED if problem.unfinished else problem.message
        for problem in record.problems
    }
    deals = [
        Watched(deal.answered(), record.players, notes.get(deal.number, ""))
        for deal in record.deals
    ]
    return Source(
        title, tuple(deals), total=len(deals), problems=record.problems, notes=record.notes
    )


def _saved(path: Path, last: int) -> Source:
    """Returns the first ``last`` deals of a folder of saved games, or of one of its files."""
    deals = tuple(Watched(game.record, game.agents) for game in islice(read_games(path), last))
    total = sum(read_limited(file, MAX_GAMES_BYTES).count(b"\n") for file in game_files(path))
    return Source(path.stem, deals, total)
