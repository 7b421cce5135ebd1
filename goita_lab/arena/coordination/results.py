"""Turns the played cells into figures, with intervals over deals and over partners.

In points per round: X(a, p) is what a makes as the partner of p, the mean over the opponents. The
score is the mean of X(a, p) over the partners; X(a, a) stands beside it.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import Any, Final, Self

import numpy as np
from scipy.stats import spearmanr

from goita_agents.base import Float
from goita_agents.identity import Identities
from goita_agents.registry import short_name
from goita_env.rules import JGA
from goita_lab.arena.coordination.benchmark import FORMAT, Benchmark, Cell
from goita_lab.arena.coordination.task import Partner
from goita_lab.arena.statistics.intervals import Interval, mean_interval
from goita_lab.arena.tournament.summary import FaultCount, Played, fault_counts
from goita_lab.provenance import CHANGED, plain, provenance

LEAST_RANKED: Final = 4
"""Agents from which on the ranking is compared with their strength."""


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
    """What an agent makes with one partner, over deals."""

    partner: str  #: Name of the partner.
    opponents: str  #: Name of the opponent; "": the mean over all.
    points: Interval


@dataclass(frozen=True)
class Entry:
    """The figures of an agent."""

    agent: str
    deals: int  #: Of each cell.
    marks: tuple[str, ...]  #: What keeps it from being an entry of the full benchmark.
    forfeited: bool
    left_out: tuple[str, ...]
    """Partners whose cells could not be played to their end; no mean counts them."""
    faults: int
    ms_per_decision: float
    points: Estimate | None = None  #: With unknown partners: the score.
    self_play: Interval | None = None  #: X(a, a), over deals: strength.
    worst: Row | None = None
    """The partner with whom the agent makes least on the deals with even numbers, and what it makes
    on those with odd ones."""
    partners: tuple[Row, ...] = ()
    cells: tuple[Row, ...] = ()
    """With each partner, and with itself, against each opponent."""


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
    """Spearman's, of points with unknown partners and points in self-play over the agents; 1: the
    ranking is that of strength. None: there are too few agents."""
    faults: tuple[FaultCount, ...]
    versions: dict[str, str]  #: Of packages, and the commit of a checkout.
    weights: dict[str, str]  #: SHA-256 of the networks of other agents, by the text of each.
    digests: dict[str, str]  #: SHA-256 of all that each agent is made of, by its text.
    changed: list[str]  #: Texts of agents that were made of something else at the end.
    command: str = ""
    seconds: float = 0.0

    @classmethod
    def of(
        cls,
        benchmark: Benchmark,
        everything: Sequence[Played],
        *,
        identities: Identities | None = None,
        command: str = "",
        seconds: float = 0.0,
    ) -> Self:
        """Computes the figures of a benchmark that was played.

        Args:
            benchmark: the benchmark.
            everything: all of its pairings.
            identities: what the agents were made of when they were built; None: what they are
                made of now.
            command: the command line.
            seconds: duration of the command.
        """
        played = {one.pairing.tasks[0].agents: one for one in everything}
        first, *others = benchmark.agents
        origin = provenance(identities or benchmark.specs)
        entries = tuple(
            _Measured(benchmark, played, agent).entry(origin["changed"])
            for agent in benchmark.agents
        )
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
            **origin,
            command=command,
            seconds=seconds,
        )

    def to_json(self) -> dict[str, Any]:
        """Returns all of it as JSON; players are named by their short names."""
        plan = self.benchmark
        found: dict[str, Any] = plain(
            {
                "format": FORMAT,
                "task": plan.task.name,
                "partners": [
                    {
                        "partner": short_name(one.spec),
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
                **{name: one for name, one in vars(self).items() if name != "benchmark"},
            }
        )
        return found


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

    def entry(self, changed: Sequence[str]) -> Entry:
        """Returns the entry; ``changed``: texts of agents that were not the same all the time."""
        marks = [f"{short_name(spec)} {CHANGED}" for spec in changed if spec != self.agent]
        marks += [CHANGED] if self.agent in changed else []
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
            marks=(*self.benchmark.marks(self.agent), *marks),
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

    def counted(self) -> dict[Partner, Float]:
        """Returns the points of each deal with every partner that means count: [D] each."""
        partners = [one for one in self.task.partners if one.counted]
        return {one: np.mean(self._cells(one), axis=0) for one in partners if self._is_whole(one)}

    def _own_cells(self) -> list[Cell]:
        """Returns every cell in which the agent plays: with partners, and with itself."""
        beside = [
            self.benchmark.cell(self.agent, partner, one)
            for partner in self.task.partners
            for one in self.task.against(partner)
        ]
        itself = [(self.agent, self.agent, one) for one in self.task.opponents]
        return list(dict.fromkeys([*beside, *itself]))

    def _is_whole(self, partner: Partner) -> bool:
        """Tells whether all cells with a partner were played to their end."""
        return not any(
            self.played[self.benchmark.cell(self.agent, partner, opponent)].forfeited
            for opponent in self.task.against(partner)
        )

    def _figures(self, partners: Sequence[Partner]) -> dict[str, Any]:
        """Returns the figures with these partners, as fields of an ``Entry``."""
        counted = self.counted()
        if not counted:
            return {}
        name = short_name(self.agent)
        cells = {
            (short_name(partner.spec), short_name(opponent)): values
            for partner in partners
            for opponent, values in zip(
                self.task.against(partner), self._cells(partner), strict=True
            )
        }
        itself = {
            (name, short_name(one)): self._points((self.agent, self.agent, one))
            for one in self.task.opponents
        }
        least = min(counted, key=lambda one: float(counted[one][::2].mean()))
        return {
            "points": Estimate.of(np.array(list(counted.values()))),
            "self_play": mean_interval(np.mean(list(itself.values()), axis=0)),
            "worst": Row(short_name(least.spec), "", mean_interval(counted[least][1::2])),
            "partners": tuple(
                Row(short_name(one.spec), "", mean_interval(np.mean(self._cells(one), axis=0)))
                for one in partners
            ),
            "cells": tuple(Row(*at, mean_interval(one)) for at, one in (cells | itself).items()),
        }

    def _cells(self, partner: Partner) -> list[Float]:
        """Returns the points of each deal against each opponent: [D] each."""
        against = self.task.against(partner)
        return [self._points(self.benchmark.cell(self.agent, partner, one)) for one in against]

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


def _difference(
    benchmark: Benchmark, played: Mapping[Cell, Played], agent: str, minus: str
) -> Difference | None:
    """Returns an agent's points minus those of another one on the deals of both, if there are."""
    deals = min(benchmark.deals(agent), benchmark.deals(minus))
    both = [_Measured(benchmark, played, one, deals) for one in (agent, minus)]
    if any(one.forfeited() for one in both):
        return None
    own, other = (one.counted() for one in both)
    shared = [own[one] - other[one] for one in own if one in other]
    if not shared:
        return None
    return Difference(short_name(agent), short_name(minus), deals, Estimate.of(np.array(shared)))


def _rank_correlation(entries: Sequence[Entry]) -> float | None:
    """Returns how far the ranking is that of self-play."""
    ranked = [
        (entry.points.mean, entry.self_play.mean)
        for entry in entries
        if entry.points is not None and entry.self_play is not None
    ]
    if len(ranked) < LEAST_RANKED:
        return None
    return float(spearmanr(*zip(*ranked, strict=True)).statistic)
