"""Arranges a tournament's scores in tables of text, the strongest first; puts faults in words."""

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
    estimate,
    interval,
    line,
    percent,
    signed,
    span,
)
from goita_lab.arena.statistics.intervals import Interval
from goita_lab.arena.statistics.ratings import Rating
from goita_lab.arena.tournament.summary import FaultCount, PairResult, Summary
from goita_lab.provenance import CHANGED_MARK

STDERR_LINES: Final = 20
"""Most lines of standard error, and of a traceback, that a report shows of one fault."""


Scores = Mapping[tuple[str, str], Interval]


def pair_scores(summary: Summary) -> Scores:
    """Returns points per round of the first agent against the second; both triangles."""
    scores: dict[tuple[str, str], Interval] = {}
    for pair in summary.pairs:
        mean, (low, high) = pair.points_per_round, pair.ci95
        scores[pair.b, pair.a] = Interval(-mean, -high, -low, few=pair.few)
        scores[pair.a, pair.b] = pair.points  # last: it stays if the agents are the same
    return scores


def partner_scores(summary: Summary) -> Scores:
    """Returns points per round of two agents as partners, both ways; empty without cross-play."""
    scores: dict[tuple[str, str], Interval] = {}
    for cell in summary.cross.cells if summary.cross else ():
        first, second = cell.partners
        score = Interval(cell.points_per_round, *cell.ci95, few=cell.few)
        scores[first, second] = scores[second, first] = score
    return scores


def strongest_first(summary: Summary) -> list[str]:
    """Returns agents by rating, then unrated ones by points per round; ties stay in order.

    Agents that forfeited come after all others.
    """
    elo = {rating.agent: rating.elo for rating in summary.ratings}
    out = {fault.agent for fault in summary.faults if fault.forfeited}
    scores = pair_scores(summary)

    def weakness(name: str) -> tuple[bool, float, float]:
        points = [score.mean for (a, b), score in scores.items() if a == name and b != name]
        mean = sum(points) / len(points) if points else -inf
        return name in out, -elo.get(name, -inf), -mean

    return sorted(summary.agents, key=weakness)


def trouble(summary: Summary) -> dict[str, str]:
    """Returns what went wrong by agent: "forfeited 1 pairing, crashed 3×"."""
    remarks = {}
    for agent in dict.fromkeys(fault.agent for fault in summary.faults):
        faults = [fault for fault in summary.faults if fault.agent == agent]
        lost = len({fault.pair for fault in faults if fault.forfeited})
        counts: Counter[str] = Counter()
        for fault in faults:
            counts[kind(fault)] += fault.count
        parts = [f"forfeited {lost} pairing{'s' if lost > 1 else ''}"] if lost else []
        remarks[agent] = ", ".join(parts + [f"{name} {count:,}×" for name, count in counts.items()])
    for agent in map(short_name, summary.changed):
        remarks[agent] = ", ".join(filter(None, [remarks.get(agent), CHANGED_MARK]))
    return remarks


def kind(fault: FaultCount) -> str:
    """Returns the kind of a fault in words."""
    words = {"hello": "did not start", "died": "crashed", "raised": "raised an exception"}
    return words.get(fault.kind, fault.kind)


def fault_texts(faults: Iterable[FaultCount]) -> list[str]:
    """Returns a text for each agent, pairing and kind of fault.

    The first line names the agent, the pairing, the kind and how often it happened. The lines below
    it have the place and the message of the last fault, and the last lines that the bot wrote.
    """
    texts = []
    for fault in faults:
        lost = "; it forfeited the pairing" if fault.forfeited else ""
        often = f"{fault.count:,} time{'' if fault.count == 1 else 's'}"
        head = f"fault: {line(_setting(fault))}: {kind(fault)}, {often}{lost}"
        where = [f"deal {fault.deal}"] if fault.deal >= 0 else []
        where += [f"seat {fault.seat}"] if fault.seat >= 0 else []
        details = [f"{', '.join(where)}: {fault.text}" if where else fault.text]
        details += [*fault.traceback.splitlines()[-STDERR_LINES:], *fault.stderr[-STDERR_LINES:]]
        block = clean("\n".join(detail.rstrip("\r\n") for detail in details if detail))
        texts.append("\n".join([head, *(f"    {detail}" for detail in block.splitlines())]))
    return texts


def _setting(fault: FaultCount) -> str:
    """Returns which agent made a fault, and in which pairing."""
    if len(fault.pair) == 3:
        first, second, opponent = fault.pair
        return f"{fault.agent} in {first} with {second} against {opponent}"
    against = [f" against {agent}" for agent in fault.pair if agent != fault.agent]
    return fault.agent + "".join(against)


