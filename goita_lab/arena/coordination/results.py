"""Turns the played cells into figures, with intervals over deals and over partners.

Figures of a cell, in points per round, where X(a, p) is what a makes as the partner of p:

- ``points``: X(a, p);
- ``understanding``: X(a, p) - (X(a, a) + X(p, p)) / 2, what is gained or lost because the two don't
  know each other;
- ``over_partner``: X(a, p) - X(p, p);
- ``over_normaliser``: X(a, p) - X(b, p), b trained beside p; for partners that have such a b.

All terms are of the same deals and the same opponents, and are subtracted deal by deal. So are the
figures of two agents.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import asdict, dataclass, field
from typing import Any, Final, Self

import numpy as np

from goita_agents.base import Float
from goita_agents.registry import short_name
from goita_env.rules import JGA
from goita_lab.arena.coordination.benchmark import FORMAT, Benchmark, Cell
from goita_lab.arena.coordination.task import Partner
from goita_lab.arena.statistics.intervals import (
    Interval,
    mean_interval,
    mean_intervals,
    two_way_interval,
)
from goita_lab.arena.tournament.summary import FaultCount, Played, fault_counts
from goita_lab.provenance import provenance

FIGURES: Final = ("points", "understanding", "over_partner", "over_normaliser")
"""The figures of a cell, by their names in JSON: compatibility is ``understanding`` there, and over
a trained partner ``over_normaliser``."""

RANKED_BY: Final = "points"
"""The figure by which agents are ordered, and that is drawn: the others compare an agent with its
own self-play or with its partner's, so a weak agent can be ahead by them."""

Values = Mapping[str, Float]
"""A figure's value for each deal of a cell, [D], by name."""


@dataclass(frozen=True)
class Estimate:
    """A mean over partners, opponents and deals with its two 95 % intervals."""

    over_deals: Interval  #: For these partners: the deals are the sample.
    over_both: Interval | None
    """For partners like these: deals and partners are samples; None with one partner."""
    partners: int

    @property
    def mean(self) -> float:
        return self.over_deals.mean

    @classmethod
    def of(cls, values: Float) -> Self:
        """Returns the estimate of a figure's values: [P, D]."""
        both = two_way_interval(values) if len(values) > 1 else None
        return cls(mean_interval(values.mean(axis=0)), both, len(values))


@dataclass(frozen=True)
class Row:
    """The figures of an agent with one partner, or with those of a group, over deals."""

    partner: str  #: Name of the partner, or of the group.
    opponents: str  #: Name of the opponent; "": the mean over all.
    figures: Mapping[str, Interval]


@dataclass(frozen=True)
class Worst:
    """The partner with which an agent has the lowest compatibility."""

    partner: str
    """Chosen on the deals with even numbers."""
    understanding: Interval  #: On the deals with odd numbers.


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
    self_play: Interval | None = None  #: X(a, a), over deals.
    worst: Worst | None = None
    groups: tuple[Row, ...] = ()
    partners: tuple[Row, ...] = ()
    cells: tuple[Row, ...] = ()


@dataclass(frozen=True)
class Difference:
    """What an agent's figures have more than those of another one, on the same deals."""

    agent: str
    minus: str
    deals: int  #: Of each cell.
    totals: Mapping[str, Estimate]
    """Over all partners with which both played to the end."""


