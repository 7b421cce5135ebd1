"""Compares agents with each other: cross-play, and the distance of their policies."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from itertools import combinations, combinations_with_replacement, permutations
from typing import Final

import numpy as np
from numpy import typing as npt

from goita_agents.asking import ask_probabilities
from goita_agents.base import Float, Int, Policy
from goita_env.errors import SettingError
from goita_env.information import PLAIN, InformationStructure
from goita_env.rules import JGA, Rules, get_rules
from goita_lab.arena.statistics.intervals import (
    Interval,
    jackknife_error,
    mean_interval,
    t_interval,
)
from goita_lab.arena.tournament.block import play_block
from goita_lab.arena.tournament.plan import MIXED_SEATINGS, PAIR_SEATINGS, Task
from goita_lab.signals.measures.information_gain import over_deals
from goita_lab.signals.playing import Play
from goita_lab.work import one_thread

MOST_RUNS: Final = 9
"""Most runs whose permutations are all tried: 362,880."""
RUNS_NEEDED: Final = 4
"""Fewest runs whose permutation test can come below 0.05: 1 / 4! = 0.042."""


@dataclass(frozen=True)
class CrossPlayGap:
    """Partners of one run compared with partners of different runs, in points a round."""

    gap: float
    """Mean of the diagonal minus mean off it."""
    deals: Interval
    """The gap with its 95 % interval over deals, for these runs."""
    runs: Interval | None
    """The gap with its interval over runs, by the jackknife and Student's t; None: under 3 runs."""
    p_value: float
    """Of the exact permutation test on the residual of a row + column fit."""
    p_beyond_product: float
    """The same after the product of row and column effect is removed from the residual."""
    smallest_p: float
    """The smallest p-value that so many runs allow: 1 / n!; below 0.05 from ``RUNS_NEEDED`` on."""
    residual: Float
    """[n, n] Points of each pair minus a row + column fit."""


def cross_play_gap(points: npt.ArrayLike) -> CrossPlayGap:
    """Compares self-play with cross-play, in points a round.

        Gap = mean_i X_ii - mean over i != j of X_ij
        R_ij = X_ij - (m + r_i + c_j),   T(s) = sum_i R_{i,s(i)},
        p = #{s in S_n : T(s) >= T(id)} / n!

    X_ij are the points of a team of runs i and j against one fixed pool (at best opponents that no
    run has trained with), on the same deals in every cell, averaged over all seatings; m + r_i +
    c_j is the least-squares fit of a row and a column effect. Where a method of training is judged
    the run is the sampling unit, so there are two error bars. Source: self-play and cross-play of
    Hu et al. (arXiv:2003.02979); the permutation test is Fisher's (1935).

    n runs allow no p-value below 1 / n!, so p < 0.05 needs four. The test assumes additive
    strength: a run that is stronger with every partner makes no gap. Where strong runs gain more
    from strong partners, the product r_i c_j looks like a gap. So a second p-value is of R minus
    its regression on that product (Tukey 1949), which removes about 1 / (n - 1) of a true gap, too.

    ``points`` is [n, n, d], of team (i, j) in each of d deals; n from 2 to 9, d at least 2. It is a
    SettingError if the shape is another.
    """
    x = np.asarray(points, np.float64)
    if x.ndim != 3 or x.shape[0] != x.shape[1] or not 2 <= len(x) <= MOST_RUNS or x.shape[2] < 2:
        raise SettingError(f"expected points [n, n, deals], n 2 to {MOST_RUNS}, got {x.shape!r}")
    runs, mean = len(x), x.mean(axis=2)
    off = ~np.eye(runs, dtype=bool)
    deals = mean_interval(x[~off].mean(axis=0) - x[off].mean(axis=0))
    orders = np.array(list(permutations(range(runs))))
    # The effects of the least-squares fit are the differences of row and column means.
    row, column = (mean.mean(axis=axis, keepdims=True) - mean.mean() for axis in (1, 0))
    residual = mean - mean.mean() - row - column
    product = row * column
    size = float((product**2).sum())
    share = float((residual * product).sum()) / size if size > 1e-12 * (residual**2).sum() else 0.0
    beyond = residual - share * product
    p_value, p_beyond = (_p_value(table, orders) for table in (residual, beyond))
    gap = _gap(mean)
    over_runs = None
    if runs >= 3:
        subsets = [np.arange(runs) != run for run in range(runs)]  # all runs except one
        error = jackknife_error([_gap(mean[np.ix_(subset, subset)]) for subset in subsets])
        over_runs = t_interval(gap, error, runs - 1)
    smallest_p = 1 / len(orders)
    return CrossPlayGap(gap, deals, over_runs, p_value, p_beyond, smallest_p, residual)


