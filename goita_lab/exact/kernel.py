"""Sweeps over the histories of a small game, compiled.

It has a file to itself, because numba's cache looks for changes only in the file of a function.
Histories are in the order of their levels: a loop forwards meets a history before its successors.

Arrays: ``info`` [N] is the information set of a history, -1 where the round is over; ``first`` [N]
its first successor; ``starts`` [I + 1] the first action of a set; ``player`` [I] who acts there;
``policy`` [A] the probability of each action. Successors and actions lie side by side: child k of a
history follows action k of its set.
"""

from __future__ import annotations

from typing import Any

from goita_agents.compiling import compiled


@compiled
def reach(
    info: Any, first: Any, starts: Any, player: Any, policy: Any, chance: Any, me: int, reached: Any
) -> None:
    """Writes the probability that chance and all players except one reach each history: [N]."""
    reached[: len(chance)] = chance
    for node in range(len(info)):
        here = info[node]
        if here < 0:
            continue
        start, child, own = starts[here], first[node], player[here] == me
        for k in range(starts[here + 1] - start):
            reached[child + k] = reached[node] * (1.0 if own else policy[start + k])


@compiled
def expect(info: Any, first: Any, points: Any, starts: Any, policy: Any, value: Any) -> None:
    """Writes the expected points of seats 0 and 2 from each history on: [N]."""
    for node in range(len(info) - 1, -1, -1):
        here = info[node]
        if here < 0:
            value[node] = points[node]
            continue
        start, child, total = starts[here], first[node], 0.0
        for k in range(starts[here + 1] - start):
            total += policy[start + k] * value[child + k]
        value[node] = total


@compiled
def weigh(
    info: Any, first: Any, starts: Any, player: Any, me: int, reached: Any, value: Any, worth: Any
) -> None:
    """Writes the worth of each action of one player, 0 for the others' actions: [A].

    ``reached``: [N] probability that chance and the other players reach each history.
    """
    worth[:] = 0.0
    for node in range(len(info)):
        here = info[node]
        if here < 0 or player[here] != me:
            continue
        start, child, weight = starts[here], first[node], reached[node]
        for k in range(starts[here + 1] - start):
            worth[start + k] += weight * value[child + k]


@compiled
def _best(worth: Any, start: int, width: int, sign: float) -> int:
    best = 0
    for k in range(1, width):
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
    """Finds the best action of one player in each information set, from the last level back.

    ``gained`` [N]: points of each end, times the probability that all others reach it. ``ends``
    [L + 1]: first history of each level. Written are the points of each history, ``value`` [N], and
    of each action, ``worth`` [A], both times that probability, and for each information set the
    index of the best among its actions, ``chosen`` [I], which comes in as -1.
    """
    worth[:] = 0.0
    for level in range(len(ends) - 2, -1, -1):
        # All histories of a set are in one level. After the first loop over the level the worths of
        # the set's actions are therefore complete, and a second loop can choose among them.
        acts = False
        for node in range(ends[level], ends[level + 1]):
            here = info[node]
            if here < 0:
                value[node] = gained[node]
                continue
            start, child = starts[here], first[node]
            width = starts[here + 1] - start
            if player[here] == me:
                acts = True
                for k in range(width):
                    worth[start + k] += value[child + k]
            else:
                total = 0.0
                for k in range(width):
                    total += value[child + k]
                value[node] = total
        if not acts:
            continue
        for node in range(ends[level], ends[level + 1]):
            here = info[node]
            if here < 0 or player[here] != me:
                continue
            start = starts[here]
            if chosen[here] < 0:
                chosen[here] = _best(worth, start, starts[here + 1] - start, sign)
            value[node] = value[first[node] + chosen[here]]
