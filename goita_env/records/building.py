"""Builds a record from a notation's entries, one a deal, and collects their errors."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Iterator, Sequence
from contextlib import contextmanager
from dataclasses import replace
from typing import Final, TypeVar

from goita_env.checks import check_scores
from goita_env.errors import GoitaError, RecordError, SettingError
from goita_env.records.model import (
    DealRecord,
    Move,
    Problem,
    Record,
    brief,
    check_deal,
    count_plays,
)
from goita_env.rules import Rules

Entry = TypeVar("Entry")

MAX_CHARACTERS: Final = 10**7
"""A longer text is refused; a deal takes some hundred characters."""
_MAX_MESSAGE: Final = 500
"""Most characters of a message: a text may have a field that is as long as the text."""


@contextmanager
def naming(source: str) -> Iterator[None]:
    """Raises the errors of a text as a RecordError that begins with its source."""
    try:
        yield
    except (RecordError, SettingError, TypeError) as error:
        problem = str(error)[:_MAX_MESSAGE]
        raise RecordError(f"{source}: {problem}" if source else problem) from error


def check_text(text: object) -> str:
    """Returns a text without its byte order mark; a RecordError for no text or one too long."""
    if not isinstance(text, str):
        raise RecordError(f"expected a text, got {brief(text)}")
    if len(text) > MAX_CHARACTERS:
        raise RecordError(f"expected at most {MAX_CHARACTERS} characters, got {len(text)}")
    return text.removeprefix("\ufeff")


def scores_of(value: object, rules: Rules) -> tuple[int, int] | None:
    """Returns the points of two teams, as numbers or texts; None if no deal begins with them."""
    try:
        points = [int(point) if isinstance(point, str) else point for point in value]  # type: ignore[attr-defined]
        even, odd = check_scores([points], 1, rules.scores_below)[:, 0].tolist()
    except (TypeError, ValueError, OverflowError):
        return None
    return even, odd


def score_notes(entries: Sequence[object], key: str, rules: Rules) -> Iterator[str]:
    """Says which entries have scores that no deal begins with; a replay needs none."""
    for deal_number, entry in enumerate(entries, 1):
        if isinstance(entry, dict) and scores_of(scores := entry.get(key), rules) is None:
            yield (
                f"deal {deal_number}: expected {key}, points of two teams before the deal, tens "
                f"from 0 to {rules.scores_below - 10}, got {brief(scores)}, taken for 0:0"
            )


def build_record(
    entries: Sequence[Entry],
    read_deal: Callable[[Entry], DealRecord],
    read_moves: Callable[[Entry], Iterator[Move]],
    *,
    strict: bool,
    source: str,
    players: tuple[str, ...] = ("", "", "", ""),
    notes: Iterable[str] = (),
) -> Record:
    """Builds the record of a notation's entries.

    Args:
        entries: the notation's entry of each deal.
        read_deal: reads an entry without its moves.
        read_moves: reads the moves of an entry one by one; both raise a ``GoitaError`` where an
            entry is malformed.
        strict: as in ``history.loads``.
        source: name for messages.
        players: their names by seat.
        notes: changes to the text that was read.
    """
    with naming(source):
        Record((), players)
    deals: list[DealRecord] = []
    problems: list[Problem] = []
    for deal_number, entry in enumerate(entries, 1):
        deal, problem = _build_deal(entry, deal_number, read_deal, read_moves, source)
        if strict and problem:
            raise RecordError(str(problem))
        if deal and not strict:
            illegal = check_deal(deal, source)
            # A deal whose moves could not all be read breaks off there, too: the error says more.
            if illegal and (problem is None or illegal.move != problem.move):
                problem = illegal
            if problem and problem.move:
                deal = replace(deal, moves=deal.moves[: problem.move - 1])
        if deal:
            deals.append(deal)
        if problem:
            problems.append(problem)
    notes = tuple(f"{source}: {note}" if source else note for note in notes)
    return Record(tuple(deals), players, problems=tuple(problems), source=source, notes=notes)


def _build_deal(
    entry: Entry,
    deal_number: int,
    read_deal: Callable[[Entry], DealRecord],
    read_moves: Callable[[Entry], Iterator[Move]],
    source: str,
) -> tuple[DealRecord | None, Problem | None]:
    """Returns a deal up to its first malformed move, None if not even the hands can be read."""
    try:
        deal = replace(read_deal(entry), number=deal_number)
    except GoitaError as error:
        return None, Problem(deal_number, str(error), source=source)
    moves: list[Move] = []
    problem = None
    try:
        moves.extend(read_moves(entry))  # keeps the moves before an error
    except GoitaError as error:
        play = count_plays(moves) + 1
        problem = Problem(deal_number, str(error), move=len(moves) + 1, play=play, source=source)
    return replace(deal, moves=tuple(moves)), problem