@dataclass(frozen=True)
class Results:
    """The figures of all agents."""

    benchmark: Benchmark
    entries: tuple[Entry, ...]
    differences: tuple[Difference, ...]
    """Of every other agent and the first; agents that forfeited have none."""
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
        return cls(
            benchmark,
            tuple(_Measured(benchmark, played, agent).entry() for agent in benchmark.agents),
            tuple(
                found
                for agent in others
                if (found := _difference(benchmark, played, agent, first)) is not None
            ),
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
            "partners": [
                {
                    "partner": short_name(one.spec),
                    "group": one.group,
                    "normaliser": None
                    if one.trained_partner is None
                    else short_name(one.trained_partner),
                    "counted": one.counted,
                }
                for one in plan.task.partners
            ],
            "opponents": list(map(short_name, plan.task.opponents)),
            "episode": plan.episode,
            "quick": plan.quick,
            **JGA.to_keys(),
            "seed": plan.seed,
            "seed_given": plan.seed_given,
            "entries": [asdict(entry) for entry in self.entries],
            "differences": [asdict(one) for one in self.differences],
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
        self.opponents = benchmark.task.opponents

    def entry(self) -> Entry:
        own = [self.played[cell] for cell in self._own_cells()]
        name = short_name(self.agent)
        left_out = [one for one in self.benchmark.task.partners if not self._is_whole(one)]
        forfeited = self.forfeited()
        faults = Counter(agent for played in own for agent, _ in played.faults())
        thinking = sum(float(block.thinking[0]) for played in own for block in played.blocks)
        decisions = sum(int(block.decisions[0]) for played in own for block in played.blocks)
        found: dict[str, Any] = {}
        if not forfeited:
            found = self._figures([p for p in self.benchmark.task.partners if p not in left_out])
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
        partners = [one for one in self.benchmark.task.partners if one.counted]
        return {one: _mean(self._cells(one)) for one in partners if self._is_whole(one)}

    def _own_cells(self) -> list[Cell]:
        """Returns every cell in which the agent plays: with partners, and with itself."""
        itself = [(self.agent, self.agent, one) for one in self.opponents]
        return list(dict.fromkeys([*self.benchmark.cells(self.agent), *itself]))

    def _is_whole(self, partner: Partner) -> bool:
        """Tells whether all cells that a partner's figures need were played to their end."""
        pairs = [(self.agent, partner.spec), (partner.spec, partner.spec)]
        pairs += [(self.agent, self.agent)]
        pairs += (
            [(partner.trained_partner, partner.spec)] if partner.trained_partner is not None else []
        )
        return not any(
            self.played[*pair, opponent].forfeited for pair in pairs for opponent in self.opponents
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
        itself = [self._points(self.agent, self.agent, one) for one in self.opponents]
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
                    for opponent, values in zip(self.opponents, found, strict=True)
                ]
            ),
        }

    def _cells(self, partner: Partner) -> list[Values]:
        return [self._values(partner, opponent) for opponent in self.opponents]

    def _values(self, partner: Partner, opponent: str) -> Values:
        """Returns the figures of each deal of a cell."""
        points = self._points(self.agent, partner.spec, opponent)
        own = self._points(self.agent, self.agent, opponent)
        theirs = self._points(partner.spec, partner.spec, opponent)
        found = {
            "points": points,
            "understanding": points - (own + theirs) / 2,
            "over_partner": points - theirs,
        }
        if partner.trained_partner is not None:
            trained = self._points(partner.trained_partner, partner.spec, opponent)
            found["over_normaliser"] = points - trained
        return found

    def _points(self, one: str, other: str, opponent: str) -> Float:
        """Returns the points per round of two partners in each deal: [D].

        Where deals begin matches, some longer than others, the ratio of points and rounds is
        linearised, so that the mean over deals is exactly the points per round.
        """
        played = self.played[one, other, opponent]
        points = played.games("points").sum(axis=0)[: self.deals]
        rounds = played.games("rounds").sum(axis=0)[: self.deals]
        ratio = points.sum() / rounds.sum()
        values: Float = ratio + (points - ratio * rounds) / rounds.mean()
        return values


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
    """Returns an agent's figures minus those of another one on the deals of both, if there are."""
    deals = min(benchmark.deals(agent), benchmark.deals(minus))
    both = [_Measured(benchmark, played, one, deals) for one in (agent, minus)]
    if any(one.forfeited() for one in both):
        return None
    own, other = (one.counted() for one in both)
    differences = [
        {name: own[partner][name] - other[partner][name] for name in own[partner]}
        for partner in own
        if partner in other
    ]
    totals = _totals(differences)
    return Difference(short_name(agent), short_name(minus), deals, totals) if totals else None


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
    """Returns the partner that is understood least on even deals, measured on odd ones."""
    found = min(partners, key=lambda one: float(partners[one]["understanding"][::2].mean()))
    return Worst(short_name(found.spec), mean_interval(partners[found]["understanding"][1::2]))
