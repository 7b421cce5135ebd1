"""Lays out a tournament, the strongest agents first: scores, tables of text, faults in words."""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass
from math import inf, isinf
from typing import Any, Final, Self

from goita_agents.registry import short_name
from goita_env.information import PLAIN
from goita_lab.arena.report.figures import (
    brief,
    clean,
    duration,
    interval,
    line,
    percent,
    signed,
    span,
)
from goita_lab.arena.statistics.intervals import Interval
from goita_lab.arena.statistics.ratings import Rating
from goita_lab.arena.tournament.summary import FaultCount, PairResult, Summary
from goita_lab.provenance import CHANGED

STDERR_LINES: Final = 20
"""Most lines of standard error, and of a traceback, that a report shows of one fault."""


Scores = Mapping[tuple[str, str], Interval]


def pair_scores(summary: Summary) -> Scores:
    """Returns points per round of the first agent against the second; both triangles."""
    found: dict[tuple[str, str], Interval] = {}
    for pair in summary.pairs:
        mean, (low, high) = pair.points_per_round, pair.ci95
        found[pair.b, pair.a] = Interval(-mean, -high, -low, few=pair.few)
        found[pair.a, pair.b] = pair.points
    return found


def partner_scores(summary: Summary) -> Scores:
    """Returns points per round of two agents as partners, both ways; empty without cross-play."""
    found: dict[tuple[str, str], Interval] = {}
    for cell in summary.cross.cells if summary.cross else ():
        first, second = cell.partners
        score = Interval(cell.points_per_round, *cell.ci95, few=cell.few)
        found[first, second] = found[second, first] = score
    return found


def strongest_first(summary: Summary) -> list[str]:
    """Returns agents by rating, those without one last by points per round, ties as they came.

    Who forfeited comes after who did not.
    """
    elo = {rating.agent: rating.elo for rating in summary.ratings}
    out = {fault.agent for fault in summary.faults if fault.forfeited}
    scores = pair_scores(summary)

    def weakness(name: str) -> tuple[bool, float, float]:
        points = [score.mean for (agent, other), score in scores.items() if agent == name != other]
        mean = sum(points) / len(points) if points else -inf
        return name in out, -elo.get(name, -inf), -mean

    return sorted(summary.agents, key=weakness)


def trouble(summary: Summary) -> dict[str, str]:
    """Returns what went wrong by agent: "forfeited 1 pairing, crashed 3×"."""
    found = {}
    for agent in dict.fromkeys(fault.agent for fault in summary.faults):
        made = [fault for fault in summary.faults if fault.agent == agent]
        lost = len({fault.pair for fault in made if fault.forfeited})
        counts: Counter[str] = Counter()
        for fault in made:
            counts[kind(fault)] += fault.count
        parts = [f"forfeited {lost} pairing{'s' * (lost > 1)}"] if lost else []
        found[agent] = ", ".join(parts + [f"{name} {many:,}×" for name, many in counts.items()])
    for agent in map(short_name, summary.changed):
        found[agent] = ", ".join(filter(None, [found.get(agent), CHANGED]))
    return found


def kind(fault: FaultCount) -> str:
    """Returns the kind of a fault in words."""
    words = {"hello": "did not start", "died": "crashed", "raised": "raised an exception"}
    return words.get(fault.kind, fault.kind)


def fault_texts(faults: Iterable[FaultCount]) -> list[str]:
    """Returns what went wrong, a text for each agent and kind of fault.

    It says who did what wrong, where and how often; under it the place and the text of the last
    fault, and the last lines of what the bot wrote.
    """
    found = []
    for fault in faults:
        lost = "; it forfeited the pairing" if fault.forfeited else ""
        often = f"{fault.count:,} time{'' if fault.count == 1 else 's'}"
        told = [f"fault: {line(_setting(fault))}: {kind(fault)}, {often}{lost}"]
        where = [f"deal {fault.deal}"] if fault.deal >= 0 else []
        where += [f"seat {fault.seat}"] if fault.seat >= 0 else []
        wrote = [f"{', '.join(where)}: {fault.text}" if where else fault.text]
        wrote += [*fault.traceback.splitlines()[-STDERR_LINES:], *fault.stderr[-STDERR_LINES:]]
        lines = "\n".join(one.rstrip("\r\n") for one in wrote if one)
        found.append("\n".join(told + [f"    {one}" for one in clean(lines).splitlines()]))
    return found


def _setting(fault: FaultCount) -> str:
    """Returns who made a fault, and in which pairing."""
    if len(fault.pair) == 3:
        first, second, opponent = fault.pair
        return f"{fault.agent} in {first} with {second} against {opponent}"
    against = [f" against {agent}" for agent in fault.pair if agent != fault.agent]
    return fault.agent + "".join(against)


