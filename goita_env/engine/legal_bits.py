"""Reads the bits of what is legal: the only action, or one drawn uniformly."""

from __future__ import annotations

from typing import Final

import numpy as np

from goita_env.actions import MESSAGE
from goita_env.arrays import U64, Bits, Int

# Arrays without a dimension: numpy takes them in half the time of a scalar.
_BYTES_ONE: Final = np.array(0x0101010101010101, U64)
_BYTES_HIGH: Final = np.array(0x8080808080808080, U64)
_ONE: Final = np.array(1, U64)
_LOW_BYTE: Final = np.array(255, U64)
_THREE: Final = np.array(3, U64)
_EIGHT: Final = np.array(8, U64)
_FIFTY_SIX: Final = np.array(56, U64)
_NUM_ANSWERS: Final = MESSAGE - 64
"""How many actions from 64 on come before the messages."""
_MAX_BYTE: Final = 255


_BITS_OF_BYTES: Final = np.unpackbits(
    np.arange(256, dtype=np.uint8)[:, None], axis=1, bitorder="little"
)
# A stable sort of the negated bits lists the places of the ones first, in order.
_PLACE_OF_ONE: Final = (1 - _BITS_OF_BYTES).argsort(axis=1, kind="stable").reshape(-1)
"""[256 * 8] The place of the r-th one in a byte, index 8 * byte + r."""


def only_action(low: Bits, high: Bits) -> tuple[Int, Int]:
    """Returns the only legal action, else 0, and how many actions are legal: int64 [N] each."""
    legal_count = np.bitwise_count(low).astype(np.int64)
    legal_count += np.bitwise_count(high)
    # Of a word with a single one, the ones of word - 1 count the place of that one.
    place = np.bitwise_count(low - _ONE).astype(np.int64)
    beyond = (low == 0).nonzero()[0]
    if len(beyond):
        place[beyond] += np.bitwise_count(high[beyond] - _ONE)
    return np.where(legal_count == 1, place, 0), legal_count


def sample_legal(low: Bits, high: Bits, rng: np.random.Generator) -> Int:
    """Draws one of the legal actions of each game, [N], all equally likely: one double a game.

    ``low``, ``high``: [N] bits of actions 0 to 63, and from 64.
    """
    counts = np.bitwise_count(low.view(np.uint8)).view(U64)
    counts *= _BYTES_ONE  # byte i now counts the ones of bytes 0 to i
    total = counts >> _FIFTY_SIX
    draws = rng.random(len(low))
    # The rank of the drawn action among the legal ones, from 0.
    rank = (draws * (total + np.bitwise_count(high))).astype(U64)
    wide = rank * _BYTES_ONE
    wide |= _BYTES_HIGH
    wide -= counts
    wide &= _BYTES_HIGH  # one bit for each byte that lies before the rank-th one
    shift = np.bitwise_count(wide).astype(U64)
    shift <<= _THREE
    # Of each word the ones in the bytes before that of the rank-th one.
    counts <<= _EIGHT
    counts >>= shift
    counts &= _LOW_BYTE
    # The index 8 * byte + rank within the byte.
    index = low >> shift
    index &= _LOW_BYTE
    index <<= _THREE
    index += rank
    index -= counts
    drawn: Int = _PLACE_OF_ONE.take(index.view(np.int64), mode="clip")
    drawn += shift.view(np.int64)
    # Where the rank lies beyond the ones of ``low``, what was drawn so far is meaningless.
    beyond = (rank >= total).nonzero()[0]
    if len(beyond):
        bits, high_rank = high[beyond].view(np.int64), (rank[beyond] - total[beyond]).view(np.int64)
        in_one_byte = bits.max() <= _MAX_BYTE  # true where no message is sent
        drawn[beyond] = 64 + (
            _PLACE_OF_ONE[8 * bits + high_rank] if in_one_byte else _select_message(bits, high_rank)
        )
    return drawn


def _select_message(bits: Int, rank: Int) -> Int:
    """[m] The place of the ``rank``-th one in ``bits``: only answers, or only messages."""
    first = (bits >> _NUM_ANSWERS > 0) * _NUM_ANSWERS  # bit of the first message, or 0
    return np.asarray(first + _PLACE_OF_ONE[8 * (bits >> first) + rank])
