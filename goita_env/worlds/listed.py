"""Lists all worlds of a view, each once."""

from __future__ import annotations

from math import factorial
from typing import Final

import numpy as np

from goita_env.errors import SettingError
from goita_env.tiles import HAND_SIZE, KING, NUM_KINDS, NUM_SEATS, PAWN
from goita_env.views import View
from goita_env.worlds.facts import Hidden, hidden
from goita_env.worlds.model import Int, Int8, Worlds, check_number, own_tiles

_FACTORIAL: Final = np.array([factorial(n) for n in range(HAND_SIZE + 1)], float)


def enumerate_worlds(view: View, limit: int) -> Worlds | None:
    """Lists all worlds of a view of one row, each once.

    Args:
        view: one position in a round under way.
        limit: most worlds to list.

    Returns:
        The worlds; None if there are more than ``limit``.

    Raises:
        SettingError: if the view is not one row in a round under way, or the limit is below 1.
        HandsError: if no deal fits.
    """
    check_number(limit, "worlds as limit")
    if len(view) != 1:
        raise SettingError(f"expected a view of one row, got {len(view)} rows")
    known = next(hidden(view))
    found = _Listing(known, limit).run()
    if found is None:
        return None
    number, places = len(found), known.places
    hands, face_down = own_tiles(view, number)
    hands[0, :, 1:] = found[:, :3]
    # A place under a block holds one tile.
    face_down[0][:, places.down] = found[:, 3:].argmax(axis=2)
    # Ways to put distinct tiles: the same for all worlds, but for the order of equal tiles in hand.
    weight = 1 / _FACTORIAL[found[:, :3]].prod(axis=(1, 2))
    return Worlds(
        hands[0],
        face_down[0].reshape(number, NUM_SEATS, 4),
        weight / weight.sum(),
        view.face_up.repeat(number, axis=0),
    )


class _Listing:
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
