"""Approaches the value for teams of a small game: what a team can guarantee by a secret draw.

::

    python research/exact/correlated.py mini_3 --rounds 180 -o plans.npz

Partners may draw a pair of plans together before the round, and then do not talk. The most that the
dealer's team can guarantee in this way is the team-maxmin value with correlation. Both teams'
mixtures grow by column generation (Farina, Celli, Gatti and Sandholm 2018): a linear program mixes
the plans that are known, and each team adds those that its partners, who respond to each other in
turn, find against the other team's mixture.
"""

from __future__ import annotations

import sys
from collections.abc import Sequence
from dataclasses import asdict, dataclass, field
from math import inf
from pathlib import Path
from typing import Final

import numpy as np
import numpy.typing as npt
from scipy.optimize import linprog

from goita_agents.base import Float, Int
from goita_agents.files import write_whole
from goita_env.errors import GoitaError, SettingError
from goita_env.rules import Rules
from goita_lab import cli, provenance
from goita_lab.exact.agent import read, write
from goita_lab.exact.team import PROVEN_GAP, Program, alternating
from goita_lab.exact.tree import Tree, enumerate_game
from goita_lab.exact.values import reached, sign
from goita_lab.store import MOST_POINTS, Arrays, Column

Plans = npt.NDArray[np.uint8]

FORMAT: Final = "goita-plans-1"
STARTS: Final = 6
"""Random plans from which partners look for better ones, a round."""
SAVE_EVERY: Final = 25
"""Rounds between two savings of the plans."""


@dataclass(frozen=True)
class Args:
    """Options of the command line."""

    rules: Rules = field(metadata=cli.POSITIONAL)
    """small game: mini_3, mini_4, mini_5, or a JSON file of your own"""
    rounds: int = 180
    """rounds of column generation, at most"""
    target: float = 0.01
    """points between the bounds at which the search ends"""
    output: Path | None = field(default=None, metadata=cli.short("-o"))
    """file for the plans (.npz); the same command resumes from it"""
    json: Path | None = None

    def __post_init__(self) -> None:
        if not self.rules.is_small:
            raise SettingError(f"expected a small game, such as mini_3, got {self.rules.name!r}")
        if self.rounds < 1:
            raise SettingError(f"expected a round or more, got {self.rounds!r}")
        if not 0 <= self.target < inf:
            raise SettingError(f"expected a target of 0 or more points, got {self.target!r}")
        cli.check_outputs(self.output, self.json)


def main(argv: Sequence[str] | None = None) -> int:
    """Looks for the value, prints its bounds and returns the exit code."""
    args = cli.parse(Args, argv, __doc__)
    try:
        value = approach(enumerate_game(args.rules), args)
    except KeyboardInterrupt:
        more = "the same command goes on" if args.output else "without -o all is lost"
        sys.stderr.write(f"\nstopped; {more}\n")
        return 130
    except (GoitaError, OSError) as error:
        cli.fail(error)
    if args.json:
        command = cli.command("python research/exact/correlated.py", argv)
        figures = {"command": command, "rules": args.rules.to_keys(), **asdict(value)}
        write_whole(args.json, provenance.to_json(figures, ()))
    proven = "{:+.3f} to {:+.3f}, proven".format(*value.proven)
    estimated = "{:+.3f} to {:+.3f}".format(*value.estimated)
    plans = "{} and {} plans".format(*value.plans)
    print(f"value for teams {proven}; {estimated} if no response was missed; {plans}")
    return 0


@dataclass(frozen=True)
class TeamValue:
    """What is known of the value for teams, in points for the dealer's team."""

    rounds: int  #: Of column generation, in this run.
    mixed: float  #: What the mixtures of both teams make against each other.
    estimated: tuple[float, float]  #: Bounds, if no better response was missed.
    proven: tuple[float, float]  #: Bounds by linear programs.
    plans: tuple[int, int]  #: Plans of the dealer's team and of the other.