def cross_play(
    agents: Sequence[str], opponent: str, deals: int, *, seed: int = 0, rules: str | Rules = JGA
) -> Float:
    """Plays every pair of agents as partners against one opponent: points [n, n, deals].

    All cells share the deals; points are means over all seatings of a deal.
    """
    table = np.zeros((len(agents), len(agents), deals))
    for first, second in combinations_with_replacement(range(len(agents)), 2):
        points = partners_points(agents[first], agents[second], opponent, deals, seed, rules)
        table[first, second] = table[second, first] = points
    return table


def partners_points(
    first: str,
    second: str,
    opponent: str,
    deals: int,
    seed: int = 0,
    rules: str | Rules = JGA,
    information: InformationStructure = PLAIN,
) -> Float:
    """Returns the points of two partners against an opponent, mean of all seatings: [deals]."""
    seatings = PAIR_SEATINGS if first == second else MIXED_SEATINGS
    names = (*dict.fromkeys((first, second)), opponent)
    rules = get_rules(rules)
    task = Task(
        agents=names,
        seed=seed,
        block=0,
        first=0,
        deals=deals,
        rules=rules,
        seatings=seatings,
        information=information,
    )
    with one_thread():
        points: Float = play_block(task).points.mean(axis=0)
    return points


def policy_distance(play: Play, policies: Mapping[str, Policy]) -> dict[tuple[str, str], Interval]:
    """Measures how far policies are apart on shared positions, in nats.

        D_ij = E over s of JSD( pi_i(.|s), pi_j(.|s) ),   0 to ln 2

    the Jensen-Shannon divergence (Lin 1991), exact in each position with a choice of the play.
    Compare arXiv:2303.06775, a rate of disagreement.
    """
    rows = np.flatnonzero(play.choice)
    view, legal = play.view(rows), play.legal[rows]
    probabilities = {
        name: ask_probabilities(policy, view, legal) for name, policy in policies.items()
    }
    return {
        (first, second): over_deals(
            play, rows, divergence(probabilities[first], probabilities[second])
        )
        for first, second in combinations(probabilities, 2)
    }


def divergence(first: Float, second: Float) -> Float:
    """Returns the Jensen-Shannon divergence of each row's distributions, in nats: [n]."""
    middle = (first + second) / 2
    nats = np.zeros(len(first))
    for distribution in (first, second):
        with np.errstate(divide="ignore", invalid="ignore"):
            terms = distribution * np.log(distribution / middle)
        nats += np.where(distribution > 0, terms, 0).sum(axis=1) / 2
    return nats


def _p_value(table: Float, orders: Int) -> float:
    """Returns the share of permutations [n!, n] whose sum over the table reaches the identity's.

    The first permutation is the identity.
    """
    sums = table[np.arange(len(table)), orders].sum(axis=1)
    return float((sums >= sums[0] - 1e-9).mean())


def _gap(mean: Float) -> float:
    off = ~np.eye(len(mean), dtype=bool)
    return float(np.diagonal(mean).mean() - mean[off].mean())
