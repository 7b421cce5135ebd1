"""Hands of tiles: written, read, completed and dealt."""

import numpy as np

from goita_env.tiles import COUNTS, DIGITS, PAWN

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
