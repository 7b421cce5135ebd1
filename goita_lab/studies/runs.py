"""Measures whether independent runs understand each other: docs/studies/runs.md.

Networks of the population are partners, every two of them, against networks that are held out. What
a pair makes is compared with what its members make beside themselves, on the same deals.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass
from itertools import combinations, combinations_with_replacement
from math import sqrt
from typing import Final

import numpy as np
import numpy.typing as npt
from scipy.stats import t as student

from goita_agents.base import AgentError, Bool, Float
from goita_agents.population import Population
from goita_env.errors import SettingError
from goita_lab.arena.statistics.intervals import LEVEL, Interval
from goita_lab.signals.measures.crossplay import (
    cross_play_gap,
    jackknife_error,
    partners_points,
    policy_distance,
)
from goita_lab.signals.playing import play
from goita_lab.signals.tables import bounds, table
from goita_lab.studies.drawing import grid
from goita_lab.studies.study import Options

METHODS: Final = ("selfplay", "entropy", "otherplay", "offbelief", "beside-heuristic")
PARTNER_SEEDS: Final = {"offbelief": range(6), "beside-heuristic": range(6)}
"""Runs that are partners; of other methods all are."""
OPPONENTS: Final = tuple(
    f"population:{method}-{seed}" for method in ("offbelief", "beside-heuristic") for seed in (6, 7)
)
MARGIN: Final = 0.3
"""Points a round: a gap below counts as none."""

DEALS: Final = 1_000
"""Of each pair against each opponent."""
SEED: Final = 16_300
DISTANCE_ROUNDS: Final = 400

QUICK_RUNS: Final = 2
QUICK_DEALS: Final = 60


Statistic = Callable[[Bool], float]
"""Takes the runs that are kept, bool [n]."""


@dataclass(frozen=True)
class Within:
    """Partners of one run compared with partners of two runs of the same method."""

    method: str
    runs: int
    gap: Interval | None
    """Self-play minus cross-play, points a round, over runs; None: under three runs."""
    deals: Interval
    """The same over deals, for these runs."""
    p_value: float
    """Permutation test of the residual of a row + column fit."""
    equivalent: bool | None
    """The gap's upper end lies below the margin."""


@dataclass(frozen=True)
class Between:
    """Partners of two methods, compared with the mean of what both make with themselves."""

    one: str
    other: str
    understanding: Interval
    """U, points a round, over the runs of both."""


@dataclass(frozen=True)
class Result:
    """What the study found."""

    agents: tuple[str, ...]
    opponents: tuple[str, ...]
    deals: int
    """Of each pair, over all opponents."""
    points: tuple[tuple[float, ...], ...]
    """[n, n] Points a round of each pair."""
    within: tuple[Within, ...]
    between: tuple[Between, ...]
    all_between: Interval
    """U of partners of different methods, over runs."""
    closed: dict[str, Interval]
    """How much smaller a method's gap is than that of self-play, over runs."""
    distance: dict[str, float]
    """Mean divergence of two policies within a method, and between methods, nats."""


def players(result: Result) -> tuple[str, ...]:
    """Returns the agents that played."""
    return (*result.agents, *result.opponents)


@dataclass(frozen=True)
class _Cell:
    """A pair of partners with its opponent."""

    one: str
    other: str
    opponent: str
    deals: int

    @property
    def key(self) -> str:
        return f"{self.one} {self.other} {self.opponent} {self.deals}"


def run(options: Options) -> Result:
    """Plays every pair of partners against the held-out opponents."""
    population = Population()
    agents = [
        name
        for method in METHODS
        for name in population.names(method=method, seeds=PARTNER_SEEDS.get(method))
    ]
    missing = [name for name in OPPONENTS if name not in population.names()]
    if options.quick:
        agents = [name for name in agents if int(name.rpartition("-")[2]) < QUICK_RUNS]
        missing = []
    opponents = ("greedy", "heuristic") if options.quick else OPPONENTS
    if missing:
        raise SettingError(f"expected the population to hold the opponents, got no {missing}")
    deals = QUICK_DEALS if options.quick else DEALS
    cells = [
        _Cell(one, other, opponent, deals)
        for one, other in combinations_with_replacement(agents, 2)
        for opponent in opponents
    ]
    arguments = {
        "seed": SEED,
        "hashes": [population.members[n.partition(":")[2]].sha256 for n in agents],
    }
    played = options.pieces(
        "runs", npt.NDArray[np.float64], arguments, {one.key: one for one in cells}, play_cell
    )
    number = {name: place for place, name in enumerate(agents)}
    points = np.zeros((len(agents), len(agents), len(opponents) * deals))
    for cell in cells:
        a, b, at = number[cell.one], number[cell.other], opponents.index(cell.opponent) * deals
        points[a, b, at : at + deals] = points[b, a, at : at + deals] = played[cell.key]
    method_of = np.array([name.partition(":")[2].rpartition("-")[0] for name in agents])
    result = summarise(agents, opponents, points, method_of, _distances(agents, method_of, options))
    options.kept("runs").unlink(missing_ok=True)
    return result


def play_cell(cell: _Cell) -> npt.NDArray[np.float64]:
    """Returns the points of two partners in each deal."""
    return partners_points(cell.one, cell.other, cell.opponent, cell.deals, seed=SEED)


