"""Reads, checks and writes hands: strings of digits, kinds, and counts of each kind."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

import numpy as np
import numpy.typing as npt

from goita_env.checks import describe, integer_rows, integers
from goita_env.errors import HandsError
from goita_env.tiles import COUNTS, DIGITS, KING, NUM_KINDS, NUM_SEATS, SECOND_KING_DIGIT


def read_hands(
    hands: npt.ArrayLike, num_games: int, deck: Sequence[int] = COUNTS
) -> npt.NDArray[np.int64]:
    """Reads dealt hands in any form as kinds: int64 [N, 4, H], by seat; H tiles a hand, 8 or 4.

    Args:
        hands: a deal for all games, or N deals. A deal is four strings of H digits (1 to 8, and 9
            for the second king) or int [4, H], kinds 0 to 7.
        num_games: N.
        deck: tiles of each kind (``Rules.deck``).
    """
    size = sum(deck) // NUM_SEATS
    if integers(hands) is None:
        written: Any = hands.tolist() if isinstance(hands, np.ndarray) else hands
        if _holds_text(written):
            hands = _digits_read(written, size)
        elif isinstance(written, Sequence) and any(map(_holds_text, written)):
            hands = [
                _digits_read(deal, size, f" in game {game}") for game, deal in enumerate(written)
            ]
    return check_hands(hands, num_games, deck)


def parse_hands(hands: Sequence[str], deck: Sequence[int] = COUNTS) -> npt.NDArray[np.int64]:
    """Reads four strings of digits as kinds in the order given: int64 [4, H], as ``read_hands``."""
    return np.asarray(check_hands(_digits_read(hands, sum(deck) // NUM_SEATS), 1, deck)[0])


def _holds_text(value: object) -> bool:
    return isinstance(value, Sequence) and any(isinstance(part, str) for part in value)


def _digits_read(hands: object, size: int, where: str = "") -> list[list[int]]:
    if isinstance(hands, str) or not isinstance(hands, Sequence) or len(hands) != NUM_SEATS:
        raise HandsError(f"expected hands as {NUM_SEATS} strings of digits, got {hands!r}{where}")
    for seat, hand in enumerate(hands):
        if not isinstance(hand, str) or len(hand) != size:
            raise HandsError(f"expected {size} digits for seat {seat}, got {hand!r}{where}")
    return [read_digits(hand, seat, where) for seat, hand in enumerate(hands)]


def read_digits(hand: str, seat: int, where: str = "") -> list[int]:
    """Reads the digits of a hand of a seat as kinds in the order given; 9 is the second king."""
    unknown = set(hand) - {*DIGITS, SECOND_KING_DIGIT} if isinstance(hand, str) else {hand}
    if unknown:
        raise HandsError(
            f"expected digits 1 to 9 for seat {seat}, got {sorted(unknown)!r} in {hand!r}{where}"
        )
    return [KING if digit == SECOND_KING_DIGIT else DIGITS.index(digit) for digit in hand]


def list_hands(tiles: Sequence[int], size: int) -> npt.NDArray[np.int64]:
    """Lists the hands of ``size`` tiles that can be dealt from ``tiles``, [8] counts of each kind.

    They are counts, too: int64 [n, 8].
    """
    hands: list[tuple[int, ...]] = [()]
    for available in tiles:
        hands = [
            (*hand, count)
            for hand in hands
            for count in range(min(available, size - sum(hand)) + 1)
        ]
    return np.array([hand for hand in hands if sum(hand) == size])


def format_hand(counts: npt.NDArray[np.integer[Any]]) -> str:
    """Returns a hand as sorted digits; ``counts``: [8] tiles of each kind."""
    return "".join(digit * int(count) for digit, count in zip(DIGITS, counts, strict=True))


def check_hands(
    hands: npt.ArrayLike, num_games: int, deck: Sequence[int] = COUNTS
) -> npt.NDArray[np.int64]:
    """Returns kinds, [4, H] for all games or [N, 4, H], as int64 [N, 4, H]; else a HandsError."""
    shape = (num_games, NUM_SEATS, sum(deck) // NUM_SEATS)
    if (kinds := integer_rows(hands, shape)) is None:
        raise HandsError(
            f"expected hands as {NUM_SEATS} strings of digits or whole numbers of shape "
            f"{shape[1:]} for all games, or a row a game, shape {shape}, got {describe(hands)}"
        )
    outside = ((kinds < 0) | (kinds >= NUM_KINDS)).any(axis=(1, 2))
    counts = (kinds.reshape(num_games, -1)[:, :, None] == np.arange(NUM_KINDS)).sum(axis=1)
    wrong = outside if outside.any() else (counts != deck).any(axis=1)
    if wrong.any():
        game = int(wrong.argmax())
        where = f" in game {game}" if num_games > 1 else ""
        if outside.any():
            raise HandsError(f"expected kinds 0..7, got {kinds[game].tolist()!r}{where}")
        dealt = tuple(counts[game].tolist())
        raise HandsError(f"expected {tuple(deck)!r} tiles of the kinds 0..7, got {dealt!r}{where}")
    return kinds
