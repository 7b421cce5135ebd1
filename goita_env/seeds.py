"""Seeds and keys: which numbers a deal depends on, and how they are mixed.

The j-th deal of episode k of game i under seed s depends on (s, i, k, j) alone, and so does the
first dealer of an episode; not on the batch, the number of workers or the play. The hash is
SplitMix64 (Steele, Lea and Flood 2014).
"""

from __future__ import annotations

from typing import Final

import numpy as np
import numpy.typing as npt

from goita_env.checks import check_seed

U64 = np.uint64
Keys = npt.NDArray[np.uint64]

# Arrays without a dimension: numpy takes them in half the time of a scalar.
GOLDEN: Final = np.array(0x9E3779B97F4A7C15, U64)
_MIX_1: Final = np.array(0xBF58476D1CE4E5B9, U64)
_MIX_2: Final = np.array(0x94D049BB133111EB, U64)
_SHIFTS: Final = [np.array(bits, U64) for bits in (30, 27, 31)]
_ELEVEN: Final = np.array(11, U64)
_DEAL_BITS: Final = np.array(20)
"""Deals of an episode are counted in 20 bits; 2**44 episodes are left."""


def mix(values: Keys) -> Keys:
    """Scrambles 64-bit values in place, one to one (SplitMix64's finaliser); returns them."""
    for shift, factor in zip(_SHIFTS, (_MIX_1, _MIX_2, None), strict=True):
        values ^= values >> shift
        if factor is not None:
            values *= factor
    return values


def uniforms(values: Keys) -> npt.NDArray[np.float64]:
    """Returns a number from 0 to below 1 for each value, which is mixed in place: float64 [...]."""
    return (mix(values) >> _ELEVEN).astype(np.float64) * 2.0**-53


def game_keys(seed: int, games: npt.NDArray[np.int64]) -> Keys:
    """Returns a key for each game of a seed: uint64 [n]; ``games``: int [n] >= 0."""
    start = mix(np.array([check_seed(seed)], U64) + GOLDEN)
    return mix(games.astype(U64) * GOLDEN + start)


def deal_keys(
    games: Keys, episode: npt.NDArray[np.int64], number: npt.NDArray[np.int64] | int
) -> Keys:
    """Returns the keys of deals: uint64 [n].

    Args:
        games: [n] the games' keys.
        episode: [n] the episode of each game, from 0.
        number: [n] the deal in its episode, rounds and redeals counted, from 0.
    """
    counter = episode << _DEAL_BITS
    counter += number
    keys = counter.view(U64) * GOLDEN
    keys += games
    return mix(keys)
