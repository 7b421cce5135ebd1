"""Solves a small game by predictive counterfactual regret minimisation (PCFR+).

Each player has a learner of its own (Farina, Kroer and Sandholm 2021). Players are updated in turn,
and the solution is the average of all policies, of which late ones count most. Where a team sees
its own tiles it is one player, so the game is one of two players and the average comes near an
equilibrium. Else a team is two players, for whom no such theorem holds; what the average is worth
is measured: ``goita_lab.exact.values.gains``.
"""

from __future__ import annotations

from typing import Final

import numpy as np

from goita_agents.base import Float
from goita_lab.exact.tree import Tree
from goita_lab.exact.values import sign, worths

WEIGHT: Final = 6
"""Power of its number that a policy has as weight in the average. Teams drift from one equilibrium
to another as they learn, so old policies must count little: after 500 rounds a seat of ``mini_4``
gains 0.028 points with 2, and 0.017 with 6."""


class Learner:
    """The learners of all players of a small game.

    Args:
        tree: the game.
        regret: float64 [A] the first regrets, which lead to another end; None: there are none, and
            the first policy is uniform.

    Attributes:
        rounds: how often each player has been updated.
        policy: float64 [A] the present policy.
    """

    def __init__(self, tree: Tree, regret: Float | None = None) -> None:
        self.tree, self.rounds, self.policy = tree, 0, tree.uniform()
        self._regret, self._sum = np.zeros(len(tree.action)), np.zeros(len(tree.action))
        self._of = {
            player: np.flatnonzero(tree.player[tree.owner] == player)
            for player in sorted(set(tree.players))
        }
        if regret is not None:
            self._regret, self.policy = regret, normalised(tree, regret)

    def learn(self) -> None:
        """Updates each player once."""
        tree, self.rounds = self.tree, self.rounds + 1
        for player, own in self._of.items():
            worth = sign(player) * worths(tree, self.policy, player)
            new = (worth - totals(tree, worth * self.policy)[tree.owner])[own]
            regret = np.maximum(self._regret[own] + new, 0)
            self._regret[own] = regret
            predicted = np.zeros(len(tree.action))
            predicted[own] = np.maximum(regret + new, 0)
            self.policy[own] = normalised(tree, predicted)[own]
        self._remember()

    def average(self) -> Float:
        """Returns the solution so far: float64 [A]."""
        return normalised(self.tree, self._sum)

    def state(self) -> dict[str, Float]:
        """Returns all that the learners have learnt, by name; ``restore`` takes it."""
        return {
            "rounds": np.array(float(self.rounds)),
            "policy": self.policy,
            "regret": self._regret,
            "sum": self._sum,
        }

    def restore(self, state: dict[str, Float]) -> None:
        """Goes on where ``state`` was taken."""
        self.rounds, self.policy = int(state["rounds"]), state["policy"].copy()
        self._regret, self._sum = state["regret"].copy(), state["sum"].copy()

    def _remember(self) -> None:
        """Adds the present policy to the average."""
        share = self.rounds**WEIGHT * self._own_reach()
        self._sum += share[self.tree.owner] * self.policy

    def _own_reach(self) -> Float:
        """[I] How likely each player's own actions lead to its information sets."""
        tree, found = self.tree, np.ones(len(self.tree.seat))
        for start, end in zip(tree.sets[:-1], tree.sets[1:], strict=True):
            before = tree.before[start:end]
            reach = self.policy[before] * found[tree.owner[before]]
            found[start:end] = np.where(before >= 0, reach, 1.0)
        return found


def totals(tree: Tree, values: Float) -> Float:
    """Returns the sum over the actions of each information set: float64 [I]."""
    return np.add.reduceat(values, tree.starts[:-1])


def normalised(tree: Tree, weights: Float) -> Float:
    """Returns weights as probabilities, uniform where all are 0: float64 [A]."""
    total = totals(tree, weights)[tree.owner]
    return np.where(total > 0, weights / np.where(total > 0, total, 1), tree.uniform())
