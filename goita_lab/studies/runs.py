"""Measures whether independent runs understand each other: docs/studies/runs.md.

Networks of the population are partners, every two of them, against networks that are held out. What
a pair makes is compared with what its members make beside themselves, on the same deals. The
control are runs with messages, whose codes are arbitrary, and the same runs muted.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from itertools import combinations, combinations_with_replacement
from math import nan
from typing import Final

import numpy as np
import numpy.typing as npt

from goita_agents.base import AgentError, Bool, Float
from goita_agents.population import Population
from goita_agents.population.methods import METHODS as TRAINED
from goita_agents.population.methods import SEEDS
from goita_env.errors import SettingError
from goita_env.information import PLAIN, InformationStructure
from goita_lab.arena.statistics.intervals import Interval
from goita_lab.signals.measures.crossplay import (
    cross_play_gap,
    partners_points,
    policy_distance,
)
from goita_lab.signals.playing import play
from goita_lab.signals.tables import bounds, table
from goita_lab.studies.drawing import grid
from goita_lab.studies.jackknife import Statistic, over_runs, spread_of, visible
from goita_lab.studies.study import Options

METHODS: Final = ("selfplay", "entropy", "otherplay", "offbelief", "beside-heuristic")
PARTNER_SEEDS: Final = {"offbelief": range(6), "beside-heuristic": range(6)}
"""Runs that are partners; of other methods all are."""
OPPONENTS: Final = tuple(
    f"population:{method}-{seed}" for method in ("offbelief", "beside-heuristic") for seed in (6, 7)
)
CODES: Final = ("token-private", "token-public")
"""Methods whose runs send messages."""
MARGIN: Final = 0.5
"""Points a round: a gap below counts as small; eight runs can show it."""
MANY: Final = 1_000
"""Runs that nobody trains."""

DEALS: Final = 1_000
"""Of each pair against each opponent."""
SEED: Final = 16_301
DISTANCE_ROUNDS: Final = 400

QUICK_RUNS: Final = 3
QUICK_DEALS: Final = 60


@dataclass(frozen=True)
class Within:
    """Partners of one run compared with partners of two runs of the same method."""

    method: str
    runs: int
    gap: Interval
    """Self-play minus cross-play, points a round, over runs."""
    deals: Interval
    """The same over deals, for these runs."""
    p_value: float
    """Permutation test of the residual of a row + column fit."""
    small: bool
    """The gap's upper end lies below the margin."""
    visible: float
    """The smallest gap that so many runs show with a probability of 80 %."""
    needed: int
    """Runs by which no gap at all would be shown to be below the margin, as likely."""


@dataclass(frozen=True)
class Control:
    """Runs whose codes are arbitrary, compared with themselves muted: points a round, over runs."""

    method: str
    gap: Interval
    muted: Interval
    code: Interval
    """Gap minus gap of the same runs muted."""
    alone: Interval
    """What messages are worth beside itself."""
    crossed: Interval
    """What they are worth beside another run."""
    beyond: dict[str, Interval]
    """By how much the gap is larger than that of a method without messages."""


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
    without: Interval
    """The same without partners of off-belief learning."""
    controls: tuple[Control, ...]
    distance: dict[str, float]
    """Mean divergence of two policies within a method, and between methods, nats."""


def players(result: Result) -> tuple[str, ...]:
    """Returns the agents that played."""
    return (*result.agents, *_coded(), *result.opponents)


@dataclass(frozen=True)
class _Cell:
    """A pair of partners with its opponent."""

    one: str
    other: str
    opponent: str
    deals: int
    information: InformationStructure = PLAIN

    @property
    def key(self) -> str:
        return f"{self.one} {self.other} {self.opponent} {self.deals}"