def approach(tree: Tree, args: Args) -> TeamValue:
    """Adds plans until the bounds are close, and reports each round on standard error."""
    path, rounds = args.output, 0
    mixtures = Mixtures.restore(tree, path) if path and path.exists() else Mixtures(tree)
    ended = False
    while not ended:
        mixtures.improve()
        rounds += 1
        least, most = mixtures.bounds
        bounds = f"from {least:.3f} to {most:.3f} if no response was missed"
        sys.stderr.write(f"round {rounds}: {mixtures.value:.3f}, {bounds}\n")
        ended = mixtures.complete or most - least <= args.target or rounds == args.rounds
        if path and (ended or rounds % SAVE_EVERY == 0):
            mixtures.save(path)
    dealer, other = mixtures.plans
    plans = len(dealer), len(other)
    return TeamValue(rounds, mixtures.value, (least, most), mixtures.prove(), plans)


class Mixtures:
    """Mixtures of pairs of plans, a team each, as good as the known plans allow.

    Args:
        tree: the game, in which partners see their own tiles alone.
        plans: plans of each team to begin with, [n, actions of its seats], 1 for the actions that
            are taken; None: each team's best response to random play.
        points: what each pair of these plans makes; computed if it is None.

    Attributes:
        plans: all plans of each team so far.
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
        """Reads the plans that ``save`` wrote; raises a SettingError if of another game."""
        columns = {
            "dealer": Column("u", ("D", (tree.seat[tree.owner] % 2 == 0).sum()), 0, 1),
            "other": Column("u", ("O", (tree.seat[tree.owner] % 2 == 1).sum()), 0, 1),
            "points": Column("f", ("D", "O"), -MOST_POINTS, MOST_POINTS),
        }
        _, arrays = read(path, FORMAT, columns, tree)
        return cls(tree, [arrays["dealer"], arrays["other"]], arrays["points"])

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
            new.append(np.unique(plans[gains > PROVEN_GAP], axis=0))
        self.complete = not any(map(len, new))
        self._add(new)

    def prove(self) -> tuple[float, float]:
        """Returns the least and the most that the value can be, by linear programs."""
        programs = [Program(self.tree, self._hardest[team], team) for team in range(2)]
        most, least = (-sign(team) * program.relaxed().fun for team, program in enumerate(programs))
        return least, most

    def reach(self, team: int) -> Float:
        """Returns how likely chance and a team's mixture reach each history: [N]."""
        reach = np.zeros(len(self.tree.info))
        for plan in np.flatnonzero(self._weights[team]):
            reach += self._weights[team][plan] * self._reached(team, self.plans[team][plan])
        return reach

    def _reached(self, team: int, plan: Plans) -> Float:
        policy = np.zeros(len(self.tree.action))
        policy[self._own[team]] = plan
        return reached(self.tree, policy, 1 - team, whole_team=True)

    def _respond(self, team: int, others: Float) -> tuple[Float, Plans]:
        """Returns points for the dealer's team and plans, the best first."""
        policy = self.tree.uniform()
        plans = self.plans[team]
        if len(plans):
            policy[self._own[team]] = plans[self._weights[team].argmax()]
        responses = alternating(self.tree, policy, team, others, STARTS, seed=len(plans))
        points, policies = zip(*responses, strict=True)
        return np.array(points), np.array(policies)[:, self._own[team]].astype(np.uint8)

    def _add(self, new: Sequence[Plans], points: Float | None = None) -> None:
        """Adds plans of each team and mixes all anew; ``points``: of all pairs, or None."""
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
        # Variables: the weight of each plan of the dealer's team, and the value, which no plan of
        # the other team may push lower. The other team's weights are the dual variables.
        dealers, others = self._points.shape
        solution = linprog(
            [*[0.0] * dealers, -1.0],
            A_ub=np.column_stack((-self._points.T, np.ones(others))),
            b_ub=np.zeros(others),
            A_eq=[[*[1.0] * dealers, 0.0]],
            b_eq=[1.0],
            bounds=[*[(0, None)] * dealers, (None, None)],
            method="highs",
        )
        self.value = float(solution.x[-1])
        weights = (
            np.where(shares > 1e-9, shares, 0)
            for shares in (solution.x[:-1], -solution.ineqlin.marginals)
        )
        self._weights = [shares / shares.sum() for shares in weights]


if __name__ == "__main__":
    cli.run(main)
