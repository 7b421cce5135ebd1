"""Derives the keys of deals, and generators and game numbers for bots, from a seed.

The j-th deal of episode k of game i under seed s depends only on (s, i, k, j), and so does the
first dealer of an episode; not on the batch, the number of workers or the play. The hash is
SplitMix64 (Steele, Lea and Flood 2014), which is fast and can be inverted.

The seed of the deals reveals all hands. So generators and numbers of games for bots are derived
from it by BLAKE2b (RFC 7693), which cannot be inverted. That does not hide a seed that is published
or small enough to be guessed.
"""

from __future__ import annotations

import json
from hashlib import blake2b
from typing import Final

import numpy as np
import numpy.typing as npt

from goita_env.arrays import U64
from goita_env.checks import check_seed

Keys = npt.NDArray[np.uint64]

# Arrays without a dimension: numpy takes them in half the time of a scalar.
GOLDEN: Final = np.array(0x9E3779B97F4A7C15, U64)
_MIX: Final = [
    (np.array(30, U64), np.array(0xBF58476D1CE4E5B9, U64)),
    (np.array(27, U64), np.array(0x94D049BB133111EB, U64)),
]
_LAST_SHIFT: Final = np.array(31, U64)
_ELEVEN: Final = np.array(11, U64)
_DEAL_BITS: Final = np.array(20)
"""Deals of an episode are counted in 20 bits; 2**44 episodes are left."""


def mix(values: Keys) -> Keys:
    """Scrambles 64-bit values in place, one to one (SplitMix64's finaliser); returns them."""
    for shift, factor in _MIX:
        values ^= values >> shift
        values *= factor
    values ^= values >> _LAST_SHIFT
    return values


def uniforms(values: Keys) -> npt.NDArray[np.float64]:
    """Returns a number from 0 to below 1 for each value, which is mixed in place: float64 [...]."""
    return (mix(values) >> _ELEVEN).astype(np.float64) * 2.0**-53


def game_keys(seed: int, games: npt.NDArray[np.int64]) -> Keys:
    """Returns a key for each game of a seed: uint64 [n]; ``games``: int [n] >= 0."""
    start = mix(np.array([check_seed(seed)], U64) + GOLDEN)
    return mix(games.astype(U64) * GOLDEN + start)


def deal_keys(
    games: Keys, episode: npt.NDArray[np.int64], deal: npt.NDArray[np.int64] | int
) -> Keys:
    """Returns the keys of deals: uint64 [n].

    Args:
        games: [n] the games' keys.
        episode: [n] from 0.
        deal: [n] number of the deal in its episode, rounds and redeals counted, from 0.
    """
    counter = episode << _DEAL_BITS
    counter += deal
    keys = counter.view(U64) * GOLDEN
    keys += games
    return mix(keys)


def bot_seed(seed: int, purpose: str, *parts: int | str) -> int:
    """Derives a seed of 128 bits for a bot's generator or numbers; it does not reveal ``seed``.

    Args:
        seed: of the deals.
        purpose: the use of the numbers; another purpose has other numbers.
        parts: all else that it depends on, such as block, player, seating and seat.
    """
    text = json.dumps([purpose, check_seed(seed), *parts])
    return int.from_bytes(blake2b(text.encode(), digest_size=16, person=b"goita-bots").digest())


def bot_generator(seed: int, purpose: str, *parts: int | str) -> np.random.Generator:
    """Returns a generator that bots may be handed; arguments as ``bot_seed``."""
    return np.random.default_rng(bot_seed(seed, purpose, *parts))


NUMBER_BITS: Final = 51
"""Bits of the numbers that bots see: times four, plus a seat, a double still holds them."""

_LOW_BITS: Final = NUMBER_BITS // 2
_ROUNDS: Final = 8


class GameNumbers:
    """Numbers of games for bots: a keyed permutation of 0 to 2**51 - 1.

    The true numbers would reveal which deal of the seed a bot plays. So it is shown other numbers,
    by a Feistel network whose round keys follow from the seed by BLAKE2b.

    Args:
        seed: of the deals.
        purpose, parts: as ``bot_seed`` takes them; others give another permutation.
    """

    def __init__(self, seed: int, purpose: str, *parts: int | str) -> None:
        rng = np.random.Generator(np.random.Philox(key=bot_seed(seed, purpose, *parts)))
        self._keys = rng.integers(0, 1 << 64, size=_ROUNDS, dtype=U64)

    def numbers(self, games: npt.NDArray[np.int64]) -> npt.NDArray[np.int64]:
        """Returns the numbers that bots see: int64 [...]; ``games``: int64 [...] < 2**51."""
        return self._permuted(games, range(_ROUNDS))

    def games(self, numbers: npt.NDArray[np.int64]) -> npt.NDArray[np.int64]:
        """Returns the games of these numbers: the inverse of ``numbers``."""
        return self._permuted(numbers, range(_ROUNDS)[::-1])

    def _permuted(self, numbers: npt.NDArray[np.int64], rounds: range) -> npt.NDArray[np.int64]:
        values = np.asarray(numbers).astype(U64)
        halves = [values >> U64(_LOW_BITS), values & U64((1 << _LOW_BITS) - 1)]
        widths = (NUMBER_BITS - _LOW_BITS, _LOW_BITS)
        for round_index in rounds:
            # A round scrambles one half by the other, which stays: the rounds backwards undo it.
            half, other_half = round_index & 1, 1 - (round_index & 1)
            scramble = mix(halves[other_half] + self._keys[round_index])
            halves[half] ^= scramble >> U64(64 - widths[half])
        return ((halves[0] << U64(_LOW_BITS)) | halves[1]).astype(np.int64)
