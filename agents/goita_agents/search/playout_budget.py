"""Spreads playouts over the legal actions of positions: three rules, one table of outcomes.

A row is a position, a pair is a row with one of its actions. Active pairs of a row have been played
in the same worlds (common random numbers), so differences are compared, and their standard errors.

- ``halving``: sequential halving (Karnin, Koren and Somekh 2013) after a quarter and half of the
  worlds.
- ``elimination``: successive elimination (Even-Dar, Mannor and Mansour 2006), with the standard
  errors of differences for bounds. A row stops after a few worlds where nothing comes near the
  prior action.
- ``uniform``: every action in every world.
"""

from __future__ import annotations

from bisect import bisect_right
from collections.abc import Callable, Sequence
from typing import Final, Literal

import numpy as np

from goita_agents.base import AgentError, Bool, Float, Int, is_whole
from goita_env.actions import NUM_ACTIONS

Allocation = Literal["halving", "elimination", "uniform"]

UNLIMITED: Final = 1 << 62  # Stands for a budget without a limit.
MOST_WORLDS: Final = 100_000
MOST_BUDGET: Final = 10**12
QUARTERS: Final = (1, 2, 4)
"""Quarters of a row's worlds that have been played at the end of each stage of halving."""

HALVING_FIRST: Final = 8
"""Worlds of a row that halving plays, if there are so many, before it drops an action."""

ELIMINATION_FIRST: Final = 16
"""Worlds of a row that elimination plays before it drops an action, or as many as the budget
allows; each stage doubles them."""

BEHIND: Final = 1.0  # Standard errors by which elimination lets an action be behind another.
_HAIR: Final = 1e-9
"""Lead in points with which the prior action starts: it comes first among equals."""


