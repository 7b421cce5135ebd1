"""Computes 95 % intervals over deals.

The unit is the deal, never the game: the games of one deal share its luck, so they are averaged
first, and the bootstrap resamples deals.
"""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass
from math import isfinite, sqrt
from statistics import NormalDist
from typing import Final

import numpy as np
import numpy.typing as npt

from goita_env.arrays import Float
from goita_env.errors import SettingError

LEVEL: Final = 0.95
"""Of every interval here: of a mean, a rate, a rating, a bound."""
TAILS: Final = (0.025, 0.975)
"""The quantiles of samples at the ends of such an interval."""

NORMAL_FROM: Final = 10_000
"""From so many deals on the interval is the mean +- 1.96 standard errors: the bootstrap's bounds
are the same then to a hundredth of a point, and take seconds."""

RESAMPLES: Final = 5_000

_AT_ONCE: Final = 500
"""Resamples of many rows that are held in memory together."""


def normal_quantile(level: float) -> float:
    """Returns how many standard errors an interval of a level has on each side."""
    return NormalDist().inv_cdf((1 + level) / 2)


_Z: Final = normal_quantile(LEVEL)


@dataclass(frozen=True)
class Interval:
    """A mean and the bounds of its 95 % interval."""

    mean: float
    low: float
    high: float

    @property
    def bounded(self) -> bool:
        """True if both ends are known."""
        return isfinite(self.low) and isfinite(self.high)


def mean_interval(values: npt.ArrayLike, seed: int = 0) -> Interval:
    """Returns the mean of one value a deal [n] with its interval, see ``ratio_interval``."""
    array = _deals(values)
    return ratio_interval(array, np.ones(len(array)), seed)


