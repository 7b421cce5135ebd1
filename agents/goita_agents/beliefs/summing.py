"""Sums over all deals of three hands, in numpy or compiled.

A deal's weight is the product of three numbers, one for the hand of each seat. Two hands determine
the third, so a sum goes over pairs of hands: those of the seats with the fewest hands.
"""

from __future__ import annotations

from collections.abc import Callable
from functools import cache
from typing import Final, cast

import numpy as np

from goita_agents.base import Bool, Float, Int
from goita_agents.beliefs.supports import GUARD, Support
from goita_env.tiles import PAWN

PAIRS: Final = 1 << 18  # Pairs of hands that numpy tries at a time.
Three = tuple[Float, Float, Float]


@cache
def compiled_sums() -> Callable[..., None] | None:
    """Returns the compiled sums over pairs; None without numba, which is loaded when needed."""
    try:
        from goita_agents.beliefs.kernel import add_pairs
    except ImportError:
        return None
    return cast(Callable[..., None], add_pairs)


def sums(support: Support, weights: Three, apart: bool) -> Three:
    """Returns for each hand of each seat the weight of all deals in which it holds it: [M] each.

    Args:
        support: the M hands.
        weights: [M] of the hands of seats 1, 2 and 3.
        apart: seats 1 and 3 don't both hold five pawns.
    """
    add = compiled_sums() or _add_pairs
    order = sorted(range(3), key=lambda seat: np.count_nonzero(weights[seat]))
    weight, found = np.array(weights)[order], np.zeros((3, len(support)))
    never = np.zeros((3, len(support)), bool)  # a deal of three marked hands doesn't count
    if apart:
        never[[order.index(0), order.index(2)]] = support.hands[:, PAWN] == 5
        never[order.index(1)] = True
    tables = support.packed, support.place, support.index
    held = np.flatnonzero(weight[0]), np.flatnonzero(weight[1])
    add(*held, *tables, support.whole, support.last, weight, never, found)
    one, two, three = found[np.argsort(order)]
    return one, two, three


def pair_weights(
    support: Support, weights: Three, hands: Int, apart: bool
) -> tuple[Int, Float, Int]:
    """Returns how likely each hand of seat 1 is beside given hands of seat 2, and what is left.

    The arguments are those of ``sums``, and the numbers [k] of hands of seat 2.

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


def _add_pairs(
    held_one: Int,
    held_two: Int,
    packed: Int,
    place: Int,
    index: Int,
    whole: int,
    last: int,
    weight: Float,
    never: Bool,
    found: Float,
) -> None:
    """Adds the weight of each deal to the sums of its three hands, as ``kernel.add_pairs`` does."""
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
        deal = weight[0, first] * weight[1, second] * weight[2, third]
        deal[never[0, first] & never[1, second] & never[2, third]] = 0
        for seat, hand in enumerate((first, second, third)):
            found[seat] += np.bincount(hand, deal, len(packed))
