"""Turns the played cells into figures, with intervals over deals and over partners.

In points per round, where X(a, p) is what a makes as the partner of p and b is p's best response:

- ``points``: X(a, p);
- ``regret``: X(b, p) - X(a, p), against the same opponents. X(b, p) was measured once, on many
  deals, to a tenth of a point, which intervals over deals leave out.

Regret has exact parts, where V(r, q) is what a search on top of the agent makes that takes its
partner for r in its belief and for q in playouts; "own" is one like the agent, "true" the partner:

- ``misreading``: what r gains by being true, the mean over both q, less the same with a sister;
- ``wrong_response``: what q gains by being true, the mean over both r, less the same with a sister;
- ``skill``: regret less these two.

A sister is another run of the agent's method in the partner's place: to be told who anybody is
pays, and a sister shows how much of that is there without a stranger. Agents without sisters have
parts from which nothing is taken.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import asdict, dataclass, field
from typing import Any, Final, Self

import numpy as np
from scipy.stats import spearmanr

from goita_agents.base import Float
from goita_agents.registry import short_name
from goita_env.rules import JGA
from goita_lab.arena.coordination.benchmark import FORMAT, READINGS, Benchmark, Cell
from goita_lab.arena.coordination.task import Partner
from goita_lab.arena.statistics.intervals import Interval, mean_interval, mean_intervals
from goita_lab.arena.tournament.summary import FaultCount, Played, fault_counts
from goita_lab.provenance import provenance

FIGURES: Final = ("regret", "points")
"""The figures of a cell, by their names in JSON."""

PARTS: Final = ("misreading", "wrong_response", "skill")

LEAST_RANKED: Final = 4
"""Agents from which on the ranking is compared with their strength."""

Values = Mapping[str, Float]
"""A figure's value for each deal of a cell, [D], by name."""


@dataclass(frozen=True)
class Estimate:
    """A mean over partners, opponents and deals with its two 95 % intervals."""

    over_deals: Interval  #: For these partners: the deals are the sample.
    over_partners: Interval | None
    """For partners like these: they are the sample, each with deals of its own; None: there is
    one."""
    partners: int

    @property
    def mean(self) -> float:
        return self.over_deals.mean

    @classmethod
    def of(cls, values: Float) -> Self:
        """Returns the estimate of a figure's values: [P, D]."""
        partners = mean_interval(values.mean(axis=1)) if len(values) > 1 else None
        return cls(mean_interval(values.mean(axis=0)), partners, len(values))


@dataclass(frozen=True)
class Row:
    """The figures of an agent with one partner, or with those of a group, over deals."""

    partner: str  #: Name of the partner, or of the group.
    opponents: str  #: Name of the opponent; "": the mean over all.
    figures: Mapping[str, Interval]


@dataclass(frozen=True)
class Worst:
    """The partner with which an agent has the largest regret, or makes least."""

    partner: str
    """Chosen on the deals with even numbers."""
    points: Interval  #: On the deals with odd numbers: regret, or points where there is none.


@dataclass(frozen=True)
class Parts:
    """Regret taken apart, over partners: ``PARTS`` by name."""

    deals: int  #: Of a cell with a search.
    sister: str  #: Name of the control; empty: there is none, and nothing was taken off.
    total: Mapping[str, Interval]
    groups: Mapping[str, Mapping[str, Interval]]
    """The same for the partners at each place of the dial."""
    control: Mapping[str, Interval]
    """What the sister's cells show, over deals."""


@dataclass(frozen=True)
class Entry:
    """A name of agents, with the function that builds them."""

    agent: str
    deals: int  #: Of each cell.
    marks: tuple[str, ...]  #: What keeps it from being an entry of the full benchmark.
    forfeited: bool
    left_out: tuple[str, ...]
    """Partners whose cells could not be played to their end; no mean counts them."""
    faults: int
    ms_per_decision: float
    totals: Mapping[str, Estimate] = field(default_factory=dict)  #: Figures over all partners.
    self_play: Interval | None = None  #: X(a, a), over deals: strength.
    worst: Worst | None = None
    groups: tuple[Row, ...] = ()
    partners: tuple[Row, ...] = ()
    cells: tuple[Row, ...] = ()
    parts: Parts | None = None


@dataclass(frozen=True)
class Difference:
    """What an agent makes with unknown partners more than another one, on the same deals."""

    agent: str
    minus: str
    deals: int  #: Of each cell.
    points: Estimate
    """Over all partners with which both played to the end."""


