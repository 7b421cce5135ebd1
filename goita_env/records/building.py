"""Builds a record from a notation's entries, one a deal, and collects what is wrong with them."""

from __future__ import annotations

from collections.abc import Callable, Iterator, Sequence
from dataclasses import replace
from typing import Final, TypeVar

from goita_env.errors import GoitaError, RecordError
from goita_env.records.model import (
    DealRecord,
    Move,
    Problem,
    Record,
    brief,
    count_plays,
    cut,
    unsound,
)

Entry = TypeVar("Entry")

MAX_DEALS: Final = 10**5
"""Records of more deals are refused."""
MAX_MOVES: Final = 200
"""Deals of more moves are refused; 16 plays, three passes after each and some questions are 80."""


def check_text(text: object, limit: int) -> str:
    """Returns a text without a byte order mark.

    Raises:
        RecordError: if it is no text, or longer than the limit (characters).
    """
    if not isinstance(text, str):
        raise RecordError(f"expected a text, got {brief(text)}")
    if len(text) > limit:
        raise RecordError(f"expected at most {limit} characters, got {len(text)}")
    return text.removeprefix("\ufeff")


def build(
    entries: Sequence[Entry],
    read_deal: Callable[[Entry], DealRecord],
    read_moves: Callable[[Entry], Iterator[Move]],
    *,
    strict: bool,
    source: str,
) -> Record:
    """Returns the record of a notation's entries.

    Args:
        entries: what the notation holds for each deal.
        read_deal: reads an entry without its moves.
        read_moves: reads the moves of an entry one by one; both raise a ``GoitaError`` where an
            entry is malformed.
        strict: raise at the first malformed entry; else keep of each deal the moves before the
            first malformed or illegal one, and note the problem.
        source: name for messages.

    Raises:
        RecordError: if there are too many entries or, if strict, one is malformed.
    """
    if len(entries) > MAX_DEALS:
        many = f"expected at most {MAX_DEALS} deals, got {len(entries)}"
        raise RecordError(f"{source}: {many}" if source else many)
    deals: list[DealRecord] = []
    problems: list[Problem] = []
    for number, entry in enumerate(entries, 1):
        deal, problem = _build_deal(entry, number, read_deal, read_moves, source)
        if strict and problem:
            raise RecordError(str(problem))
        if deal and not strict:
            illegal = unsound(deal, source)
            # Where the moves could be read no further, a deal breaks off, too: that says more.
            if illegal and (problem is None or illegal.move != problem.move):
                problem = illegal
            if problem and problem.move:
                deal = cut(deal, problem.move - 1)
        if deal:
            deals.append(deal)
        if problem:
            problems.append(problem)
    return Record(tuple(deals), problems=tuple(problems), source=source)


def _build_deal(
    entry: Entry,
    number: int,
    read_deal: Callable[[Entry], DealRecord],
    read_moves: Callable[[Entry], Iterator[Move]],
    source: str,
) -> tuple[DealRecord | None, Problem | None]:
    """Returns a deal up to its first malformed move, None if not even the hands can be read."""
    try:
        deal = replace(read_deal(entry), number=number)
    except GoitaError as error:
        return None, Problem(number, str(error), source=source)
    moves: list[Move] = []
    problem = None
    try:
        for move in read_moves(entry):  # what came before an error is kept
            if len(moves) == MAX_MOVES:
                raise RecordError(f"expected at most {MAX_MOVES} moves, got more")
            moves.append(move)
    except GoitaError as error:
        problem = Problem(number, str(error), len(moves) + 1, count_plays(moves) + 1, source)
    return replace(deal, moves=tuple(moves)), problem
