"""Measures whether failure with strangers is a failure of belief: strangers.md.

A search plays beside a stranger, or against two. Its posterior over hands takes the stranger for a
player like itself, for what it is, or for one of several; its playouts do so apart from that. The
control are sisters, which are other runs of the player's own method.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass
from itertools import product
from math import sqrt
from typing import Final, Literal

import numpy as np

from goita_agents.base import Agent, Float
from goita_agents.population import Population
from goita_agents.registry import load_agent
from goita_env.rules import JGA
from goita_lab.arena.report.figures import estimate
from goita_lab.arena.statistics.intervals import Interval, t_interval
from goita_lab.arena.tournament.block import play_block
from goita_lab.arena.tournament.plan import MIXED_SEATINGS, Task
from goita_lab.work import one_thread
from research.drawing import Colors, dots, table
from research.studies import study
from research.studies.reader import ReaderAgent, as_opponent, as_partner, broad
from research.studies.runs import METHODS
from research.studies.study import Options

Side = Literal["partner", "opponents"]
Reading = Literal["own", "true", "mixture"]
Playing = Literal["own", "true"]

SIDES: Final[tuple[Side, ...]] = ("partner", "opponents")
FOUR: Final[tuple[tuple[Reading, Playing], ...]] = tuple(product(("own", "true"), ("own", "true")))
"""Model in the posterior and player in playouts."""
MIXTURE: Final[tuple[Reading, Playing]] = ("mixture", "own")

DEALS: Final = 400
FEWER: Final = 200
"""Of sisters, and of strangers that sample."""
SEED: Final = 16_100
QUICK_DEALS: Final = 6


@dataclass(frozen=True)
class Pair:
    """A player and the stranger that it meets, as agents' texts."""

    player: str
    stranger: str

    @property
    def methods(self) -> frozenset[str]:
        """The methods by which both were trained."""
        return frozenset(method_of(name) for name in (self.player, self.stranger))

    @property
    def sampling(self) -> Pair:
        """The same stranger, drawing its actions."""
        return Pair(self.player, f"{self.stranger},temperature=1")


def method_of(agent: str) -> str:
    """Returns the method of a member of the population."""
    return agent.partition(":")[2].rpartition("-")[0]


def _pairs(text: str) -> tuple[Pair, ...]:
    names = [f"population:{name}" for name in text.split()]
    return tuple(map(Pair, names[::2], names[1::2]))


STRANGERS: Final = _pairs("""
selfplay-5 offbelief-3          otherplay-6 offbelief-3         offbelief-0 selfplay-5
otherplay-3 offbelief-3         otherplay-6 offbelief-0         selfplay-0 offbelief-1
offbelief-1 selfplay-5          offbelief-1 otherplay-6         beside-heuristic-4 offbelief-0
offbelief-3 beside-heuristic-4  beside-heuristic-2 selfplay-5   beside-heuristic-2 otherplay-6
otherplay-3 beside-heuristic-2  beside-heuristic-3 offbelief-0  offbelief-3 beside-heuristic-3
selfplay-7 beside-heuristic-2   selfplay-0 beside-heuristic-2   entropy-5 offbelief-1
entropy-1 offbelief-1           entropy-6 offbelief-2           entropy-3 otherplay-6
offbelief-4 entropy-6           selfplay-3 beside-heuristic-4   selfplay-6 entropy-3
""")
"""Those of version 1: they fit each other worst."""
SISTERS: Final = _pairs(" ".join(f"{m}-{a} {m}-{a + 1}" for m in METHODS for a in (0, 2, 4)))
"""Pairs of one method; no run is in two of them."""
STRATA: Final[dict[str, Callable[[Pair], bool]]] = {
    "all": lambda _: True,
    "without off-belief": lambda pair: "offbelief" not in pair.methods,
    "with off-belief": lambda pair: "offbelief" in pair.methods,
}
SOME: Final = _pairs("""
beside-heuristic-2 selfplay-5    entropy-3 otherplay-6  selfplay-3 beside-heuristic-4
selfplay-0 beside-heuristic-2    otherplay-3 offbelief-3  beside-heuristic-3 offbelief-0
entropy-5 offbelief-1            entropy-6 offbelief-2
""")
"""For mixtures and strangers that sample: four without off-belief, four with it; one run twice."""


@dataclass(frozen=True)
class Cell:
    """What is played: a pair, where the stranger sits, and what the player assumes of it."""

    pair: Pair
    side: Side
    reading: Reading
    playing: Playing
    deals: int

    @property
    def key(self) -> str:
        pair = self.pair
        return f"{pair.player} {pair.stranger} {self.side} {self.reading} {self.playing}"


