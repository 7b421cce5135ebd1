"""Fills the hidden places of one view with tiles: at random, or in all ways."""

from __future__ import annotations

import numpy as np
import numpy.typing as npt

from goita_env.tiles import KING, NUM_KINDS, PAWN
from goita_env.worlds.facts import Hidden

Int = npt.NDArray[np.int64]
Int8 = npt.NDArray[np.int8]


def draw(known: Hidden, worlds: int, rng: np.random.Generator) -> Int8:
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


class Listing:
    """Lists worlds kind by kind and *cell* by cell: three hands, then each place under a block.

    King and pawns, of which there are facts, go first. From then on every row can be completed, so
    as soon as there are more rows than the limit, there are more worlds.
    """

    def __init__(self, known: Hidden, limit: int) -> None:
        places = known.places
        self.known, self.limit = known, limit
        self.seats = [1, 2, 3, *(places.down >> 2).tolist()]
        self.cells = list(range(len(self.seats)))
        hands = np.bincount(places.seat[: places.num_hand] - 1, minlength=3)
        room = [*hands.tolist(), *[1] * len(places.down)]
        # Rows of worlds begun: tiles [n, cells, 8], and room [n, cells].
        self.tiles: Int8 = np.zeros((1, len(room), NUM_KINDS), np.int8)
        self.room: Int = np.array([room])

    def run(self) -> Int8 | None:
        """Returns the tiles in each cell, [n, cells, 8]; None if there are more than the limit."""
        known, places = self.known, self.known.places
        if known.king:
            seat = int(places.seat[known.king[0]])
            downs = [place - places.num_hand + 3 for place in known.king]
            cells = [seat - 1, *(cell for cell in downs if cell >= 3)]
            if not self._spread(KING, np.ones(1, np.int64), cells):
                return None
        if known.pawns is not None and not self._spread_pawns(known.pawns.counts):
            return None
        left = np.bincount(known.others, minlength=NUM_KINDS)
        for kind in np.argsort(-left, kind="stable").tolist():
            if left[kind]:
                many = np.full(len(self.tiles), left[kind])
                if not self._spread(kind, many, self.cells):
                    return None
        return self.tiles

    def _spread_pawns(self, counts: Int) -> bool:
        """Spreads pawns within each seat, for every split between the seats: [c, 3]."""
        ways, begun = len(counts), len(self.tiles)
        if ways * begun > self.limit:
            return False
        self._take(np.arange(begun).repeat(ways))
        split = np.tile(np.arange(ways), begun)
        for seat in (1, 2, 3):
            cells = [cell for cell in self.cells if self.seats[cell] == seat]
            index = self._spread_index(PAWN, counts[split, seat - 1], cells)
            if index is None:
                return False
            split = split[index]
        return True

    def _spread(self, kind: int, left: Int, cells: list[int]) -> bool:
        """Spreads tiles of a kind over cells in all ways; False if there are too many."""
        return self._spread_index(kind, left, cells) is not None

    def _spread_index(self, kind: int, left: Int, cells: list[int]) -> Int | None:
        """Spreads tiles of a kind over cells in all ways.

        Args:
            kind: the kind.
            left: [n] how many tiles in each row begun.
            cells: where they may lie.

        Returns:
            The row from which each new row came; None if there are too many.
        """
        came = np.arange(len(left))
        for number, cell in enumerate(cells):
            later = self.room[:, cells[number + 1 :]].sum(axis=1)
            low = np.maximum(left - later, 0)
            ways = np.minimum(self.room[:, cell], left) - low + 1
            last = ways.cumsum()
            if last[-1] > self.limit:
                return None
            index = np.arange(len(ways)).repeat(ways)
            put = low[index] + np.arange(last[-1]) - (last - ways)[index]
            self._take(index)
            self.tiles[:, cell, kind] = put
            self.room[:, cell] -= put
            left, came = left[index] - put, came[index]
        return came

    def _take(self, index: Int) -> None:
        """Replaces the rows begun by those of an index."""
        self.tiles, self.room = self.tiles[index], self.room[index]