@dataclass(frozen=True)
class Results:
    """The figures of all agents."""

    benchmark: Benchmark
    entries: tuple[Entry, ...]
    differences: tuple[Difference, ...]
    """Of every other agent and the first; agents that forfeited have none."""
    rank_correlation: float | None
    """Spearman's, of small regret (or, without it, points) and points in self-play over the agents;
    1: the ranking is that of strength. None: there are too few agents."""
    faults: tuple[FaultCount, ...]
    sources: dict[str, str]  #: SHA-256 of the source of users' classes, by the agent's text.
    versions: dict[str, str]  #: Of packages, and the commit of a checkout.
    weights: dict[str, str]  #: SHA-256 of the networks of other agents, by the text of each.
    command: str = ""
    seconds: float = 0.0

    @classmethod
    def of(
        cls,
        benchmark: Benchmark,
        everything: Sequence[Played],
        *,
        command: str = "",
        seconds: float = 0.0,
    ) -> Self:
        """Computes the figures of a benchmark that was played.

        Args:
            benchmark: the benchmark.
            everything: all of its pairings.
            command: the command line.
            seconds: duration of the command.
        """
        played = {_cell(one): one for one in everything}
        first, *others = benchmark.agents
        entries = tuple(_Measured(benchmark, played, agent).entry() for agent in benchmark.agents)
        return cls(
            benchmark,
            entries,
            tuple(
                found
                for agent in others
                if (found := _difference(benchmark, played, agent, first)) is not None
            ),
            _rank_correlation(entries),
            tuple(count for one in everything for count in fault_counts(one)),
            benchmark.sources(),
            **provenance(benchmark.specs),
            command=command,
            seconds=seconds,
        )

    def failed(self) -> bool:
        """Returns whether an agent forfeited or made a fault other than being late."""
        return any(fault.forfeited or fault.kind != "late" for fault in self.faults)

    def to_json(self) -> dict[str, Any]:
        """Returns all of it as JSON; players are named by their short names."""
        plan = self.benchmark
        return {
            "format": FORMAT,
            "task": plan.task.name,
            "partners": [
                {
                    "partner": short_name(one.spec),
                    "group": one.group,
                    "response": None if one.response is None else one.response.points,
                    "counted": one.counted,
                    **one.information.to_keys(),
                }
                for one in plan.task.partners
            ],
            "opponents": list(map(short_name, plan.task.opponents)),
            "episode": plan.episode,
            "quick": plan.quick,
            **JGA.to_keys(),
            "seed": plan.seed,
            "seed_given": plan.seed_given,
            "agents": {short_name(agent): agent for agent in plan.agents},
            "entries": [asdict(entry) for entry in self.entries],
            "differences": [asdict(one) for one in self.differences],
            "rank_correlation": self.rank_correlation,
            "faults": [asdict(fault) for fault in self.faults],
            "sources": self.sources,
            "versions": self.versions,
            "weights": self.weights,
            "command": self.command,
            "seconds": self.seconds,
        }


