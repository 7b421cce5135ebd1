"""Reads from views which tiles lie hidden, in which places, and every hard fact about them.

A *place* is room for one tile that the viewer cannot see: in another seat's hand, or under one of
another seat's face-down blocks. What a view implies beyond the tiles and places themselves:

* A called five: exactly five pawns were dealt.
* Silence where calling is a duty: no such hand was dealt. It is a fact about the seats that have
  answered: about all once a partner chooses or play has begun, else about those before the viewer.
* Where two fives held by partners win, two partners weren't both dealt five: if all have answered.
* Tiles of seats that the options show (``View.hands``) are known, like the viewer's own.
* A king attack before any king lay face up: that seat was dealt both kings. Where the rules want
  both in hand as the turn begins, the other isn't under an earlier block of that seat. (The eighth
  tile, which may be a king in some rules, ends the round.)

A call of six or more, and two fives called by partners, end the round. Passing is always allowed,
any tile may lie face down and any tile except a king may attack, so nothing else follows for
certain; probable behaviour is not used here. No view reveals that another seat acts before play: a
view whose seat does not act and that shows no play is taken at the moment when all have answered
whether they call. A message proves nothing.
"""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass
from functools import cache, lru_cache
from math import comb
from typing import Final

import numpy as np
import numpy.typing as npt

from goita_env import actions
from goita_env.arrays import Int, Int8
from goita_env.engine.rulebook import must_call
from goita_env.errors import HandsError, SettingError
from goita_env.rules import Rules
from goita_env.tiles import COUNTS, HAND_SIZE, KING, NUM_KINDS, NUM_SEATS, PAWN
from goita_env.views import FACE_DOWN, NONE, View

Three = tuple[int, int, int]
"""One number for each of the seats 1 to 3."""

_KINDS: Final = np.arange(NUM_KINDS, dtype=np.int8)
_ANY_COUNT: Final = (1 << (HAND_SIZE + 1)) - 1
"""Bits of the numbers 0 to 8, more than a hand of a small game holds."""

_DOWN_BITS: Final = 1 << np.arange(4 * NUM_SEATS)
# [places, pawns] The ways to choose places for pawns.
_BINOMIAL: Final = np.array(
    [[comb(n, k) for k in range(COUNTS[PAWN] + 1)] for n in range(HAND_SIZE + 1)], float
)
_NEXT, _PARTNER = np.divmod(np.arange((HAND_SIZE + 1) ** 2), HAND_SIZE + 1)
"""Every pair of counts: pawns of the next seat and of the partner, each 0 to 8."""


@dataclass(frozen=True)
class Places:
    """The ``U`` places of one view: hands of seats 1, 2 and 3, then blocks by seat and play.

    *In order* means here: sorted by seat, each seat's hand before its blocks.
    """

    size: Three
    """Places of each seat."""
    hand_starts: npt.NDArray[np.intp]
    """[4] First place of each of the three hands, and of the blocks; [3] without blocks."""
    num_hand: int
    """Places in hands."""
    down: Int
    """[d] 4 * seat + play of each place under a block."""
    seat: Int
    """[U] Seat of each place, 1 to 3."""
    ordered_seat: Int
    """[U] Seat of each place in order, 0 to 2 for the seats 1 to 3."""
    ordered_rank: Int
    """[U] Number of each place in order among those of its seat."""


@dataclass(frozen=True)
class PawnCounts:
    """The ``c`` ways to split the unseen pawns between the seats that the facts allow."""

    counts: Int
    """[c, 3] Pawns in the places of seats 1, 2 and 3."""
    cumulative: npt.NDArray[np.float64]
    """[c] Sums of their probabilities, the last one 1."""


@dataclass(frozen=True)
class Hidden:
    """What is hidden from the viewer of one row."""

    places: Places
    pawns: PawnCounts | None
    """How unseen pawns may be split; None: no fact restricts them, so they are among the others."""
    king: tuple[int, ...]
    """Places to which the facts pin the unseen king; empty: it may lie anywhere."""
    others: Int8
    """[R] Kinds of the other unseen tiles, which may lie anywhere."""


