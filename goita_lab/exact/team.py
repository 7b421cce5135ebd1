"""The best response of a team whose partners agree before the round and then do not talk.

Finding it is hard in general (Celli and Gatti 2018). A plan of each partner is written in sequence
form, and a variable stands for each pair of their actions that can meet in a round. Its linear
relaxation (von Stengel and Forges 2008) bounds the value from above, partners that respond to each
other in turn bound it from below, and an integer program closes the gap if it is given the time.
Moves without a choice are left out.
"""

from __future__ import annotations

from dataclasses import dataclass
from functools import cached_property
from typing import Any, Final

import numpy as np
from scipy.optimize import Bounds, LinearConstraint, linprog, milp
from scipy.sparse import csr_matrix

from goita_agents.base import Float, Int
from goita_env.rules import Rules
from goita_env.tiles import NUM_SEATS
from goita_lab.exact.tree import Tree, enumerate_game, spread
from goita_lab.exact.values import best_response, gains, played, reached, respond, sign, value

CLOSE: Final = 1e-6
"""Points by which a bound may lie above a value that counts as proven."""

STARTS: Final = 20
"""Random plans from which partners respond to each other in turn."""


@dataclass(frozen=True)
class TeamResponse:
    """What a team can do while the others follow a policy, in points for the dealer's team."""

    value: float  #: Of the best plans that were found.
    bound: float  #: No plans do better.
    policy: Float  #: [A] The others' policy, and these plans.

    @property
    def proven(self) -> bool:
        """The plans are a best response."""
        return abs(self.bound - self.value) < CLOSE


def team_response(tree: Tree, policy: Float, team: int, seconds: float = 0.0) -> TeamResponse:
    """Returns a best response of a team, or how far the best that was found may be from it.

    Args:
        tree: the game, in which partners see their own tiles alone.
        policy: [A] of all seats; those of the team are replaced.
        team: 0 the dealer's, 1 the other.
        seconds: of the integer program, at most; 0: the linear one alone.
    """
    others, points = reached(tree, policy, team, whole_team=True), sign(team)
    value, plans = alternating(tree, policy, team, others)[0]
    program = Program(tree, others, team)
    found = program.relaxed()
    bound = -found.fun
    if seconds > 0 and bound - points * value > CLOSE:
        better = program.integral(seconds, points * value)
        if better.mip_dual_bound is not None:  # None: time ran out before the first one
            bound = min(bound, -better.mip_dual_bound)
        if better.x is not None and -better.fun > points * value + CLOSE:
            response = best_response(tree, program.plans(better.x, policy), team + 2)
            value, plans = response.value, response.policy
    return TeamResponse(value, points * bound, plans)


def alternating(
    tree: Tree, policy: Float, team: int, others: Float, starts: int = STARTS, seed: int = 0
) -> list[tuple[float, Float]]:
    """Lets partners respond to each other in turn, from their policy and from random ones.

    Args:
        tree: the game.
        policy: [A] where the partners begin.
        team: 0 the dealer's, 1 the other.
        others: how likely chance and the other team reach each history: [N].
        starts: random policies from which they begin, too.
        seed: of these.

    Returns:
        Where each start ends, the best first: points for the dealer's team, and the policy.
    """
    rng, points, found = np.random.default_rng(seed), sign(team), []
    own = tree.seat[tree.owner] % 2 == team
    for number in range(1 + starts):
        plans, value = policy.copy(), -np.inf
        if number:
            plans[own] = (rng.exponential(size=len(own)) ** 2)[own]
            plans /= np.add.reduceat(plans, tree.starts[:-1])[tree.owner]
        while True:
            for seat, partner in ((team, team + 2), (team + 2, team)):
                response = respond(tree, plans, seat, others * played(tree, plans, partner))
                plans = response.policy
            if points * response.value <= value + CLOSE:
                break
            value = points * response.value
        found.append((points * value, plans))
    return sorted(found, key=lambda one: -points * one[0])


