"""Measures what not knowing a partner costs, in small games, exactly: teamwork.md."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any, Final

import numpy as np

from goita_lab.arena.statistics.intervals import Interval
from goita_lab.exact import report as exact_report
from goita_lab.exact.teamwork import (
    OPPONENT_TEAMS,
    Benchmark,
    Players,
    Split,
    bayes_optimal,
    points_with,
)
from goita_lab.exact.tree import Tree
from research.drawing import Colors, scatter, table
from research.intervals import rank_correlation
from research.studies import study
from research.studies.study import Options

GAMES: Final = ("mini_3", "mini_4", "mini_3-message")
"""In the last the dealer sends its partner one bit before play."""
AGENTS: Final = ("champion", "heuristic", "greedy", "people", "random")
MEAN_LOSS: Final = 1.0
LEAST_LOSS: Final = 0.1
"""Points from which partners count as diverse: the loss of another one's best response, on average
and with the nearest other partner."""


@dataclass(frozen=True)
class Diversity:
    """What best responses to other partners lose with each partner of a split, in points."""

    partners: tuple[str, ...]  #: [n] Of the split.
    names: tuple[str, ...]  #: [P] Of all.
    losses: list[list[float]]  #: [n, P] By partner, and whose best response plays with it.

    def figures(self) -> tuple[float, float]:
        """Returns the mean loss over pairs of the split, and the least with any other partner."""
        losses, own = np.array(self.losses), [self.names.index(name) for name in self.partners]
        others = losses.copy()
        others[np.arange(len(own)), own] = np.inf
        inside = losses[:, own][~np.eye(len(own), dtype=bool)]
        return float(inside.mean()), float(others.min())


@dataclass(frozen=True)
class Game:
    """What was measured in one game."""

    diversity: Diversity
    found: dict[str, Any]  #: The figures of all agents with the test players.
    prices: dict[str, tuple[float, float, float, float]]
    """What Bayes-optimal players lose who know a part of the type, by what they know: their regret
    with each pair of ``OPPONENT_TEAMS``, the mean over partners."""


@dataclass(frozen=True)
class Result:
    """What the study found."""

    games: dict[str, Game]


def players(_: Result) -> tuple[str, ...]:
    """Returns the agents that are entered."""
    return AGENTS


def run(options: Options) -> Result:
    """Measures the games that are not yet measured."""
    games = GAMES[:1] if options.quick else GAMES
    return Result(options.pieces("teamwork", Game, {}, {game: game for game in games}, measure))


def measure(game: str) -> Game:
    """Measures the diversity of a game's partners, and then all agents with the test players."""
    rules, _, message = game.partition("-")
    test = Benchmark.load(rules, "test", message=bool(message))
    test_players = test.players
    diverse = diversity(test.tree, test_players)
    splits = ("validation",) if rules == "mini_4" else ("train", "validation")  # it is large
    seen = [
        name
        for name, split in zip(test_players.names, test_players.splits, strict=True)
        if split in splits
    ]
    players = [name for name in seen if name not in AGENTS]
    measured = exact_report.to_json(test.measure([*AGENTS, *players]))
    return Game(diverse, measured, prices(test.tree, test_players))


def prices(tree: Tree, players: Players) -> dict[str, tuple[float, float, float, float]]:
    """Returns the regret of Bayes-optimal players who know a part of the type: see ``Game``."""
    partners = players.of("test")
    types = [players.types(tree, partner) for partner in partners]
    partner, opponents = np.indices((len(partners), len(OPPONENT_TEAMS)))
    # A player that knows a part of the type plays best against a shorter list of types: those with
    # the same number here.
    lists = {
        "the list of types": np.zeros_like(partner),
        "whether the opponents are equilibria or listeners": opponents // 2,
        "which of the four pairs of opponents it meets": opponents,
        "the partner": partner,
    }
    by_knowledge = {}
    for knowledge, list_of in lists.items():
        regret = players.best[partners]
        for index in np.unique(list_of):
            members = np.argwhere(list_of == index).tolist()
            _, policy = bayes_optimal(tree, [types[row][column] for row, column in members])
            for row, column in members:
                regret[row, column] -= points_with(tree, policy, types[row][column])
        by_knowledge[knowledge] = tuple(regret.mean(axis=0).tolist())
    return by_knowledge


def diversity(tree: Tree, players: Players, split: Split = "test") -> Diversity:
    """Lets the best response to each partner play with each partner of a split."""
    types = [players.types(tree, n) for n in range(len(players.names))]
    responses = [bayes_optimal(tree, four) for four in types]
    rows = players.of(split)
    losses = [
        [
            responses[row][0]
            - float(np.mean([points_with(tree, second, kind) for kind in types[row]]))
            for _, second in responses
        ]
        for row in rows
    ]
    return Diversity(tuple(players.names[row] for row in rows), players.names, losses)


