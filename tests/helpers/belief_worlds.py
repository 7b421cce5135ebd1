"""What the listener is checked against: deals played again in the engine, one by one, and weighed.

Nothing here knows the listener or its filters. A deal counts by the ways to deal it, times the
probability of every decision of the others, asked as the deal is played again; what a view implies
is left to the core, for the viewer must see the same words at the end.
"""

from collections.abc import Sequence
from math import factorial

import numpy as np

from goita_env import seeds, views
from goita_env.actions import MESSAGE, SILENT
from goita_env.tiles import KING
from playing import legal_mask
from world_positions import (
    Position,
    arrangements,
    dealt_hands,
    distinct,
    keys,
    placed,
    possible_deals,
)

FACTORIAL = np.array([factorial(n) for n in range(33)], float)


class OddPolicy:
    """Plays by numbers mixed from all that its view shows, the order of its own blocks included.

    Args:
        sharpness: 1 is nearly uniform, 8 rather sure of its actions.
    """

    def __init__(self, sharpness: float = 3.0, name: str = "odd") -> None:
        self.name, self.sharpness = name, sharpness

    def plays(self, information):
        return True

    def act(self, view, legal, rng):
        return self.probabilities(view, legal).argmax(axis=1)

    def probabilities(self, view, legal):
        mixed = np.zeros(len(view), np.uint64)
        for word in range(8):
            mixed = seeds.mix(mixed ^ view.words[:, word])
        steps = np.arange(legal.shape[1], dtype=np.uint64) * np.uint64(0x9E3779B97F4A7C15)
        numbers = seeds.mix(mixed[:, None] + steps) >> np.uint64(11)
        found = legal * np.exp(self.sharpness * numbers.astype(float) * 2.0**-53)
        return found / found.sum(axis=1, keepdims=True)


class TellsKings(OddPolicy):
    """Sends 1 if it holds a king and 0 if it holds none, never calls, and plays by all it heard."""

    def __init__(self) -> None:
        super().__init__(name="tells kings")

    def probabilities(self, view, legal):
        found, asked = super().probabilities(view, legal), view.asked_message
        found[asked] = 0
        found[asked, MESSAGE + (view.hand[asked, KING] > 0)] = 1
        silent = view.asked_call & legal[:, SILENT]
        found[silent] = np.arange(legal.shape[1]) == SILENT
        return found


def weigh(
    at: Position,
    assumed: list,
    hands: np.ndarray,
    face_down: np.ndarray,
    messages: Sequence[int] = (),
) -> np.ndarray:
    """Returns the weight of worlds: float [n].

    Args:
        at: the position.
        assumed: of seats 1 to 3: anything with ``probabilities``; None: rule constraints alone.
        hands: [n, 4, 8] tiles of each kind that each seat holds now.
        face_down: [n, 4, 4] tiles under blocks.
        messages: with messages, what was sent, in order.
    """
    dealt = dealt_hands(at, hands, face_down)
    weight = 1 / FACTORIAL[dealt].prod(axis=(1, 2))

    def weigh_actions(state, rows, chosen):
        """Multiplies the weights by the probability of what is chosen, 0 where it is illegal."""
        mask, every = legal_mask(state), np.arange(len(rows))
        found = mask[every, chosen].astype(float)
        for seat, model in enumerate(assumed, start=1):
            here = np.flatnonzero((state.seat == seat) & (mask.sum(axis=1) > 1) & (found > 0))
            if len(here) and model is not None:
                known = model.probabilities(views.acting_view(state)[here], mask[here])
                found[here] = known[np.arange(len(here)), chosen[here]]
        weight[rows] *= found
        return found > 0

    good = possible_deals(at, dealt, face_down, weigh_actions, messages)
    weight[~good] = 0
    for seat, one in enumerate(assumed, start=1):
        if one is None:
            weight *= under_blocks(dealt[:, seat], hands[:, seat], face_down[:, seat], good)
    return weight


def under_blocks(
    dealt: np.ndarray, held: np.ndarray, face_down: np.ndarray, good: np.ndarray
) -> np.ndarray:
    """Returns the probability of the tiles under a seat's blocks given its hand: float [n].

    They are any of those that it never showed, so each way counts by how many orders of distinct
    tiles it stands for. What is possible for the seat is so whatever the others hold.

    Args:
        dealt: [n, 8] its hands as dealt.
        held: [n, 8] what it holds now.
        face_down: [n, 4] kinds under its blocks.
        good: [n] worlds that are possible.
    """
    _, hand = np.unique(dealt, axis=0, return_inverse=True)
    rows = np.flatnonzero(good)
    _, first = np.unique(np.column_stack((hand, face_down))[rows], axis=0, return_index=True)
    orders = 1 / FACTORIAL[held].prod(axis=1)
    total = np.bincount(hand[rows[first]], orders[rows[first]], len(dealt))
    return np.divide(orders, total[hand], out=np.zeros(len(dealt)), where=total[hand] > 0)


def all_worlds(at: Position) -> tuple[np.ndarray, np.ndarray]:
    """Lists all ways to lay the unseen tiles, each kind of way once: hands, tiles under blocks."""
    found, _ = distinct(keys(*placed(at, arrangements(at))))
    return found[:, :32].reshape(-1, 4, 8), found[:, 32:].reshape(-1, 4, 4)


def brute_posterior(at: Position, assumed: list) -> dict:
    """Returns the probability of every deal of seats 1 to 3, by the bytes of its hands."""
    return brute_mixture(at, assumed, [()])


def brute_mixture(at: Position, assumed: list, sent: Sequence[Sequence[int]]) -> dict:
    """Returns the same after any of some ways in which messages may have been sent.

    Nothing is returned if no deal explains what was done.
    """
    hands, face_down = all_worlds(at)
    weight = sum(weigh(at, assumed, hands, face_down, messages) for messages in sent)
    found: dict = {}
    if not weight.any():
        return found
    deals = dealt_hands(at, hands, face_down)[:, 1:].astype(np.int64)
    for one, number in zip(deals, weight / weight.sum(), strict=True):
        found[one.tobytes()] = found.get(one.tobytes(), 0.0) + number
    return found
