"""Measures what not knowing a partner costs, in small games, exactly: teamwork.md."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any, Final

import numpy as np

from goita_lab.exact.entries import Measure
from goita_lab.exact.teamwork import Players, Split, Table
from goita_lab.exact.tree import Tree, enumerate_game
from research.studies.study import Options

GAMES: Final = ("mini_3", "mini_4")
AGENTS: Final = ("champion", "heuristic", "greedy", "people", "random")
MEAN_LOSS: Final = 1.0
LEAST_LOSS: Final = 0.1
"""Points from which partners count as diverse: the loss of another one's best response, on average
and with the nearest other partner."""


@dataclass(frozen=True)
class Diversity:
    """What best responses to other partners lose with each partner of a game, in points."""

    names: tuple[str, ...]  #: [P]
    losses: list[list[float]]  #: [P, P] By partner, and whose best response plays with it.

    def of(self, names: tuple[str, ...]) -> tuple[float, float]:
        """Returns the mean loss over pairs of some partners, and the smallest."""
        rows = [self.names.index(name) for name in names]
        losses = np.array(self.losses)[np.ix_(rows, rows)]
        others = losses[~np.eye(len(rows), dtype=bool)]
        return float(others.mean()), float(others.min())


@dataclass(frozen=True)
class Game:
    """What was measured in one game."""

    diversity: Diversity
    found: dict[str, Any]  #: The figures of all agents with the test players.


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
    found = options.pieces("teamwork", Game, {}, {game: game for game in games}, measure)
    options.kept("teamwork").unlink(missing_ok=True)
    return Result(found)


def measure(game: str) -> Game:
    """Measures the diversity of a game's partners, and then all agents with the test players."""
    tree = enumerate_game(game)
    known = Players.load(tree)
    diverse = diversity(tree, known)
    seen = [name for name, split in zip(known.names, known.splits, strict=True) if split != "test"]
    others = [name for name in seen if name not in AGENTS]
    found = Measure(game, "test").measure([*AGENTS, *others])
    return Game(diverse, found.to_json())


def diversity(tree: Tree, known: Players, splits: tuple[Split, ...] | None = None) -> Diversity:
    """Lets the best response to each partner play with each other one; default: of all splits."""
    numbers = [n for n, one in enumerate(known.splits) if splits is None or one in splits]
    place, types = Table(tree), {n: known.types(tree, n) for n in numbers}
    responses = {n: place.best(types[n]) for n in numbers}
    losses = [
        [
            responses[n][0] - float(np.mean([place.points(other, kind) for kind in types[n]]))
            for _, other in responses.values()
        ]
        for n in numbers
    ]
    return Diversity(tuple(known.names[n] for n in numbers), losses)
