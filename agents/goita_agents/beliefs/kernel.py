"""Sums over pairs of hands, compiled.

It stands in a file of its own, because numba's cache looks for changes nowhere else.
"""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

from goita_agents.beliefs.supports import GUARD
from goita_agents.compiling import compiled

if TYPE_CHECKING:
    from goita_agents.base import Bool, Float, Int


@compiled
def add_pairs(
    held_one: Int,
    held_two: Int,
    packed: Int,
    place: Int,
    index: Int,
    whole: Any,
    last: Any,
    weight: Float,
    never: Bool,
    found: Float,
) -> None:
    """Adds the weight of each deal to the sums of its three hands, ``found`` [3, M].

    ``held_one`` and ``held_two`` number the hands of the first two seats that have a weight.
    ``packed`` to ``last`` are those of a ``Support``, ``weight`` [3, M] is of the hands of the
    three seats, and a deal of three hands marked in ``never`` [3, M] doesn't count.
    """
    weight_one, weight_two, weight_third = weight[0], weight[1], weight[2]
    never_one, never_two, never_third = never[0], never[1], never[2]
    sum_one, sum_two, sum_third = found[0], found[1], found[2]
    for one in held_one:
        left, where = whole - packed[one], last - place[one]
        total = 0.0
        for two in held_two:
            if (left - packed[two]) & GUARD != GUARD:
                continue
            third = index[where - place[two]]
            deal = weight_one[one] * weight_two[two] * weight_third[third]
            if never_one[one] and never_two[two] and never_third[third]:
                continue
            total += deal
            sum_two[two] += deal
            sum_third[third] += deal
        sum_one[one] += total
