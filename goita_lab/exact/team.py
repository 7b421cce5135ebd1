"""The best response of a team whose partners agree before the round and then do not communicate.

Finding it is hard in general (Celli and Gatti 2018). The plans of both partners are written in
sequence form, with a variable for each pair of their actions that can occur in the same round. The
linear relaxation (von Stengel and Forges 2008) bounds the value from above, partners that respond
to each other in turn bound it from below, and an integer program closes the gap if it is given the
time. Moves without a choice are left out.
"""

from __future__ import annotations

from dataclasses import dataclass
from functools import cached_property
from typing import Any, Final

import numpy as np

from goita_agents.base import Float, Int
from goita_env.errors import naming_extras
from goita_env.rules import Rules
from goita_env.tiles import NUM_SEATS
from goita_lab.exact.tree import Tree, enumerate_game, spread
from goita_lab.exact.values import best_response, gains, played, reached, respond, sign, value

with naming_extras():
    from scipy.optimize import Bounds, LinearConstraint, linprog, milp
    from scipy.sparse import csr_matrix

PROVEN_GAP: Final = 1e-6
"""A value is proven if the bound is above it by less than these points."""

RANDOM_STARTS: Final = 20
"""Random plans from which partners respond to each other in turn."""


@dataclass(frozen=True)
class TeamResponse:
    """The best plans found for a team against a policy; points are those of the dealer's team."""

    value: float  #: Points of these plans.
    bound: float  #: No plans are better than this.
    policy: Float  #: [A] The others' policy, with these plans at the team's seats.

    @property
    def proven(self) -> bool:
        """The plans are a best response."""
        return abs(self.bound - self.value) < PROVEN_GAP


def team_response(tree: Tree, policy: Float, team: int, seconds: float = 0.0) -> TeamResponse:
    """Returns the best plans found for a team, and a bound on the points of any plans.

    Args:
        tree: the game, in which partners see only their own tiles.
        policy: [A] of all seats; at the team's seats it is where ``alternating`` starts.
        team: 0 the dealer's, 1 the other.
        seconds: time limit of the integer program; 0: only the linear program is solved.
    """
    reach, team_sign = reached(tree, policy, team, whole_team=True), sign(team)
    points, plans = alternating(tree, policy, team, reach)[0]
    program = Program(tree, reach, team)
    # ``points`` are the dealer's team's; ``bound`` and the program's are those of ``team``.
    bound = -program.relaxed().fun
    if seconds > 0 and bound - team_sign * points > PROVEN_GAP:
        solution = program.integral(seconds, team_sign * points)
        if solution.mip_dual_bound is not None:  # None: time ran out before the first bound
            bound = min(bound, -solution.mip_dual_bound)
        if solution.x is not None and -solution.fun > team_sign * points + PROVEN_GAP:
            # The solution has the first partner's plan; the second partner responds to it.
            response = best_response(tree, program.plans(solution.x, policy), team + 2)
            points, plans = response.value, response.policy
    return TeamResponse(value=points, bound=team_sign * bound, policy=plans)


def alternating(
    tree: Tree, policy: Float, team: int, reach: Float, starts: int = RANDOM_STARTS, seed: int = 0
) -> list[tuple[float, Float]]:
    """Lets partners respond to each other in turn, from their policy and from random ones.

    Args:
        tree: the game.
        policy: [A] the first start.
        team: 0 the dealer's, 1 the other.
        reach: probability that chance and the other team reach each history: [N].
        starts: number of further starts, which are random policies.
        seed: of these policies.

    Returns:
        The end of each start, the best first: points for the dealer's team, and the policy.
    """
    rng, team_sign, ends = np.random.default_rng(seed), sign(team), []
    of_team = tree.seat[tree.owner] % 2 == team  # [A] actions of the team
    for start in range(1 + starts):
        plans, team_points = policy.copy(), -np.inf
        if start:
            # Random weights; their squares are further from uniform.
            plans[of_team] = (rng.exponential(size=len(of_team)) ** 2)[of_team]
            plans /= np.add.reduceat(plans, tree.starts[:-1])[tree.owner]
        while True:
            for seat, partner in ((team, team + 2), (team + 2, team)):
                # The reach of all others is that of chance and the other team, times the partner's.
                response = respond(tree, plans, seat, reach * played(tree, plans, partner))
                plans = response.policy
            if team_sign * response.value <= team_points + PROVEN_GAP:
                break
            team_points = team_sign * response.value
        ends.append((team_sign * team_points, plans))
    return sorted(ends, key=lambda end: -team_sign * end[0])


