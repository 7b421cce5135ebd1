"""Reads records of people such that no deal counts twice, and groups them into units."""

from __future__ import annotations

from collections import Counter
from collections.abc import Hashable, Sequence
from dataclasses import replace
from pathlib import Path

from goita_env import actions
from goita_env.rules import Rules
from goita_lab.record_files import Recorded, Records, dealt, joined, read_records


def read_units(paths: Sequence[Path], rules: str | Rules, what: str) -> Records:
    """Reads records as ``read_records`` does, each deal once, the number of its unit as its game.

    A deal that another file holds, too, is left out, and so is a part of it. Files that share hands
    are one unit, even where a deal was played differently.
    """
    records = read_records(paths, rules, what)
    deals = records.deals
    units = joined([deal.game for deal in deals], [dealt(deal.deal) for deal in deals])
    repeats = _repeats(deals)
    distinct = [
        replace(deal, game=unit)
        for index, (deal, unit) in enumerate(zip(deals, units, strict=True))
        if index not in repeats
    ]
    pairs = Counter((deals[index].file, deals[repeats[index]].file) for index in sorted(repeats))
    notes = [
        f"left out: deals of {file} that {other_file} holds, too: {count}"
        for (file, other_file), count in pairs.items()
    ]
    notes += _notes_of_units(deals, units)
    return Records(tuple(distinct), records.problems, (*records.notes, *notes))


def _repeats(deals: Sequence[Recorded]) -> dict[int, int]:
    """Returns by index of each repeated deal the index of the longest record of this deal.

    Answers before play are not compared: some notations leave them out.
    """
    plays = [tuple(move for move in deal.deal.moves if move[1] < actions.CALL) for deal in deals]
    longest_first = sorted(
        range(len(deals)),
        key=lambda i: (-len(plays[i]), not deals[i].sound, not any(deals[i].players)),
    )
    with_hands: dict[Hashable, list[int]] = {}
    repeats: dict[int, int] = {}
    for index in longest_first:
        same = with_hands.setdefault((dealt(deals[index].deal), deals[index].deal.dealer), [])
        begins = plays[index]
        longer = next((i for i in same if plays[i][: len(begins)] == begins), None)
        if longer is None:
            same.append(index)
        else:
            repeats[index] = longer
    return repeats


def _notes_of_units(deals: Sequence[Recorded], units: Sequence[int]) -> list[str]:
    """Returns a note for each unit of several files."""
    files: dict[int, dict[str, None]] = {}
    for deal, unit in zip(deals, units, strict=True):
        files.setdefault(unit, {})[str(deal.file)] = None
    joint = dict.fromkeys(" and ".join(names) for names in files.values() if len(names) > 1)
    return [f"one unit, since hands are the same: {names}" for names in joint]