class Outcomes:
    """R rows' pairs, P in all, and their points in at most W worlds a row.

    Args:
        legal: bool [R, 69] the actions that start.
        prior_action: [R] an action of each row that is never dropped and comes first among equals.
        weight: [R, W] of the worlds; a row's worlds stand first, the rest is 0.
        count: [R] worlds of each row, at least 1.
        play: returns the points [m] of pairs [m] in worlds [m], counted within their rows.
        alike: [R, W] the first world of the row that is the same as each, which alone is played.

    Attributes:
        row: int64 [P] row of each pair, ascending.
        action: int64 [P] its action, ascending within the row.
        points: float64 [P, W] what it gained in each world; 0 where it wasn't played.
        worlds: int64 [P] in how many of the row's first worlds it was played.
        active: bool [P] it has not been dropped.
    """

    def __init__(
        self,
        legal: Bool,
        prior_action: Int,
        weight: Float,
        count: Int,
        play: Callable[[Int, Int], Float],
        alike: Int,
    ) -> None:
        self.row, self.action = np.nonzero(legal)
        self.points = np.zeros((len(self.row), weight.shape[1]))
        self.worlds = np.zeros(len(self.row), np.int64)
        self.active = np.ones(len(self.row), bool)
        self.count, self._until = count, np.zeros(len(count), np.int64)
        self._weight, self._play, self._alike = weight, play, alike
        self._new = np.zeros((len(count), weight.shape[1] + 1), np.int64)
        """[R, W + 1] How many of the first worlds are new to their row, by their number."""
        (alike == np.arange(weight.shape[1])).cumsum(axis=1, out=self._new[:, 1:])
        self._prior = np.flatnonzero(self.action == prior_action[self.row])
        self._first = np.searchsorted(self.row, np.arange(len(count)))

    def play(self, until: Int) -> None:
        """Plays the active pairs in the first worlds of their rows, so many: [R]."""
        pair, world = self._unplayed(until)
        # Of worlds that are alike only the first is played, and the others get its points. It was
        # played before or just now, since a pair that has been dropped stays out.
        first = self._alike[self.row[pair], world]
        new = first == world
        if new.any():
            self.points[pair[new], world[new]] = self._play(pair[new], world[new])
        self.points[pair, world] = self.points[pair, first]
        self.worlds[self.active] = until[self.row[self.active]]
        self._until = until

    def _unplayed(self, until: Int) -> tuple[Int, Int]:
        """Lists the active pairs in the worlds that follow those played: int64 [m], [m].

        ``until``: [R] worlds of each row in which its pairs are to have been played.
        """
        active = np.flatnonzero(self.active)
        begun = self._until[self.row[active]]
        worlds = until[self.row[active]] - begun  # of each active pair
        # [m] Each pair stands as often as it has worlds, and counts them from ``begun`` on.
        ends = worlds.cumsum()
        count = np.arange(ends[-1] if len(ends) else 0) - np.repeat(ends - worlds, worlds)
        return np.repeat(active, worlds), count + np.repeat(begun, worlds)

    def keep(self, kept: Bool) -> None:
        """Drops the pairs outside a mask [P], except the prior actions."""
        self.active &= kept
        self.active[self._prior] = True

    def left(self) -> Int:
        """Returns how many actions of each row are active: int64 [R]."""
        return np.bincount(self.row[self.active], minlength=len(self.count))

    def best(self) -> Int:
        """Returns the active pair of each row with the best average: int64 [R]."""
        return self._ranked()[self._first]

    def place(self) -> Int:
        """Returns the rank of each pair in its row by average, 0 the best: int64 [P]."""
        place = np.empty(len(self.row), np.int64)
        place[self._ranked()] = np.arange(len(self.row)) - self._first[self.row]
        return place

    def chosen(self, min_z: float) -> Int:
        """Returns the best pair of each row where it leads by more than ``min_z`` standard errors.

        Elsewhere it is the prior action: int64 [R].
        """
        if np.isinf(min_z):
            return self._prior
        best = self.best()
        ahead, error = self.lead(best, self._prior)
        return np.where(ahead > min_z * error, best, self._prior)

    def lead(self, pair: Int, rival: Int) -> tuple[Float, Float]:
        """Returns by how much pairs [m] lead rivals [m] of their rows, and standard errors: [m]."""
        return average(*self.leads(pair, rival))

    def leads(self, pair: Int, rival: Int) -> tuple[Float, Float]:
        """Returns the same for each world, and the worlds' weights, 0 where one was not played.

        [m, W] each.
        """
        until = np.minimum(self.worlds[pair], self.worlds[rival])
        return self.points[pair] - self.points[rival], self._weights(self.row[pair], until)

    def averages(self) -> tuple[Float, Float]:
        """Returns each pair's average points over its worlds, with standard errors: [P] each."""
        return average(self.points, self._weights(self.row, self.worlds))

    def cost(self, until: Int) -> Int:
        """Returns the playouts that the active pairs need up to so many worlds [R]: int64 [R]."""
        rows = np.arange(len(until))
        worlds: Int = self._new[rows, until] - self._new[rows, self._until]
        return worlds * self.left()

    def _weights(self, rows: Int, until: Int) -> Float:
        return self._weight[rows] * (np.arange(self._weight.shape[1]) < until[:, None])

    def _ranked(self) -> Int:
        """Returns the pairs, row after row, by their average, the dropped ones last: int64 [P]."""
        weight = self._weights(np.arange(len(self.count)), self._until)
        total = weight.sum(axis=1)
        means = (self.points * weight[self.row]).sum(axis=1)
        means /= np.where(total > 0, total, 1.0)[self.row]
        means[self._prior] += _HAIR
        means[~self.active] = -np.inf
        return np.lexsort((-means, self.row))


def check_search(worlds: int, budget: int = 1) -> None:
    """Raises an AgentError unless both options of a search are whole numbers in their ranges."""
    for name, number, most in (("worlds", worlds, MOST_WORLDS), ("budget", budget, MOST_BUDGET)):
        if not is_whole(number) or not 1 <= number <= most:
            raise AgentError(f"expected {name}=1 to {most}, got {number!r}")


