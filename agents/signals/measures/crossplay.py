"""Compares agents with each other: cross-play, and how far apart their policies are."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from itertools import permutations
from typing import Final

import numpy as np
from numpy import typing as npt

from agents.base import Float, Int
from agents.signals.measures.estimates import jackknife, over_deals
from agents.signals.playing import Play, load_policy
from agents.statistics.intervals import Interval, mean_interval
from agents.tournament.block import play_block
from agents.tournament.task import MIXED_SEATINGS, PAIR_SEATINGS, Task
from agents.tournament.workers import one_thread
from goita_env.errors import SettingError
from goita_env.rules import JGA, Rules, get_rules

MOST_RUNS: Final = 9
"""Most runs whose permutations are all tried: 362,880."""

RUNS_NEEDED: Final = 4
"""Fewest runs whose permutation test can come below 0.05: 1 / 4! = 0.042."""


@dataclass(frozen=True)
class Gap:
    """Says how much better agents play with themselves than with each other, in points a round."""

    gap: float
    """Mean of the diagonal minus mean off it."""
    deals: Interval
    """The gap with its 95 % interval over deals: these runs, other luck."""
    runs: Interval | None
    """The gap with its 95 % interval over runs: other runs of the same training, by the jackknife
    over runs and Student's t; None for fewer than three."""
    p_value: float
    """Of the exact permutation test on the residual of a row + column fit: share of all pairings of
    the runs whose sum is as large."""
    p_beyond_product: float
    """The same after the product of row and column effect is taken out, too: what is left where
    strong runs gain more than the sum from each other."""
    smallest_p: float
    """The smallest p-value that so many runs allow: 1 / n!; below 0.05 from ``RUNS_NEEDED`` on."""
    residual: Float
    """[n, n] points of each pair minus a row + column fit; the diagonal's mean is above 0 by
    (n - 1) / n of the gap, and large values off it say that rows and columns do not add up."""


def cross_play_gap(points: npt.ArrayLike) -> Gap:
    """Compares self-play with cross-play, in points a round (M7).

        Gap = mean_i X_ii - mean over i != j of X_ij
        R_ij = X_ij - (m + r_i + c_j),   T(s) = sum_i R_{i,s(i)},
        p = #{s in S_n : T(s) >= T(id)} / n!

    X_ij are the points of a team of runs i and j against one fixed pool (best of opponents that no
    run has trained with), on the same deals in every cell, averaged over who sits where; m + r_i +
    c_j is the least-squares fit of a row and a column effect. The run is the sampling unit where a
    method of training is judged, so there are two error bars. Source: self-play and cross-play of
    Hu et al. (arXiv:2003.02979), whose code prints means and standard errors over pairings alone;
    the permutation test is Fisher's (1935).

    n runs allow no p-value below 1 / n!, so p < 0.05 needs four. The test assumes that strength is
    additive: a run that is stronger with everyone cannot fake a gap. If strong runs gain more from
    strong partners than the sum, the product r_i c_j is largest on the diagonal and looks like one.
    So a second p-value is of R minus its regression on that product (Tukey 1949, one degree of
    freedom for non-additivity), which takes about 1 / (n - 1) of a true gap with it. ``residual``
    shows R itself.

    Args:
        points: [n, n, d] points of team (i, j) in each deal, n from 2 to 9, d at least 2.

    Raises:
        SettingError: if the shape is another.
    """
    x = np.asarray(points, np.float64)
    if x.ndim != 3 or x.shape[0] != x.shape[1] or not 2 <= len(x) <= MOST_RUNS or x.shape[2] < 2:
        raise SettingError(
            f"expected points [n, n, deals] with n from 2 to {MOST_RUNS}, got shape {x.shape!r}"
        )
    many = len(x)
    off = ~np.eye(many, dtype=bool)
    per_deal = x[np.arange(many), np.arange(many)].mean(axis=0) - x[off].mean(axis=0)
    mean = x.mean(axis=2)
    every = np.array(list(permutations(range(many))))
    row, column = (mean.mean(axis=axis, keepdims=True) - mean.mean() for axis in (1, 0))
    residual = mean - mean.mean() - row - column
    product = row * column
    size = float((product**2).sum())
    share = float((residual * product).sum()) / size if size > 1e-12 * (residual**2).sum() else 0.0
    beyond = residual - share * product
    p_value, p_beyond = (_p_value(table, every) for table in (residual, beyond))
    gap = _gap(mean)
    runs = None
    if many >= 3:
        from scipy.stats import t

        _, error = jackknife(lambda some: _gap(mean[np.ix_(some, some)]), many)
        half = float(t.ppf(0.975, many - 1)) * error
        runs = Interval(gap, gap - half, gap + half)
    deals = mean_interval(per_deal)
    return Gap(gap, deals, runs, p_value, p_beyond, 1 / len(every), residual)


