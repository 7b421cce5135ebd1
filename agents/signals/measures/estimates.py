"""Turns values of decisions into estimates with intervals; mutual information without its bias."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass
from math import sqrt
from typing import Final

import numpy as np
import numpy.typing as npt

from agents.base import Float, Int
from agents.statistics.intervals import Interval, mean_interval, ratio_interval
from goita_env.errors import SettingError

GROUPS: Final = 50
"""Groups of deals that the jackknife leaves out in turn."""

SHUFFLES: Final = 20
"""Permutations behind the placebo of a mutual information."""

_Z: Final = 1.959963984540054


def over_deals(values: npt.ArrayLike, deal: Int, counts: npt.ArrayLike | None = None) -> Interval:
    """Returns the mean of decisions' values with its 95 % interval, deals kept together.

    Args:
        values: [D]
        deal: [D] deal of each; at least two different ones.
        counts: [D] how much each counts; None: 1.

    Raises:
        SettingError: if they are of fewer than two deals.
    """
    array = np.asarray(values, np.float64)
    weight = np.ones(len(array)) if counts is None else np.asarray(counts, np.float64)
    _, which = np.unique(deal, return_inverse=True)
    below = np.bincount(which, weight)
    above = np.bincount(which, weight * array)
    return ratio_interval(above[below > 0], below[below > 0])


def differences(first: npt.ArrayLike, second: npt.ArrayLike) -> Interval:
    """Returns the mean of paired differences, first minus second, with its 95 % interval."""
    return mean_interval(np.asarray(first, np.float64) - np.asarray(second, np.float64))


@dataclass(frozen=True)
class Information:
    """Holds a mutual information that was estimated from counts, in nats."""

    interval: Interval
    """The plug-in value minus its bias, with a 95 % interval: standard error of the jackknife over
    groups of deals (Efron and Stein 1981). May be below 0, as an unbiased estimate of 0 is."""
    plug_in: float
    """The plug-in value: of the counted frequencies as they are; too large."""
    bias: float
    """Its bias, by the non-zero cells that were counted (``plug_in_information``); below 0 where
    few combinations occur."""
    shuffled: float
    """Placebo: mean plug-in value minus bias where one side is shuffled within contexts; near 0."""
    samples: int
    """Pairs that were counted."""


def information(first: Int, second: Int, deal: Int, context: Int, seed: int = 0) -> Information:
    """Estimates I(first; second | context) of paired values.

    Args:
        first: int [n] values, e.g. what was said.
        second: int [n] values, e.g. what was done.
        deal: int [n] deals, by which the interval groups; of at least two.
        context: int [n] values that are known to both.
        seed: of the shuffles.

    Raises:
        SettingError: if there are fewer than two deals.
    """
    groups = np.unique(deal, return_inverse=True)[1] % GROUPS
    if len(first) == 0 or groups.max() == 0:
        raise SettingError("expected pairs of two deals at least, got fewer")
    index = [np.unique(values, return_inverse=True)[1] for values in (context, first, second)]
    shape = tuple(int(values.max()) + 1 for values in index)
    flat = np.ravel_multi_index(tuple(index), shape)
    size = int(np.prod(shape))
    counts = np.bincount(flat, minlength=size).reshape(shape)
    plug_in, bias = plug_in_information(counts)
    parts = [
        counts - np.bincount(flat[groups == group], minlength=size).reshape(shape)
        for group in range(int(groups.max()) + 1)
    ]
    left = np.array([np.subtract(*plug_in_information(part)) for part in parts])
    error = sqrt((len(left) - 1) / len(left) * float(((left - left.mean()) ** 2).sum()))
    rng, order = np.random.default_rng(seed), np.argsort(index[0], kind="stable")
    placebo = []
    for _ in range(SHUFFLES):
        mixed = rng.permutation(len(order))
        mixed = mixed[np.argsort(index[0][mixed], kind="stable")]
        joined = np.ravel_multi_index((index[0][order], index[1][order], index[2][mixed]), shape)
        table = np.bincount(joined, minlength=size).reshape(shape)
        placebo.append(np.subtract(*plug_in_information(table)))
    value = plug_in - bias
    return Information(
        Interval(value, value - _Z * error, value + _Z * error),
        plug_in,
        bias,
        float(np.mean(placebo)),
        len(first),
    )


def plug_in_information(counts: npt.NDArray[np.integer]) -> tuple[float, float]:
    """Returns the plug-in conditional mutual information of counts and its bias, in nats.

        bias = sum over contexts of (K_xy - K_x - K_y + 1) / 2 N

    with K_xy the cells of a context that are not zero, K_x and K_y its rows and columns that are
    not. Source: Roulston (1999), Physica D 125, 285-294, from the bias of plug-in entropies
    (Miller 1955). In a table without impossible cells it is (rows - 1)(columns - 1) / 2 N; where
    the rules forbid combinations, that would take off too much.

    Args:
        counts: [C, X, Y] pairs (x, y) in each context.
    """
    total = counts.sum()
    joint = counts / total
    rows, columns = joint.sum(axis=2, keepdims=True), joint.sum(axis=1, keepdims=True)
    each = joint.sum(axis=(1, 2), keepdims=True)
    with np.errstate(divide="ignore", invalid="ignore"):
        terms = joint * np.log(joint * each / (rows * columns))
    plug_in = float(terms[joint > 0].sum())
    cells = [(part > 0).sum(axis=(1, 2)) for part in (joint, rows, columns, each)]
    return plug_in, float((cells[0] - cells[1] - cells[2] + cells[3]).sum() / (2 * total))


def table_information(joint: Float) -> float:
    """Returns the mutual information of a table of probabilities, in nats: exact.

    Args:
        joint: [X, Y] probabilities; they need not sum to 1.
    """
    table = joint / joint.sum()
    with np.errstate(divide="ignore", invalid="ignore"):
        terms = table * np.log(table / (table.sum(1, keepdims=True) * table.sum(0, keepdims=True)))
    return float(terms[table > 0].sum())


def jackknife(values: Callable[[Int], float], size: int) -> tuple[float, float]:
    """Returns a statistic of n units and its jackknife standard error (Efron and Stein 1981).

    Args:
        values: the statistic of the units of an index array.
        size: n.
    """
    every = np.arange(size)
    left = np.array([values(every[every != one]) for one in range(size)])
    error = sqrt((size - 1) / size * float(((left - left.mean()) ** 2).sum()))
    return values(every), error
