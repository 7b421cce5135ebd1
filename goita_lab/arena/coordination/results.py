"""Turns the played cells into figures, with intervals over deals and over partners.

X(a, p) is the points per round of agent a with partner p, the mean over the opponents. The score of
a is the mean of X(a, p) over the partners; its strength is X(a, a), which is reported next to it.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import Any, Self

import numpy as np

from goita_agents.base import Float
from goita_agents.identity import Identities
from goita_agents.registry import short_name
from goita_env.rules import JGA
from goita_lab.arena.coordination.benchmark import FORMAT, Benchmark, Cell
from goita_lab.arena.coordination.task import Partner
from goita_lab.arena.statistics.intervals import Interval, mean_interval, rank_correlation
from goita_lab.arena.tournament.summary import FaultCount, Played, fault_counts
from goita_lab.provenance import CHANGED_MARK, plain, provenance


@dataclass(frozen=True)
class Estimate:
    """A mean over partners, opponents and deals with its two 95 % intervals."""

    over_deals: Interval  #: For these partners: the deals are the sample.
    over_partners: Interval | None
    """For partners like these: the partners are the sample, each with other deals; None: there is
    only one partner."""
    partners: int

    @property
    def mean(self) -> float:
        return self.over_deals.mean

    @classmethod
    def of(cls, values: Float) -> Self:
        """Returns the estimate of a figure from its values by partner and deal: [P, D]."""
        partners = mean_interval(values.mean(axis=1)) if len(values) > 1 else None
        return cls(mean_interval(values.mean(axis=0)), partners, len(values))


@dataclass(frozen=True)
class Row:
    """The points of an agent with one partner, over deals."""

    partner: str  #: Name of the partner.
    opponents: str  #: Name of the opponent; "": the mean over all.
    points: Interval


@dataclass(frozen=True)
class Entry:
    """The figures of an agent."""

    agent: str
    deals: int  #: Of each cell.
    marks: tuple[str, ...]  #: Reasons why it is not an entry of the full benchmark.
    forfeited: bool
    left_out: tuple[str, ...]
    """Partners whose cells could not be played to their end; no mean includes them."""
    faults: int
    ms_per_decision: float
    points: Estimate | None = None  #: With unknown partners: the score.
    self_play: Interval | None = None  #: X(a, a), over deals: strength.
    worst: Row | None = None
    """The partner with which the agent makes least on deals with even numbers, with the points on
    deals with odd numbers."""
    partners: tuple[Row, ...] = ()
    cells: tuple[Row, ...] = ()
    """Points with each partner, and in self-play, against each opponent."""


@dataclass(frozen=True)
class Difference:
    """The points of an agent with unknown partners minus those of another, on the same deals."""

    agent: str
    minus: str
    deals: int  #: Of each cell.
    points: Estimate
    """Over the partners with which both agents played all cells to the end."""


@dataclass(frozen=True)
class Results:
    """The figures of all agents."""

    benchmark: Benchmark
    entries: tuple[Entry, ...]
    differences: tuple[Difference, ...]
    """Of every other agent and the first agent, except agents that forfeited."""
    rank_correlation: float | None
    """Spearman's, over the agents, of points with unknown partners and points in self-play; 1: the
    ranking is that of strength. None: there are too few agents."""
    faults: tuple[FaultCount, ...]
    versions: dict[str, str]  #: Of packages, and the commit of a checkout.
    weights: dict[str, str]  #: SHA-256 of the networks of other agents, by the text of each.
    digests: dict[str, str]  #: SHA-256 of all that each agent is made of, by its text.
    changed: list[str]  #: Texts of agents that changed during the run.
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
            identities: digests of the agents when they were built; None: the present ones.
            command: the command line.
            seconds: duration of the command.
        """
        played_by_cell = {played.pairing.tasks[0].agents: played for played in everything}
        first, *later = benchmark.agents
        origin = provenance(identities or benchmark.specs)
        entries = tuple(
            _Measured(benchmark, played_by_cell, agent).entry(origin["changed"])
            for agent in benchmark.agents
        )
        differences = (_difference(benchmark, played_by_cell, agent, first) for agent in later)
        return cls(
            benchmark=benchmark,
            entries=entries,
            differences=tuple(difference for difference in differences if difference is not None),
            rank_correlation=_rank_correlation(entries),
            faults=tuple(count for played in everything for count in fault_counts(played)),
            **origin,  # versions, weights, digests and changed
            command=command,
            seconds=seconds,
        )

    def to_json(self) -> dict[str, Any]:
        """Returns all of it as JSON; players are named by their short names."""
        plan = self.benchmark
        fields: dict[str, Any] = plain(
            {
                "format": FORMAT,
                "task": plan.task.name,
                "partners": [
                    {
                        "partner": short_name(partner.spec),
                        "counted": partner.counted,
                        **partner.information.to_keys(),
                    }
                    for partner in plan.task.partners
                ],
                "opponents": list(map(short_name, plan.task.opponents)),
                "episode": plan.episode,
                "quick": plan.quick,
                **JGA.to_keys(),
                "seed": plan.seed,
                "seed_given": plan.seed_given,
                "agents": {short_name(agent): agent for agent in plan.agents},
                # All fields but the benchmark, under their own names.
                **{name: field for name, field in vars(self).items() if name != "benchmark"},
            }
        )
        return fields