class Program:
    """A team's response as a linear program, a variable for each pair of actions that can meet.

    Args:
        tree: the game.
        reach: how likely chance and the other team reach each history: [N].
        team: 0 the dealer's, 1 the other.
    """

    def __init__(self, tree: Tree, reach: Float, team: int) -> None:
        self._tree, self._width = tree, np.diff(tree.starts)
        self._base = len(tree.action) + 1
        """A pair of actions, -1 for none, has the number (one + 1) * base + other + 1."""
        last, before = self._paths(team, reach)
        live = reach > 0
        here = np.flatnonzero(live & (tree.info >= 0))
        here = here[self._width[tree.info[here]] > 1]
        seat, sets = tree.seat[tree.info[here]], tree.info[here]
        met = []  # [n, 2] Information sets of both partners on the way to one history.
        for side in range(2):
            mine = seat == team + 2 * side
            pair = np.unique(np.stack((sets[mine], last[1 - side][here[mine]]), 1), axis=0)
            met += list(self._chains(pair, before, flip=side == 1))
        both = np.unique(np.concatenate(met), axis=0)
        own = [np.unique(sets[seat == team + 2 * side]) for side in range(2)]
        self._number(own, both)
        self._constrain(own, both, before)
        ends = live & (tree.info < 0)
        gained = sign(team) * reach[ends] * tree.points[ends]
        place = self._place(last[0][ends], last[1][ends])
        self._cost = -np.bincount(place, gained, len(self._keys))
        self._first = self._keys % self._base == 0  # actions of the first partner alone

    def relaxed(self) -> Any:
        """Solves the linear program; scipy's result, the costs being negative points."""
        start = np.zeros(len(self._keys))
        start[0] = 1
        bounds = np.stack((start, np.ones(len(start))), axis=1)
        zeros = np.zeros(self._equal.shape[0])
        return linprog(self._cost, A_eq=self._equal, b_eq=zeros, bounds=bounds, method="highs-ipm")

    def integral(self, seconds: float, value: float) -> Any:
        """Solves the integer program, in which the first partner's plan is pure.

        Args:
            seconds: most time.
            value: points that are known to be reached.
        """
        start = np.zeros(len(self._keys))
        start[0] = 1
        reachable = LinearConstraint(csr_matrix(-self._cost), value - CLOSE, np.inf)
        return milp(
            self._cost,
            constraints=[LinearConstraint(self._equal, 0, 0), reachable],
            bounds=Bounds(start, 1),
            integrality=self._first.astype(int),
            options={"time_limit": seconds, "mip_rel_gap": 0},
        )

    def plans(self, solution: Float, policy: Float) -> Float:
        """Returns the policy [A] with the first partner's plan of a solution."""
        found, tree = policy.copy(), self._tree
        chosen = (self._keys[self._first] // self._base - 1)[1:]
        weight = np.zeros(len(found))
        weight[chosen] = solution[self._first][1:]
        own = np.unique(tree.owner[chosen])
        total = np.add.reduceat(weight, tree.starts[:-1])
        own = own[total[own] > 0]
        mine = np.isin(tree.owner, own)
        found[mine] = weight[mine] / total[tree.owner[mine]]
        return found

    def _paths(self, team: int, reach: Float) -> tuple[Int, Int]:
        """Returns each partner's last free action before each history, and each set: [2, N], [I].

        An action is free if there is another one; -1 stands for none before. The first array has a
        row for each side of the team's seats and a column for each history.
        """
        tree = self._tree
        last = np.full((2, len(tree.info)), -1, np.int64)
        before = np.full(len(tree.seat), -1, np.int64)
        for start, end in zip(tree.levels[:-1], tree.levels[1:], strict=True):
            node = start + np.flatnonzero((tree.info[start:end] >= 0) & (reach[start:end] > 0))
            if not len(node):
                continue
            # In a level of the tree one seat acts, so the first history tells whose level it is.
            many = self._width[tree.info[node]]
            side = tree.seat[tree.info[node[0]]] // 2
            mine = tree.seat[tree.info[node[0]]] % 2 == team
            if mine:
                before[tree.info[node]] = last[side][node]
            # A row for each child: the history it comes from, and which of its actions leads there.
            old, place = spread(many)
            child = tree.first[node[old]] + place
            last[:, child] = last[:, node[old]]
            free = mine & (many[old] > 1)
            last[side, child[free]] = (tree.starts[tree.info[node[old]]] + place)[free]
        return last, before

    def _chains(self, pair: Int, before: Int, *, flip: bool) -> list[Int]:
        """Returns pairs of a set [n, 0] and one on the way to an action [n, 1] of its partner."""
        found = []
        one, action = pair.T
        while (going := action >= 0).any():
            one, action = one[going], action[going]
            other = self._tree.owner[action]
            found.append(np.stack((other, one) if flip else (one, other), axis=1))
            action = before[other]
        return found

    def _number(self, own: list[Int], both: Int) -> None:
        """Numbers the variables: nothing, each partner's actions alone, and pairs that can meet."""
        (_, one), (_, two) = (self._actions(sets) for sets in own)
        row, first = self._actions(both[:, 0])
        again, second = self._actions(both[row, 1])
        keys = [self._key(first[again], second), self._key(one, -1), self._key(-1, two)]
        self._keys = np.unique(np.concatenate([np.zeros(1, np.int64), *keys]))

    def _constrain(self, own: list[Int], both: Int, before: Int) -> None:
        """Lists the constraints of the program, one a row of its matrix.

        A row is a set of one partner with an action of the other one, or with none: the set's
        actions add up to the action that leads to it, all taken together with that other action.

        Args:
            own: the sets of each partner.
            both: [n, 2] the sets of the first and the second partner that can meet.
            before: as ``_paths`` returns it.
        """
        entries, rows = [], 0
        for side in range(2):
            row, other = self._actions(both[:, 1 - side])
            beside = np.unique(np.stack((both[row, side], other), axis=1), axis=0)
            alone = np.stack((own[side], np.full(len(own[side]), -1)), axis=1)
            sets, others = np.concatenate((alone, beside)).T
            old, action = self._actions(sets)
            for sign_, number, which in (
                (-1.0, np.arange(len(sets)), (before[sets], others)),
                (1.0, old, (action, others[old])),
            ):
                place = self._place(*(which if side == 0 else which[::-1]))
                entries.append((np.full(len(number), sign_), rows + number, place))
            rows += len(sets)
        values, row, column = (np.concatenate(part) for part in zip(*entries, strict=True))
        self._equal = csr_matrix((values, (row, column)), (rows, len(self._keys)))

    def _actions(self, sets: Int) -> tuple[Int, Int]:
        """Lists the actions of sets [n]: whose they are, and their numbers, [m] each."""
        row, place = spread(self._width[sets])
        return row, self._tree.starts[sets[row]] + place

    def _key(self, one: Int | int, two: Int | int) -> Int:
        return np.asarray((one + 1) * self._base + two + 1)

    def _place(self, one: Int, two: Int) -> Int:
        """Returns the numbers of variables: [n]."""
        return np.asarray(np.searchsorted(self._keys, self._key(one, two)))


@dataclass(frozen=True)
class Exploitability:
    """What the seats and the teams gain by best responses to a policy, in points a round."""

    value: float  #: Of the policy, for the dealer's team.
    seats: tuple[float, ...]  #: [4] What each seat gains alone, from the dealer on.
    teams: tuple[TeamResponse, ...]  #: [2] Of the dealer's team and the other; empty: not sought.
    seen: tuple[float, float]  #: What each team would gain if partners saw each other's tiles.

    @property
    def alone(self) -> float:
        """What one seat gains, on average over the seats."""
        return sum(self.seats) / NUM_SEATS

    @property
    def team(self) -> tuple[float, float] | None:
        """What a team gains, on average over the teams: the least and the most it can be."""
        if not self.teams:
            return None
        one, other = self.teams
        return (one.value - other.value) / 2, (one.bound - other.bound) / 2

    @property
    def open(self) -> float:
        """What a team would gain if partners saw each other's tiles, on average over the teams."""
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
        """The same game, where the partners of one team see each other's tiles."""
        rules = self.tree.rules
        return (
            enumerate_game(rules, ("partner", "own")),
            enumerate_game(rules, ("own", "partner")),
        )

    def measure(self, policy: Float, seconds: float | None = None) -> Exploitability:
        """Measures a policy [A].

        Args:
            policy: of all seats.
            seconds: most time to prove the best response of each team; 0: a bound has to do;
                None: they are not sought.
        """
        tree, known = self.tree, value(self.tree, policy)
        alone = gains(tree, policy)
        seen = [
            sign(number) * (best_response(other, other.carry(policy, tree), number).value - known)
            for number, other in enumerate(self._seeing)
        ]
        return Exploitability(
            known,
            tuple(alone[seat] for seat in range(NUM_SEATS)),
            ()
            if seconds is None
            else tuple(team_response(tree, policy, number, seconds) for number in range(2)),
            (seen[0], seen[1]),
        )
