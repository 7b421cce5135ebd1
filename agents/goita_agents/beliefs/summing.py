"""Sums over all deals of three hands.

A deal's weight is the product of three numbers, one for the hand of each seat. Two hands determine
the third, so a sum goes over pairs of hands: those of the seats with the fewest hands.
"""

from __future__ import annotations

import numpy as np

from goita_agents.base import Float, Int
from goita_agents.beliefs.supports import GUARD, Support
from goita_env.tiles import PAWN

Three = tuple[Float, Float, Float]


def sums(support: Support, weights: Three, apart: bool) -> Three:
    """Returns for each hand of each seat the weight of all deals in which it holds it: [M] each.

    Args:
        support: the M hands.
        weights: [M] of the hands of seats 1, 2 and 3.
        apart: seats 1 and 3 don't both hold five pawns.
    """
    from goita_agents.beliefs.kernel import add_pairs  # which loads numba

    order = sorted(range(3), key=lambda seat: np.count_nonzero(weights[seat]))
    weight, found = np.array(weights)[order], np.zeros((3, len(support)))
    never = np.zeros((3, len(support)), bool)  # a deal of three marked hands doesn't count
    if apart:
        never[[order.index(0), order.index(2)]] = support.hands[:, PAWN] == 5
        never[order.index(1)] = True
    tables = support.packed, support.place, support.index
    held = np.flatnonzero(weight[0]), np.flatnonzero(weight[1])
    add_pairs(*held, *tables, support.whole, support.last, weight, never, found)
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
