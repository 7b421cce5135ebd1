"""Sweeps over the histories of a small game, compiled.

It stands in a file of its own, because numba's cache looks for changes nowhere else. Histories come
in the order of their levels, so a loop forwards meets every history before its successors.
"""

from __future__ import annotations

from typing import Any

from goita_agents.compiling import compiled


@compiled
def reach(
    info: Any, first: Any, starts: Any, player: Any, policy: Any, chance: Any, me: int, found: Any
) -> None:
    """Writes the probability that chance and all players but one reach each history: [N]."""
    found[: len(chance)] = chance
    for node in range(len(info)):
        here = info[node]
        if here < 0:
            continue
        start, child, own = starts[here], first[node], player[here] == me
        for k in range(starts[here + 1] - start):
            found[child + k] = found[node] * (1.0 if own else policy[start + k])


@compiled
def expect(info: Any, first: Any, points: Any, starts: Any, policy: Any, found: Any) -> None:
    """Writes the expected points of seats 0 and 2 from each history on: [N]."""
    for node in range(len(info) - 1, -1, -1):
        here = info[node]
        if here < 0:
            found[node] = points[node]
            continue
        start, child, total = starts[here], first[node], 0.0
        for k in range(starts[here + 1] - start):
            total += policy[start + k] * found[child + k]
        found[node] = total


@compiled
def weigh(
    info: Any, first: Any, starts: Any, player: Any, me: int, reached: Any, value: Any, found: Any
) -> None:
    """Adds up what each action of one player is worth, by the reach of the others: [A]."""
    found[:] = 0.0
    for node in range(len(info)):
        here = info[node]
        if here < 0 or player[here] != me:
            continue
        start, child, weight = starts[here], first[node], reached[node]
        for k in range(starts[here + 1] - start):
            found[start + k] += weight * value[child + k]


@compiled
def _best(worth: Any, start: int, many: int, sign: float) -> int:
    best = 0
    for k in range(1, many):
        if sign * worth[start + k] > sign * worth[start + best]:
            best = k
    return best


@compiled
def respond(
    info: Any,
    first: Any,
    gained: Any,
    starts: Any,
    player: Any,
    me: int,
    sign: float,
    ends: Any,
    value: Any,
    worth: Any,
    chosen: Any,
) -> None:
    """Finds the best action of one player in each information set, the last ones first.

    ``gained`` [N]: points of each end, times the probability that all others reach it. ``ends``
    [L + 1]: first history of each level. Written are what each history brings, [N], what each
    action does, [A], both times that probability, and the best actions by their place, [I].
    """
    worth[:] = 0.0
    for level in range(len(ends) - 2, -1, -1):
        mine = False
        for node in range(ends[level], ends[level + 1]):
            here = info[node]
            if here < 0:
                value[node] = gained[node]
                continue
            start, child = starts[here], first[node]
            many = starts[here + 1] - start
            if player[here] == me:
                mine = True
                for k in range(many):
                    worth[start + k] += value[child + k]
            else:
                total = 0.0
                for k in range(many):
                    total += value[child + k]
                value[node] = total
        if not mine:
            continue
        for node in range(ends[level], ends[level + 1]):
            here = info[node]
            if here < 0 or player[here] != me:
                continue
            start = starts[here]
            if chosen[here] < 0:
                chosen[here] = _best(worth, start, starts[here + 1] - start, sign)
            value[node] = value[first[node] + chosen[here]]