def run(options: Options) -> Result:
    """Plays every pair of partners against the held-out opponents."""
    population, runs = Population(), QUICK_RUNS if options.quick else SEEDS
    agents = [
        name
        for method in METHODS
        for name in population.names(method=method, seeds=PARTNER_SEEDS.get(method))
        if int(name.rpartition("-")[2]) < runs
    ]
    opponents = ("greedy", "heuristic") if options.quick else OPPONENTS
    if missing := {*opponents[2:]} - {*population.names()}:
        raise SettingError(f"expected the population to hold the opponents, got no {missing}")
    deals = QUICK_DEALS if options.quick else DEALS
    hearing = [f"plain:base=({name})" for name in opponents]
    tables = {"": _cells(agents, opponents, deals)}
    for method in CODES:
        coded = [f"population:{method}-{seed}" for seed in range(runs)]
        muted = [f"muted:base=({name})" for name in coded]
        for name, some in ((method, coded), (f"{method} muted", muted)):
            tables[name] = _cells(some, hearing, deals, TRAINED[method].information)
    names = [*agents, *_coded(runs)]
    arguments = {
        "seed": SEED,
        "hashes": [population.members[n.partition(":")[2]].sha256 for n in names],
    }
    todo = {cell.key: cell for cells in tables.values() for cell in cells}
    played = options.pieces("runs", npt.NDArray[np.float64], arguments, todo, play_cell)
    points = {name: _points(cells, played) for name, cells in tables.items()}
    method_of = np.array([name.partition(":")[2].rpartition("-")[0] for name in agents])
    result = summarise(agents, opponents, points, method_of, _distances(agents, method_of, options))
    options.kept("runs").unlink(missing_ok=True)
    return result


def _coded(runs: int = SEEDS) -> list[str]:
    """Returns the runs with messages."""
    return [f"population:{method}-{seed}" for method in CODES for seed in range(runs)]


def _cells(
    agents: Sequence[str],
    opponents: Sequence[str],
    deals: int,
    information: InformationStructure = PLAIN,
) -> list[_Cell]:
    return [
        _Cell(one, other, opponent, deals, information)
        for one, other in combinations_with_replacement(agents, 2)
        for opponent in opponents
    ]


def _points(cells: Sequence[_Cell], played: Mapping[str, Float]) -> Float:
    """Returns the points of every pair: [n, n, deals against all opponents]."""
    agents = list(dict.fromkeys(cell.one for cell in cells))
    found: dict[tuple[int, int], list[Float]] = {}
    for cell in cells:
        pair = agents.index(cell.one), agents.index(cell.other)
        found.setdefault(pair, []).append(played[cell.key])
    points = np.zeros((len(agents), len(agents), sum(map(len, found[0, 0]))))
    for (a, b), each in found.items():
        points[a, b] = points[b, a] = np.concatenate(each)
    return points


def play_cell(cell: _Cell) -> npt.NDArray[np.float64]:
    """Returns the points of two partners in each deal."""
    return partners_points(
        cell.one, cell.other, cell.opponent, cell.deals, SEED, information=cell.information
    )


def summarise(
    agents: Sequence[str],
    opponents: Sequence[str],
    points: Mapping[str, Float],
    method_of: npt.NDArray[np.str_],
    distance: Mapping[str, float],
) -> Result:
    """Returns the figures of the page.

    Args:
        agents: the partners without messages.
        opponents: of all.
        points: [n, n, deals] of them by ""; of each method of ``CODES`` by its name, and by its
            name with " muted".
        method_of: the method [n] of each partner without messages.
        distance: see ``Result``.
    """
    mean = points[""].mean(axis=2)
    groups = {name: method_of == name for name in METHODS if name in method_of}
    own = {name: points[""][np.ix_(some, some)] for name, some in groups.items()}
    between = [
        Between(one, other, over_runs(_between(mean, groups, one, other), groups, one, other))
        for one, other in combinations(groups, 2)
    ]
    apart = method_of[:, None] != method_of[None, :]

    def different(kept: Bool) -> float:
        return float(_u(mean)[apart & np.outer(kept, kept)].mean())

    return Result(
        tuple(agents),
        tuple(opponents),
        points[""].shape[2],
        tuple(tuple(row) for row in mean.round(4).tolist()),
        tuple(_within(name, table) for name, table in {**own, **points}.items() if name),
        tuple(between),
        over_runs(different, groups, *groups),
        over_runs(different, groups, *(name for name in groups if name != "offbelief")),
        tuple(_control(name, points[name], points[f"{name} muted"], own) for name in CODES),
        dict(distance),
    )