def summarise(
    agents: Sequence[str],
    opponents: Sequence[str],
    points: Float,
    method_of: npt.NDArray[np.str_],
    distance: Mapping[str, float],
) -> Result:
    """Returns the figures of the page from points [n, n, deals]."""
    mean = points.mean(axis=2)
    methods = [name for name in METHODS if name in method_of]
    within = []
    for name in methods:
        some = np.flatnonzero(method_of == name)
        if len(some) < 2:
            raise AgentError(f"expected two runs of {name} or more, got {len(some)}")
        one = cross_play_gap(points[np.ix_(some, some)])
        below = None if one.runs is None else one.runs.high < MARGIN
        within.append(Within(name, len(some), one.runs, one.deals, one.p_value, below))
    groups = {name: method_of == name for name in methods}
    between = [
        Between(one, other, over_runs(_between(mean, groups, one, other), groups, one, other))
        for one, other in combinations(methods, 2)
    ]
    apart = method_of[:, None] != method_of[None, :]
    closed = {
        name: over_runs(_closed(mean, groups, name), groups, "selfplay", name)
        for name in methods
        if name != "selfplay" and min(groups[name].sum(), groups["selfplay"].sum()) > 2
    }
    return Result(
        tuple(agents),
        tuple(opponents),
        points.shape[2],
        tuple(tuple(row) for row in mean.round(4).tolist()),
        tuple(within),
        tuple(between),
        over_runs(
            lambda kept: float(_u(mean)[apart & np.outer(kept, kept)].mean()), groups, *methods
        ),
        closed,
        dict(distance),
    )


def _u(mean: Float) -> Float:
    """Returns the understanding of each pair: [n, n]."""
    own = np.diagonal(mean)
    found: Float = mean - (own[:, None] + own[None, :]) / 2
    return found


def _gap(mean: Float, kept: Bool) -> float:
    """Returns self-play minus cross-play of some runs."""
    own = mean[np.ix_(kept, kept)]
    return float(np.diagonal(own).mean() - own[~np.eye(len(own), dtype=bool)].mean())


def _between(mean: Float, groups: Mapping[str, Bool], one: str, other: str) -> Statistic:
    """Returns the mean U of partners of two methods, as a function of the runs that are kept."""
    u = _u(mean)
    return lambda kept: float(u[np.ix_(kept & groups[one], kept & groups[other])].mean())


def _closed(mean: Float, groups: Mapping[str, Bool], name: str) -> Statistic:
    """Returns the gap of self-play minus that of a method, as a function of the runs kept."""
    return lambda kept: _gap(mean, kept & groups["selfplay"]) - _gap(mean, kept & groups[name])


def over_runs(statistic: Statistic, groups: Mapping[str, Bool], *names: str) -> Interval:
    """Returns a statistic of the runs that are kept, with its 95 % interval over runs.

    Runs are left out one by one, method by method: the jackknife of a stratified sample, with
    Student's quantile.

    Args:
        statistic: takes the runs that are kept, bool [n].
        groups: the runs of each method, bool [n].
        names: the methods that the statistic is of.
    """
    every = np.logical_or.reduce([groups[name] for name in names])
    value, variance, freedom = statistic(every), 0.0, 0
    for group in (groups[name] for name in names):
        left = []
        for one in np.flatnonzero(group):
            kept = every.copy()
            kept[one] = False
            left.append(statistic(kept))
        variance += jackknife_error(left) ** 2
        freedom += len(left) - 1
    half = float(student.ppf((1 + LEVEL) / 2, freedom)) * sqrt(variance)
    return Interval(value, value - half, value + half)


def _distances(
    agents: Sequence[str], method_of: npt.NDArray[np.str_], options: Options
) -> dict[str, float]:
    """Returns the mean divergence of policies within each method, and between methods, in nats."""
    rounds = DISTANCE_ROUNDS // (20 if options.quick else 1)
    warm = [f"{name},temperature=1" for name in agents]
    apart = policy_distance(play([warm[0]], rounds, seed=SEED), warm)
    number = {name: place for place, name in enumerate(warm)}
    found: dict[str, list[float]] = {}
    for (one, other), distance in apart.items():
        a, b = method_of[number[one]], method_of[number[other]]
        found.setdefault(str(a) if a == b else "between methods", []).append(distance.mean)
    return {name: float(np.mean(values)) for name, values in found.items()}


def report(result: Result) -> str:
    """Returns the tables of the page, in Markdown."""
    within = [
        [
            f"`{one.method}`",
            f"{one.runs}",
            "" if one.gap is None else bounds(one.gap, "+"),
            bounds(one.deals, "+"),
            f"{one.p_value:.2g}",
            {True: "yes", False: "no", None: ""}[one.equivalent],
            "" if one.method not in result.closed else bounds(result.closed[one.method], "+"),
            f"{result.distance.get(one.method, 0):.3f}",
        ]
        for one in result.within
    ]
    heads = ["method", "runs", "gap, over runs", "over deals", "p", f"below {MARGIN:g}"]
    heads += ["smaller than self-play's by", "policies apart, nats"]
    between = [
        [f"`{one.one}` and `{one.other}`", bounds(one.understanding, "+")] for one in result.between
    ]
    between += [["**all partners of different methods**", f"**{bounds(result.all_between, '+')}**"]]
    return "\n\n".join(
        (
            f"{len(result.agents)} runs, {result.deals:,} deals a pair; points a round.",
            table(heads, within),
            table(["partners", "U, over runs"], between),
            "Policies of different methods are "
            f"{result.distance['between methods']:.3f} nats apart.",
        )
    )


def figure(result: Result) -> bytes:
    """Draws the understanding of every pair, as SVG."""
    names = [name.partition(":")[2] for name in result.agents]
    return grid(names, _u(np.array(result.points)), "U, points a round")
