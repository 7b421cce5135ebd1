"""Deals as a pure function of counter-based keys: no generator object per game.

The j-th deal of episode k of game i under seed s depends on (s, i, k, j) alone, and so does the
first dealer of an episode; not on the batch, the number of workers or the play. The hash is
SplitMix64 (Steele, Lea and Flood 2014).
"""

from __future__ import annotations

from typing import Final

import numpy as np
import numpy.typing as npt

from goita_env.errors import SettingError
from goita_env.tables import RADIX
from goita_env.tiles import COUNTS, HAND_SIZE, NUM_KINDS, NUM_SEATS, NUM_TILES

U64 = np.uint64
Keys = npt.NDArray[np.uint64]

_GOLDEN: Final = U64(0x9E3779B97F4A7C15)
_MIX_1: Final = U64(0xBF58476D1CE4E5B9)
_MIX_2: Final = U64(0x94D049BB133111EB)
_DEAL_BITS: Final = U64(20)
"""Deals of an episode are counted in 20 bits; 2**44 episodes are left."""

_STEPS: Final = np.arange(NUM_TILES // 2, dtype=U64) * _GOLDEN
_TILE: Final = np.arange(NUM_TILES, dtype=np.uint32)
_LOW_FIVE: Final = np.uint32(31)
_KIND_OF_TILE: Final = np.repeat(np.arange(NUM_KINDS, dtype=np.int8), COUNTS)
_RADIX_OF_TILE: Final = np.repeat(np.array(RADIX, np.int64), COUNTS)


def mix(values: Keys) -> Keys:
    """Scrambles 64-bit values, one to one (the finaliser of SplitMix64)."""
    values = (values ^ (values >> U64(30))) * _MIX_1
    values = (values ^ (values >> U64(27))) * _MIX_2
    return values ^ (values >> U64(31))


def check_seed(seed: int) -> int:
    """Returns a seed after checking it: an integer from 0 to 2**64 - 1.

    Raises:
        SettingError: if it is none.
    """
    is_integer = isinstance(seed, int | np.integer) and not isinstance(seed, bool)
    if not is_integer or not 0 <= seed < 1 << 64:
        raise SettingError(f"expected a seed from 0 to 2**64 - 1, got {seed!r}")
    return int(seed)


def game_keys(seed: int, games: npt.NDArray[np.int64]) -> Keys:
    """Returns a key for each game of a seed: uint64 [n]; ``games``: int [n] >= 0."""
    start = mix(np.array([check_seed(seed)], U64) + _GOLDEN)
    return mix(start + games.astype(U64) * _GOLDEN)


def deal_keys(
    games: Keys, episode: npt.NDArray[np.int64], number: npt.NDArray[np.int64] | int
) -> Keys:
    """Returns the keys of deals: uint64 [n].

    Args:
        games: [n] the games' keys.
        episode: [n] the episode of each game, from 0.
        number: [n] the deal in its episode, rounds and redeals counted, from 0.
    """
    counter = (episode << 20) + number
    return mix(games + counter.astype(U64) * _GOLDEN)


def _shuffle(keys: Keys) -> npt.NDArray[np.uint32]:
    """Returns the 32 tiles (numbered 0 to 31) in a uniform order for each key: [n, 32].

    Random 27-bit numbers with the tile in the low five bits are sorted; equal numbers, which would
    fall back on the tile, come in one deal of a quarter of a million and shift nothing measurable.
    """
    bits = mix(keys[:, None] + _STEPS).view(np.uint32)
    bits &= ~_LOW_FIVE
    bits |= _TILE
    bits.sort(axis=1)
    bits &= _LOW_FIVE
    return bits


def hands(keys: Keys) -> npt.NDArray[np.int8]:
    """Deals: the kinds of each seat's tiles, int8 [n, 4, 8], each hand sorted."""
    kinds = _KIND_OF_TILE[_shuffle(keys)].reshape(-1, NUM_SEATS, HAND_SIZE)
    kinds.sort(axis=2)
    return kinds


def hand_codes(keys: Keys) -> npt.NDArray[np.int64]:
    """Deals the same hands as codes of the tables: int64 [n, 4]."""
    tiles = _RADIX_OF_TILE.take(_shuffle(keys))
    while tiles.shape[1] > NUM_SEATS:  # adding neighbours is faster than a sum over eight
        tiles = tiles[:, 0::2] + tiles[:, 1::2]
    return tiles


def first_dealers(keys: Keys) -> npt.NDArray[np.int64]:
    """Draws the first dealer of an episode from the key of its first deal: int64 [n] seats."""
    return (mix(keys ^ _GOLDEN) >> U64(62)).astype(np.int64)
