"""Computes intervals over runs, and what so many runs can show."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from math import sqrt
from typing import Final

import numpy as np

from goita_agents.base import Bool
from goita_lab.arena.statistics.intervals import Interval, t_quantile
from goita_lab.arena.statistics.runs import interval_over_runs

POWER: Final = 0.8
"""Probability with which what is called visible is seen."""

Statistic = Callable[[Bool], float]
"""Takes the runs that are kept, bool [n]."""


def over_runs(statistic: Statistic, groups: Mapping[str, Bool], *names: str) -> Interval:
    """Returns a statistic of the runs that are kept, with its 95 % interval over runs.

    Runs are left out one by one, method by method: the jackknife of a stratified sample, with
    Student's quantile.

    Args:
        statistic: takes the runs that are kept, bool [n].
        groups: the runs of each method, bool [n].
        names: the methods that the statistic is of.
    """
    every = np.logical_or.reduce([groups[name] for name in names])
    return interval_over_runs(lambda kept: statistic(kept & every), [groups[n] for n in names])


def spread_of(found: Interval, runs: int) -> float:
    """Returns the standard deviation over runs by the interval of their mean."""
    return (found.high - found.mean) / t_quantile(runs - 1) * sqrt(runs)


def visible(spread: float, runs: int) -> float:
    """Returns the smallest gap that runs of a spread show with a probability of ``POWER``."""
    # One side of an interval of this level is the quantile of POWER.
    return (t_quantile(runs - 1) + t_quantile(runs - 1, 2 * POWER - 1)) * spread / sqrt(runs)
