"""Lists the hands that a seat may have been dealt, in the forms that sums over deals need.

A hand is a count of each kind. As *packed* it is one number with a field for each kind and a bit to
spare in each, so that one subtraction decides whether a hand is part of another; as *place* it is
a number in mixed radix, which leads to its index in the list.
"""

from __future__ import annotations

from dataclasses import dataclass
from functools import lru_cache
from math import comb, factorial, prod
from typing import Final

import numpy as np

from goita_agents.base import Float, Int
from goita_env.tiles import HAND_SIZE, NUM_KINDS

_SHIFT: Final = np.array([0, 5, 9, 13, 17, 21, 25, 29])
"""Where the field of each kind begins: ten pawns and a spare bit, four others and a spare bit."""

GUARD: Final = int(sum(1 << (s - 1) for s in _SHIFT[1:]) + (1 << 32))
"""The spare bits. They are set in the tiles that hands are subtracted from; where a hand has more
tiles of a kind than there are, the subtraction clears that kind's spare bit."""

_WAYS: Final = np.array([1 / factorial(n) for n in range(HAND_SIZE + 1)])
"""Factor of a hand's ``ways`` by its tiles of a kind."""


@dataclass(frozen=True)
class Support:
    """The M hands of H tiles that can be taken from unseen ones: 8 of 24, or 4 of 12."""

    unseen: Int  # [8] Tiles of each kind that the viewer was not dealt.
    size: int  # H, tiles of a hand.
    hands: Int  # [M, 8] Tiles of each kind in each hand.
    prior: Float  # [M] Probability that a given seat is dealt it.
    ways: Float
    """[M] Product of 1 / (tiles of a kind)!; a deal's weight is the product of its hands' ways."""
    packed: Int  # [M] See above.
    place: Int  # [M] See above.
    index: Int  # [places] Index of the hand with a place, -1 where there is none.
    whole: int  # The unseen tiles as packed, spare bits set.
    last: int  # The place of the unseen tiles.

    def __len__(self) -> int:
        return len(self.hands)

    def whole_ways(self) -> float:
        """Returns the sum over all deals of the product of the ``ways`` of their three hands."""
        tiles = factorial(int(self.unseen.sum())) / factorial(self.size) ** 3
        return tiles / prod(factorial(n) for n in self.unseen.tolist())

    def find(self, hand: Int) -> int:
        """Returns the index of a hand [8]; -1 if it isn't one of them."""
        if (hand < 0).any() or (hand > self.unseen).any() or hand.sum() != self.size:
            return -1
        return int(self.index[hand @ _radix(self.unseen)])


def support(unseen: Int, size: int = HAND_SIZE) -> Support:
    """Returns the hands of ``size`` tiles that can be taken from unseen tiles [8]."""
    return _support(tuple(unseen.tolist()), size)


@lru_cache(maxsize=64)
def _support(tiles: tuple[int, ...], size: int) -> Support:
    """Returns the same as ``support``, and keeps it; ``tiles``: the unseen tiles of each kind."""
    unseen = np.array(tiles)
    hands = np.zeros((1, NUM_KINDS), np.int64)
    for kind in range(NUM_KINDS):
        # Each partial hand is repeated for each possible number of tiles of this kind, from ``low``
        # on; its copies begin at row ``first``.
        room, later = size - hands.sum(axis=1), int(unseen[kind + 1 :].sum())
        low = np.maximum(room - later, 0)
        copies = np.minimum(room, unseen[kind]) - low + 1
        first = copies.cumsum() - copies
        hands = hands.repeat(copies, axis=0)
        hands[:, kind] = np.arange(len(hands)) - first.repeat(copies) + low.repeat(copies)
    prior = np.ones(len(hands))
    for kind, tiles_of_kind in enumerate(tiles):
        prior *= np.array([comb(tiles_of_kind, n) for n in range(size + 1)])[hands[:, kind]]
    radix = _radix(unseen)
    place = hands @ radix
    index = np.full(int(unseen @ radix) + 1, -1)
    index[place] = np.arange(len(hands))
    packed_tile = np.int64(1) << _SHIFT  # [8] one tile of each kind
    return Support(
        unseen=unseen,
        size=size,
        hands=hands,
        prior=prior / comb(int(unseen.sum()), size),
        ways=_WAYS[hands].prod(axis=1),
        packed=hands @ packed_tile,
        place=place,
        index=index,
        whole=int(unseen @ packed_tile) | GUARD,
        last=int(unseen @ radix),
    )


def _radix(unseen: Int) -> Int:
    """Returns the amount that one tile of each kind adds to a hand's place: [8]."""
    return np.concatenate(([1], (unseen[:-1] + 1).cumprod()))