@dataclass(frozen=True)
class Net:
    """What being told is worth with strangers and with sisters, points a round, over pairs."""

    side: Side
    stratum: str
    effect: str
    pairs: tuple[int, int]
    """Of strangers and of sisters."""
    strangers: Interval
    sisters: Interval
    net: Interval
    """Stranger minus sister."""


@dataclass(frozen=True)
class Gain:
    """What else gains points with strangers, over pairs."""

    side: Side
    stratum: str
    what: str
    pairs: int
    gain: Interval


@dataclass(frozen=True)
class Result:
    """What the study found."""

    deals: int
    nets: tuple[Net, ...]
    gains: tuple[Gain, ...]
    points: dict[str, float]
    """Points a round of every cell."""


def players(_: Result) -> tuple[str, ...]:
    """Returns the agents that played: mixtures hold one of each method."""
    return tuple(name for method in METHODS for name in Population().names(method=method))


def run(options: Options) -> Result:
    """Plays the pairs in all conditions."""
    strangers, sisters, subset, deals = STRANGERS, SISTERS, SOME, DEALS
    if options.quick:
        strangers = subset = SOME[2:6]
        sisters, deals = SISTERS[::7], QUICK_DEALS
    fewer = min(deals, FEWER)
    todo = [
        *((pair, FOUR, deals) for pair in strangers),
        *((pair, FOUR, fewer) for pair in sisters),
        *((pair, (MIXTURE,), deals) for pair in subset),
        *((pair.sampling, (FOUR[0], FOUR[3]), fewer) for pair in subset),
    ]
    cells = [
        Cell(pair, side, *condition, num_deals)
        for pair, conditions, num_deals in todo
        for side, condition in product(SIDES, conditions)
    ]
    members = Population().members
    hashes = [members[name.partition(":")[2]].sha256 for name in players_of(cells)]
    arguments = {"seed": SEED, "hashes": hashes, "deals": deals, "fewer": fewer}
    points = options.pieces(
        "strangers", float, arguments, {cell.key: cell for cell in cells}, play_cell
    )
    return summarise(strangers, sisters, subset, points, deals)


def players_of(cells: Sequence[Cell]) -> list[str]:
    """Returns the members of the population that play or are assumed."""
    names = {name for cell in cells for name in (cell.pair.player, *mixture_of(cell.pair))}
    return sorted(names | {cell.pair.stranger.partition(",")[0] for cell in cells})


def mixture_of(pair: Pair) -> tuple[str, ...]:
    """Returns the player and a run of each method but the stranger's.

    It is the first run that is not the player.
    """
    first_runs = [
        next(name for name in Population().names(method=method) if name != pair.player)
        for method in METHODS
        if method != method_of(pair.stranger)
    ]
    return (pair.player, *first_runs)