class _Measured:
    """The figures of one agent, on the first deals or on all."""

    def __init__(
        self,
        benchmark: Benchmark,
        played: Mapping[Cell, Played],
        agent: str,
        deals: int | None = None,
    ) -> None:
        self.benchmark, self.played, self.agent = benchmark, played, agent
        self.deals = benchmark.deals(agent) if deals is None else deals
        self.task = benchmark.task

    def entry(self) -> Entry:
        own = [self.played[cell] for cell in self._own_cells()]
        name = short_name(self.agent)
        left_out = [one for one in self.task.partners if not self._is_whole(one)]
        forfeited = self.forfeited()
        faults = Counter(agent for played in own for agent, _ in played.faults())
        thinking = sum(float(block.thinking[0]) for played in own for block in played.blocks)
        decisions = sum(int(block.decisions[0]) for played in own for block in played.blocks)
        found: dict[str, Any] = {}
        if not forfeited:
            found = self._figures([p for p in self.task.partners if p not in left_out])
        return Entry(
            agent=name,
            deals=self.deals,
            marks=self.benchmark.marks(self.agent),
            forfeited=forfeited,
            left_out=() if forfeited else tuple(short_name(one.spec) for one in left_out),
            faults=faults[name],
            ms_per_decision=1000 * thinking / max(1, decisions),
            **found,
        )

    def forfeited(self) -> bool:
        """Tells whether the agent gave up a cell."""
        name = short_name(self.agent)
        return any(name in self.played[cell].forfeited for cell in self._own_cells())

    def counted(self) -> dict[Partner, Values]:
        """Returns the figures of each deal with every partner that means count."""
        partners = [one for one in self.task.partners if one.counted]
        return {one: _mean(self._cells(one)) for one in partners if self._is_whole(one)}

    def _own_cells(self) -> list[Cell]:
        """Returns every cell in which the agent plays: with partners, and with itself."""
        beside = [
            self.benchmark.cell(self.agent, partner, one)
            for partner in self.task.partners
            for one in self.task.against(partner)
        ]
        itself = [self.benchmark.own_cell(self.agent, one) for one in self.task.opponents]
        return list(dict.fromkeys([*beside, *itself]))

    def _is_whole(self, partner: Partner) -> bool:
        """Tells whether all cells with a partner were played to their end."""
        return not any(
            self.played[self.benchmark.cell(self.agent, partner, opponent)].forfeited
            for opponent in self.task.against(partner)
        )

    def _figures(self, partners: Sequence[Partner]) -> dict[str, Any]:
        """Returns the figures with these partners, as fields of an ``Entry``."""
        if not any(partner.counted for partner in partners):
            return {}
        cells = {partner: self._cells(partner) for partner in partners}
        means = {partner: _mean(values) for partner, values in cells.items()}
        counted = {partner: values for partner, values in means.items() if partner.counted}
        groups = dict.fromkeys(partner.group for partner in means)
        of_group = {
            name: _mean([one for partner, one in means.items() if partner.group == name])
            for name in groups
        }
        itself = [
            self._points(self.benchmark.own_cell(self.agent, one)) for one in self.task.opponents
        ]
        return {
            "totals": _totals(list(counted.values())),
            "self_play": mean_interval(np.mean(itself, axis=0)),
            "worst": _worst(counted),
            "groups": _rows([(name, "", values) for name, values in of_group.items()]),
            "partners": _rows(
                [(short_name(partner.spec), "", values) for partner, values in means.items()]
            ),
            "cells": _rows(
                [
                    (short_name(partner.spec), short_name(opponent), values)
                    for partner, found in cells.items()
                    for opponent, values in zip(self.task.against(partner), found, strict=True)
                ]
            ),
            "parts": self._parts(counted) if self.benchmark.parts else None,
        }

    def _cells(self, partner: Partner) -> list[Values]:
        """Returns the figures of each deal against each opponent, regret where all are known."""
        against = self.task.against(partner)
        points = [self._points(self.benchmark.cell(self.agent, partner, one)) for one in against]
        best = {} if partner.response is None else partner.response.points
        if not {*against} <= {*best}:
            return [{"points": one} for one in points]
        return [
            {"regret": best[opponent][0] - one, "points": one}
            for opponent, one in zip(against, points, strict=True)
        ]

    def _points(self, cell: Cell) -> Float:
        """Returns the points per round of two partners in each deal: [D].

        Where deals begin matches, some longer than others, the ratio of points and rounds is
        linearised, so that the mean over deals is exactly the points per round.
        """
        played = self.played[cell]
        points = played.games("points").sum(axis=0)[: self.deals]
        rounds = played.games("rounds").sum(axis=0)[: self.deals]
        ratio = points.sum() / rounds.sum()
        values: Float = ratio + (points - ratio * rounds) / rounds.mean()
        return values

    def _parts(self, counted: Mapping[Partner, Values]) -> Parts | None:
        """Returns the parts of regret, over the partners that have one."""
        partners = [
            one
            for one, values in counted.items()
            if "regret" in values and self.benchmark.has_parts(one)
        ]
        if not partners:
            return None
        sister = self.benchmark.sister(self.agent)
        control = dict.fromkeys(PARTS[:2], np.zeros(1))
        if sister is not None:
            control = self._told(sister, self.task.opponents)
        found = {}
        for partner in partners:
            told = self._told(partner, self.task.against(partner))
            net = [float(told[name].mean() - control[name].mean()) for name in PARTS[:2]]
            found[partner] = [*net, float(counted[partner]["regret"].mean()) - sum(net)]

        def over(some: Sequence[Partner]) -> dict[str, Interval]:
            values = np.array([found[one] for one in some]).T
            if len(some) > 1:
                return dict(zip(PARTS, mean_intervals(values), strict=True))
            return {
                name: Interval(float(one[0]), -np.inf, np.inf, few=True)
                for name, one in zip(PARTS, values, strict=True)
            }

        groups = dict.fromkeys(one.group for one in partners)
        return Parts(
            self.benchmark.parts,
            "" if sister is None else short_name(sister.spec),
            over(partners),
            {group: over([one for one in partners if one.group == group]) for group in groups},
            {} if sister is None else {name: mean_interval(one) for name, one in control.items()},
        )

    def _told(self, partner: Partner, opponents: Sequence[str]) -> dict[str, Float]:
        """Returns what a search gains by truth in its belief and in its playouts: [D] each."""
        value: dict[tuple[str, str], list[Float]] = {reading: [] for reading in READINGS}
        for opponent in opponents:
            for reading, cell in self.benchmark.readers(self.agent, partner, opponent).items():
                value[reading].append(self.played[cell].games("points").mean(axis=0))
        # A sister that is a partner, too, has more deals against some opponents than others.
        deals = min(len(one) for some in value.values() for one in some)
        own, read, response, true = (
            np.mean([one[:deals] for one in value[reading]], axis=0) for reading in READINGS
        )
        return {
            "misreading": ((read - own) + (true - response)) / 2,
            "wrong_response": ((response - own) + (true - read)) / 2,
        }


