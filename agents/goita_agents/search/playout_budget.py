"""Spreads playouts over the legal actions of positions: three rules, one table of outcomes.

A row is a position, a pair is a row with one of its actions. The active pairs of a row, which have
not been dropped, have been played in the same worlds (common random numbers). So their differences
are compared, with the standard errors of these differences.

- ``halving``: sequential halving (Karnin, Koren and Somekh 2013) after a quarter and half of the
  worlds.
- ``elimination``: successive elimination (Even-Dar, Mannor and Mansour 2006), with the standard
  errors of differences as bounds. A row stops after a few worlds where no action comes near the
  prior one.
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

UNLIMITED: Final = 1 << 62  # A budget that no search reaches.
MOST_WORLDS: Final = 100_000
MOST_BUDGET: Final = 10**12
HALVING_QUARTERS: Final = (1, 2, 4)
"""Quarters of a row's worlds that have been played at the end of each stage of halving."""

HALVING_FIRST: Final = 8
"""Worlds of a row that halving plays, if it has so many, before it drops an action."""

ELIMINATION_FIRST: Final = 16
"""Worlds of a row that elimination plays before it drops an action, or as many as the budget
allows; each stage doubles them."""

ELIMINATION_Z: Final = 1.0
"""Elimination drops an action that is behind another by more than so many standard errors."""
_PRIOR_LEAD: Final = 1e-9
"""Lead in points with which the prior action starts: it comes first among equals."""


class Outcomes:
    """R rows' pairs, P in all, and their points in at most W worlds a row.

    Args:
        legal: bool [R, 69] the actions that start.
        prior_action: [R] an action of each row that is never dropped and comes first among equals.
        weight: [R, W] of the worlds; a row's worlds come first, the places after them are 0.
        count: [R] worlds of each row, at least 1.
        play: returns the points [m] of pairs [m] in worlds [m], counted within their rows.
        same_as: [R, W] for each world the first world of the row that is equal to it. Only first
            worlds are played.

    Attributes:
        row: int64 [P] row of each pair, ascending.
        action: int64 [P] its action, ascending within the row.
        points: float64 [P, W] its points in each world; 0 where it wasn't played.
        worlds: int64 [P] number of the row's first worlds in which it was played.
        active: bool [P] whether it has not been dropped.
    """

    def __init__(
        self,
        legal: Bool,
        prior_action: Int,
        weight: Float,
        count: Int,
        play: Callable[[Int, Int], Float],
        same_as: Int,
    ) -> None:
        self.row, self.action = np.nonzero(legal)
        self.points = np.zeros((len(self.row), weight.shape[1]))
        self.worlds = np.zeros(len(self.row), np.int64)
        self.active = np.ones(len(self.row), bool)
        self.count, self._until = count, np.zeros(len(count), np.int64)
        self._weight, self._play, self._same_as = weight, play, same_as
        self._distinct = np.zeros((len(count), weight.shape[1] + 1), np.int64)
        """[R, W + 1] Distinct worlds among the first n worlds of a row, for n from 0 to W."""
        (same_as == np.arange(weight.shape[1])).cumsum(axis=1, out=self._distinct[:, 1:])
        # [R] The pair of each row's prior action, and each row's first pair.
        self._prior = np.flatnonzero(self.action == prior_action[self.row])
        self._first = np.searchsorted(self.row, np.arange(len(count)))

    def play(self, until: Int) -> None:
        """Plays the active pairs in the first ``until`` [R] worlds of their rows."""
        pair, world = self._unplayed(until)
        # Of equal worlds only the first is played, and the others get its points. It was played
        # before or just now, since a pair that has been dropped is never active again.
        first = self._same_as[self.row[pair], world]
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
        played = self._until[self.row[active]]
        worlds = until[self.row[active]] - played  # of each active pair
        # [m] Each pair is repeated for each of its worlds, which are counted from ``played`` on.
        ends = worlds.cumsum()
        count = np.arange(ends[-1] if len(ends) else 0) - np.repeat(ends - worlds, worlds)
        return np.repeat(active, worlds), count + np.repeat(played, worlds)

    def keep(self, mask: Bool) -> None:
        """Drops the pairs outside a mask [P], except the prior actions."""
        self.active &= mask
        self.active[self._prior] = True

    def num_active(self) -> Int:
        """Returns the number of active actions of each row: int64 [R]."""
        return np.bincount(self.row[self.active], minlength=len(self.count))

    def best(self) -> Int:
        """Returns the active pair of each row with the best average: int64 [R]."""
        # Ranked pairs are sorted by row, too, so a row's first place among them is its best pair.
        return self._ranked()[self._first]

    def rank(self) -> Int:
        """Returns the rank of each pair in its row by average, 0 the best: int64 [P]."""
        rank = np.empty(len(self.row), np.int64)
        rank[self._ranked()] = np.arange(len(self.row)) - self._first[self.row]
        return rank

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
        """Returns the leads of pairs over rivals of their rows, and standard errors: [m] each."""
        return average(*self.leads(pair, rival))

    def leads(self, pair: Int, rival: Int) -> tuple[Float, Float]:
        """Returns the same for each world, and the weights of the worlds: [m, W] each.

        A weight is 0 where one of the two was not played.
        """
        until = np.minimum(self.worlds[pair], self.worlds[rival])
        return self.points[pair] - self.points[rival], self._weights(self.row[pair], until)

    def averages(self) -> tuple[Float, Float]:
        """Returns each pair's average points over its worlds, with standard errors: [P] each."""
        return average(self.points, self._weights(self.row, self.worlds))

    def cost(self, until: Int) -> Int:
        """Returns the playouts that active pairs need for ``until`` [R] worlds: int64 [R]."""
        rows = np.arange(len(until))
        worlds: Int = self._distinct[rows, until] - self._distinct[rows, self._until]
        return worlds * self.num_active()

    def _weights(self, rows: Int, until: Int) -> Float:
        return self._weight[rows] * (np.arange(self._weight.shape[1]) < until[:, None])

    def _ranked(self) -> Int:
        """Returns the pairs, row after row, by their average, the dropped ones last: int64 [P]."""
        weight = self._weights(np.arange(len(self.count)), self._until)
        total = weight.sum(axis=1)
        means = (self.points * weight[self.row]).sum(axis=1)
        means /= np.where(total > 0, total, 1.0)[self.row]
        means[self._prior] += _PRIOR_LEAD
        means[~self.active] = -np.inf
        return np.lexsort((-means, self.row))


