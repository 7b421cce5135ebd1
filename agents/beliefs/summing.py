"""Sums over all deals of three hands: numpy here, compiled where numba is installed.

A deal's weight is the product of three numbers, one for the hand of each seat. For two hands the
third is what is left, so a sum goes over pairs of hands. The seats with the fewest hands make the
pairs; the third hand is looked up.
"""

from __future__ import annotations

from collections.abc import Callable
from functools import cache
from typing import Final, cast

import numpy as np

from agents.base import Bool, Float, Int
from agents.beliefs.supports import GUARD, Support
from goita_env.tiles import PAWN

PAIRS: Final = 1 << 18
"""Pairs of hands that numpy tries at a time."""

Three = tuple[Float, Float, Float]


@cache
def compiled_sums() -> Callable[..., None] | None:
    """Returns the compiled sums over pairs; None without numba, which is loaded when needed."""
    try:
        from agents.beliefs.kernel import add_pairs
    except ImportError:
        return None
    return cast(Callable[..., None], add_pairs)


def sums(support: Support, weights: Three, apart: bool, compiled: bool | None = None) -> Three:
    """Returns for each hand of each seat the weight of all deals in which it holds it.

    Args:
        support: the M hands.
        weights: [M] of the hands of seats 1, 2 and 3.
        apart: seats 1 and 3 don't both hold five pawns.
        compiled: use numba; None: if it is installed.

    Returns:
        Three arrays [M].

    Raises:
        ImportError: if compiled code is asked for and numba is not installed.
    """
    add = None if compiled is False else compiled_sums()
    if compiled and add is None:
        raise ImportError("compiled sums need numba: pip install 'goita-env[search]'")
    add = add or _add_pairs
    held = [np.flatnonzero(weight) for weight in weights]
    one, two, third = sorted(range(3), key=lambda seat: len(held[seat]))
    found = np.zeros((3, len(support)))
    five: Bool = support.hands[:, PAWN] == 5
    add(
        held[one],
        held[two],
        support.packed,
        support.place,
        support.index,
        support.whole,
        support.last,
        weights[one],
        weights[two],
        weights[third],
        found[one],
        found[two],
        found[third],
        *_apart(five, apart, (one, two, third)),
    )
    return found[0], found[1], found[2]


def pair_weights(
    support: Support, weights: Three, hands: Int, apart: bool
) -> tuple[Int, Float, Int]:
    """Returns how likely each hand of seat 1 is beside given hands of seat 2, and what is left.

    Args:
        support: the M hands.
        weights: [M] of the hands of seats 1, 2 and 3.
        hands: [k] numbers of hands of seat 2.
        apart: seats 1 and 3 don't both hold five pawns.

    Returns:
        Numbers of the n hands of seat 1 that have a weight, int64 [n]; weights of the deals with
        them but for the factor of seat 2, float64 [k, n]; and numbers of the hands that are left
        for seat 3, int64 [k, n], -1 where it is none.
    """
    held = np.flatnonzero(weights[0])
    left = (support.whole - support.packed[hands])[:, None] - support.packed[held]
    fits = (left & GUARD) == GUARD
    place = (support.last - support.place[hands])[:, None] - support.place[held]
    third = np.where(fits, support.index[np.where(fits, place, 0)], -1)
    weight = weights[0][held] * np.where(fits, weights[2][third], 0)
    if apart:
        five = support.hands[:, PAWN] == 5
        weight *= ~(five[held] & five[third])
    return held, weight, third


def _apart(five: Bool, apart: bool, order: tuple[int, int, int]) -> tuple[Bool, Bool, Bool]:
    """Returns three marks [M] of hands that are not all held at once.

    Args:
        five: [M] the hand has five pawns.
        apart: seats 1 and 3 don't both hold one.
        order: number (seat - 1) of the seats that the marks are for.
    """
    none = np.zeros(len(five), bool)
    marks = (five, ~none, five) if apart else (none, none, none)
    return marks[order[0]], marks[order[1]], marks[order[2]]


def _add_pairs(
    held_one: Int,
    held_two: Int,
    packed: Int,
    place: Int,
    index: Int,
    whole: int,
    last: int,
    weight_one: Float,
    weight_two: Float,
    weight_third: Float,
    sum_one: Float,
    sum_two: Float,
    sum_third: Float,
    never_one: Bool,
    never_two: Bool,
    never_third: Bool,
) -> None:
    """Adds the weight of each deal to the sums of its three hands, as the compiled one does.

    Args:
        held_one: numbers of the hands of the first seat that have a weight.
        held_two: the same of the second.
        packed: [M] of the support.
        place: [M] of the support.
        index: [places] of the support.
        whole: of the support.
        last: of the support.
        weight_one: [M] of the hands of the first seat.
        weight_two: [M] of those of the second.
        weight_third: [M] of those of the third.
        sum_one: [M] to add to.
        sum_two: [M] to add to.
        sum_third: [M] to add to.
        never_one: [M] marks: a deal of three marked hands doesn't count.
        never_two: [M]
        never_third: [M]
    """
    if not len(held_two):
        return
    rows = max(PAIRS // len(held_two), 1)
    packed_two = packed[held_two]
    for start in range(0, len(held_one), rows):
        part = held_one[start : start + rows]
        left = (whole - packed[part])[:, None] - packed_two
        left &= GUARD
        pairs = np.flatnonzero(left == GUARD)
        first, second = np.divmod(pairs, len(held_two))
        first, second = part[first], held_two[second]
        third = index[last - place[first] - place[second]]
        weight = weight_one[first] * weight_two[second] * weight_third[third]
        weight[never_one[first] & never_two[second] & never_third[third]] = 0
        size = len(packed)
        sum_one += np.bincount(first, weight, size)
        sum_two += np.bincount(second, weight, size)
        sum_third += np.bincount(third, weight, size)
