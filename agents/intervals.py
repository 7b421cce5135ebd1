"""Says how sure a measured mean is: 95 % intervals over deals.

The unit is the deal, never the game: the games of one deal share its luck, so they are averaged
first and it is deals that are drawn again.
"""

from __future__ import annotations

from dataclasses import dataclass
from math import sqrt
from statistics import NormalDist
from typing import Final

import numpy as np
import numpy.typing as npt

from goita_env.errors import SettingError

LEVEL: Final = 0.95
"""Probability that an interval covers the truth."""

NORMAL_FROM: Final = 10_000
"""From so many deals on the interval is the mean +- 1.96 standard errors: the bootstrap's bounds
are the same then to a hundredth of a point, and take seconds."""

RESAMPLES: Final = 5_000
_Z: Final = NormalDist().inv_cdf((1 + LEVEL) / 2)


@dataclass(frozen=True)
class Interval:
    """Holds a mean and the bounds of its 95 % interval."""

    mean: float
    low: float
    high: float


def mean_interval(values: npt.ArrayLike, seed: int = 0) -> Interval:
    """Returns the mean of independent values with its percentile-bootstrap interval.

    Percentiles of the means of 5,000 resamples (Efron 1979, by ``scipy.stats.bootstrap``); from
    ``NORMAL_FROM`` values on the normal interval. Values all the same give an interval of no width.

    Args:
        values: [n] one value a deal, n at least 2.
        seed: of the resamples; the same values and seed give the same interval.

    Raises:
        SettingError: if there are fewer than two values.
    """
    array = np.asarray(values, np.float64)
    if array.ndim != 1 or len(array) < 2:
        raise SettingError(f"expected at least two values for an interval, got {array.shape!r}")
    mean = float(array.mean())
    if (array == array[0]).all():
        return Interval(mean, mean, mean)
    if len(array) >= NORMAL_FROM:
        half = _Z * float(array.std(ddof=1)) / sqrt(len(array))
        return Interval(mean, mean - half, mean + half)
    from scipy.stats import bootstrap

    found = bootstrap(
        (array,),
        np.mean,
        n_resamples=RESAMPLES,
        batch=max(1, 2_000_000 // len(array)),
        confidence_level=LEVEL,
        method="percentile",
        rng=np.random.default_rng(seed),
    ).confidence_interval
    return Interval(mean, float(found.low), float(found.high))


def rate_interval(wins: npt.ArrayLike) -> Interval:
    """Returns a win rate with Wilson's interval (1927), the games of one deal kept together.

    The number of games in Wilson's formula is the effective one, p (1 - p) over the variance of the
    mean over deals; so with one independent game a deal this is Wilson's interval to the letter. If
    every game was won, or every one lost, it is the number of deals.

    Args:
        wins: [n] share of each deal's games that was won, 0 to 1; n at least 2.

    Raises:
        SettingError: if there are fewer than two deals.
    """
    array = np.asarray(wins, np.float64)
    if array.ndim != 1 or len(array) < 2:
        raise SettingError(f"expected at least two deals for an interval, got {array.shape!r}")
    rate, variance = float(array.mean()), float(array.var()) / len(array)
    if variance == 0 and 0 < rate < 1:
        return Interval(rate, rate, rate)
    games = rate * (1 - rate) / variance if variance else len(array)
    middle = (rate + _Z**2 / (2 * games)) / (1 + _Z**2 / games)
    half = sqrt(rate * (1 - rate) / games + (_Z / (2 * games)) ** 2) * _Z / (1 + _Z**2 / games)
    return Interval(rate, max(0.0, middle - half), min(1.0, middle + half))