def play_cell(cell: Cell) -> float:
    """Returns the points of the player's team, the mean over deals.

    Beside a stranger it plays against two like itself, against strangers beside one like itself.
    The player has either seat of its team in half of the deals each.
    """
    player, stranger = load_agent(cell.pair.player), load_agent(cell.pair.stranger)
    mate, rival = (stranger, player) if cell.side == "partner" else (player, stranger)
    names = ("reader", f"mate={cell.pair.player}", f"rival={cell.pair.stranger}")
    points = []
    for half, seatings in enumerate((MIXED_SEATINGS[:2], MIXED_SEATINGS[2:])):
        first = half * (cell.deals // 2)
        num_deals = (cell.deals + half) // 2
        task = Task(names, SEED, half, first, num_deals, JGA, seatings=seatings)
        with one_thread():
            result = play_block(task, [_reader(cell, player, stranger), mate, rival])
        points.append(result.points.mean(axis=0))
    return float(np.concatenate(points).mean())


def _reader(cell: Cell, player: Agent, stranger: Agent) -> Agent:
    read = {"own": [player], "true": [stranger]}.get(cell.reading) or [
        load_agent(name) for name in mixture_of(cell.pair)
    ]
    played = player if cell.playing == "own" else stranger
    if cell.side == "partner":
        return ReaderAgent(
            player, [as_opponent(player)], [as_partner(agent) for agent in read], player, played
        )
    models = [as_opponent(agent) for agent in read]
    if cell.reading == "mixture":
        models.append(broad(player))
    return ReaderAgent(player, models, [as_partner(player)], played, player)


def summarise(
    strangers: Sequence[Pair],
    sisters: Sequence[Pair],
    subset: Sequence[Pair],
    points: Mapping[str, float],
    deals: int,
) -> Result:
    """Returns the figures of the page from the points of each cell."""
    nets, gains = [], []
    for side, (stratum, belongs) in product(SIDES, STRATA.items()):
        pairs = [pair for pair in strangers if belongs(pair)]
        control = [pair for pair in sisters if stratum == "with off-belief" or belongs(pair)]
        for effect, effect_of in EFFECTS.items():
            first, second = ((p, effect_of(_value(p, points, side))) for p in (pairs, control))
            intervals = over_pairs(first), over_pairs(second), over_pairs(first, second)
            nets.append(Net(side, stratum, effect, (len(pairs), len(control)), *intervals))
        pairs = [pair for pair in subset if belongs(pair)]
        if not pairs:
            continue
        for what, value in _gains(pairs, points, side).items():
            gains.append(Gain(side, stratum, what, len(pairs), over_pairs((pairs, value))))
    return Result(deals, tuple(nets), tuple(gains), dict(points))


Value = Mapping[tuple[Reading, Playing], Float]
"""Points [n] of some pairs by condition."""

EFFECTS: Final[dict[str, Callable[[Value], Float]]] = {
    "told who it is": lambda of: of["true", "true"] - of["own", "own"],
    "misreading": lambda of: (
        (of["true", "own"] - of["own", "own"] + of["true", "true"] - of["own", "true"]) / 2
    ),
    "wrong response": lambda of: (
        (of["own", "true"] - of["own", "own"] + of["true", "true"] - of["true", "own"]) / 2
    ),
}
"""The last two are Shapley values: they add up to the first."""


def _value(
    pairs: Sequence[Pair],
    points: Mapping[str, float],
    side: Side,
    conditions: Sequence[tuple[Reading, Playing]] = FOUR,
) -> Value:
    return {
        condition: np.array([points[Cell(pair, side, *condition, 0).key] for pair in pairs])
        for condition in conditions
    }


def _gains(pairs: Sequence[Pair], points: Mapping[str, float], side: Side) -> dict[str, Float]:
    when_told = EFFECTS["told who it is"]
    plain = _value(pairs, points, side, (*FOUR, MIXTURE))
    drawn = _value([pair.sampling for pair in pairs], points, side, (FOUR[0], FOUR[3]))
    return {
        "a mixture without its method": plain[MIXTURE] - plain[FOUR[0]],
        "told who it is": when_told(plain),
        "told who it is, and it samples": when_told(drawn),
    }


def over_pairs(*samples: tuple[Sequence[Pair], Float]) -> Interval:
    """Returns the mean of a sample of pairs, or that of the first minus that of the second.

    Pairs that share a run are not independent: the variance is the dyadic cluster-robust one
    (Aronow, Samii and Assenova 2015), at least that of independent pairs; the 95 % interval has
    Student's quantile.
    """
    pairs = [pair for sample, _ in samples for pair in sample]
    runs = [set(vars(pair).values()) for pair in pairs]
    shared = np.array([[bool(first & second) for second in runs] for first in runs])
    parts, mean = [], 0.0
    for sign, (_, values) in zip((1, -1), samples, strict=False):
        mean += sign * float(values.mean())
        size = len(values)
        parts.append(sign * (values - values.mean()) / sqrt(size * (size - 1)))
    residual = np.concatenate(parts)
    variance = max(float(residual @ shared @ residual), float(residual @ residual))
    return t_interval(mean, sqrt(variance), len(pairs) - len(samples))


def report(result: Result) -> str:
    """Returns the tables of the page, in Markdown."""
    nets = [
        [
            row.side,
            row.stratum,
            row.effect,
            *map(estimate, (row.strangers, row.sisters)),
            f"**{estimate(row.net)}**",
        ]
        for row in result.nets
        if row.stratum == "all" or row.effect in tuple(EFFECTS)[:1]
    ]
    heads = ["side", "pairs", "points a round", "strangers", "sisters", "stranger minus sister"]
    gains = [[row.side, row.stratum, row.what, estimate(row.gain)] for row in result.gains]
    return "\n\n".join(
        (
            f"{result.deals} deals a cell; points a round, 95 % intervals over pairs.",
            table(heads, nets),
            table(["side", "pairs", "what", "gain"], gains),
        )
    )


def figure(result: Result, colors: Colors) -> bytes:
    """Draws what being told is worth with strangers and sisters, as SVG."""
    known = dict(zip(EFFECTS, ("known", "known in beliefs", "known in playouts"), strict=True))
    rows = {
        f"{net.side}, {known[net.effect]}": {
            "strangers": net.strangers,
            "sisters": net.sisters,
            "difference": net.net,
        }
        for net in result.nets
        if net.stratum == "all"
    }
    return dots(rows, "gain from knowing the policy, points a round", colors)


if __name__ == "__main__":
    study.main("strangers")