class Program:
    """A team's response as a linear program: a variable for each pair of actions that can meet.

    Actions or information sets of two partners *meet* if both can occur in the same round. The
    variable of a pair is the probability that the partners' plans allow both actions.

    Args:
        tree: the game.
        reach: probability that chance and the other team reach each history: [N].
        team: 0 the dealer's, 1 the other.
    """

    def __init__(self, tree: Tree, reach: Float, team: int) -> None:
        self._tree, self._width = tree, np.diff(tree.starts)
        self._base = len(tree.action) + 1
        """The key of a pair of actions (a, b), -1 for none, is (a + 1) * base + b + 1."""
        last, before = self._paths(team, reach)
        reachable = reach > 0
        nodes = np.flatnonzero(reachable & (tree.info >= 0))
        nodes = nodes[self._width[tree.info[nodes]] > 1]  # histories with a choice
        seat, sets = tree.seat[tree.info[nodes]], tree.info[nodes]
        meetings = []  # [n, 2] Information sets of both partners on the way to one history.
        for side in range(2):  # 0 the first partner, at seat ``team``; 1 the second one
            own = seat == team + 2 * side
            # Each information set of a partner, with each last action of the other before it.
            pairs = np.stack((sets[own], last[1 - side][nodes[own]]), axis=1)
            meetings += self._chains(np.unique(pairs, axis=0), before, flip=side == 1)
        met = np.unique(np.concatenate(meetings), axis=0)
        partner_sets = [np.unique(sets[seat == team + 2 * side]) for side in range(2)]
        self._number(partner_sets, met)
        self._constrain(partner_sets, met, before)
        # A round's points count with the probability of the last actions of both partners in it.
        ends = reachable & (tree.info < 0)
        gained = sign(team) * reach[ends] * tree.points[ends]
        variable = self._variable(last[0][ends], last[1][ends])
        self._cost = -np.bincount(variable, gained, len(self._keys))
        self._first = self._keys % self._base == 0  # pairs of a first partner's action and none

    def relaxed(self) -> Any:
        """Solves the linear program; returns scipy's result, whose costs are negative points."""
        lower = np.zeros(len(self._keys))
        lower[0] = 1  # the pair of no actions
        bounds = np.stack((lower, np.ones(len(lower))), axis=1)
        zeros = np.zeros(self._equal.shape[0])
        return linprog(self._cost, A_eq=self._equal, b_eq=zeros, bounds=bounds, method="highs-ipm")

    def integral(self, seconds: float, points: float) -> Any:
        """Solves the integer program, in which the first partner's plan is pure.

        Args:
            seconds: time limit.
            points: of the team, which some plans are known to reach.
        """
        lower = np.zeros(len(self._keys))
        lower[0] = 1  # the pair of no actions
        at_least = LinearConstraint(csr_matrix(-self._cost), points - PROVEN_GAP, np.inf)
        return milp(
            self._cost,
            constraints=[LinearConstraint(self._equal, 0, 0), at_least],
            bounds=Bounds(lower, 1),
            integrality=self._first.astype(int),
            options={"time_limit": seconds, "mip_rel_gap": 0},
        )

    def plans(self, solution: Float, policy: Float) -> Float:
        """Returns the policy [A] with the first partner's plan of a solution.

        Information sets that the plan does not reach keep their probabilities.
        """
        plans, tree = policy.copy(), self._tree
        # The keys of ``_first`` are (a + 1) * base; the first of them, 0, has no action.
        actions = (self._keys[self._first] // self._base - 1)[1:]
        weight = np.zeros(len(plans))
        weight[actions] = solution[self._first][1:]
        sets = np.unique(tree.owner[actions])
        total = np.add.reduceat(weight, tree.starts[:-1])
        planned = np.isin(tree.owner, sets[total[sets] > 0])
        plans[planned] = weight[planned] / total[tree.owner[planned]]
        return plans

    def _paths(self, team: int, reach: Float) -> tuple[Int, Int]:
        """Returns each partner's last free action before each history, and each set: [2, N], [I].

        An action is free if its information set has another action; -1 means no action before.
        The first array has a row for each partner and a column for each history.
        """
        tree = self._tree
        last = np.full((2, len(tree.info)), -1, np.int64)
        before = np.full(len(tree.seat), -1, np.int64)
        for start, end in zip(tree.levels[:-1], tree.levels[1:], strict=True):
            node = start + np.flatnonzero((tree.info[start:end] >= 0) & (reach[start:end] > 0))
            if not len(node):
                continue
            # In a level of the tree one seat acts: the seat of the first history.
            width = self._width[tree.info[node]]
            seat = tree.seat[tree.info[node[0]]]
            side, in_team = seat // 2, seat % 2 == team
            if in_team:
                before[tree.info[node]] = last[side][node]
            # A row for each child: its parent's row, and the index of the action that leads to it.
            parent, index = spread(width)
            child = tree.first[node[parent]] + index
            last[:, child] = last[:, node[parent]]
            free = in_team & (width[parent] > 1)
            last[side, child[free]] = (tree.starts[tree.info[node[parent]]] + index)[free]
        return last, before

    def _chains(self, pairs: Int, before: Int, *, flip: bool) -> list[Int]:
        """Returns the sets of both partners that meet, as arrays [n, 2].

        Args:
            pairs: [n, 2] sets of one partner, each with an action of the other partner before it.
            before: the last free action before each set; it leads from an action to earlier ones.
            flip: ``pairs`` have sets of the second partner; the result has the first one's first.
        """
        meetings = []
        own, action = pairs.T
        while (acted := action >= 0).any():
            own, action = own[acted], action[acted]
            other = self._tree.owner[action]
            meetings.append(np.stack((other, own) if flip else (own, other), axis=1))
            action = before[other]
        return meetings

    def _number(self, partner_sets: list[Int], met: Int) -> None:
        """Lists the keys of all variables, ascending; a variable's number is its place there.

        Variables are the pair of no actions, pairs with an action of only one partner, and pairs of
        actions at sets that meet.
        """
        (_, of_first), (_, of_second) = (self._actions(sets) for sets in partner_sets)
        # Every action of the first set with every action of the second set, for each meeting.
        row, first = self._actions(met[:, 0])
        repeat, second = self._actions(met[row, 1])
        keys = [
            self._key(first[repeat], second),
            self._key(of_first, -1),
            self._key(-1, of_second),
        ]
        self._keys = np.unique(np.concatenate([np.zeros(1, np.int64), *keys]))

    def _constrain(self, partner_sets: list[Int], met: Int, before: Int) -> None:
        """Builds the matrix of the constraints; each row times the variables must be 0.

        A row is a set of one partner with an action of the other partner, or with none: the
        variables of the set's actions sum to that of the action that leads to the set, each paired
        with that same action of the other partner.

        Args:
            partner_sets: the sets of each partner.
            met: [n, 2] the sets of the first and the second partner that meet.
            before: as ``_paths`` returns it.
        """
        entries, num_rows = [], 0
        for side in range(2):
            meeting, action = self._actions(met[:, 1 - side])
            with_action = np.unique(np.stack((met[meeting, side], action), axis=1), axis=0)
            own = partner_sets[side]
            with_none = np.stack((own, np.full(len(own), -1)), axis=1)
            sets, other = np.concatenate((with_none, with_action)).T
            row, own_action = self._actions(sets)
            # The action that leads to a set counts -1, each action of the set 1.
            for coefficient, rows, pair in (
                (-1.0, np.arange(len(sets)), (before[sets], other)),
                (1.0, row, (own_action, other[row])),
            ):
                variable = self._variable(*(pair if side == 0 else pair[::-1]))
                entries.append((np.full(len(rows), coefficient), num_rows + rows, variable))
            num_rows += len(sets)
        coefficients, rows, columns = (np.concatenate(part) for part in zip(*entries, strict=True))
        self._equal = csr_matrix((coefficients, (rows, columns)), (num_rows, len(self._keys)))

    def _actions(self, sets: Int) -> tuple[Int, Int]:
        """Lists the actions of sets [n]: the row of each action's set, and the action, [m] each."""
        row, index = spread(self._width[sets])
        return row, self._tree.starts[sets[row]] + index

    def _key(self, first: Int | int, second: Int | int) -> Int:
        return np.asarray((first + 1) * self._base + second + 1)

    def _variable(self, first: Int, second: Int) -> Int:
        """Returns the numbers of the variables of pairs: [n]."""
        return np.asarray(np.searchsorted(self._keys, self._key(first, second)))


@dataclass(frozen=True)
class Exploitability:
    """Gains of the seats and of the teams by best responses to a policy, in points a round."""

    value: float  #: Of the policy, for the dealer's team.
    seats: tuple[float, ...]  #: [4] Gain of each seat by its own response, from the dealer on.
    teams: tuple[TeamResponse, ...]  #: [2] Of the dealer's team and the other; empty: not computed.
    seen: tuple[float, float]  #: Gain of each team if partners saw each other's tiles.

    @property
    def alone(self) -> float:
        """Gain of one seat by its own response, mean over the seats."""
        return sum(self.seats) / NUM_SEATS

    @property
    def team(self) -> tuple[float, float] | None:
        """Lower and upper bound on the gain of a team, mean over the teams."""
        if not self.teams:
            return None
        # Both values are points of the dealer's team, so the policy's own value cancels out.
        dealers, others = self.teams
        return (dealers.value - others.value) / 2, (dealers.bound - others.bound) / 2

    @property
    def open(self) -> float:
        """Gain of a team if partners saw each other's tiles, mean over the teams."""
        return sum(self.seen) / 2


class Ruler:
    """Measures policies of one small game, which is enumerated once.

    Args:
        rules: the rule set.
    """

    def __init__(self, rules: Rules) -> None:
        self.tree = enumerate_game(rules)

    @cached_property
    def _seeing(self) -> tuple[Tree, Tree]:
        """The same game, once for each team whose partners see each other's tiles."""
        rules = self.tree.rules
        return (
            enumerate_game(rules, ("partner", "own")),
            enumerate_game(rules, ("own", "partner")),
        )

    def measure(self, policy: Float, seconds: float | None = None) -> Exploitability:
        """Measures a policy [A].

        Args:
            policy: of all seats.
            seconds: time limit to prove the best response of each team; 0: only bounds are
                computed; None: teams are not measured.
        """
        tree, points = self.tree, value(self.tree, policy)
        by_seat = gains(tree, policy)
        seeing_gains = [
            sign(team) * (best_response(game, game.carry(policy, tree), team).value - points)
            for team, game in enumerate(self._seeing)
        ]
        teams: tuple[TeamResponse, ...] = ()
        if seconds is not None:
            teams = tuple(team_response(tree, policy, team, seconds) for team in range(2))
        return Exploitability(
            value=points,
            seats=tuple(by_seat[seat] for seat in range(NUM_SEATS)),
            teams=teams,
            seen=(seeing_gains[0], seeing_gains[1]),
        )
