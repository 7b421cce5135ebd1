"""Measures whether failure with strangers is a failure of belief: docs/studies/strangers.md.

A search plays beside a stranger, or against two. Its posterior over hands takes the stranger for a
player like itself, for what it is, or for one of several; its playouts do so apart from that.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass
from typing import Any, Final, Literal

import msgspec
import numpy as np
import numpy.typing as npt

from goita_agents.base import Agent, Float
from goita_agents.files import read_limited
from goita_agents.population import Population
from goita_agents.registry import load_agent
from goita_agents.search.reader import ReaderAgent, as_opponent, as_partner, broad
from goita_env.errors import SettingError
from goita_env.rules import JGA
from goita_lab.arena.statistics.intervals import LEVEL, Interval
from goita_lab.arena.tournament.block import play_block
from goita_lab.arena.tournament.task import MIXED_SEATINGS, Task
from goita_lab.processes import one_thread
from goita_lab.signals.measures.crossplay import partners_points
from goita_lab.signals.tables import bounds, table
from goita_lab.studies.drawing import dots
from goita_lab.studies.runs import METHODS, OPPONENTS
from goita_lab.studies.study import Options

Side = Literal["partner", "opponents"]
Reading = Literal["own", "true", "mixture"]
Playing = Literal["own", "true", "network"]

PAIRS: Final = 24
MOST_BY_METHODS: Final = 4
"""Pairs of the same two methods."""
MOST_BY_RUN: Final = 3
"""Pairs in which the same run is the player, or the stranger."""

DEALS: Final = 400
GAP_DEALS: Final = 1_000
"""Against each opponent."""
SEED: Final = 16_100
LEAST_GAP: Final = 0.3
"""Points: where the gap's lower end is below, what the partner costs is an upper bound."""
RESAMPLES: Final = 10_000

QUICK_PAIRS: Final = (("selfplay-0", "entropy-0"), ("otherplay-0", "beside-heuristic-0"))
QUICK_DEALS: Final = 6
QUICK_GAP_DEALS: Final = 60

CONDITIONS: Final[tuple[tuple[Reading, Playing], ...]] = (
    ("own", "network"),
    ("own", "own"),
    ("own", "true"),
    ("true", "own"),
    ("true", "true"),
    ("mixture", "own"),
    ("mixture", "true"),
)
"""Model in the posterior and players in playouts; ``network``: nothing is searched."""
SIDES: Final[tuple[Side, ...]] = ("partner", "opponents")


@dataclass(frozen=True)
class Pair:
    """A player and the stranger that it meets, as agents' texts."""

    player: str
    stranger: str


@dataclass(frozen=True)
class Cell:
    """What is played: a pair, where the stranger sits, and what the player assumes of it."""

    pair: Pair
    side: Side
    reading: Reading
    playing: Playing
    mixture: tuple[str, ...]
    """Agents that the posterior of a mixture knows."""
    deals: int

    @property
    def key(self) -> str:
        pair = self.pair
        return f"{pair.player} {pair.stranger} {self.side} {self.reading} {self.playing}"


@dataclass(frozen=True)
class Split:
    """What a stranger on one side costs the search, by cause, in points a round, over runs."""

    side: Side
    search: Interval
    """What the search gains over its network, taking the stranger for a player like itself."""
    told: Interval
    """What it gains on top if it is told who the stranger is."""
    reading: Interval
    """The part of that which is due to the posterior over hands: misreading."""
    playing: Interval
    """The part which is due to playouts: the wrong response."""
    mixture: Interval
    """What a mixture in the posterior gains, with playouts like itself."""
    both: Interval
    """What a mixture in the posterior gains, with playouts like the stranger."""


@dataclass(frozen=True)
class Result:
    """What the study found."""

    pairs: tuple[Pair, ...]
    deals: int
    gap: Interval
    """Self-play minus cross-play of the pairs, on fresh deals, over runs."""
    upper_bound: bool
    """The gap's lower end is too low: what the partner costs is an upper bound."""
    splits: tuple[Split, ...]
    points: dict[str, float]
    """Points a round of every cell."""
    gaps: tuple[float, ...]
    """Of each pair."""


def players(_: Result) -> tuple[str, ...]:
    """Returns the agents that played: mixtures hold one of each method."""
    found = (name for method in METHODS for name in Population().names(method=method))
    return tuple(found)


def run(options: Options) -> Result:
    """Plays the pairs in all conditions."""
    if options.quick:
        pairs = [Pair(f"population:{a}", f"population:{b}") for a, b in QUICK_PAIRS]
    else:
        pairs = chosen_pairs(options)
    deals = QUICK_DEALS if options.quick else DEALS
    cells = [
        Cell(pair, side, reading, playing, mixture_of(pair), deals)
        for pair in pairs
        for side in SIDES
        for reading, playing in CONDITIONS
    ]
    everyone = sorted({name for one in cells for name in (one.pair.stranger, *one.mixture)})
    population = Population()
    hashes = [population.members[name.partition(":")[2]].sha256 for name in everyone]
    arguments = {"seed": SEED, "hashes": hashes}
    gaps = _gaps(pairs, arguments, options)
    played = options.pieces(
        "strangers",
        npt.NDArray[np.float64],
        {**arguments, "deals": deals},
        {one.key: one for one in cells},
        play_cell,
    )
    result = summarise(
        pairs, gaps, {key: float(found.mean()) for key, found in played.items()}, deals
    )
    for name in ("strangers", "strangers-gaps"):
        options.kept(name).unlink(missing_ok=True)
    return result


