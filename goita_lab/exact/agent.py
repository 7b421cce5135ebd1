"""Saves arrays of small games, their solutions above all, and plays these."""

from __future__ import annotations

from collections.abc import Iterable
from dataclasses import asdict
from pathlib import Path
from typing import Any, Final

import numpy as np

from goita_agents.base import AgentError, Bool, Float, Int, sample
from goita_env import View
from goita_env.errors import SettingError
from goita_env.rules import Rules
from goita_lab import store
from goita_lab.exact.tree import Tree, spread
from goita_lab.exact.values import Learner
from goita_lab.store import Arrays

FORMAT: Final = "goita-solution-1"

_PLAYED: Final = ("digests", "starts", "action", "average")
"""What is played of a file."""


def write(path: Path, kind: str, tree: Tree, arrays: Arrays) -> None:
    """Writes arrays of a game whole or not at all; ``kind`` names what they are."""
    store.write(path, _about(kind, tree), arrays)


def read(
    path: Path, kind: str, names: Iterable[str], tree: Tree | None = None
) -> tuple[dict[str, Any], Arrays]:
    """Returns what a file says of its game, and its arrays.

    Args:
        path: the file, which may come from somebody else.
        kind: as ``write`` takes it.
        names: of the arrays that are read.
        tree: the game; None: any.
    """
    game = {"format": kind} if tree is None else _about(kind, tree)
    return store.read(path, game, names)


def _about(kind: str, tree: Tree) -> dict[str, Any]:
    channel = {"channel": asdict(tree.channel)} if tree.channel else {}
    return {"format": kind, "eyes": list(tree.eyes), **channel, **tree.rules.to_keys()}


def save(learner: Learner, path: Path) -> None:
    """Writes all that the learners of a game have learnt."""
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
    learner.restore(read(path, FORMAT, learner.state(), tree)[1])
    return learner


class SolvedAgent:
    """An agent that plays the average policy of a solution; it plays its small game alone.

    Args:
        path: the file.

    Raises:
        AgentError: if the file holds no solution in which seats see their own tiles alone.
    """

    def __init__(self, path: str) -> None:
        self.name = "solved"
        try:
            about, found = read(Path(path), FORMAT, _PLAYED)
            self.rules = Rules.from_keys(about)
        except SettingError as error:
            raise AgentError(str(error)) from error
        if (eyes := about.get("eyes")) != ["own", "own"]:
            raise AgentError(f"expected a solution with eyes own, got {eyes} in {path!r}")
        self._order = found["digests"].argsort()
        self._digests = found["digests"][self._order]
        self._starts, self._action = found["starts"], found["action"].astype(np.int64)
        self._average = found["average"]

    def act(self, view: View, legal: Bool, rng: np.random.Generator) -> Int:
        return sample(self.probabilities(view, legal), rng)

    def probabilities(self, view: View, legal: Bool) -> Float:
        """Returns the solution's probabilities: float64 [N, 69].

        Where ``legal`` is narrower than the rules they are those of its actions, all alike if the
        solution plays none of them.
        """
        digests = view.digest()
        place = np.searchsorted(self._digests, digests).clip(max=len(self._digests) - 1)
        if view.rules != self.rules or (self._digests[place] != digests).any():
            raise AgentError(f"expected views of the small game {self.rules.name!r}, got others")
        sets = self._order[place]
        many = (self._starts[sets + 1] - self._starts[sets]).astype(np.int64)
        row, place = spread(many)
        at = self._starts[sets][row] + place
        found = np.zeros(legal.shape)
        found[row, self._action[at]] = self._average[at]
        outside = (found * ~legal).any(axis=1)
        if outside.any():
            kept = found[outside] * legal[outside]
            kept = np.where(kept.any(axis=1, keepdims=True), kept, legal[outside])
            found[outside] = kept / kept.sum(axis=1, keepdims=True)
        return found
