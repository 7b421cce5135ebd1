"""The team-maxmin value with correlation: what a team can make sure of by a secret draw of plans.

Partners may draw a pair of plans together before the round, and then do not talk. Both teams'
mixtures grow by column generation (Farina, Celli, Gatti and Sandholm 2018): a linear program mixes
the plans that are known, and each team adds those that its partners, who respond to each other in
turn, find against the other team's mixture.
"""

from __future__ import annotations

from collections.abc import Sequence
from pathlib import Path
from typing import Final

import numpy as np
import numpy.typing as npt
from scipy.optimize import linprog

from goita_agents.base import Float, Int
from goita_lab.exact.agent import read, write
from goita_lab.exact.team import CLOSE, Program, alternating
from goita_lab.exact.tree import Tree
from goita_lab.exact.values import reached, sign
from goita_lab.store import Arrays

Plans = npt.NDArray[np.uint8]

FORMAT: Final = "goita-plans-1"
STARTS: Final = 6
"""Random plans from which partners look for better ones, a round."""


class Mixtures:
    """Mixtures of pairs of plans, a team each, as good as the known plans allow.

    Args:
        tree: the game, in which partners see their own tiles alone.
        plans: known ones of each team, [n, actions of its seats], 1 for those that are taken; None:
            what was found against random play.
        points: what each pair of them makes; computed where it is not given.

    Attributes:
        plans: those that are known now.
        value: points for the dealer's team that the mixtures make against each other.
        bounds: the least and the most that the value can be, if no better response was missed.
        complete: no better plan was found in the last round.
    """

    def __init__(
        self, tree: Tree, plans: Sequence[Plans] | None = None, points: Float | None = None
    ) -> None:
        self.tree, self.value, self.complete = tree, 0.0, False
        self.bounds = [-np.inf, np.inf]
        self._ends = np.flatnonzero(tree.info < 0)
        everywhere = np.ones(len(tree.action))
        self._paid = (reached(tree, everywhere, 0) * tree.points)[self._ends]
        side = tree.seat[tree.owner] % 2
        self._own = [np.flatnonzero(side == team) for team in range(2)]
        self._goes: list[list[Int]] = [[], []]  # Ends that a team's plan does not prevent.
        self._points = np.zeros((0, 0))  # By plan of each team.
        self._hardest: list[Float] = [np.zeros(0)] * 2  # Reach of mixtures that set the bounds.
        self.plans = [np.zeros((0, len(own)), np.uint8) for own in self._own]
        if plans is None:
            random = [reached(tree, tree.uniform(), team, whole_team=True) for team in range(2)]
            plans = [self._respond(team, random[team])[1][:1] for team in range(2)]
        self._add(plans, points)

    @classmethod
    def restore(cls, tree: Tree, path: Path) -> Mixtures:
        """Reads the plans that ``save`` wrote; raises a SettingError where they are others."""
        _, found = read(path, FORMAT, ("dealer", "other", "points"), tree)
        return cls(tree, [found["dealer"], found["other"]], found["points"])

    def save(self, path: Path) -> None:
        """Writes the plans, and the points of each pair."""
        dealer, other = self.plans
        arrays: Arrays = {"dealer": dealer, "other": other, "points": self._points}
        write(path, FORMAT, self.tree, arrays)

    def improve(self) -> None:
        """Adds plans of both teams and mixes anew."""
        new = []
        for team in range(2):
            others = self.reach(1 - team)
            points, plans = self._respond(team, others)
            if sign(team) * points[0] < sign(team) * self.bounds[1 - team]:
                self.bounds[1 - team], self._hardest[team] = points[0], others
            gains = sign(team) * (points - self.value)
            new.append(np.unique(plans[gains > CLOSE], axis=0))
        self.complete = not any(map(len, new))
        self._add(new)

    def prove(self) -> tuple[float, float]:
        """Returns the least and the most that the value can be, by linear programs."""
        programs = [Program(self.tree, self._hardest[team], team) for team in range(2)]
        most, least = (-sign(n) * one.relaxed().fun for n, one in enumerate(programs))
        return least, most

    def reach(self, team: int) -> Float:
        """Returns how likely chance and a team's mixture reach each history: [N]."""
        found = np.zeros(len(self.tree.info))
        for number in np.flatnonzero(self._weights[team]):
            found += self._weights[team][number] * self._reached(team, self.plans[team][number])
        return found

    def _reached(self, team: int, plan: Plans) -> Float:
        policy = np.zeros(len(self.tree.action))
        policy[self._own[team]] = plan
        return reached(self.tree, policy, 1 - team, whole_team=True)

    def _respond(self, team: int, others: Float) -> tuple[Float, Plans]:
        """Returns points for the dealer's team and plans, the best first."""
        policy = self.tree.uniform()
        if len(known := self.plans[team]):
            policy[self._own[team]] = known[self._weights[team].argmax()]
        found = alternating(self.tree, policy, team, others, STARTS, seed=len(known))
        points, policies = zip(*found, strict=True)
        return np.array(points), np.array(policies)[:, self._own[team]].astype(np.uint8)

    def _add(self, new: Sequence[Plans], points: Float | None = None) -> None:
        """Adds plans of each team and mixes all anew; ``points`` are known of all pairs, if any."""
        for team, plans in enumerate(new):
            for plan in plans:
                goes = np.flatnonzero(self._reached(team, plan)[self._ends])
                if points is None:
                    paid = np.zeros(len(self._ends))
                    paid[goes] = self._paid[goes]
                    row = np.array([paid[other].sum() for other in self._goes[1 - team]])
                    self._points = np.insert(self._points, len(self._goes[team]), row, axis=team)
                self._goes[team].append(goes)
            self.plans[team] = np.concatenate((self.plans[team], plans))
        if points is not None:
            self._points = points.reshape([len(plans) for plans in self.plans])
        many, other = self._points.shape
        found = linprog(
            [*[0.0] * many, -1.0],
            A_ub=np.column_stack((-self._points.T, np.ones(other))),
            b_ub=np.zeros(other),
            A_eq=[[*[1.0] * many, 0.0]],
            b_eq=[1.0],
            bounds=[*[(0, None)] * many, (None, None)],
            method="highs",
        )
        self.value = float(found.x[-1])
        shares = found.x[:-1], -found.ineqlin.marginals
        self._weights = [np.where(one > 1e-9, one, 0) / one[one > 1e-9].sum() for one in shares]
