"""Sums over pairs of hands, compiled.

It is a separate file, because numba's cache notices changes only in a function's own file.
"""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

from goita_agents.beliefs.supports import GUARD
from goita_agents.compiling import compiled

if TYPE_CHECKING:
    from goita_agents.base import Bool, Float, Int


@compiled
def add_pairs(
    first_hands: Int,
    second_hands: Int,
    packed: Int,
    place: Int,
    index: Int,
    whole: Any,
    last: Any,
    weight: Float,
    never: Bool,
    sums: Float,
) -> None:
    """Adds the weight of each deal to the sums of its three hands, ``sums`` [3, M].

    ``first_hands`` and ``second_hands`` are the indices of hands of the first two seats that have a
    weight. ``packed`` to ``last`` are fields of a ``Support``, ``weight`` [3, M] holds the weights
    of the three seats' hands, and a deal of three hands marked in ``never`` [3, M] doesn't count.
    """
    weight_first, weight_second, weight_third = weight[0], weight[1], weight[2]
    never_first, never_second, never_third = never[0], never[1], never[2]
    sum_first, sum_second, sum_third = sums[0], sums[1], sums[2]
    for first in first_hands:
        # Packed form and place of the unseen tiles without the first hand.
        tiles_left, place_left = whole - packed[first], last - place[first]
        total = 0.0
        for second in second_hands:
            # A spare bit falls where the second hand has more tiles of a kind than are left.
            if (tiles_left - packed[second]) & GUARD != GUARD:
                continue
            third = index[place_left - place[second]]
            deal_weight = weight_first[first] * weight_second[second] * weight_third[third]
            if never_first[first] and never_second[second] and never_third[third]:
                continue
            total += deal_weight
            sum_second[second] += deal_weight
            sum_third[third] += deal_weight
        sum_first[first] += total
