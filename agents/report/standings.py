"""Puts a tournament in the order in which its reports show it: the strongest agents first."""

from __future__ import annotations

from collections import Counter
from collections.abc import Mapping
from dataclasses import dataclass
from math import inf
from typing import Final

from agents.report.figures import duration, span
from agents.statistics.intervals import Interval
from agents.tournament.summary import CrossPlay, FaultCount, Summary

STDERR_LINES: Final = 20
"""Most lines of standard error, and of a traceback, that a report shows of one fault."""


@dataclass(frozen=True)
class Score(Interval):
    """Holds points per round with their 95 % interval."""

    deals: int

    def turned(self) -> Score:
        """Returns the same from the other side: signs turned, bounds exchanged."""
        return Score(-self.mean, -self.high, -self.low, self.deals)

    @property
    def open(self) -> bool:
        """True where the interval includes zero: the sign is not settled."""
        return self.low <= 0 <= self.high


Scores = Mapping[tuple[str, str], Score]


def pair_scores(summary: Summary) -> Scores:
    """Returns points per round of the first agent against the second; both triangles."""
    found: dict[tuple[str, str], Score] = {}
    for pair in summary.pairs:
        score = Score(pair.points_per_round, *pair.ci95, pair.deals)
        found[pair.b, pair.a] = score.turned()
        found[pair.a, pair.b] = score
    return found


def partner_scores(cross: CrossPlay) -> Scores:
    """Returns points per round of two agents as partners, whichever is named first."""
    found: dict[tuple[str, str], Score] = {}
    for cell in cross.cells:
        first, second = cell.partners
        score = Score(cell.points_per_round, *cell.ci95, cell.deals)
        found[first, second] = found[second, first] = score
    return found


def strongest_first(summary: Summary) -> list[str]:
    """Returns agents by rating, those without one last by points per round, ties as they came."""
    elo = {rating.agent: rating.elo for rating in summary.ratings}
    scores = pair_scores(summary)

    def weakness(name: str) -> tuple[float, float]:
        """Returns what a sort from small to large puts first for the strongest."""
        points = [score.mean for (agent, other), score in scores.items() if agent == name != other]
        return -elo.get(name, -inf), -sum(points) / len(points) if points else inf

    return sorted(summary.agents, key=weakness)


def partners(summary: Summary) -> list[str]:
    """Returns the agents of the cross-play, in the same order."""
    met = {name for cell in summary.cross.cells for name in cell.partners} if summary.cross else ()
    return [name for name in strongest_first(summary) if name in met]


def trouble(summary: Summary) -> dict[str, str]:
    """Returns what to know beside the rating of each agent that made faults."""
    found = {}
    for agent in dict.fromkeys(fault.agent for fault in summary.faults):
        made = [fault for fault in summary.faults if fault.agent == agent]
        lost = len({fault.pair for fault in made if fault.forfeited})
        counts: Counter[str] = Counter()
        for fault in made:
            counts[kind(fault)] += fault.count
        parts = [f"forfeited {lost} pairing{'s' * (lost > 1)}"] if lost else []
        found[agent] = ", ".join(
            [*parts, *(f"{name} {count:,}×" for name, count in counts.items())]
        )
    return found


def kind(fault: FaultCount) -> str:
    """Returns what an agent did, in words."""
    words = {"hello": "did not start", "died": "crashed", "raised": "raised an exception"}
    return words.get(fault.kind, fault.kind)


def last_words(fault: FaultCount) -> str:
    """Returns where it was the last time, what came, and the last lines of what the bot wrote."""
    where = [f"deal {fault.deal}"] if fault.deal >= 0 else []
    where += [f"seat {fault.seat}"] if fault.seat >= 0 else []
    text = f"{', '.join(where)}: {fault.text}" if where else fault.text
    trace = fault.traceback.splitlines()
    lines = [text, *trace[-STDERR_LINES:], *fault.stderr[-STDERR_LINES:]]
    return "\n".join(line.rstrip("\r\n") for line in lines if line)


def setting(fault: FaultCount) -> list[tuple[str, str]]:
    """Returns in which pairing a fault was made, as words and the names that follow them."""
    if len(fault.pair) == 3:
        return list(zip(("in", "with", "against"), fault.pair, strict=True))
    return [("against", agent) for agent in fault.pair if agent != fault.agent]


def facts(summary: Summary) -> dict[str, str]:
    """Returns what it takes to repeat the run, by what it is called."""
    return {
        "seed": str(summary.seed),
        "rules": summary.rules.name,
        "episode": summary.episode,
        "deals a pair": span(pair.deals for pair in summary.pairs) or f"{summary.deals:,}",
        "block deals": str(summary.block_deals),
        "time": duration(summary.seconds),
        "versions": ", ".join(f"{name} {found}" for name, found in summary.versions.items()),
    }