def ratio_interval(
    totals: npt.ArrayLike, counts: npt.ArrayLike, seed: int = 0, level: float = LEVEL
) -> Interval:
    """Returns the sum of the totals over the sum of the counts, with its bootstrap interval.

    Points per round are such a ratio where deals begin whole matches, some longer than others. The
    interval holds percentiles of the ratios of 5,000 resamples (Efron 1979, by
    ``scipy.stats.bootstrap``); from ``NORMAL_FROM`` deals on it is normal, the ratio linearised.

    Args:
        totals: [n] points of each deal, n at least 2.
        counts: [n] rounds of each deal, above 0.
        seed: of the resamples.
        level: probability with which the interval covers the ratio.
    """
    above, below = _deals(totals), _deals(counts)
    ratio = float(above.sum() / below.sum())
    residuals = (above - ratio * below) / below.mean()
    if not residuals.any() or (above / below == above[0] / below[0]).all():
        return Interval(ratio, ratio, ratio)
    if len(above) >= NORMAL_FROM:
        half = normal_quantile(level) * float(residuals.std(ddof=1)) / sqrt(len(above))
        return Interval(ratio, ratio - half, ratio + half)
    from scipy.stats import bootstrap

    alike = bool((below == below[0]).all())
    found = bootstrap(
        (above / below[0],) if alike else (above, below),
        np.mean if alike else _ratio,
        n_resamples=RESAMPLES,
        batch=max(1, 2_000_000 // len(above)),
        confidence_level=level,
        method="percentile",
        paired=True,
        vectorized=True,
        rng=np.random.default_rng(seed),
    ).confidence_interval
    return Interval(ratio, float(found.low), float(found.high))


def mean_intervals(values: npt.ArrayLike, seed: int = 0) -> list[Interval]:
    """Returns the mean of each row with its bootstrap interval over deals, as ``mean_interval``.

    All rows are resampled alike, which takes no longer for hundreds of rows than for one.

    Args:
        values: [K, n] values of the same n deals, n at least 2.
        seed: of the resamples.
    """
    array = _rows(values)
    means = np.concatenate([weights @ array.T for weights in _resampled(array.shape[1], seed)])
    return [_percentiles(row.mean(), means[:, number]) for number, row in enumerate(array)]


def two_way_interval(values: npt.ArrayLike, seed: int = 0) -> Interval:
    """Returns the mean of a table with an interval over its rows and its columns.

    Rows (partners) and columns (deals) are resampled independently: the pigeonhole bootstrap, which
    is a little too wide rather than too narrow (Owen 2007).

    Args:
        values: [K, n] values of K partners in the same n deals, both at least 2.
        seed: of the resamples.
    """
    array = _rows(values)
    if len(array) < 2:
        raise SettingError(f"expected at least two rows for an interval, got {array.shape!r}")
    rows, columns = _resampled(len(array), seed), _resampled(array.shape[1], seed + 1)
    found = [
        ((row @ array) * column).sum(axis=1) for row, column in zip(rows, columns, strict=True)
    ]
    return _percentiles(array.mean(), np.concatenate(found))


def _resampled(many: int, seed: int) -> Iterator[Float]:
    """Yields the weights [r, ``many``] of all units, some resamples at a time."""
    rng = np.random.default_rng(seed)
    for _ in range(RESAMPLES // _AT_ONCE):
        yield rng.multinomial(many, np.full(many, 1 / many), size=_AT_ONCE) / many


def _percentiles(mean: float, means: Float) -> Interval:
    low, high = np.quantile(means, [(1 - LEVEL) / 2, (1 + LEVEL) / 2])
    return Interval(float(mean), float(low), float(high))


def _rows(values: npt.ArrayLike) -> Float:
    array = np.asarray(values, np.float64)
    if array.ndim != 2 or not len(array) or array.shape[1] < 2:
        raise SettingError(f"expected rows of at least two deals, got {array.shape!r}")
    return array


def rate_interval(wins: npt.ArrayLike, games: npt.ArrayLike | None = None) -> Interval:
    """Returns a win rate with Wilson's interval (1927), the games of one deal kept together.

    The number of games in Wilson's formula is the effective one, p (1 - p) over the variance of the
    mean over deals. With one independent game a deal this is exactly Wilson's interval. If every
    game was won, or every one lost, it is the number of deals.

    Args:
        wins: [n] games of each deal that were won; n at least 2.
        games: [n] games of each deal, above 0; None: one, of which a share may be won.
    """
    won = _deals(wins)
    played = np.ones(len(won)) if games is None else _deals(games)
    rate = float(won.sum() / played.sum())
    residuals = (won - rate * played) / played.mean()
    variance = float((residuals * residuals).mean()) / len(won)
    if variance == 0 and 0 < rate < 1:
        return Interval(rate, rate, rate)
    count = rate * (1 - rate) / variance if variance else len(won)
    middle = (rate + _Z**2 / (2 * count)) / (1 + _Z**2 / count)
    half = sqrt(rate * (1 - rate) / count + (_Z / (2 * count)) ** 2) * _Z / (1 + _Z**2 / count)
    return Interval(rate, max(0.0, middle - half), min(1.0, middle + half))


def variance_removed(games: npt.ArrayLike) -> float:
    """Returns the share of the variance of a deal's mean that playing each deal S times removes.

    It is 1 - S Var(mean of a deal) / Var(single game) of ``games`` [S, n], points of the first
    team: 0 for independent games of a deal, 1 where their luck cancels; below 0 by chance alone.
    """
    array = np.asarray(games, np.float64)
    single, means = float(array.var(ddof=1)), float(array.mean(axis=0).var(ddof=1))
    return 1 - len(array) * means / single if single else 0.0


def _ratio(above: Float, below: Float, axis: int = -1) -> Float:
    ratio: Float = above.sum(axis=axis) / below.sum(axis=axis)
    return ratio


def _deals(values: npt.ArrayLike) -> Float:
    array = np.asarray(values, np.float64)
    if array.ndim != 1 or len(array) < 2:
        raise SettingError(f"expected at least two deals for an interval, got {array.shape!r}")
    return array