def cross_play(
    agents: Sequence[str],
    opponent: str,
    deals: int,
    *,
    seed: int = 0,
    rules: str | Rules = JGA,
) -> Float:
    """Plays every pair of agents as partners against one opponent: points [n, n, deals].

    The same deals in every cell, each played in every seating (both seats of the team, both teams),
    points averaged.

    Args:
        agents: n texts of agents.
        opponent: who plays both seats of the other team.
        deals: how many.
        seed: of deals and random numbers.
        rules: a rule set or its name.
    """
    found, many = np.zeros((len(agents), len(agents), deals)), len(agents)
    for one in range(many):
        for other in range(one, many):
            with one_thread():
                names: tuple[str, ...] = (agents[one], agents[other], opponent)
                seatings = MIXED_SEATINGS
                if one == other:
                    names, seatings = (agents[one], opponent), PAIR_SEATINGS
                task = Task(names, seed, 0, 0, deals, get_rules(rules), seatings=seatings)
                points = play_block(task).points.mean(axis=0)
            found[one, other] = found[other, one] = points
    return found


def policy_distance(play: Play, agents: Sequence[str]) -> dict[tuple[str, str], Interval]:
    """Says how far policies are apart on shared positions, in nats.

        D_ij = E over s of JSD( pi_i(.|s), pi_j(.|s) ),   0 to ln 2

    the Jensen-Shannon divergence (Lin 1991) in the positions with a choice of a play, whoever
    played it; exact in each. Source: behavioural differences between agents (arXiv:2303.06775),
    there as a rate of disagreement.

    Args:
        play: whose positions are shared.
        agents: texts of policies.

    Raises:
        AgentError: if one's probabilities are not known.
        SettingError: if the positions are of fewer than two deals.
    """
    rows = np.flatnonzero(play.choice)
    view, legal = play.view(rows), play.legal[rows]
    known = {agent: load_policy(agent).probabilities(view, legal) for agent in agents}
    names = list(known)
    return {
        (one, other): over_deals(divergence(known[one], known[other]), play.deal[rows])
        for place, one in enumerate(names)
        for other in names[place + 1 :]
    }


def divergence(first: Float, second: Float) -> Float:
    """Returns the Jensen-Shannon divergence of each row's distributions, in nats: [n]."""
    middle = (first + second) / 2
    found = np.zeros(len(first))
    for one in (first, second):
        with np.errstate(divide="ignore", invalid="ignore"):
            terms = one * np.log(one / middle)
        found += np.where(one > 0, terms, 0).sum(axis=1) / 2
    return found


def _p_value(table: Float, every: Int) -> float:
    """Returns the share of pairings [n!, n] of a table's runs that sum up to as much as its own."""
    sums = table[np.arange(len(table)), every].sum(axis=1)
    return float((sums >= sums[0] - 1e-9).mean())


def _gap(mean: Float) -> float:
    """Returns the mean of the diagonal minus the mean off it."""
    off = ~np.eye(len(mean), dtype=bool)
    return float(np.diagonal(mean).mean() - mean[off].mean())
