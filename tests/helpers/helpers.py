"""Shares small tools between the tests: deals, plain play, and snapshots of a state."""

from collections.abc import Sequence

import numpy as np

from goita_env import Game, actions
from goita_env.engine import core
from goita_env.engine.match import Match
from goita_env.tiles import COUNTS, DIGITS, PAWN
from goita_env.views import unpack_legal

RULE_SETS = ("jga", "pagat", "nine")

TILES = tuple(kind for kind, count in enumerate(COUNTS) for _ in range(count))
"""Kinds of all 32 tiles."""


def kinds(*hands: str) -> np.ndarray:
    """Reads four hands of digits as kinds: int [4, 8]."""
    return np.array([[DIGITS.index(digit) for digit in hand] for hand in hands])


def digits(hands: np.ndarray) -> list[str]:
    """Writes four hands of kinds as strings of digits."""
    return ["".join(DIGITS[kind] for kind in sorted(hand)) for hand in np.asarray(hands).tolist()]


def tiles_of(counts: np.ndarray) -> list[list[int]]:
    """Lists the kinds of hands given as counts: int [4, 8]."""
    return [[kind for kind in range(8) for _ in range(hand[kind])] for hand in counts.tolist()]


def complete(*begun: str) -> list[str]:
    """Fills up four hands of digits with the remaining tiles, pawns spread first."""
    left = [DIGITS[kind] for kind in TILES]
    for digit in "".join(begun):
        left.remove(digit)
    hands, seat = [*begun], 0
    while left:
        if len(hands[seat]) < 8:
            hands[seat] += left.pop(0)
        seat = (seat + 1) % 4
    return hands


def uniform_hands(rng: np.random.Generator, count: int) -> np.ndarray:
    """Deals uniformly with numpy alone: kinds, int [count, 4, 8]."""
    return rng.permuted(np.tile(TILES, (count, 1)), axis=1).reshape(count, 4, 8)


def special_hands(rng: np.random.Generator, count: int) -> np.ndarray:
    """Deals such that every deal holds a special hand, a third of them two: int [count, 4, 8]."""
    dealt = np.full((count, 32), -1)
    for row in dealt:
        seats = rng.permutation(4)
        for seat in seats[: 2 if rng.random() < 0.35 else 1]:
            pawns = 5 if (row == PAWN).any() or rng.random() < 0.5 else rng.integers(6, 9)
            if (row == PAWN).sum() + pawns <= COUNTS[PAWN]:
                row[8 * seat + rng.choice(8, pawns, replace=False)] = PAWN
        left = COUNTS[PAWN] - (row == PAWN).sum()
        full = [seat for seat in range(4) if (row[8 * seat : 8 * seat + 8] == PAWN).any()]
        free = [place for place in np.flatnonzero(row < 0) if place // 8 not in full]
        row[rng.choice(free, left, replace=False)] = PAWN
        row[row < 0] = rng.permutation(TILES[COUNTS[PAWN] :])
    return dealt.reshape(count, 4, 8)


def legal_mask(state: core.State) -> np.ndarray:
    """Returns what each asked seat may do: bool [N, 69]."""
    return unpack_legal(*core.legal_actions(state))


def pick(mask: np.ndarray, numbers: int | np.ndarray) -> np.ndarray:
    """Returns the legal action number ``numbers % how many`` of each row, 0 where none is legal."""
    count = mask.sum(axis=1)
    rank = numbers % np.maximum(count, 1)
    return ((mask.cumsum(axis=1) > rank[:, None]) & mask).argmax(axis=1)


def deal(
    rules: object,
    hands: np.ndarray,
    dealer: Sequence[int] | np.ndarray,
    scores: np.ndarray | None = None,
) -> core.State:
    """Deals given hands and returns the bare state; nothing is dealt after these."""
    match = Match(len(hands), rules, auto_reset=False)
    match.reset(hands, dealer, scores)
    return match.state


def played(game: Game, *names: str) -> Game:
    """Plays actions by their short names and returns the game."""
    for name in names:
        game.play(actions.parse(name))
    return game


def frozen(state: core.State) -> tuple[object, ...]:
    """Returns all of a state in a form that can be compared later."""
    return state.data.tobytes(), state.clock, state.asking.tolist()