def chosen_pairs(options: Options) -> list[Pair]:
    """Returns the pairs with the largest gap in the study of runs, of all methods.

    A run of the pair is the player if it was so less often before, else the first.

    Raises:
        SettingError: if that study has no result in the folder.
    """
    file = options.output / "runs.json"
    if not file.exists():
        raise SettingError(f"expected the result of the study of runs in {file}: run it first")
    told: Any = msgspec.json.decode(read_limited(file, 1 << 24))
    agents, points = told["agents"], np.array(told["points"])
    if told["quick"] or points.shape != (len(agents), len(agents)):
        raise SettingError(f"expected the whole study of runs in {file}, got a quick one")
    own = np.diagonal(points)
    gap = (own[:, None] + own[None, :]) / 2 - points
    method = [name.partition(":")[2].rpartition("-")[0] for name in agents]
    found: list[Pair] = []
    methods, players, strangers = Counter[tuple[str, ...]](), Counter[str](), Counter[str]()
    for place in np.argsort(-gap, axis=None, kind="stable").tolist():
        a, b = divmod(place, len(agents))
        both = tuple(sorted((method[a], method[b])))
        if a >= b or both[0] == both[1] or methods[both] >= MOST_BY_METHODS:
            continue
        if players[agents[a]] > players[agents[b]]:
            a, b = b, a
        player, stranger = agents[a], agents[b]
        if max(players[player], strangers[stranger]) >= MOST_BY_RUN:
            continue
        methods[both] += 1
        players[player] += 1
        strangers[stranger] += 1
        found.append(Pair(player, stranger))
        if len(found) == PAIRS:
            break
    return found


def mixture_of(pair: Pair) -> tuple[str, ...]:
    """Returns the player and the first run of each method that is neither player nor stranger."""
    population = Population()
    others = []
    for method in METHODS:
        runs = [name for name in population.names(method=method) if name not in vars(pair).values()]
        others += runs[:1]
    return (pair.player, *others)