@lru_cache(maxsize=1 << 14)
def _places(sizes: Three, down_bits: int) -> Places:
    """Returns the places of a view.

    ``sizes``: hidden tiles in the hands of seats 1 to 3; ``down_bits``: bit 4 * seat + play is set
    for each face-down block of unknown kind.
    """
    down = np.array([bit for bit in range(4 * NUM_SEATS) if (down_bits >> bit) & 1], np.int64)
    starts = np.cumsum([0, *sizes])
    seat = np.concatenate((np.repeat([1, 2, 3], sizes), down >> 2))
    size = np.bincount(seat - 1, minlength=3)
    return Places(
        size=(int(size[0]), int(size[1]), int(size[2])),
        hand_starts=starts if len(down) else starts[:3],
        num_hand=int(starts[3]),
        down=down,
        seat=seat,
        ordered_seat=np.repeat([0, 1, 2], size),
        ordered_rank=np.concatenate([np.arange(places) for places in size]),
    )


@lru_cache(maxsize=1 << 16)
def _split_pawns(
    size: Three, pawns: int, allowed: Three, apart: tuple[int, int] | None
) -> PawnCounts | None:
    """Splits unseen pawns between three seats; None if every way is allowed.

    ``size``: places of each seat; ``allowed``: bits of the numbers of pawns that these may hold;
    ``apart``: numbers that seats 1 and 3 do not hold at the same time.
    """
    third = pawns - _NEXT - _PARTNER
    is_possible = third >= 0
    third = np.maximum(third, 0)
    # [81] Ways to choose each seat's places for pawns; 0 for more pawns than places.
    ways = (
        is_possible
        * _BINOMIAL[size[0], _NEXT]
        * _BINOMIAL[size[1], _PARTNER]
        * _BINOMIAL[size[2], third]
    )
    is_fitting = (allowed[0] >> _NEXT) & (allowed[1] >> _PARTNER) & (allowed[2] >> third) & 1 > 0
    if apart is not None:
        is_fitting &= (apart[0] != _NEXT) | (apart[1] != third)
    if is_fitting[ways > 0].all():
        return None
    is_fitting &= ways > 0
    if not is_fitting.any():
        raise HandsError(
            f"expected a view that some deal fits, got {pawns} unseen pawns for places {size!r}, "
            f"the numbers allowed in bits {allowed!r}"
        )
    cumulative = ways[is_fitting].cumsum()
    counts = np.stack((_NEXT[is_fitting], _PARTNER[is_fitting], third[is_fitting]), axis=1)
    return PawnCounts(counts, cumulative / cumulative[-1])


def check_in_play(view: View) -> None:
    """Raises a SettingError for the first row that shows the end of a round, or a redeal."""
    callers = np.count_nonzero(view.called, axis=1)
    over = (view.called > 5).any(axis=1) | ((view.num_plays > 0) & (view.attack == NONE))
    if callers.any():
        redeals = np.count_nonzero(view.choices == actions.REDEAL, axis=1)
        over |= (callers > 0) & (redeals >= callers)
        partners = view.called[:, 0].astype(bool) == view.called[:, 2].astype(bool)
        over |= (callers == 2) & (partners | (view.rules.opponents_fives == "redeal"))
    if over.any():
        raise SettingError(
            f"expected views of rounds under way, got the end of one in row {over.argmax()}"
        )


def hidden(view: View) -> Iterator[Hidden]:
    """Yields what is hidden from the viewer of each row."""
    check_in_play(view)
    blocks, unseen = view.known_blocks, _unseen(view)
    down = (((blocks == FACE_DOWN).reshape(-1, 4 * NUM_SEATS)) @ _DOWN_BITS).tolist()
    attacks = view.attacks
    pawns_seen = (blocks == PAWN).sum(axis=2) + (attacks == PAWN).sum(axis=2)
    sizes = view.hand_sizes.copy()
    for seat in (0, *view.information.shown_seats):
        pawns_seen[:, seat] += view.hands[:, seat, PAWN]  # face-down ones are in ``blocks``
        sizes[:, seat] = 0  # there is nothing hidden in a hand that is shown
    pinned = ((attacks == KING).any(axis=(1, 2)) & (unseen[:, KING] == 1)).tolist()
    hidden_sizes, called = sizes.tolist(), view.called.tolist()
    dealers = np.where(view.asked_call, view.dealer, NONE)
    dealers[view.asked_message] = 0  # as if the viewer dealt: no seat has answered yet
    asking_dealers = dealers.tolist()
    for row, seen in enumerate(pawns_seen.tolist()):
        places = _places(tuple(hidden_sizes[row][1:]), down[row])
        kinds = _KINDS.repeat(unseen[row])
        if len(kinds) != len(places.seat):
            raise HandsError(
                f"expected as many unseen tiles as places for them, got {len(kinds)} for "
                f"{len(places.seat)} in row {row}"
            )
        king = _king_places(view.rules, attacks[row], places) if pinned[row] else ()
        size = places.size
        # ``kinds`` is sorted: pawns come first, the king last.
        if king:
            kinds = kinds[:-1]
            seat = int(places.seat[king[0]])
            # The king takes one of its seat's places.
            size = (size[0] - (seat == 1), size[1] - (seat == 2), size[2] - (seat == 3))
        pawns = int(unseen[row, PAWN])
        split = _count_pawns(view.rules, size, pawns, seen, called[row], asking_dealers[row])
        yield Hidden(
            places=places, pawns=split, king=king, others=kinds if split is None else kinds[pawns:]
        )