def _within(method: str, points: Float) -> Within:
    """Returns the gap of one method from points [n, n, deals], n at least 3."""
    found, runs = cross_play_gap(points), len(points)
    if found.runs is None:
        raise AgentError(f"expected three runs of {method} or more, got {runs}")
    spread = spread_of(found.runs, runs)
    needed = next((n for n in range(3, MANY) if visible(spread, n) <= MARGIN), MANY)
    return Within(
        method,
        runs,
        found.runs,
        found.deals,
        found.p_value,
        found.runs.high < MARGIN,
        visible(spread, runs),
        needed,
    )


def _control(method: str, on: Float, off: Float, own: Mapping[str, Float]) -> Control:
    """Returns what a code costs from points [n, n, deals] with messages and muted."""
    said, muted, runs = on.mean(axis=2), off.mean(axis=2), len(on)
    every = {method: np.ones(runs, bool)}
    beyond = {}
    for name, points in own.items():
        mean = points.mean(axis=2)
        first = np.arange(runs + len(mean)) < runs

        def larger(kept: Bool, mean: Float = mean) -> float:
            return _gap(said, kept[:runs]) - _gap(mean, kept[runs:])

        beyond[name] = over_runs(larger, {method: first, name: ~first}, method, name)
    return Control(
        method,
        over_runs(lambda kept: _gap(said, kept), every, method),
        over_runs(lambda kept: _gap(muted, kept), every, method),
        over_runs(lambda kept: _gap(said, kept) - _gap(muted, kept), every, method),
        over_runs(lambda kept: float(np.diagonal(said - muted)[kept].mean()), every, method),
        over_runs(lambda kept: _crossed(said - muted, kept), every, method),
        beyond,
    )


def _u(mean: Float) -> Float:
    """Returns the understanding of each pair: [n, n]."""
    own = np.diagonal(mean)
    found: Float = mean - (own[:, None] + own[None, :]) / 2
    return found


def _gap(mean: Float, kept: Bool) -> float:
    """Returns self-play minus cross-play of some runs."""
    return float(np.diagonal(mean)[kept].mean()) - _crossed(mean, kept)


def _crossed(mean: Float, kept: Bool) -> float:
    """Returns the mean over pairs of different runs, of those that are kept."""
    own = mean[np.ix_(kept, kept)]
    return float(own[~np.eye(len(own), dtype=bool)].mean())


def _between(mean: Float, groups: Mapping[str, Bool], one: str, other: str) -> Statistic:
    """Returns the mean U of partners of two methods, as a function of the runs that are kept."""
    u = _u(mean)
    return lambda kept: float(u[np.ix_(kept & groups[one], kept & groups[other])].mean())


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
            bounds(one.gap, "+"),
            bounds(one.deals, "+"),
            f"{one.p_value:.2g}",
            "yes" if one.small else "no",
            f"{one.visible:.2f}",
            f"{one.needed}",
            f"{result.distance.get(one.method, nan):.3f}".replace("nan", ""),
        ]
        for one in result.within
    ]
    heads = ["method", "runs", "gap, over runs", "over deals", "p", f"below {MARGIN:g}"]
    heads += ["visible", f"runs for {MARGIN:g}", "policies apart, nats"]
    codes = [
        [
            f"`{one.method}`",
            *(bounds(each, "+") for each in (one.code, one.alone, one.crossed)),
            *(bounds(each, "+") for each in one.beyond.values()),
        ]
        for one in result.controls
    ]
    names = [f"gap beyond `{name}`" for name in result.controls[0].beyond]
    control = ["runs with messages", "code", "worth beside itself", "beside another", *names]
    between = [
        [f"`{one.one}` and `{one.other}`", bounds(one.understanding, "+")] for one in result.between
    ]
    between += [
        ["**all partners of different methods**", f"**{bounds(result.all_between, '+')}**"],
        ["without `offbelief`", bounds(result.without, "+")],
    ]
    return "\n\n".join(
        (
            f"{len(result.agents)} runs, {result.deals:,} deals a pair; points a round.",
            table(heads, within),
            table(control, codes),
            table(["partners", "U, over runs"], between),
            "Policies of different methods are "
            f"{result.distance['between methods']:.3f} nats apart.",
        )
    )


def figure(result: Result) -> bytes:
    """Draws the understanding of every pair, as SVG."""
    names = [name.partition(":")[2] for name in result.agents]
    return grid(names, _u(np.array(result.points)), "U, points a round")