def check_search(worlds: int, budget: int = 1) -> None:
    """Raises an AgentError unless both options of a search are whole numbers in their ranges."""
    options = ("worlds", worlds, MOST_WORLDS), ("budget", budget, MOST_BUDGET)
    for name, option, greatest in options:
        if not is_whole(option) or not 1 <= option <= greatest:
            raise AgentError(f"expected {name}=1 to {greatest}, got {option!r}")


def check_choice(name: str, choice: str, choices: Sequence[str]) -> None:
    """Raises an AgentError unless a choice is among the choices."""
    if choice not in choices:
        raise AgentError(f"expected {name} of {tuple(choices)}, got {choice!r}")


def allocate(outcomes: Outcomes, allocation: Allocation, budget: int) -> None:
    """Plays the pairs of all rows by a rule, within a budget of playouts a row."""
    if allocation == "elimination":
        _eliminate(outcomes, budget)
        return
    affordable = worlds_within(budget, int(outcomes.count.max(initial=1)), allocation)
    count = np.minimum(outcomes.count, affordable[outcomes.num_active()])
    if allocation == "halving":
        _halve(outcomes, count)
    else:
        outcomes.play(count)


def worlds_within(budget: int, worlds: int, allocation: Allocation) -> Int:
    """Returns how many worlds, of ``worlds``, a budget of playouts covers: int64 [70].

    The index is the number of legal actions. One world is always covered. Elimination spends its
    budget as it proceeds, so no world is left out in advance.
    """
    if allocation == "elimination":
        return np.full(NUM_ACTIONS + 1, max(1, min(worlds, budget)))
    legal_counts = range(NUM_ACTIONS + 1)
    if allocation == "uniform":
        return np.array([max(1, min(worlds, budget // max(legal, 1))) for legal in legal_counts])
    # Playouts grow with the worlds; of 2, 3, ... worlds those before the bisection fit the budget.
    counts = [
        bisect_right(range(2, worlds + 1), budget, key=lambda w: halving_playouts(legal, w)) + 1
        for legal in legal_counts
    ]
    return np.array(counts)


def halving_playouts(actions: int, worlds: int) -> int:
    """Returns the most playouts that halving makes for a row."""
    total, played, active = 0, 0, actions
    for quarters in HALVING_QUARTERS:
        until = int(_stage_end(np.array(worlds), quarters))
        total += active * (until - played)
        # The prior action is never dropped, so it may be kept in addition to the better half.
        played, active = until, min(active, (active + 1) // 2 + 1)
    return total


def average(points: Float, weight: Float) -> tuple[Float, Float]:
    """Returns weighted averages and their standard errors: [P] each; points and weight: [P, W]."""
    share = weight / weight.sum(axis=1, keepdims=True)
    mean = (share * points).sum(axis=1)
    return mean, np.sqrt((share**2 * (points - mean[:, None]) ** 2).sum(axis=1))


def _stage_end(worlds: Int, quarters: int) -> Int:
    """Returns how many of a row's worlds have been played at the end of a stage."""
    return np.maximum(worlds * quarters // 4, np.minimum(worlds, HALVING_FIRST))


def _halve(outcomes: Outcomes, count: Int) -> None:
    """Plays up to ``count`` [R] worlds in stages, and drops half of the actions between them."""
    played = np.zeros(len(count), np.int64)
    for quarters in HALVING_QUARTERS:
        active = outcomes.num_active()
        halved = (played > 0) & (played < count)  # rows that have begun and are not finished
        limit = np.where(halved, (active + 1) // 2, active)
        outcomes.keep(outcomes.rank() < limit[outcomes.row])
        played = _stage_end(count, quarters)
        outcomes.play(played)


def _eliminate(outcomes: Outcomes, budget: int) -> None:
    """Plays twice as many worlds in each stage, and drops the pairs that are behind after it.

    A pair is behind the prior action if it does not come within ``ELIMINATION_Z`` standard errors
    of it, and likewise behind the best action.
    """
    pairs = np.arange(len(outcomes.row))
    prior = outcomes.chosen(np.inf)  # no lead is large enough, so these are the prior actions
    count = outcomes.count
    played = spent = np.zeros(len(count), np.int64)  # [R] worlds, and playouts
    first = np.clip(budget // outcomes.num_active(), 1, ELIMINATION_FIRST)
    until = np.minimum(first, count)
    while (until > played).any():
        spent = spent + outcomes.cost(until)
        outcomes.play(until)
        best = outcomes.best()
        over_prior, prior_error = outcomes.lead(pairs, prior[outcomes.row])
        over_best, best_error = outcomes.lead(pairs, best[outcomes.row])
        outcomes.keep(
            (over_prior + ELIMINATION_Z * prior_error > 0)
            & (over_best + ELIMINATION_Z * best_error >= 0)
        )
        played, doubled = until, np.minimum(2 * until, count)
        continues = (outcomes.num_active() > 1) & (spent + outcomes.cost(doubled) <= budget)
        until = np.where(continues, doubled, played)
