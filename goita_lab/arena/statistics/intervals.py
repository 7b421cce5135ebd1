"""Computes 95 % intervals over deals.

The unit is the deal, never the game: the games of one deal share its luck, so they are averaged
first. Means and ratios have Student's t with Hall's correction for skewness (1992): it covers as
well as the bootstrap-t, and follows from the data alone. ``docs/reference/tournaments.md`` has the
coverage that was measured.
"""

from __future__ import annotations

from dataclasses import dataclass, field
from math import cbrt, isfinite, sqrt
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

FEW: Final = 8
"""With fewer values, or fewer that differ from the commonest, an interval is a rough one."""


def normal_quantile(level: float) -> float:
    """Returns how many standard errors an interval of a level has on each side."""
    return NormalDist().inv_cdf((1 + level) / 2)


_Z: Final = normal_quantile(LEVEL)


class _FromDeals:
    """Has a place beside the fields: no JSON, file of pieces or copy of an interval holds it."""

    __slots__ = ("_by_deal",)


@dataclass(frozen=True)
class Interval(_FromDeals):
    """A mean and the bounds of its 95 % interval."""

    mean: float
    low: float
    high: float
    few: bool = field(default=False, kw_only=True)
    """It rests on fewer than ``FEW`` values that differ: it may well be too narrow."""

    @property
    def by_deal(self) -> Float | None:
        """[2, n] Totals and counts of the deals that it was computed from; None in a copy."""
        found: Float | None = getattr(self, "_by_deal", None)
        return found

    def __getstate__(self) -> dict[str, float]:
        return dict(vars(self))

    @property
    def bounded(self) -> bool:
        """True if both ends are known."""
        return isfinite(self.low) and isfinite(self.high)


def mean_interval(values: npt.ArrayLike) -> Interval:
    """Returns the mean of one value a deal [n] with its interval, see ``ratio_interval``."""
    array = _deals(values)
    return ratio_interval(array, np.ones(len(array)))


def ratio_interval(totals: npt.ArrayLike, counts: npt.ArrayLike, level: float = LEVEL) -> Interval:
    """Returns the sum of the totals over the sum of the counts, with its interval.

    Points per round are such a ratio where deals begin whole matches, some longer than others. The
    ratio is linearised; the interval is Hall's (On the removal of skewness by transformation,
    1992), with the quantiles of Student's t.

    Args:
        totals: [n] points of each deal, n at least 2.
        counts: [n] rounds of each deal, above 0.
        level: probability with which the interval covers the ratio.
    """
    above, below = _deals(totals), _deals(counts)
    ratio = float(above.sum() / below.sum())
    if (above / below == above[0] / below[0]).all():  # such as an agent with itself
        found = Interval(ratio, ratio, ratio, few=len(above) < FEW)
    else:
        found = _hall(ratio, (above - ratio * below) / below.mean(), level)
    object.__setattr__(found, "_by_deal", np.stack([above, below]))
    return found


def mean_intervals(values: npt.ArrayLike) -> list[Interval]:
    """Returns the mean of each row [K, n] with its interval over deals, as ``mean_interval``."""
    return [mean_interval(row) for row in _rows(values)]


def _hall(mean: float, residuals: Float, level: float) -> Interval:
    """Returns the interval of a mean by the residuals [n] of the values, not all 0."""
    from scipy.special import stdtrit  # scipy.stats takes half a second to load

    count, deviation = len(residuals), float(residuals.std())
    few = bool(count - np.unique(residuals, return_counts=True)[1].max() < FEW)
    if not deviation:
        return Interval(mean, mean, mean, few=few)
    error = deviation / sqrt(count - 1)
    skew = float((residuals**3).mean()) / deviation**3 / sqrt(count)
    quantile = float(stdtrit(count - 1, (1 + level) / 2))

    def inverse(t: float) -> float:
        """Undoes the transformation that takes the skewness away."""
        return t if abs(skew) < 1e-9 else 3 / skew * (cbrt(1 + skew * (t - skew / 6)) - 1)

    return Interval(
        mean, mean - inverse(quantile) * error, mean - inverse(-quantile) * error, few=few
    )


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


def _deals(values: npt.ArrayLike) -> Float:
    array = np.asarray(values, np.float64)
    if array.ndim != 1 or len(array) < 2:
        raise SettingError(f"expected at least two deals for an interval, got {array.shape!r}")
    return array
