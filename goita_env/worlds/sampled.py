"""Draws worlds uniformly over the ways to put the distinct unseen tiles."""

from __future__ import annotations

from typing import Final

import numpy as np

from goita_env.tiles import KING, NUM_KINDS, NUM_SEATS
from goita_env.views import View
from goita_env.worlds.facts import Hidden, Places, hidden
from goita_env.worlds.model import Int8, Worlds, check_number, own_tiles

_BYTE: Final = np.uint64(1) << np.arange(0, 64, 8, dtype=np.uint64)
"""One tile of each kind as a byte of counts."""


def sample(view: View, worlds: int, rng: np.random.Generator) -> Worlds:
    """Draws worlds uniformly over the ways to put the distinct unseen tiles.

    A row's worlds depend on the generator's state and on the row, not on the rows that follow it.

    Args:
        view: N positions, each in a round under way.
        worlds: how many to draw for each.
        rng: source of randomness.

    Returns:
        N * ``worlds`` worlds, row after row, each with the weight 1 / ``worlds``.

    Raises:
        SettingError: if the number is below 1, or a row shows the end of a round.
        HandsError: if no deal fits a row.
    """
    check_number(worlds, "worlds")
    rows = len(view)
    hands, face_down = own_tiles(view, worlds)
    for row, known in enumerate(hidden(view)):
        kinds = _draw(known, worlds, rng)
        _put(kinds, known.places, hands[row], face_down[row])
    return Worlds(
        hands.reshape(rows * worlds, NUM_SEATS, NUM_KINDS),
        face_down.reshape(rows * worlds, NUM_SEATS, 4),
        np.full(rows * worlds, 1 / worlds),
        view.face_up.repeat(worlds, axis=0),
    )


def _draw(known: Hidden, worlds: int, rng: np.random.Generator) -> Int8:
    """Draws the kind in each place of one row: [W, U].

    Without further facts that is a permutation. Else the pinned king goes first, which leaves every
    other tile as many ways wherever it lies; then each seat gets its number of pawns, in places at
    random; then the other tiles are permuted over the places that are left.
    """
    shuffled = known.others[rng.random((worlds, len(known.others))).argsort(axis=1)]
    if known.pawns is None and not known.king:
        return shuffled
    places = known.places
    keys = rng.random((worlds, len(places.seat)))
    keys += 2 * places.seat
    rank, free = places.ordered_rank, np.ones(keys.shape, bool)
    ordered = np.zeros(keys.shape, np.int8)
    if known.king:
        seat = int(places.seat[known.king[0]])
        chosen = np.array(known.king)[rng.integers(len(known.king), size=worlds)]
        keys[np.arange(worlds), chosen] = 2 * seat - 0.5  # the first of its seat in order
        first = int((places.ordered_seat == seat - 1).argmax())
        rank = rank - (places.ordered_seat == seat - 1)
        ordered[:, first], free[:, first] = KING, False
    if known.pawns is not None:
        split = known.pawns.cumulative.searchsorted(rng.random(worlds), side="right")
        pawns = known.pawns.counts[split]
        free &= rank >= pawns[:, places.ordered_seat]
    ordered[free] = shuffled.reshape(-1)
    kinds = np.empty_like(ordered)
    np.put_along_axis(kinds, keys.argsort(axis=1), ordered, axis=1)
    return kinds


def _put(kinds: Int8, places: Places, hands: Int8, face_down: Int8) -> None:
    """Puts the tiles of one row's worlds into hands and under blocks, in place.

    Args:
        kinds: [W, U] kind in each place.
        places: the places.
        hands: [W, 4, 8] to write the others' hands into.
        face_down: [W, 16] to write the others' blocks into.
    """
    tiles = np.add.reduceat(_BYTE[kinds], places.hand_starts, axis=1)[:, :3]
    hands[:, 1:] = np.ascontiguousarray(tiles).view(np.int8).reshape(-1, 3, NUM_KINDS)
    face_down[:, places.down] = kinds[:, places.num_hand :]
