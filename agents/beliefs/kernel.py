"""Sums over pairs of hands: all that is compiled in this room.

It stands in a file of its own, because numba's cache looks for changes nowhere else.
"""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

from numba import njit

from agents.beliefs.supports import GUARD

if TYPE_CHECKING:
    from agents.base import Bool, Float, Int


@njit(cache=True, nogil=True)
def add_pairs(
    held_one: Int,
    held_two: Int,
    packed: Int,
    place: Int,
    index: Int,
    whole: Any,
    last: Any,
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
    """Adds the weight of each deal to the sums of its three hands: see ``summing``."""
    for one in held_one:
        left, where = whole - packed[one], last - place[one]
        total = 0.0
        for two in held_two:
            if (left - packed[two]) & GUARD != GUARD:
                continue
            third = index[where - place[two]]
            weight = weight_one[one] * weight_two[two] * weight_third[third]
            if never_one[one] and never_two[two] and never_third[third]:
                continue
            total += weight
            sum_two[two] += weight
            sum_third[third] += weight
        sum_one[one] += total
