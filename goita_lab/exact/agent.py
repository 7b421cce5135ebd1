"""Saves solutions of small games, and plays them."""

from __future__ import annotations

from pathlib import Path
from typing import Final

import numpy as np

from goita_agents.base import AgentError, Bool, Float, Int, sample
from goita_env import View, actions
from goita_env.errors import SettingError
from goita_env.rules import Rules
from goita_lab.exact.files import Arrays, read, write
from goita_lab.exact.solving import Learner
from goita_lab.exact.tree import Tree, spread

FORMAT: Final = "goita-solution-1"

_PLAYED: Final = {
    "digests": ("u", (None,)),
    "starts": ("iu", (None,)),
    "action": ("iu", (None,)),
    "average": ("f", (None,)),
}
"""What is played of a file."""


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
    """Reads the learners of a game.

    Raises:
        SettingError: if the file is of another game, or none that ``save`` wrote.
    """
    learner = Learner(tree)
    wanted = {name: ("f", one.shape) for name, one in learner.state().items()}
    _, found = read(path, FORMAT, wanted, tree)
    learner.restore(found)
    return learner


def _check(found: Arrays, path: str) -> None:
    """Raises a SettingError if the actions of the information sets are not those of a solution."""
    sets, starts, action = len(found["digests"]), found["starts"].astype(np.int64), found["action"]
    fits = sets > 0 and len(starts) == sets + 1 and len(action) == len(found["average"])
    if not (
        fits
        and starts[0] == 0
        and starts[-1] == len(action)
        and (np.diff(starts) > 0).all()
        and ((action >= 0) & (action < actions.NUM_ACTIONS)).all()
        and ((found["average"] >= 0) & (found["average"] <= 1)).all()
    ):
        raise SettingError(f"expected actions with probabilities in {path!r}, got others")


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
            _check(found, path)
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

        Raises:
            AgentError: if a view is of another game.
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