def _unseen(view: View) -> Int8:
    """[N, 8] Tiles of each kind that the viewer cannot see, not even in hands shown to it."""
    unseen = view.unseen
    for seat in view.information.shown_seats:
        down = np.where(view.face_down[:, seat], view.known_blocks[:, seat], NONE)
        own_blocks = (down[:, :, None] == _KINDS).sum(axis=1, dtype=np.int8)
        unseen = unseen - own_blocks - view.hands[:, seat]
    return unseen


@cache
def _silent(rules: Rules) -> int:
    """Returns the bits of the numbers of pawns with which a seat may keep silent."""
    return sum(1 << n for n in range(HAND_SIZE + 1) if n < 5 or not must_call(rules, n))


def _count_pawns(
    rules: Rules, size: Three, pawns: int, seen: list[int], called: list[int], asking_dealer: int
) -> PawnCounts | None:
    """Splits the unseen pawns of one row as calls and silences allow; None: in any way.

    ``size``: places of seats 1 to 3, that of a pinned king left out; ``pawns``: the unseen ones;
    ``seen``: [4] dealt pawns of each seat that the viewer has seen, of its own all; ``called``: [4]
    pawns that each seat called; ``asking_dealer``: the dealer if the viewer decides whether it
    calls, else NONE.
    """
    allowed, silent = [_ANY_COUNT] * NUM_SEATS, _silent(rules)
    for seat in (1, 2, 3):
        if called[seat]:
            allowed[seat] = 1 << 5
        elif asking_dealer == NONE or (seat - asking_dealer) % 4 < -asking_dealer % 4:
            # The seat has answered: all have, or it comes before the viewer.
            allowed[seat] = silent
    apart = None
    if rules.partners_fives_win == "held" and asking_dealer == NONE:
        if seen[0] == 5:
            allowed[2] &= ~(1 << 5)
        if max(seen[1], seen[3]) <= 5 and seen[1] + seen[3] + pawns >= 10:  # both can have five
            apart = (5 - seen[1], 5 - seen[3])
    # Bit n: the seat may have n of the unseen pawns. ``allowed`` counts the dealt pawns, so the
    # bits are shifted by those that the seat has shown.
    fitting = [(1 << (min(room, pawns) + 1)) - 1 for room in size]
    bits = [(allowed[seat] >> seen[seat]) & fit for seat, fit in enumerate(fitting, start=1)]
    if apart is None and bits == fitting:
        return None
    return _split_pawns(size, pawns, (bits[0], bits[1], bits[2]), apart)


def _king_places(rules: Rules, attacks: Int8, places: Places) -> tuple[int, ...]:
    """Lists the places to which a king attack pins the other, unseen king.

    As the other king is unseen, none lay face up before the attack, and it wasn't the viewer's.
    """
    seat, play = divmod(int((attacks == KING).argmax()), attacks.shape[1])
    # The attacker was dealt both; "in your hand": none of them laid face down before this turn.
    first = 0 if rules.second_king_after_own_face_down else play
    return tuple(
        place
        for place in np.flatnonzero(places.seat == seat).tolist()
        if place < places.num_hand or places.down[place - places.num_hand] & 3 >= first
    )
