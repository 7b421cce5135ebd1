"""Saves arrays of small games, above all their solutions, and plays the solutions."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import asdict
from math import inf
from pathlib import Path
from typing import Any, Final

import numpy as np

from goita_agents.base import AgentError, Bool, Float, Int, sample
from goita_env import View
from goita_env.actions import NUM_ACTIONS
from goita_env.agent import SUM_TOLERANCE
from goita_env.errors import SettingError
from goita_env.rules import Rules
from goita_lab import store
from goita_lab.exact.tree import Tree, spread
from goita_lab.exact.values import Learner, check_policy
from goita_lab.store import Arrays, Column

FORMAT: Final = "goita-solution-1"

GAME: Final = {
    "digests": Column("u", ("I",), 0, inf),
    "starts": Column("i", ("I + 1",), 0),
    "action": Column("i", ("A",), 0, NUM_ACTIONS - 1),
}
POLICY_COLUMNS: Final = {"average": Column("f", ("A",), 0, 1)}
LEARNED: Final = {
    "rounds": Column("f", (), 0),
    "policy": Column("f", ("A",), 0, 1),
    "regret": Column("f", ("A",), 0),
    "sum": Column("f", ("A",), 0, 1e40),
}
"""The arrays of a solution are those of its game, the average policy, and the learners' state."""


def write(path: Path, kind: str, tree: Tree, arrays: Arrays) -> None:
    """Writes arrays of a game, the whole file or nothing; ``kind`` names the format."""
    store.write(path, _about(kind, tree), arrays)


def read(
    path: Path, kind: str, columns: Mapping[str, Column], tree: Tree | None = None
) -> tuple[dict[str, Any], Arrays]:
    """Returns the metadata of a file and its arrays.

    Args:
        path: the file, which may come from somebody else.
        kind: the format that ``write`` got.
        columns: the arrays to read; I and A are the sets and the actions of the game.
        tree: the game; None: any game.
    """
    if tree is None:
        return store.read(path, {"format": kind}, columns)
    sizes = {"I": len(tree.seat), "I + 1": len(tree.starts), "A": len(tree.action)}
    return store.read(path, _about(kind, tree), columns, sizes)


def _about(kind: str, tree: Tree) -> dict[str, Any]:
    channel = {"channel": asdict(tree.channel)} if tree.channel else {}
    return {"format": kind, "eyes": list(tree.eyes), **channel, **tree.rules.to_keys()}


def save(learner: Learner, path: Path) -> None:
    """Writes the state of a game's learners, and their average policy."""
    tree = learner.tree
    arrays: Arrays = {
        "digests": tree.view().digest(),
        "starts": tree.starts,
        "action": tree.action,
        "average": learner.average(),
    }
    write(path, FORMAT, tree, arrays | learner.state())


def restore(tree: Tree, path: Path) -> Learner:
    """Reads the learners of a game."""
    learner = Learner(tree)
    _, arrays = read(path, FORMAT, GAME | LEARNED, tree)
    try:
        if any((arrays[name] != getattr(tree, name)).any() for name in ("starts", "action")):
            raise SettingError(f"expected the game {tree.rules.name!r}, got another")
        check_policy(tree, arrays["policy"])
    except SettingError as error:
        raise SettingError(f"{path}: {error}") from error
    learner.restore(arrays)
    return learner


class SolvedAgent:
    """An agent that plays the average policy of a solution, in no other game than its own.

    Args:
        path: the file.

    Raises:
        AgentError: if the file holds no solution, or its seats know more than the rules reveal.
    """

    def __init__(self, path: str) -> None:
        self.name = "solved"
        try:
            about, arrays = read(Path(path), FORMAT, GAME | POLICY_COLUMNS)
            self.rules = Rules.from_keys(about)
            starts = arrays["starts"].astype(np.int64)
            lengths, sets = np.diff(starts), len(arrays["digests"])
            if len(lengths) != sets or (lengths < 1).any() or starts[-1] != len(arrays["action"]):
                raise SettingError(f"expected sets of one action or more in {path!r}, got others")
            deviation = abs(np.add.reduceat(arrays["average"], starts[:-1]) - 1).max()
            if deviation > SUM_TOLERANCE:
                raise SettingError(
                    f"expected sums of 1 in {path!r}, got one that is {deviation} off"
                )
        except SettingError as error:
            raise AgentError(str(error)) from error
        if (eyes := about.get("eyes")) != ["own", "own"] or about.get("channel"):
            message = " and a message" if about.get("channel") else ""
            raise AgentError(f"expected a solution with eyes own, got {eyes}{message} in {path!r}")
        self._order = arrays["digests"].argsort()
        self._digests = arrays["digests"][self._order]
        self._starts, self._action = starts, arrays["action"].astype(np.int64)
        self._average = arrays["average"]

    def act(self, view: View, legal: Bool, rng: np.random.Generator) -> Int:
        return sample(self.probabilities(view, legal), rng)

    def probabilities(self, view: View, legal: Bool) -> Float:
        """Returns the solution's probabilities: float64 [N, 69].

        Where ``legal`` allows less than the rules, the probabilities are divided by their sum over
        ``legal``; if the solution plays none of these actions, they are equally likely.
        """
        digests = view.digest()
        index = np.searchsorted(self._digests, digests).clip(max=len(self._digests) - 1)
        if view.rules != self.rules or (self._digests[index] != digests).any():
            raise AgentError(f"expected views of the small game {self.rules.name!r}, got others")
        sets = self._order[index]  # the file's order is not that of the sorted digests
        width = (self._starts[sets + 1] - self._starts[sets]).astype(np.int64)
        # For each action of each view: the view's row, and the index of the action in the file.
        row, offset = spread(width)
        entry = self._starts[sets][row] + offset
        probabilities = np.zeros(legal.shape)
        probabilities[row, self._action[entry]] = self._average[entry]
        # Views in which the solution plays an action outside ``legal``.
        outside = (probabilities * ~legal).any(axis=1)
        if outside.any():
            weights = probabilities[outside] * legal[outside]
            weights = np.where(weights.any(axis=1, keepdims=True), weights, legal[outside])
            probabilities[outside] = weights / weights.sum(axis=1, keepdims=True)
        return probabilities