def check_choice(name: str, choice: str, choices: Sequence[str]) -> None:
    """Raises an AgentError unless a choice is one of some."""
    if choice not in choices:
        raise AgentError(f"expected {name} of {tuple(choices)}, got {choice!r}")


def allocate(outcomes: Outcomes, allocation: Allocation, budget: int) -> None:
    """Plays the pairs of some rows by a rule, within a budget of playouts a row."""
    if allocation == "elimination":
        _eliminate(outcomes, budget)
        return
    most = worlds_within(budget, int(outcomes.count.max(initial=1)), allocation)
    count = np.minimum(outcomes.count, most[outcomes.left()])
    if allocation == "halving":
        _halve(outcomes, count)
    else:
        outcomes.play(count)


def worlds_within(budget: int, worlds: int, allocation: Allocation) -> Int:
    """Returns how many of some worlds a budget of playouts covers, by legal actions: int64 [70].

    One world is covered in any case. Elimination spends its budget as it goes.
    """
    if allocation == "elimination":
        return np.full(NUM_ACTIONS + 1, max(1, min(worlds, budget)))
    every = range(NUM_ACTIONS + 1)
    if allocation == "uniform":
        return np.array([max(1, min(worlds, budget // max(many, 1))) for many in every])
    counts = [
        bisect_right(range(2, worlds + 1), budget, key=lambda w: halving_playouts(many, w)) + 1
        for many in every
    ]
    return np.array(counts)


def halving_playouts(actions: int, worlds: int) -> int:
    """Returns how many playouts halving makes at most for a row."""
    total, begun, left = 0, 0, actions
    for quarters in QUARTERS:
        until = int(_stage_end(np.array(worlds), quarters))
        total += left * (until - begun)
        begun, left = until, min(left, (left + 1) // 2 + 1)
    return total


def average(points: Float, weight: Float) -> tuple[Float, Float]:
    """Returns weighted averages and their standard errors: [P] each; points and weight: [P, W]."""
    share = weight / weight.sum(axis=1, keepdims=True)
    mean = (share * points).sum(axis=1)
    return mean, np.sqrt((share**2 * (points - mean[:, None]) ** 2).sum(axis=1))


def _stage_end(worlds: Int, quarters: int) -> Int:
    return np.maximum(worlds * quarters // 4, np.minimum(worlds, HALVING_FIRST))


def _halve(outcomes: Outcomes, count: Int) -> None:
    begun = np.zeros(len(count), np.int64)
    for quarters in QUARTERS:
        left = outcomes.left()
        halved = (begun > 0) & (begun < count)
        outcomes.keep(outcomes.place() < np.where(halved, (left + 1) // 2, left)[outcomes.row])
        begun = _stage_end(count, quarters)
        outcomes.play(begun)


def _eliminate(outcomes: Outcomes, budget: int) -> None:
    pairs, prior = np.arange(len(outcomes.row)), outcomes.chosen(np.inf)
    count, spent = outcomes.count, np.zeros(len(outcomes.count), np.int64)
    begun, until = (
        spent,
        np.minimum(np.clip(budget // outcomes.left(), 1, ELIMINATION_FIRST), count),
    )
    while (until > begun).any():
        spent = spent + outcomes.cost(until)
        outcomes.play(until)
        best = outcomes.best()
        behind_prior, prior_error = outcomes.lead(pairs, prior[outcomes.row])
        behind_best, best_error = outcomes.lead(pairs, best[outcomes.row])
        outcomes.keep(
            (behind_prior + BEHIND * prior_error > 0) & (behind_best + BEHIND * best_error >= 0)
        )
        begun, wanted = until, np.minimum(2 * until, count)
        goes_on = (outcomes.left() > 1) & (spent + outcomes.cost(wanted) <= budget)
        until = np.where(goes_on, wanted, begun)
