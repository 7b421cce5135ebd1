"""Computes 95 % intervals over deals, partners and runs (independent trainings).

The unit of an interval over deals is the deal, never the game: the games of one deal share its
luck, so they are averaged first. Intervals of means and ratios use Student's t distribution.
``docs/reference/tournaments.md`` has their measured coverage, and ``research/log/intervals.md``
that of methods which are no longer used.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, field, replace
from math import isfinite, sqrt
from statistics import NormalDist
from typing import Final

import numpy as np
import numpy.typing as npt

from goita_env.arrays import Float
from goita_env.errors import SettingError, naming_extras

INTERVAL_LEVEL: Final = 0.95
"""Level of all intervals: of means, rates, ratings and bounds."""
INTERVAL_TAILS: Final = ((1 - INTERVAL_LEVEL) / 2, (1 + INTERVAL_LEVEL) / 2)
"""Quantiles of a sample at the two ends of such an interval."""

FEW_VALUES: Final = 8
"""An interval is marked as rough if it has fewer values, or if fewer differ from the commonest."""
FEW_NONZERO: Final = 5
"""An interval of fewer values other than zero is marked as rough, too."""
MIN_RUNS: Final = 3
"""An interval over fewer runs is marked as rough."""
LEAST_RANKED: Final = 4
"""Least number of agents of which a rank correlation is computed."""


def normal_quantile(level: float = INTERVAL_LEVEL) -> float:
    """Returns how many standard errors an interval of many values has on each side."""
    return NormalDist().inv_cdf((1 + level) / 2)


def t_quantile(freedom: float, level: float = INTERVAL_LEVEL) -> float:
    """Returns how many standard errors an interval has on each side, by degrees of freedom."""
    with naming_extras():
        from scipy.special import stdtrit  # scipy.stats takes half a second to load

    return float(stdtrit(freedom, (1 + level) / 2))


@dataclass(frozen=True)
class Interval:
    """A mean and the bounds of its 95 % interval."""

    mean: float
    low: float
    high: float
    few: bool = field(default=False, kw_only=True)
    """The interval is rough: it has few values, or few that differ, so it may be too narrow."""

    @property
    def bounded(self) -> bool:
        """True if both ends are known."""
        return isfinite(self.low) and isfinite(self.high)


def t_interval(mean: float, error: float, freedom: float) -> Interval:
    """Returns a mean with Student's interval by its standard error and degrees of freedom."""
    half = t_quantile(freedom) * error
    return Interval(mean, mean - half, mean + half)


def mean_interval(values: npt.ArrayLike) -> Interval:
    """Returns the mean of one value a deal [n] with its interval, see ``ratio_interval``."""
    array = _deals(values)
    return ratio_interval(array, np.ones(len(array)))


def ratio_interval(
    totals: npt.ArrayLike, counts: npt.ArrayLike, level: float = INTERVAL_LEVEL
) -> Interval:
    """Returns the sum of the totals over the sum of the counts, with Student's interval.

    Points per round are such a ratio where deals begin whole matches, some longer than others. The
    ratio is linearised: its interval is that of the mean of totals - ratio * counts.

    Args:
        totals: [n] points of each deal, n at least 2.
        counts: [n] rounds of each deal, above 0.
        level: probability with which the interval covers the ratio.
    """
    above, below = _deals(totals), _deals(counts)
    ratio, size = float(above.sum() / below.sum()), len(above)
    differing, _ = _differing(above / below)
    few = bool(differing < FEW_VALUES or np.count_nonzero(above) < FEW_NONZERO)
    half = 0.0
    if differing:  # else exactly 0, which rounding errors would miss
        error = float(((above - ratio * below) / below.mean()).std(ddof=1)) / sqrt(size)
        half = t_quantile(size - 1, level) * error
    return Interval(ratio, ratio - half, ratio + half, few=few)