def play_cell(cell: Cell) -> npt.NDArray[np.float64]:
    """Returns the points of the player's team in each deal.

    Beside a stranger it plays against two like itself, against strangers beside one like itself.
    The player has either seat of its team in half of the deals each.
    """
    player, stranger = load_agent(cell.pair.player), load_agent(cell.pair.stranger)
    mate, rival = (stranger, player) if cell.side == "partner" else (player, stranger)
    names = ("reader", f"mate={cell.pair.player}", f"rival={cell.pair.stranger}")
    points = []
    for half, seatings in enumerate((MIXED_SEATINGS[:2], MIXED_SEATINGS[2:])):
        first = half * (cell.deals // 2)
        many = (cell.deals + half) // 2
        task = Task(names, SEED, half, first, many, JGA, seatings=seatings)
        with one_thread():
            result = play_block(task, [_reader(cell, player, stranger), mate, rival])
        points.append(result.points.mean(axis=0))
    return np.concatenate(points)


def _reader(cell: Cell, player: Agent, stranger: Agent) -> Agent:
    if cell.playing == "network":
        return player
    known = {"own": [player], "true": [stranger], "mixture": [load_agent(n) for n in cell.mixture]}
    read = known[cell.reading]
    played = player if cell.playing == "own" else stranger
    if cell.side == "partner":
        return ReaderAgent(
            player, [as_opponent(player)], [as_partner(one) for one in read], player, played
        )
    models = [as_opponent(one) for one in read]
    if cell.reading == "mixture":
        models.append(broad(player))
    return ReaderAgent(player, models, [as_partner(player)], played, player)


def _gaps(pairs: Sequence[Pair], arguments: Mapping[str, Any], options: Options) -> list[float]:
    """Returns by how much each pair makes less than the mean of both with themselves."""
    deals = QUICK_GAP_DEALS if options.quick else GAP_DEALS
    opponents = ("greedy", "heuristic") if options.quick else OPPONENTS
    teams = {
        f"{a} {b}": (a, b, opponents, deals)
        for pair in pairs
        for a, b in (
            (pair.player, pair.stranger),
            (pair.player, pair.player),
            (pair.stranger, pair.stranger),
        )
    }
    found = options.pieces("strangers-gaps", float, {**arguments, "deals": deals}, teams, play_team)
    return [
        (found[f"{p.player} {p.player}"] + found[f"{p.stranger} {p.stranger}"]) / 2
        - found[f"{p.player} {p.stranger}"]
        for p in pairs
    ]


def play_team(team: tuple[str, str, tuple[str, ...], int]) -> float:
    """Returns what two partners make against the opponents, points a round."""
    one, other, opponents, deals = team
    points = [partners_points(one, other, rival, deals, seed=SEED).mean() for rival in opponents]
    return float(np.mean(points))


def summarise(
    pairs: Sequence[Pair], gaps: Sequence[float], points: Mapping[str, float], deals: int
) -> Result:
    """Returns the figures of the page from the points of each cell."""
    gap = over_runs(pairs, np.array(gaps))
    splits = []
    for side in SIDES:
        value = by_condition(pairs, points, side)
        own, true = value["own", "own"], value["true", "true"]
        read, played = value["true", "own"], value["own", "true"]
        splits.append(
            Split(
                side,
                over_runs(pairs, own - value["own", "network"]),
                over_runs(pairs, true - own),
                over_runs(pairs, ((read - own) + (true - played)) / 2),
                over_runs(pairs, ((played - own) + (true - read)) / 2),
                over_runs(pairs, value["mixture", "own"] - own),
                over_runs(pairs, value["mixture", "true"] - own),
            )
        )
    return Result(
        tuple(pairs),
        deals,
        gap,
        gap.low < LEAST_GAP,
        tuple(splits),
        dict(points),
        tuple(gaps),
    )


def by_condition(
    pairs: Sequence[Pair], points: Mapping[str, float], side: Side
) -> dict[tuple[Reading, Playing], Float]:
    """Returns the points [n] of all pairs in each condition."""
    return {
        (reading, playing): np.array(
            [points[Cell(pair, side, reading, playing, (), 0).key] for pair in pairs]
        )
        for reading, playing in CONDITIONS
    }


def over_runs(pairs: Sequence[Pair], values: Float, resamples: int = RESAMPLES) -> Interval:
    """Returns the mean over pairs [n] with its 95 % bootstrap interval over runs.

    Runs are drawn with replacement; a pair counts as often as its player and its stranger together
    were drawn.
    """
    runs = sorted({run for pair in pairs for run in (pair.player, pair.stranger)})
    a = np.array([runs.index(pair.player) for pair in pairs])
    b = np.array([runs.index(pair.stranger) for pair in pairs])
    rng = np.random.default_rng(0)
    drawn = rng.multinomial(len(runs), [1 / len(runs)] * len(runs), size=resamples)
    weight = drawn[:, a] * drawn[:, b]
    kept = weight.sum(axis=1) > 0
    means = (weight[kept] @ values) / weight[kept].sum(axis=1)
    low, high = np.quantile(means, [(1 - LEVEL) / 2, (1 + LEVEL) / 2])
    return Interval(float(values.mean()), float(low), float(high))


_ROWS: Final[dict[str, Callable[[Split], Interval]]] = {
    "search over its network, the stranger taken for its like": lambda one: one.search,
    "told who the stranger is: gains": lambda one: one.told,
    "- by reading it rightly (misreading)": lambda one: one.reading,
    "- by playing it rightly in playouts (wrong response)": lambda one: one.playing,
    "a mixture of types, read alone: gains": lambda one: one.mixture,
    "a mixture read, the true stranger in playouts: gains": lambda one: one.both,
}


_EXPLORATORY: Final[dict[str, Callable[[Mapping[tuple[Reading, Playing], Float]], Float]]] = {
    "misreading minus wrong response": lambda of: of["true", "own"] - of["own", "true"],
    "both mended, beyond the sum of each alone": lambda of: (
        of["true", "true"] - of["true", "own"] - of["own", "true"] + of["own", "own"]
    ),
    "told who the stranger is: gains over the network without search": lambda of: (
        of["true", "true"] - of["own", "network"]
    ),
}


def report(result: Result) -> str:
    """Returns the tables of the page, in Markdown."""
    rows = [
        [what, *(bounds(figure_of(split), "+") for split in result.splits)]
        for what, figure_of in _ROWS.items()
    ]
    heads = ["points a round", "a stranger as partner", "strangers as opponents"]
    values = [by_condition(result.pairs, result.points, side) for side in SIDES]
    cells = [
        [
            *(("", "no search") if playing == "network" else (reading, playing)),
            *(f"{of[reading, playing].mean():+.2f}" for of in values),
        ]
        for reading, playing in CONDITIONS
    ]
    others = [
        [what, *(bounds(over_runs(result.pairs, figure_of(of)), "+") for of in values)]
        for what, figure_of in _EXPLORATORY.items()
    ]
    note = f"Self-play minus cross-play of these pairs: {bounds(result.gap, '+')} points."
    if result.upper_bound:
        note += f" Its lower end is below {LEAST_GAP}: the partner's side is an upper bound."
    return "\n\n".join(
        (
            f"{len(result.pairs)} pairs, {result.deals} deals a cell; 95 % intervals over runs.",
            note,
            table(heads, rows),
            table(["posterior", "playouts", *heads[1:]], cells),
            table(["exploratory", *heads[1:]], others),
        )
    )


def figure(result: Result) -> bytes:
    """Draws what each side costs, as SVG."""
    rows = [
        (f"{split.side}: {what}", one)
        for split in result.splits
        for what, one in (
            ("told all", split.told),
            ("misreading", split.reading),
            ("wrong response", split.playing),
            ("mixture", split.mixture),
        )
    ]
    return dots(rows, "points a round")
