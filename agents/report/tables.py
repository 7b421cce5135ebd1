"""Lays out a tournament as tables of text, for the terminal and Markdown."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

from agents.report.figures import brief, interval, percent, signed
from agents.report.standings import (
    Scores,
    pair_scores,
    partner_scores,
    partners,
    strongest_first,
    trouble,
)
from agents.statistics.intervals import Interval
from agents.tournament.summary import PairResult, Summary


@dataclass(frozen=True)
class Table:
    """Holds a table of text."""

    title: str
    columns: tuple[str, ...]
    rows: tuple[tuple[str, ...], ...]
    agents: tuple[int, ...]
    """Which columns are names of agents, to be escaped; the others are figures."""
    notes: tuple[int, ...] = ()
    """Which columns are words, that may stand on several lines."""
    against: str = ""
    """Against whom all of it was played, to be escaped too; empty where rows or columns say so."""


def ratings_table(summary: Summary) -> Table | None:
    """Returns the ratings, the best first, with what went wrong beside them; None if none."""
    notes = trouble(summary)
    heads = ("", "agent", "Elo", "95 %", *(("faults",) if notes else ()))
    rows = [
        (str(rank), one.agent, signed(one.elo, 0), interval(Interval(one.elo, *one.ci95), 0))
        + ((notes.get(one.agent, ""),) if notes else ())
        for rank, one in enumerate(summary.ratings, 1)
    ]
    return Table("Ratings", heads, tuple(rows), (1,), notes=(4,)) if rows else None


def matrix_table(summary: Summary, *, bounds: bool) -> Table | None:
    """Returns points per round of row against column, both triangles; None without any."""
    title = "Points per round, row against column"
    return _square(title, strongest_first(summary), pair_scores(summary), bounds=bounds)


def cross_play_table(summary: Summary) -> Table | None:
    """Returns points per round of row and column as partners; None where none were played."""
    if summary.cross is None:
        return None
    title = "Cross-play: points per round, row and column as partners"
    scores = partner_scores(summary.cross)
    return _square(title, partners(summary), scores, bounds=True, against=summary.cross.opponents)


def pairs_table(pairs: Sequence[PairResult]) -> Table | None:
    """Returns all pairs, from the side of the first; columns that would be empty are left out."""
    columns = {
        "agent": [pair.a for pair in pairs],
        "against": [pair.b for pair in pairs],
        "deals": [f"{pair.deals:,}" for pair in pairs],
        "points per round": [signed(pair.points_per_round) for pair in pairs],
        "95 %": [interval(pair.points) for pair in pairs],
        "rounds won": [" ".join(percent(pair.rounds_won)) for pair in pairs],
        "matches won": [" ".join(percent(p.matches_won)) if p.matches_won else "" for p in pairs],
        "ms per decision": [milliseconds(pair) for pair in pairs],
        "variance removed": [f"{100 * pair.variance_removed:.0f} %" for pair in pairs],
        "SPRT": [", ".join(filter(None, sprt(pair))) for pair in pairs],
        "rounds/s": [brief(pair.rounds_per_second) for pair in pairs],
        "faults": [fault_counts(pair) for pair in pairs],
    }
    kept = {title: cells for title, cells in columns.items() if any(cells)}
    rows = tuple(zip(*kept.values(), strict=True))
    return Table("Pairs, from the side of the first", tuple(kept), rows, (0, 1)) if rows else None


def milliseconds(pair: PairResult) -> str:
    """Returns the milliseconds that a decision took both agents."""
    return " : ".join(brief(pair.ms_per_decision[agent]) for agent in (pair.a, pair.b))


def sprt(pair: PairResult) -> tuple[str, str]:
    """Returns a sequential test's decision and log-likelihood ratio; empty where there was none."""
    if pair.sprt is None:
        return "", ""
    return pair.sprt.decision or "open", f"LLR {signed(pair.sprt.llr)}"


def fault_counts(pair: PairResult) -> str:
    """Returns how many faults both agents have; nothing if neither has any."""
    faults = [pair.faults.get(agent, 0) for agent in (pair.a, pair.b)]
    return " : ".join(f"{count:,}" for count in faults) if any(faults) else ""


def _square(
    title: str, agents: Sequence[str], scores: Scores, *, bounds: bool, against: str = ""
) -> Table | None:
    """Returns a matrix whose columns carry the numbers of its rows; None without scores."""
    if not scores:
        return None
    rows = []
    for number, row in enumerate(agents, 1):
        found = [scores.get((row, column)) for column in agents]
        if bounds:
            cells = [f"{signed(one.mean)} {interval(one)}" if one else "" for one in found]
        else:
            cells = [signed(one.mean, 1) if one else "" for one in found]
        rows.append((str(number), row, *cells))
    heads = tuple(str(number) for number in range(1, len(agents) + 1))
    return Table(title, ("", "agent", *heads), tuple(rows), (1,), against=against)
