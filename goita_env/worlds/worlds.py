"""Draws and lists worlds: the possible places of the tiles that a view hides."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, fields
from math import factorial
from typing import Final, Self

import numpy as np
import numpy.typing as npt

from goita_env.arrays import Bool, Int, Int8
from goita_env.checks import check_count
from goita_env.errors import SettingError
from goita_env.tiles import HAND_SIZE, KING, NONE, NUM_KINDS, NUM_SEATS, PAWN
from goita_env.views import View
from goita_env.worlds.constraints import Hidden, hidden

_KINDS: Final = np.arange(NUM_KINDS, dtype=np.int8)
_FACTORIAL: Final = np.array([factorial(n) for n in range(HAND_SIZE + 1)], float)
_KIND_BYTE: Final = np.uint64(1) << np.arange(0, 64, 8, dtype=np.uint64)
"""One tile of each kind as a byte of counts."""


@dataclass(frozen=True)
class Worlds:
    """N worlds: the places of the tiles that a viewer cannot see, and of its own.

    Seats are relative to the viewer: 0 itself, 1 the next, 2 the partner, 3 the previous.
    """

    hands: Int8
    """[n, 4, 8] Tiles of each kind that each seat holds now, the viewer included."""
    face_down: Int8
    """[n, 4, 4] Kind of each seat's face-down block by its play, as ``View.blocks`` is indexed;
    NONE where that play's block doesn't lie face down, or wasn't played."""
    weight: npt.NDArray[np.float64]
    """[n] Probability if all ways to put the unseen tiles into the hidden places are equally
    likely, where tiles of a kind count as different; the weights of one view's worlds sum to 1."""
    face_up: Int8
    """[n, 4, 8] Tiles of each kind that each seat has played face up: the same in all worlds."""

    def __len__(self) -> int:
        return len(self.hands)

    def __getitem__(self, index: slice | Int | Bool) -> Self:
        """Returns the worlds of a slice, an index array or a mask; weights stay as they are."""
        return type(self)(
            self.hands[index], self.face_down[index], self.weight[index], self.face_up[index]
        )

    @classmethod
    def join(cls, parts: Sequence[Self]) -> Self:
        """Returns the worlds of all parts, one after another, with their weights."""
        names = [field.name for field in fields(cls)]
        return cls(
            **{name: np.concatenate([getattr(part, name) for part in parts]) for name in names}
        )

    @property
    def dealt(self) -> Int8:
        """Returns the tiles of each kind that each seat was dealt: int8 [n, 4, 8]."""
        down = (self.face_down[..., None] == _KINDS).sum(axis=2, dtype=np.int8)
        return np.asarray(self.hands + self.face_up + down)