def facts(summary: Summary) -> dict[str, str]:
    """Returns the settings and versions that repeat the run, by name."""
    return {
        "seed": str(summary.seed),
        "rules": summary.rules.name,
        **({} if summary.information == PLAIN else {"information": str(summary.information)}),
        "episode": summary.episode,
        "deals a pair": span(pair.deals for pair in summary.pairs) or f"{summary.deals:,}",
        "block deals": str(summary.block_deals),
        "time": duration(summary.seconds),
        "versions": ", ".join(f"{name} {version}" for name, version in summary.versions.items()),
    }


@dataclass(frozen=True)
class Table:
    """A table of text."""

    title: str
    columns: tuple[str, ...]
    rows: tuple[tuple[str, ...], ...]
    agents: tuple[str, ...] = ()
    """Columns of names, to be escaped; other columns have figures. By default the first column."""
    notes: tuple[str, ...] = ()
    """Columns of words that may wrap."""
    against: str = ""
    """The opponents of all rows, to be escaped too; empty where rows or columns name them."""

    def __post_init__(self) -> None:
        if not self.agents:
            object.__setattr__(self, "agents", self.columns[:1])

    @classmethod
    def of(cls, title: str, rows: Sequence[Mapping[str, str]], **options: Any) -> Self:
        """Builds a table from rows by column; ``options``: further fields."""
        return cls(title, tuple(rows[0]), tuple(tuple(row.values()) for row in rows), **options)


def rating(strength: Rating) -> tuple[str, str]:
    """Returns a rating and its interval; if the interval lacks an end, a bound of the rating."""
    low, high = strength.ci95
    if isinf(low) and isinf(high):
        return "unknown", ""
    if isinf(high):
        return f"at least {signed(low, 0)}", "no upper end"
    if isinf(low):
        return f"at most {signed(high, 0)}", "no lower end"
    bounds = Interval(strength.elo, low, high, few=strength.few)
    return signed(strength.elo, 0), interval(bounds, 0)


def ratings_table(summary: Summary) -> Table | None:
    """Returns the ratings, the best first, and the faults; None if no agent is rated.

    An agent that forfeited has no rank.
    """
    notes = trouble(summary)
    heads = ("", "agent", "Elo", "95 %", *(("faults",) if notes else ()))
    rows = [
        (
            str(rank) if strength.ranked else "-",
            strength.agent,
            *rating(strength),
            *((notes.get(strength.agent, ""),) if notes else ()),
        )
        for rank, strength in enumerate(summary.ratings, 1)
    ]
    return Table("Ratings", heads, tuple(rows), ("agent",), notes=("faults",)) if rows else None


def tables(summary: Summary, matrix: Table | None) -> list[Table]:
    """Returns all tables of a report in order, except empty ones.

    Args:
        summary: the tournament.
        matrix: the table of agents against each other, if it is shown.
    """
    ratings, cross_play = ratings_table(summary), cross_play_table(summary)
    candidates = (ratings, matrix, cross_play, pairs_table(summary.pairs))
    return [table for table in candidates if table is not None]


def matrix_table(summary: Summary, *, bounds: bool) -> Table | None:
    """Returns points per round of row against column, both triangles; None without any."""
    title = "Points per round, row against column"
    return _square(title, strongest_first(summary), pair_scores(summary), bounds=bounds)


def cross_play_table(summary: Summary) -> Table | None:
    """Returns points per round of row and column as partners; None without cross-play."""
    if summary.cross is None:
        return None
    title = "Cross-play: points per round, row and column as partners"
    scores, against = partner_scores(summary), summary.cross.opponents
    partners = {name for pair in scores for name in pair}
    agents = [name for name in strongest_first(summary) if name in partners]
    return _square(title, agents, scores, bounds=True, against=against)


def pairs_table(pairs: Sequence[PairResult]) -> Table | None:
    """Returns all pairs, with points of the first agent; empty columns are left out."""
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
    """Returns a table of scores with a row and a column for each agent; None without scores.

    Rows are numbered, and the heads of columns are the numbers of their agents' rows. ``bounds``:
    cells have intervals, too.
    """
    if not scores:
        return None
    rows = []
    for rank, agent in enumerate(agents, 1):
        row = [scores.get((agent, opponent)) for opponent in agents]
        if bounds:
            cells = [estimate(score) for score in row]
        else:
            cells = [signed(score.mean, 1) if score else "" for score in row]
        rows.append((str(rank), agent, *cells))
    heads = tuple(str(rank) for rank in range(1, len(agents) + 1))
    return Table(title, ("", "agent", *heads), tuple(rows), ("agent",), against=against)
