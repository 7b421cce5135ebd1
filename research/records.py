"""Reads records of people such that no deal counts twice, and says what is one unit."""

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
    read = read_records(paths, rules, what)
    found = read.deals
    numbers = joined([one.game for one in found], [dealt(one.deal) for one in found])
    repeats = _repeats(found)
    kept = [
        replace(one, game=game)
        for at, (one, game) in enumerate(zip(found, numbers, strict=True))
        if at not in repeats
    ]
    parts = Counter((found[at].file, found[repeats[at]].file) for at in sorted(repeats))
    notes = [
        f"left out: deals of {file} that {of} holds, too: {many}"
        for (file, of), many in parts.items()
    ]
    return Records(tuple(kept), read.problems, (*read.notes, *notes, *_units(found, numbers)))


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
