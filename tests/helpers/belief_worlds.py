"""What the listener is checked against: deals played again in the engine, one by one, and weighed.

Nothing here knows the listener or its filters. A deal counts by the ways to deal it, times the
probability of every decision of the others, asked as the deal is played again; what a view implies
is left to the core, for the viewer must see the same words at the end.
"""

from math import factorial

import numpy as np
from playing import deal, legal_mask
from world_positions import (
    Position,
    arrangements,
    distinct,
    keys,
    kinds_of,
    placed,
)

from goita_env import seeds, views
from goita_env.actions import CALL, PASS, REDEAL, SILENT, decode
from goita_env.engine import core
from goita_env.engine.tables import CALL_CHOICE, CHOOSE, FRESH, WAITING
from goita_env.views.fields import NONE

FACTORIAL = np.array([factorial(n) for n in range(33)], float)


class OddPolicy:
    """Plays by numbers mixed from all that its view shows, the order of its own blocks included.

    Args:
        sharpness: 1 is nearly uniform, 8 rather sure of its actions.
    """

    def __init__(self, sharpness: float = 3.0, name: str = "odd") -> None:
        self.name, self.sharpness = name, sharpness

    def act(self, view, legal, rng):
        return self.probabilities(view, legal).argmax(axis=1)

    def probabilities(self, view, legal):
        mixed = np.zeros(len(view), np.uint64)
        for word in range(8):
            mixed = seeds.mix(mixed ^ view.words[:, word])
        steps = np.arange(69, dtype=np.uint64) * np.uint64(0x9E3779B97F4A7C15)
        numbers = seeds.mix(mixed[:, None] + steps) >> np.uint64(11)
        found = legal * np.exp(self.sharpness * numbers.astype(float) * 2.0**-53)
        return found / found.sum(axis=1, keepdims=True)


def weigh(at: Position, assumed: list, hands: np.ndarray, face_down: np.ndarray) -> np.ndarray:
    """Returns the weight of worlds: float [n].

    Args:
        at: the position.
        assumed: of seats 1 to 3: anything with ``probabilities``; None: hard facts alone.
        hands: [n, 4, 8] tiles of each kind that each seat holds now.
        face_down: [n, 4, 4] tiles under blocks.
    """
    plays, dealt = public_plays(at), hands.astype(int).copy()
    for seat, number, action, down in plays:
        pair = decode(action)
        if pair is None:
            continue
        block = face_down[:, seat, number] if down else pair[0]
        np.add.at(dealt, (np.arange(len(dealt)), seat, block), 1)
        dealt[:, seat, pair[1]] += 1
    weight = 1 / FACTORIAL[dealt].prod(axis=(1, 2))
    state = deal(at.rules, kinds_of(dealt), [at.dealer] * len(hands), [at.scores] * len(hands))
    good = np.zeros(len(hands), bool)
    rows = np.arange(len(hands))
    for rows_there, one in answered(at, assumed, state, rows, weight):
        end_rows, end = replayed(assumed, one, rows_there, plays, face_down, weight)
        same = (views.seat_view(end, 0).words == at.view.words).all(axis=1)
        good[end_rows[same]] = True
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


def public_plays(at: Position) -> list:
    """Lists seat, number of its play, action, and whether the block lies face down."""
    plays, numbers, hidden = [], [0] * 4, at.truth[1] != NONE
    for seat, action in at.moves:
        pair = decode(action)
        if pair is not None:
            plays.append((seat, numbers[seat], action, hidden[seat, numbers[seat]]))
            numbers[seat] += 1
        elif action == PASS:
            plays.append((seat, 0, PASS, False))
    return plays


def explain(assumed: list, state: core.State, chosen: np.ndarray) -> np.ndarray:
    """Returns the probability of what is chosen in each game, 0 where it is illegal: float [n]."""
    mask, rows = legal_mask(state), np.arange(state.num_games)
    found = mask[rows, chosen].astype(float)
    for seat in (1, 2, 3):
        here = np.flatnonzero((state.seat == seat) & (mask.sum(axis=1) > 1) & (found > 0))
        if len(here) and assumed[seat - 1] is not None:
            view = views.asked_view(state)[here]
            known = assumed[seat - 1].probabilities(view, mask[here])
            found[here] = known[np.arange(len(here)), chosen[here]]
    return found


def replayed(assumed, state, rows, plays, face_down, weight):
    """Plays the public moves, weighs them, and returns the rows and games that allow them."""
    for seat, number, action, down in plays:
        chosen = np.full(len(rows), action)
        if down:
            chosen = 1 + 8 * face_down[rows, seat, number].astype(int) + (action - 1) % 8
        likely = explain(assumed, state, chosen)
        weight[rows] *= likely
        good = likely > 0
        rows, chosen, state = rows[good], chosen[good], state.select(good.nonzero()[0])
        core.step(state, chosen)
    return rows, state


def answered(at, assumed, state, rows, weight):
    """Answers the questions before play, weighs that, and yields games where they are answered."""
    calls = {seat for seat, action in at.moves if action == CALL}
    choices = {seat: action for seat, action in at.moves if action >= REDEAL}
    while len(rows):
        asking = (state.status >= CALL_CHOICE) & (state.status < WAITING)
        ready = (state.status == FRESH) | (
            (state.status == CHOOSE) & ~np.isin(state.seat, list(choices))
        )
        if at.view.asked_call[0]:
            ready = asking & (state.seat == 0)
        if ready.any():
            yield rows[ready], state.select(ready.nonzero()[0])
        left = asking & ~ready
        rows, state = rows[left], state.select(left.nonzero()[0])
        chosen = np.zeros(len(rows), int)
        for seat in range(4):
            answer = np.where(
                state.status == CHOOSE, choices.get(seat, 0), CALL if seat in calls else SILENT
            )
            chosen = np.where(state.seat == seat, answer, chosen)
        likely = explain(assumed, state, chosen)
        weight[rows] *= likely
        good = likely > 0
        rows, chosen, state = rows[good], chosen[good], state.select(good.nonzero()[0])
        core.step(state, chosen)


def dealt_hands(at: Position, hands: np.ndarray, face_down: np.ndarray) -> np.ndarray:
    """Returns what each seat was dealt in worlds: [n, 4, 8]."""
    dealt = hands.astype(int).copy()
    for seat, number, action, down in public_plays(at):
        pair = decode(action)
        if pair is not None:
            block = face_down[:, seat, number] if down else np.full(len(dealt), pair[0])
            np.add.at(dealt, (np.arange(len(dealt)), seat, block), 1)
            dealt[:, seat, pair[1]] += 1
    return dealt


def all_worlds(at: Position) -> tuple[np.ndarray, np.ndarray]:
    """Lists all ways to lay the unseen tiles, each kind of way once: hands, tiles under blocks."""
    found, _ = distinct(keys(*placed(at, arrangements(at))))
    return found[:, :32].reshape(-1, 4, 8), found[:, 32:].reshape(-1, 4, 4)


def brute_posterior(at: Position, assumed: list) -> dict:
    """Returns the probability of every deal of seats 1 to 3, by the bytes of its hands."""
    hands, face_down = all_worlds(at)
    weight = weigh(at, assumed, hands, face_down)
    found: dict = {}
    deals = dealt_hands(at, hands, face_down)[:, 1:].astype(np.int64)
    for one, number in zip(deals, weight / weight.sum(), strict=True):
        found[one.tobytes()] = found.get(one.tobytes(), 0.0) + number
    return found
