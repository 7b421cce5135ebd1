"""Sums over all deals of three hands.

A deal's weight is the product of three numbers, one for the hand of each seat. Two hands determine
the third, so a sum goes over pairs of hands, of the two seats that have the fewest hands.
"""

from __future__ import annotations

import numpy as np

from goita_agents.base import Float, Int
from goita_agents.beliefs.supports import GUARD, Support
from goita_env.tiles import PAWN

PerSeat = tuple[Float, Float, Float]
"""An array of each of the seats 1, 2 and 3."""


def sum_by_hand(support: Support, weights: PerSeat, apart: bool) -> PerSeat:
    """Returns for each hand of each seat the weight of all deals in which it holds it: [M] each.

    Args:
        support: the M hands.
        weights: [M] of the hands of seats 1, 2 and 3.
        apart: seats 1 and 3 don't both hold five pawns.
    """
    from goita_agents.beliefs.kernel import add_pairs  # which loads numba

    # Rows [3, M] are seats, those with the fewest hands first: two seats' pairs are then fewest.
    order = sorted(range(3), key=lambda seat: np.count_nonzero(weights[seat]))
    weight, by_hand = np.array(weights)[order], np.zeros((3, len(support)))
    # A deal of three marked hands doesn't count: five pawns at seats 1 and 3, any hand at seat 2.
    never = np.zeros((3, len(support)), bool)
    if apart:
        never[[order.index(0), order.index(2)]] = support.hands[:, PAWN] == 5
        never[order.index(1)] = True
    first_hands, second_hands = np.flatnonzero(weight[0]), np.flatnonzero(weight[1])
    tables = support.packed, support.place, support.index, support.whole, support.last
    add_pairs(first_hands, second_hands, *tables, weight, never, by_hand)
    next_sums, partner_sums, previous_sums = by_hand[np.argsort(order)]  # in order of seats again
    return next_sums, partner_sums, previous_sums


def pair_weights(
    support: Support, weights: PerSeat, hands: Int, apart: bool
) -> tuple[Int, Float, Int]:
    """Returns how likely each hand of seat 1 is given hands of seat 2, and seat 3's hand.

    The arguments are those of ``sum_by_hand``, and the indices [k] of hands of seat 2.

    Returns:
        Indices of the n hands of seat 1 that have a weight, int64 [n]; the weights of the deals
        that they make with the hands of seat 2, without the factor of seat 2, float64 [k, n]; and
        the indices of the hands that are left for seat 3, int64 [k, n], -1 where there is none.
    """
    first = np.flatnonzero(weights[0])
    tiles_left = (support.whole - support.packed[hands])[:, None] - support.packed[first]
    fits = (tiles_left & GUARD) == GUARD  # no kind is missing: all spare bits are still set
    place = (support.last - support.place[hands])[:, None] - support.place[first]
    third = np.where(fits, support.index[np.where(fits, place, 0)], -1)
    # Where the index is -1, the last hand's weight is read, and replaced by 0.
    weight = weights[0][first] * np.where(fits, weights[2][third], 0)
    if apart:
        five = support.hands[:, PAWN] == 5
        weight *= ~(five[first] & five[third])  # times 0 where both hold five
    return first, weight, third
