"""Measures whether independent runs of a method fit each other: runs.md.

Networks of the population are partners, every two of a method, against networks that are held out.
What a pair makes is compared with what its members make beside themselves, on the same deals. The
control are runs with messages, whose codes are arbitrary, and the same runs muted.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from itertools import combinations_with_replacement
from math import sqrt
from typing import Final

import numpy as np
import numpy.typing as npt

from goita_agents.base import Bool, Float
from goita_agents.population import Population
from goita_agents.population.manifest import INFORMATION
from goita_env.information import PLAIN, InformationStructure
from goita_lab.arena.report.figures import estimate
from goita_lab.arena.statistics.intervals import Interval, t_quantile
from goita_lab.signals.measures.crossplay import cross_play_gap, partners_points
from research.drawing import Colors, dots, table
from research.intervals import interval_over_runs
from research.population.methods import SEEDS
from research.studies import study
from research.studies.study import Options

METHODS: Final = ("selfplay", "entropy", "otherplay", "offbelief", "beside-heuristic")
PARTNERS: Final = {"offbelief": 6, "beside-heuristic": 6}
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
POWER: Final = 0.8
"""Probability with which what is called visible is seen."""

DEALS: Final = 500
"""Of each pair against each opponent."""
SEED: Final = 16_301

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
    code: Interval
    """Gap minus gap of the same runs muted."""
    alone: Interval
    """What messages are worth beside itself."""
    crossed: Interval
    """What they are worth beside another run."""
    beyond: dict[str, Interval]
    """By how much the gap is larger than that of a method without messages."""


@dataclass(frozen=True)
class Result:
    """What the study found."""

    agents: tuple[str, ...]
    opponents: tuple[str, ...]
    deals: int
    """Of each pair, over all opponents."""
    points: dict[str, list[list[float]]]
    """[n, n] Points a round of every two runs of a method."""
    within: tuple[Within, ...]
    controls: tuple[Control, ...]


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
    information: InformationStructure = PLAIN

    @property
    def key(self) -> str:
        return f"{self.one} {self.other} {self.opponent} {self.deals}"


def run(options: Options) -> Result:
    """Plays every pair of partners against the held-out opponents."""
    population = Population()
    opponents = ("greedy", "heuristic") if options.quick else OPPONENTS
    deals = QUICK_DEALS if options.quick else DEALS
    hearing = [f"plain:base=({name})" for name in opponents]
    tables: dict[str, list[_Cell]] = {}
    agents: list[str] = []
    for method in (*METHODS, *CODES):
        runs = QUICK_RUNS if options.quick else PARTNERS.get(method, SEEDS)
        members = [f"population:{method}-{seed}" for seed in range(runs)]
        agents += members
        if method in METHODS:
            tables[method] = _cells(members, opponents, deals)
            continue
        information = INFORMATION[method]
        muted = [f"muted:base=({name})" for name in members]
        tables[method] = _cells(members, hearing, deals, information)
        tables[f"{method} muted"] = _cells(muted, hearing, deals, information)
    names = [name.partition(":")[2] for name in (*agents, *opponents) if ":" in name]
    arguments = {"seed": SEED, "hashes": [population.members[name].sha256 for name in names]}
    todo = {cell.key: cell for cells in tables.values() for cell in cells}
    played = options.pieces("runs", npt.NDArray[np.float64], arguments, todo, play_cell)
    points = {name: _points(cells, played) for name, cells in tables.items()}
    return summarise(agents, opponents, points)


def _cells(
    agents: Sequence[str],
    opponents: Sequence[str],
    deals: int,
    information: InformationStructure = PLAIN,
) -> list[_Cell]:
    return [
        _Cell(first, second, opponent, deals, information)
        for first, second in combinations_with_replacement(agents, 2)
        for opponent in opponents
    ]


def play_cell(cell: _Cell) -> npt.NDArray[np.float64]:
    """Returns the points of two partners in each deal."""
    return partners_points(
        cell.one, cell.other, cell.opponent, cell.deals, SEED, information=cell.information
    )


def _points(cells: Sequence[_Cell], played: Mapping[str, Float]) -> Float:
    """Returns the points of every pair: [n, n, deals against all opponents]."""
    agents = list(dict.fromkeys(cell.one for cell in cells))
    by_pair: dict[tuple[int, int], list[Float]] = {}
    for cell in cells:
        pair = agents.index(cell.one), agents.index(cell.other)
        by_pair.setdefault(pair, []).append(played[cell.key])
    points = np.zeros((len(agents), len(agents), sum(map(len, by_pair[0, 0]))))
    for (a, b), parts in by_pair.items():
        points[a, b] = points[b, a] = np.concatenate(parts)
    return points


def summarise(
    agents: Sequence[str], opponents: Sequence[str], points: Mapping[str, Float]
) -> Result:
    """Returns the figures of the page.

    Args:
        agents: the partners.
        opponents: of all.
        points: [n, n, deals] by method; of those of ``CODES`` also by its name with " muted".
    """
    mean = {name: samples.mean(axis=2) for name, samples in points.items()}
    return Result(
        tuple(agents),
        tuple(opponents),
        next(iter(points.values())).shape[2],
        {name: samples.round(4).tolist() for name, samples in mean.items()},
        tuple(_within(name, samples) for name, samples in points.items()),
        tuple(_control(name, mean) for name in CODES),
    )


def _within(method: str, points: Float) -> Within:
    """Returns the gap of one method from points [n, n, deals], n at least 3."""
    gap, runs = cross_play_gap(points), len(points)
    assert gap.runs is not None
    # The standard deviation over runs, by the interval of their mean.
    spread = (gap.runs.high - gap.runs.mean) / t_quantile(runs - 1) * sqrt(runs)
    return Within(
        method,
        runs,
        gap.runs,
        gap.deals,
        gap.p_value,
        gap.runs.high < MARGIN,
        visible(spread, runs),
        next((n for n in range(3, MANY) if visible(spread, n) <= MARGIN), MANY),
    )


def _control(method: str, mean: Mapping[str, Float]) -> Control:
    """Returns what a code costs, from the points [n, n] of each method."""
    talking, muted, runs = mean[method], mean[f"{method} muted"], len(mean[method])
    samples = [np.ones(runs, bool)]
    beyond = {}
    for name in (arm for arm in METHODS if arm in mean):
        first = np.arange(runs + len(mean[name])) < runs

        def larger(chosen: Bool, compared: Float = mean[name]) -> float:
            return _gap(talking, chosen[:runs]) - _gap(compared, chosen[runs:])

        beyond[name] = interval_over_runs(larger, [first, ~first])
    return Control(
        method,
        interval_over_runs(lambda chosen: _gap(talking, chosen) - _gap(muted, chosen), samples),
        interval_over_runs(
            lambda chosen: float(np.diagonal(talking - muted)[chosen].mean()), samples
        ),
        interval_over_runs(lambda chosen: _crossed(talking - muted, chosen), samples),
        beyond,
    )


def _gap(mean: Float, chosen: Bool) -> float:
    """Returns self-play minus cross-play of some runs."""
    return float(np.diagonal(mean)[chosen].mean()) - _crossed(mean, chosen)


def _crossed(mean: Float, chosen: Bool) -> float:
    """Returns the mean over pairs of different runs, of those that are kept."""
    own = mean[np.ix_(chosen, chosen)]
    return float(own[~np.eye(len(own), dtype=bool)].mean())


def visible(spread: float, runs: int) -> float:
    """Returns the smallest gap that runs of a spread show with a probability of ``POWER``."""
    # One side of an interval of this level is the quantile of POWER.
    return (t_quantile(runs - 1) + t_quantile(runs - 1, 2 * POWER - 1)) * spread / sqrt(runs)


def report(result: Result) -> str:
    """Returns the tables of the page, in Markdown."""
    within = [
        [
            f"`{row.method}`",
            f"{row.runs}",
            estimate(row.gap),
            estimate(row.deals),
            f"{row.p_value:.2g}",
            "yes" if row.small else "no",
            f"{row.visible:.2f}",
            f"{row.needed}",
        ]
        for row in result.within
    ]
    heads = ["method", "runs", "gap, over runs", "over deals", "p", f"below {MARGIN:g}"]
    heads += ["visible", f"runs for {MARGIN:g}"]
    codes = [
        [f"`{row.method}`", *map(estimate, (row.code, row.alone, row.crossed))]
        for row in result.controls
    ]
    beyond = [
        [f"`{name}`", *(estimate(row.beyond[name]) for row in result.controls)]
        for name in result.controls[0].beyond
    ]
    return "\n\n".join(
        (
            f"{len(result.agents)} runs, {result.deals:,} deals a pair; points a round, 95 % "
            "intervals.",
            table(["runs with messages", "code", "worth beside itself", "beside another"], codes),
            table(heads, within),
            table(["gap larger than that of", *(f"`{name}`" for name in CODES)], beyond),
        )
    )


def figure(result: Result, colors: Colors) -> bytes:
    """Draws the gap of every method, as SVG."""
    rows = {row.method.replace(" muted", ", muted"): row.gap for row in result.within}
    return dots(rows, "gap, points a round", colors)


if __name__ == "__main__":
    study.main("runs")