def facts(summary: Summary) -> dict[str, str]:
    """Returns what it takes to repeat the run, by name."""
    return {
        "seed": str(summary.seed),
        "rules": summary.rules.name,
        **({} if summary.information == PLAIN else {"information": str(summary.information)}),
        "episode": summary.episode,
        "deals a pair": span(pair.deals for pair in summary.pairs) or f"{summary.deals:,}",
        "block deals": str(summary.block_deals),
        "time": duration(summary.seconds),
        "versions": ", ".join(f"{name} {found}" for name, found in summary.versions.items()),
    }


@dataclass(frozen=True)
class Table:
    """A table of text."""

    title: str
    columns: tuple[str, ...]
    rows: tuple[tuple[str, ...], ...]
    agents: tuple[str, ...] = ()
    """Columns of names, to be escaped; the others are figures. By default the first column."""
    notes: tuple[str, ...] = ()
    """Columns of words that may wrap."""
    against: str = ""
    """The opponents of all rows, to be escaped too; empty where rows or columns say so."""

    def __post_init__(self) -> None:
        if not self.agents:
            object.__setattr__(self, "agents", self.columns[:1])

    @classmethod
    def of(cls, title: str, rows: Sequence[Mapping[str, str]], **options: Any) -> Self:
        """Builds a table from rows by column; ``options``: further fields."""
        return cls(title, tuple(rows[0]), tuple(tuple(row.values()) for row in rows), **options)


def rating(found: Rating) -> tuple[str, str]:
    """Returns a rating and its interval; where an end is not shown, what is known of it."""
    low, high = found.ci95
    if isinf(low) and isinf(high):
        return "unknown", ""
    if isinf(high):
        return f"at least {signed(low, 0)}", "no upper end"
    if isinf(low):
        return f"at most {signed(high, 0)}", "no lower end"
    return signed(found.elo, 0), interval(Interval(found.elo, low, high, few=found.few), 0)


def ratings_table(summary: Summary) -> Table | None:
    """Returns the ratings, the best first, with what went wrong beside them; None if none.

    Who forfeited has no rank.
    """
    notes = trouble(summary)
    heads = ("", "agent", "Elo", "95 %", *(("faults",) if notes else ()))
    rows = [
        (
            str(rank) if one.ranked else "-",
            one.agent,
            *rating(one),
            *((notes.get(one.agent, ""),) if notes else ()),
        )
        for rank, one in enumerate(summary.ratings, 1)
    ]
    return Table("Ratings", heads, tuple(rows), ("agent",), notes=("faults",)) if rows else None


def tables(summary: Summary, matrix: Table | None) -> list[Table]:
    """Returns all tables of a report in order, those that would be empty left out.

    Args:
        summary: the tournament.
        matrix: the one of agents against each other, if it is shown.
    """
    found = (ratings_table(summary), matrix, cross_play_table(summary), pairs_table(summary.pairs))
    return [table for table in found if table is not None]


def matrix_table(summary: Summary, *, bounds: bool) -> Table | None:
    """Returns points per round of row against column, both triangles; None without any."""
    title = "Points per round, row against column"
    return _square(title, strongest_first(summary), pair_scores(summary), bounds=bounds)


def cross_play_table(summary: Summary) -> Table | None:
    """Returns points per round of row and column as partners; None where none were played."""
    if summary.cross is None:
        return None
    title = "Cross-play: points per round, row and column as partners"
    scores, against = partner_scores(summary), summary.cross.opponents
    met = {name for pair in scores for name in pair}
    agents = [name for name in strongest_first(summary) if name in met]
    return _square(title, agents, scores, bounds=True, against=against)


def pairs_table(pairs: Sequence[PairResult]) -> Table | None:
    """Returns all pairs, from the side of the first; columns that would be empty are left out."""
    if not pairs:
        return None
    columns = {
        "agent": [pair.a for pair in pairs],
        "against": [pair.b for pair in pairs],
        "deals": [f"{pair.deals:,}" for pair in pairs],
        "points per round": [signed(pair.points_per_round) for pair in pairs],
        "95 %": [interval(pair.points) for pair in pairs],
        "rounds won": [percent(pair.rounds_won) for pair in pairs],
        "matches won": [percent(pair.matches_won) if pair.matches_won else "" for pair in pairs],
        "ms per decision": [
            " : ".join(brief(pair.ms_per_decision[agent]) for agent in (pair.a, pair.b))
            for pair in pairs
        ],
        "SPRT": [
            f"{pair.sprt.decision or 'open'}, LLR {signed(pair.sprt.llr)}" if pair.sprt else ""
            for pair in pairs
        ],
        "faults": [_fault_counts(pair) for pair in pairs],
    }
    columns = {title: cells for title, cells in columns.items() if any(cells)}
    rows = tuple(zip(*columns.values(), strict=True))
    return Table("Pairs, from the side of the first", tuple(columns), rows, ("agent", "against"))


def _fault_counts(pair: PairResult) -> str:
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
    return Table(title, ("", "agent", *heads), tuple(rows), ("agent",), against=against)