class _Measured:
    """The figures of one agent, on the first ``deals`` of each cell (None: on all)."""

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
        """Returns the entry; ``changed``: texts of agents that changed during the run."""
        marks = [f"{short_name(spec)} {CHANGED_MARK}" for spec in changed if spec != self.agent]
        marks += [CHANGED_MARK] if self.agent in changed else []
        own = [self.played[cell] for cell in self._own_cells()]
        name = short_name(self.agent)
        left_out = [partner for partner in self.task.partners if not self._is_whole(partner)]
        forfeited = self.forfeited()
        faults = Counter(agent for played in own for agent, _ in played.faults())
        # The agent comes first in each of its cells, so it is player 0.
        thinking = sum(float(block.thinking[0]) for played in own for block in played.blocks)
        decisions = sum(int(block.decisions[0]) for played in own for block in played.blocks)
        figures: dict[str, Any] = {}
        if not forfeited:
            partners = [partner for partner in self.task.partners if partner not in left_out]
            figures = self._figures(partners)
        return Entry(
            agent=name,
            deals=self.deals,
            marks=(*self.benchmark.marks(self.agent), *marks),
            forfeited=forfeited,
            left_out=() if forfeited else tuple(short_name(partner.spec) for partner in left_out),
            faults=faults[name],
            ms_per_decision=1000 * thinking / max(1, decisions),
            **figures,
        )

    def forfeited(self) -> bool:
        """Returns whether the agent forfeited a cell."""
        name = short_name(self.agent)
        return any(name in self.played[cell].forfeited for cell in self._own_cells())

    def counted(self) -> dict[Partner, Float]:
        """Returns the points of each deal with every partner that means include: [D] each."""
        return {
            partner: np.mean(self._cells(partner), axis=0)
            for partner in self.task.partners
            if partner.counted and self._is_whole(partner)
        }

    def _own_cells(self) -> list[Cell]:
        """Returns every cell in which the agent plays: with partners, and in self-play."""
        with_partners = [
            self.benchmark.cell(self.agent, partner, opponent)
            for partner in self.task.partners
            for opponent in self.task.against(partner)
        ]
        self_play = [(self.agent, self.agent, opponent) for opponent in self.task.opponents]
        return list(dict.fromkeys([*with_partners, *self_play]))

    def _is_whole(self, partner: Partner) -> bool:
        """Returns whether all cells with a partner were played to their end."""
        return not any(
            self.played[self.benchmark.cell(self.agent, partner, opponent)].forfeited
            for opponent in self.task.against(partner)
        )

    def _figures(self, partners: Sequence[Partner]) -> dict[str, Any]:
        """Returns the figures with these partners, as fields of an ``Entry`` by name.

        The fields are "points", "self_play", "worst", "partners" and "cells"; none of them if no
        partner counts.
        """
        counted = self.counted()
        if not counted:
            return {}
        name = short_name(self.agent)
        cells = {
            (short_name(partner.spec), short_name(opponent)): points
            for partner in partners
            for opponent, points in zip(
                self.task.against(partner), self._cells(partner), strict=True
            )
        }
        self_play = {
            (name, short_name(opponent)): self._points((self.agent, self.agent, opponent))
            for opponent in self.task.opponents
        }
        # Chosen on the even deals and measured on the odd ones: the choice does not bias the mean.
        worst_partner = min(counted, key=lambda partner: float(counted[partner][::2].mean()))
        return {
            "points": Estimate.of(np.array(list(counted.values()))),
            "self_play": mean_interval(np.mean(list(self_play.values()), axis=0)),
            "worst": Row(
                short_name(worst_partner.spec), "", mean_interval(counted[worst_partner][1::2])
            ),
            "partners": tuple(
                Row(short_name(partner.spec), "", mean_interval(np.mean(points, axis=0)))
                for partner, points in zip(partners, map(self._cells, partners), strict=True)
            ),
            "cells": tuple(
                Row(*names, mean_interval(points)) for names, points in (cells | self_play).items()
            ),
        }

    def _cells(self, partner: Partner) -> list[Float]:
        """Returns the points of each deal against each opponent: [D] each."""
        return [
            self._points(self.benchmark.cell(self.agent, partner, opponent))
            for opponent in self.task.against(partner)
        ]

    def _points(self, cell: Cell) -> Float:
        """Returns the points per round of two partners in each deal: [D].

        If deals begin matches, some longer than others, the ratio of points and rounds is
        linearised, so that the mean over deals is exactly the points per round.
        """
        played = self.played[cell]
        points = played.games("points").sum(axis=0)[: self.deals]
        rounds = played.games("rounds").sum(axis=0)[: self.deals]
        ratio = points.sum() / rounds.sum()
        # The deviations from the ratio add up to 0.
        linearised: Float = ratio + (points - ratio * rounds) / rounds.mean()
        return linearised


def _difference(
    benchmark: Benchmark, played: Mapping[Cell, Played], agent: str, minus: str
) -> Difference | None:
    """Returns an agent's points minus those of another on the same deals; None: a forfeit."""
    deals = min(benchmark.deals(agent), benchmark.deals(minus))
    first, second = (_Measured(benchmark, played, spec, deals) for spec in (agent, minus))
    if first.forfeited() or second.forfeited():
        return None
    points, baseline = first.counted(), second.counted()
    gains = [points[partner] - baseline[partner] for partner in points if partner in baseline]
    if not gains:
        return None
    return Difference(short_name(agent), short_name(minus), deals, Estimate.of(np.array(gains)))


def _rank_correlation(entries: Sequence[Entry]) -> float | None:
    """Returns how far the ranking is that of self-play (Spearman); None: too few agents."""
    ranked = [
        (entry.points.mean, entry.self_play.mean)
        for entry in entries
        if entry.points is not None and entry.self_play is not None
    ]
    return rank_correlation([points for points, _ in ranked], [own for _, own in ranked])