def sample(view: View, worlds: int, rng: np.random.Generator) -> Worlds:
    """Draws worlds uniformly over the ways to put the unseen tiles into the hidden places.

    Tiles of a kind count as different, so a world is drawn the more often the more ways lead to it.
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
    check_count(worlds, "worlds")
    rows = len(view)
    hands, face_down = _known_tiles(view, worlds)  # [N, worlds, 4, 8], [N, worlds, 16]
    for row, hidden_tiles in enumerate(hidden(view)):
        places = hidden_tiles.places
        if len(places.seat) == 0:
            continue  # all tiles are shown
        kinds = _draw(hidden_tiles, worlds, rng)  # [worlds, U]
        # A tile is a byte of a word, so a sum of words over the places of a hand counts its kinds.
        # The fourth sum, over the places under blocks, is dropped.
        tiles = np.add.reduceat(_KIND_BYTE[kinds], places.hand_starts, axis=1)[:, :3]
        hands[row, :, 1:] = np.ascontiguousarray(tiles).view(np.int8).reshape(-1, 3, NUM_KINDS)
        face_down[row][:, places.down] = kinds[:, places.num_hand :]
    # Again: where a hand is shown its stretch of places is empty, and ``reduceat`` returns for an
    # empty stretch the tile that follows.
    _fill_in(view, hands)
    return Worlds(
        hands=hands.reshape(rows * worlds, NUM_SEATS, NUM_KINDS),
        face_down=face_down.reshape(rows * worlds, NUM_SEATS, 4),
        weight=np.full(rows * worlds, 1 / worlds),
        face_up=view.face_up.repeat(worlds, axis=0),
    )


def _draw(hidden_tiles: Hidden, worlds: int, rng: np.random.Generator) -> Int8:
    """Draws the kind in each place of one row: [W, U].

    Without further facts that is a permutation. Else the pinned king goes first, which leaves every
    other tile as many ways wherever it lies; then each seat gets its number of pawns, in places at
    random; then the other tiles are permuted over the places that are left.
    """
    order = rng.random((worlds, len(hidden_tiles.others))).argsort(axis=1)
    others = hidden_tiles.others[order]
    if hidden_tiles.pawns is None and not hidden_tiles.king:
        return others
    places = hidden_tiles.places
    # Tiles are laid out seat by seat: in columns of a seat its king, its pawns, other tiles. Then
    # the columns of each seat are permuted over its places, by sorting keys from 2 * seat on.
    keys = rng.random((worlds, len(places.seat))) + 2 * places.seat
    columns = np.full(keys.shape, PAWN, np.int8)
    is_other = np.ones(keys.shape, bool)
    rank = places.ordered_rank  # of each column among those of its seat that may hold pawns
    if hidden_tiles.king:
        seat = int(places.seat[hidden_tiles.king[0]])
        choice = rng.integers(len(hidden_tiles.king), size=worlds)
        king_place = np.array(hidden_tiles.king)[choice]
        keys[np.arange(worlds), king_place] = 2 * seat - 0.5  # to this place goes its first column
        of_seat = places.ordered_seat == seat - 1
        first = int(of_seat.argmax())
        columns[:, first], is_other[:, first] = KING, False
        rank = rank - of_seat
    if hidden_tiles.pawns is not None:
        split = hidden_tiles.pawns.cumulative.searchsorted(rng.random(worlds), side="right")
        pawns = hidden_tiles.pawns.counts[split]  # [W, 3] of each seat
        is_other &= rank >= pawns[:, places.ordered_seat]
    columns[is_other] = others.reshape(-1)
    kinds = np.empty_like(columns)
    np.put_along_axis(kinds, keys.argsort(axis=1), columns, axis=1)
    return kinds


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
    check_count(limit, "worlds as limit")
    if len(view) != 1:
        raise SettingError(f"expected a view of one row, got {len(view)} rows")
    hidden_tiles = next(hidden(view))
    try:
        tiles = _Listing(hidden_tiles, limit).run()
    except _TooManyError:
        return None
    worlds, places = len(tiles), hidden_tiles.places
    hands, face_down = _known_tiles(view, worlds)
    hands[0, :, 1:] = tiles[:, :3]
    _fill_in(view, hands)  # again: hands that are shown are empty among ``tiles``
    # A place under a block holds one tile.
    face_down[0][:, places.down] = tiles[:, 3:].argmax(axis=2)
    # n tiles of a kind, told apart, can be split in n! / product(count!) ways over hands that get
    # these counts, and places under blocks, one each. The n! are the same in all worlds.
    weight = 1 / _FACTORIAL[tiles[:, :3]].prod(axis=(1, 2))
    return Worlds(
        hands=hands[0],
        face_down=face_down[0].reshape(worlds, NUM_SEATS, 4),
        weight=weight / weight.sum(),
        face_up=view.face_up.repeat(worlds, axis=0),
    )


class _TooManyError(Exception):
    pass


class _Listing:
    """A list of worlds, kind by kind and *cell* by cell: three hands, then places under blocks.

    King and pawns, of which there are facts, go first. From then on every row can be completed, so
    as soon as there are more rows than the limit, there are more worlds.
    """

    def __init__(self, hidden_tiles: Hidden, limit: int) -> None:
        places = hidden_tiles.places
        self.hidden, self.limit = hidden_tiles, limit
        self.seats = [1, 2, 3, *(places.down >> 2).tolist()]
        self.cells = list(range(len(self.seats)))
        hands = np.bincount(places.seat[: places.num_hand] - 1, minlength=3)
        room = [*hands.tolist(), *[1] * len(places.down)]
        # Rows of worlds begun: tiles [n, cells, 8], and room [n, cells].
        self.tiles: Int8 = np.zeros((1, len(room), NUM_KINDS), np.int8)
        self.room: Int = np.array([room])

    def run(self) -> Int8:
        """Returns the tiles in each cell: [n, cells, 8]."""
        hidden_tiles, places = self.hidden, self.hidden.places
        if hidden_tiles.king:
            seat = int(places.seat[hidden_tiles.king[0]])
            # Its seat's hand, and cells 3 and on for its places under blocks.
            block_cells = [place - places.num_hand + 3 for place in hidden_tiles.king]
            cells = [seat - 1, *(cell for cell in block_cells if cell >= 3)]
            self._spread(KING, np.ones(1, np.int64), cells)
        if hidden_tiles.pawns is not None:
            self._spread_pawns(hidden_tiles.pawns.counts)
        unplaced = np.bincount(hidden_tiles.others, minlength=NUM_KINDS)
        for kind in np.argsort(-unplaced, kind="stable").tolist():
            if unplaced[kind]:
                self._spread(kind, np.full(len(self.tiles), unplaced[kind]), self.cells)
        return self.tiles

    def _spread_pawns(self, counts: Int) -> None:
        """Spreads pawns within each seat, for every split between the seats: [c, 3]."""
        ways, rows = len(counts), len(self.tiles)
        if ways * rows > self.limit:
            raise _TooManyError
        self._take(np.arange(rows).repeat(ways))
        split = np.tile(np.arange(ways), rows)
        for seat in (1, 2, 3):
            cells = [cell for cell in self.cells if self.seats[cell] == seat]
            split = split[self._spread(PAWN, counts[split, seat - 1], cells)]

    def _spread(self, kind: int, unplaced: Int, cells: list[int]) -> Int:
        """Spreads ``unplaced`` [n] tiles of a kind over cells in all ways.

        Returns the row from which each new row came.
        """
        # Cell by cell, a row becomes one row for each possible count: at least what the later cells
        # have no room for, at most the room here. ``last - ways`` is the first new row of each.
        origin = np.arange(len(unplaced))
        for position, cell in enumerate(cells):
            later = self.room[:, cells[position + 1 :]].sum(axis=1)
            low = np.maximum(unplaced - later, 0)
            ways = np.minimum(self.room[:, cell], unplaced) - low + 1
            last = ways.cumsum()
            if last[-1] > self.limit:
                raise _TooManyError
            index = np.arange(len(ways)).repeat(ways)
            put = low[index] + np.arange(last[-1]) - (last - ways)[index]
            self._take(index)
            self.tiles[:, cell, kind] = put
            self.room[:, cell] -= put
            unplaced, origin = unplaced[index] - put, origin[index]
        return origin

    def _take(self, index: Int) -> None:
        self.tiles, self.room = self.tiles[index], self.room[index]


def _known_tiles(view: View, worlds: int) -> tuple[Int8, Int8]:
    """Returns hands [N, worlds, 4, 8] and blocks [N, worlds, 16] with the known ones filled in."""
    hands = np.empty((len(view), worlds, NUM_SEATS, NUM_KINDS), np.int8)
    _fill_in(view, hands)
    face_down = np.full((len(view), worlds, 4 * NUM_SEATS), NONE, np.int8)
    known_blocks = view.known_blocks
    for seat in (0, *view.information.shown_seats):
        down = np.where(view.face_down[:, seat], known_blocks[:, seat], np.int8(NONE))
        face_down[:, :, 4 * seat : 4 * seat + 4] = down[:, None]
    return hands, face_down


def _fill_in(view: View, hands: Int8) -> None:
    """Puts the hands of the viewer and of the seats it is shown into hands [N, worlds, 4, 8]."""
    for seat in (0, *view.information.shown_seats):
        hands[:, :, seat] = view.hands[:, None, seat]
