"""Deals as a pure function of counter-based keys: no generator object per game.

The j-th deal of episode k of game i under seed s depends on (s, i, k, j) alone, and so does the
first dealer of an episode; not on the batch, the number of workers or the play. The hash is
SplitMix64 (Steele, Lea and Flood 2014).
"""

from __future__ import annotations

from typing import Final

import numpy as np
import numpy.typing as npt

from goita_env.engine.tables import RADIX
from goita_env.seeds import GOLDEN, Keys, mix
from goita_env.tiles import COUNTS, HAND_SIZE, NUM_KINDS, NUM_SEATS, NUM_TILES

U64 = np.uint64

_STEPS: Final = np.arange(NUM_TILES // 2, dtype=U64) * GOLDEN
_KIND_OF_TILE: Final = np.repeat(np.arange(NUM_KINDS, dtype=np.uint32), COUNTS)
_KIND_BITS: Final = np.array(NUM_KINDS - 1, np.uint32)
_RANDOM_BITS: Final = np.array(~_KIND_BITS)
_PAIR_KINDS: Final = np.array(NUM_KINDS - 1 | (NUM_KINDS - 1) << 32, U64)
_PAIR_SHIFT: Final = np.array(29, U64)
_PAIR: Final = np.array(NUM_KINDS**2 - 1, U64)
_RADIX_OF_PAIR: Final = np.array([RADIX[p % 8] + RADIX[p // 8] for p in range(NUM_KINDS**2)])


def _shuffle(keys: Keys) -> npt.NDArray[np.uint32]:
    """Returns the kinds of the 32 tiles in a uniform order for each key: [n, 32], in the low bits.

    Random 29-bit numbers with the kind in the low three bits are sorted. Equal numbers, which would
    fall back on the kind, come in one deal of a million and shift nothing measurable.
    """
    bits = mix(keys[:, None] + _STEPS).view(np.uint32)
    bits &= _RANDOM_BITS
    bits |= _KIND_OF_TILE
    bits.sort(axis=1)
    return bits


def hands(keys: Keys) -> npt.NDArray[np.int8]:
    """Deals: the kinds of each seat's tiles, int8 [n, 4, 8], each hand sorted."""
    kinds = (_shuffle(keys) & _KIND_BITS).astype(np.int8).reshape(-1, NUM_SEATS, HAND_SIZE)
    kinds.sort(axis=2)
    return kinds


def hand_codes(keys: Keys) -> npt.NDArray[np.int64]:
    """Deals the same hands as codes of the tables: int64 [n, 4]."""
    pairs = _shuffle(keys).view(U64)
    pairs &= _PAIR_KINDS
    pairs |= pairs >> _PAIR_SHIFT
    pairs &= _PAIR
    tiles: npt.NDArray[np.int64] = _RADIX_OF_PAIR.take(pairs.view(np.int64))
    while tiles.shape[1] > NUM_SEATS:  # adding neighbours is faster than a sum over four
        tiles = tiles[:, 0::2] + tiles[:, 1::2]
    return tiles


def first_dealers(keys: Keys) -> npt.NDArray[np.int64]:
    """Draws the first dealer of an episode from the key of its first deal: int64 [n] seats."""
    return (mix(keys ^ GOLDEN) >> U64(62)).astype(np.int64)