def kind(row: dict[str, Any], names: frozenset[str]) -> str:
    """Returns what an agent is: an agent of the project, a player of the game, or a control."""
    if not row["agent"]:
        return "controls"
    return "players of other splits" if row["name"] in names else "agents"


def net_of_strength(rows: list[dict[str, Any]]) -> dict[str, float]:
    """Returns by how much the regret of each agent differs from a line fitted over strength."""
    strength = np.array([row["strength"] for row in rows])
    regret = np.array([np.mean(row["regret"]) for row in rows])
    fitted = np.polyval(np.polyfit(strength, regret, 1), strength)
    return dict(zip((row["name"] for row in rows), (regret - fitted).tolist(), strict=True))


def report(result: Result) -> str:
    """Returns the tables of the page, in Markdown."""
    parts = []
    for game, measured in result.games.items():
        parts += [f"### {game}", _diversity(measured), _agents(measured), _correlations(measured)]
    return "\n\n".join(parts)


def _diversity(game: Game) -> str:
    mean, least = game.diversity.figures()
    enough = mean >= MEAN_LOSS and least >= LEAST_LOSS
    return (
        f"With the test partners best responses to another of them lose {mean:.2f} on average, and "
        f"{least:.2f} at least with the nearest of all others: the partners are "
        f"{'diverse' if enough else 'not diverse'}."
    )


def _agents(game: Game) -> str:
    rows = []
    for row in game.found["agents"]:
        regret = np.array(row["regret"])
        by_opponents = regret[:, :2].mean(), regret[:, 2:].mean()  # equilibria, listeners
        figures = (regret.mean(), *by_opponents, row["avoidable_regret"])
        train = (np.mean(row["train_regret"]), row["train_avoidable_regret"])
        name = f"`{row['name']}`" if row["agent"] else row["name"]
        signed = (f"{np.mean(row['points']):+.2f}", f"{row['strength']:+.2f}")
        cells = (f"{figure:.2f}" for figure in (*figures, *train))
        rows.append([name, signed[0], *cells, signed[1]])
    heads = ["agent", "points", "regret", "with equilibria", "with listeners", "avoidable regret"]
    price = game.found["agents"][0]
    caption = f"The price of not knowing is {price['price']:.2f}, train split "
    caption += f"{price['train_price']:.2f}. The price for a player who knows more, by opponents:"
    agents = table([*heads, "train: regret", "train: avoidable regret", "strength"], rows)
    return f"{agents}\n\n{caption}\n\n{_prices(game)}"


def _prices(game: Game) -> str:
    rows = [
        [name, *(f"{figure:.2f}" for figure in (*four, np.mean(four)))]
        for name, four in game.prices.items()
    ]
    return table(["the player knows", *OPPONENT_TEAMS, "mean"], rows)


def _correlations(game: Game) -> str:
    rows, first = game.found["agents"], game.found["agents"][0]
    named = {"with the controls": rows, "without": [row for row in rows if row["agent"]]}
    ranks = [f"{name} {_short(ranking(values))}" for name, values in named.items()]
    net = net_of_strength(named["without"])
    nets = [f"`{name}` {net[name]:+.2f}" for name in sorted(net, key=lambda name: net[name])]
    best = np.add(first["points"], first["regret"])
    return (
        f"Rank correlation of low regret with strength, and its 95 % interval over agents: "
        f"{', '.join(ranks)}. Net of strength the least regret have {', '.join(nets[:3])}; the "
        f"most {', '.join(nets[-3:])}. Best responses "
        f"make {best[:, :2].mean():+.2f} against equilibria and {best[:, 2:].mean():+.2f} against "
        "listeners."
    )


def ranking(rows: list[dict[str, Any]]) -> Interval:
    """Returns the rank correlation of low regret with strength over some agents."""
    return rank_correlation(
        [-np.mean(row["regret"]) for row in rows], [row["strength"] for row in rows]
    )


def _short(interval: Interval) -> str:
    ends = (f"{end:.2f}" for end in (interval.low, interval.high))
    return f"{interval.mean:.2f} [{', '.join(ends)}]"


def figure(result: Result, colors: Colors) -> bytes:
    """Draws regret over strength, and the price of not knowing, one panel a game, as SVG."""
    kinds = ("agents", "players of other splits", "controls")
    panels: dict[str, dict[str, list[tuple[float, float]]]] = {
        game: {kind: [] for kind in kinds} for game in result.games
    }
    for game, measured in result.games.items():
        names = frozenset(measured.diversity.names)
        for row in measured.found["agents"]:
            place = (row["strength"], float(np.mean(row["regret"])))
            panels[game][kind(row, names)].append(place)
    price = {game: measured.found["agents"][0]["price"] for game, measured in result.games.items()}
    return scatter(panels, price, "strength, points a round", "regret, points a round", colors)


if __name__ == "__main__":
    study.main("teamwork")