def _cell(played: Played) -> Cell:
    one, other, opponent = played.pairing.tasks[0].agents
    return one, other, opponent


def _mean(values: Sequence[Values]) -> Values:
    """Returns the mean of each figure in each deal, over those that have it."""
    every = {name: [one[name] for one in values if name in one] for name in FIGURES}
    return {name: np.mean(found, axis=0) for name, found in every.items() if found}


def _totals(partners: Sequence[Values]) -> dict[str, Estimate]:
    """Returns the means of the figures over partners, of those that have the figure."""
    return {
        name: Estimate.of(np.array(found))
        for name in FIGURES
        if (found := [values[name] for values in partners if name in values])
    }


def _difference(
    benchmark: Benchmark, played: Mapping[Cell, Played], agent: str, minus: str
) -> Difference | None:
    """Returns an agent's points minus those of another one on the deals of both, if there are."""
    deals = min(benchmark.deals(agent), benchmark.deals(minus))
    both = [_Measured(benchmark, played, one, deals) for one in (agent, minus)]
    if any(one.forfeited() for one in both):
        return None
    own, other = (one.counted() for one in both)
    shared = [own[one]["points"] - other[one]["points"] for one in own if one in other]
    if not shared:
        return None
    return Difference(short_name(agent), short_name(minus), deals, Estimate.of(np.array(shared)))


def _rank_correlation(entries: Sequence[Entry]) -> float | None:
    """Returns how far the ranking is that of self-play."""
    ranked = [
        (rank, entry.self_play.mean)
        for entry in entries
        if entry.self_play is not None and (rank := rank_of(entry)) is not None
    ]
    if len(ranked) < LEAST_RANKED:
        return None
    return float(spearmanr(*zip(*ranked, strict=True)).statistic)


def rank_of(entry: Entry) -> float | None:
    """Returns the figure by which agents are ordered, larger is better: regret, else points."""
    if (regret := entry.totals.get("regret")) is not None:
        return -regret.mean
    points = entry.totals.get("points")
    return None if points is None else points.mean


def _rows(found: Sequence[tuple[str, str, Values]]) -> tuple[Row, ...]:
    """Returns rows with the intervals of all figures, over deals."""
    intervals: Iterator[Interval] = iter(
        mean_intervals(np.array([row for _, _, values in found for row in values.values()]))
    )
    return tuple(
        Row(partner, opponent, {name: next(intervals) for name in values})
        for partner, opponent, values in found
    )


def _worst(partners: Mapping[Partner, Values]) -> Worst:
    """Returns the partner with the largest regret on even deals, measured on odd ones."""
    regret = {one: values["regret"] for one, values in partners.items() if "regret" in values}
    values = regret or {one: -values["points"] for one, values in partners.items()}
    found = max(values, key=lambda one: float(values[one][::2].mean()))
    odd = values[found][1::2]
    return Worst(short_name(found.spec), mean_interval(odd if regret else -odd))