def rate_interval(wins: npt.ArrayLike, games: npt.ArrayLike | None = None) -> Interval:
    """Returns a win rate with Wilson's interval (1927), the games of one deal kept together.

    The number of games in Wilson's formula is the effective one, p (1 - p) over the variance of the
    mean over deals. With one independent game a deal this is exactly Wilson's interval. If all
    deals have the same rate, so that there is no variance, it is the number of deals. Where nearly
    all deals share a rate between 0 and 1, because their wins cancel, the variance rests on few
    deals, and the interval is marked.

    Args:
        wins: [n] games of each deal that were won; n at least 2.
        games: [n] games of each deal, above 0; None: one, of which a share may be won.
    """
    won = _deals(wins)
    played = np.ones(len(won)) if games is None else _deals(games)
    rate = float(won.sum() / played.sum())
    differing, commonest = _differing(won / played)
    few = len(won) < FEW_VALUES or (differing < FEW_VALUES and 0 < commonest < 1)
    count = float(len(won))
    if differing:
        residuals = (won - rate * played) / played.mean()
        count *= rate * (1 - rate) / float((residuals * residuals).mean())
    z = normal_quantile()
    middle = (rate + z**2 / (2 * count)) / (1 + z**2 / count)
    half = sqrt(rate * (1 - rate) / count + (z / (2 * count)) ** 2) * z / (1 + z**2 / count)
    return Interval(rate, max(0.0, middle - half), min(1.0, middle + half), few=few)


def rank_correlation(first: Sequence[float], second: Sequence[float]) -> float | None:
    """Returns Spearman's rank correlation of two figures of agents; None: too few agents."""
    if len(first) < LEAST_RANKED:
        return None
    with naming_extras():
        from scipy.stats import spearmanr

    return float(spearmanr(first, second).statistic)


def over_runs(values: Sequence[float]) -> Interval:
    """Returns the mean of a value of each run with Student's 95 % interval: runs are few.

    There are two values or more; with fewer than ``MIN_RUNS`` the interval is marked as rough.
    """
    error = float(np.std(values, ddof=1)) / sqrt(len(values))
    bounds = t_interval(float(np.mean(values)), error, len(values) - 1)
    return replace(bounds, few=len(values) < MIN_RUNS)


def runs_difference(first: Sequence[float], second: Sequence[float]) -> Interval:
    """Returns the mean of ``first`` minus that of ``second``, values of independent runs.

    The interval is Welch's, which allows different variances. Each has two values or more.
    """
    squares = [float(np.var(values, ddof=1)) / len(values) for values in (first, second)]
    total, mean = sum(squares), float(np.mean(first) - np.mean(second))
    few = min(len(first), len(second)) < MIN_RUNS
    if not total:  # all runs of both have the same value
        return Interval(mean, mean, mean, few=few)
    sizes = (len(first), len(second))
    freedom = total**2 / sum(
        square**2 / (size - 1) for square, size in zip(squares, sizes, strict=True)
    )
    return replace(t_interval(mean, sqrt(total), freedom), few=few)


def jackknife_error(leave_one_out: Sequence[float]) -> float:
    """Returns the standard error of a statistic (Efron and Stein 1981).

    ``leave_one_out``: its values when one unit after another is left out.
    """
    values = np.asarray(leave_one_out)
    return sqrt((len(values) - 1) / len(values) * float(((values - values.mean()) ** 2).sum()))


def variance_removed(games: npt.ArrayLike) -> float:
    """Returns the share of the variance of a deal's mean that playing each deal S times removes.

    It is 1 - S Var(mean of a deal) / Var(single game) of ``games`` [S, n], points of the first
    team: 0 for independent games of a deal, 1 where their luck cancels; below 0 only by chance.
    """
    array = np.asarray(games, np.float64)
    single, means = float(array.var(ddof=1)), float(array.mean(axis=0).var(ddof=1))
    return 1 - len(array) * means / single if single else 0.0


def _differing(values: Float) -> tuple[int, float]:
    """Returns how many values differ from the commonest value, and the commonest value."""
    distinct, counts = np.unique(values, return_counts=True)
    commonest = counts.argmax()
    return len(values) - int(counts[commonest]), float(distinct[commonest])


def _deals(values: npt.ArrayLike) -> Float:
    array = np.asarray(values, np.float64)
    if array.ndim != 1 or len(array) < 2:
        raise SettingError(f"expected at least two deals for an interval, got {array.shape!r}")
    return array
