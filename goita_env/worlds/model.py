"""Defines ``Worlds``: ways in which the tiles that a view hides may lie."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Final, Self

import numpy as np
import numpy.typing as npt

from goita_env.errors import SettingError
from goita_env.tiles import NUM_KINDS, NUM_SEATS
from goita_env.views import NONE, View

Int = npt.NDArray[np.int64]
Int8 = npt.NDArray[np.int8]
Bool = npt.NDArray[np.bool_]

_KINDS: Final = np.arange(NUM_KINDS, dtype=np.int8)


@dataclass(frozen=True)
class Worlds:
    """Holds n worlds: where the tiles lie that a viewer cannot see, and its own beside them.

    Seats are relative to the viewer: 0 itself, 1 the next, 2 the partner, 3 the previous.
    """

    hands: Int8
    """[n, 4, 8] Tiles of each kind that each seat holds now, the viewer included."""
    face_down: Int8
    """[n, 4, 4] Kind of each seat's face-down block by its play, as ``View.blocks`` is indexed;
    NONE where that play's block doesn't lie face down, or wasn't played."""
    weight: npt.NDArray[np.float64]
    """[n] Probability, every way to put the distinct unseen tiles being as likely; they sum to 1
    over the worlds drawn or listed for one view."""
    face_up: Int8
    """[n, 4, 8] Tiles of each kind that each seat has played face up: the same in all worlds."""

    def __len__(self) -> int:
        """Returns n."""
        return len(self.hands)

    def __getitem__(self, index: slice | Int | Bool) -> Self:
        """Returns the worlds of a slice, an index array or a mask; weights stay as they are."""
        return type(self)(
            self.hands[index], self.face_down[index], self.weight[index], self.face_up[index]
        )

    @property
    def dealt(self) -> Int8:
        """Returns the tiles of each kind that each seat was dealt: int8 [n, 4, 8]."""
        down = (self.face_down[..., None] == _KINDS).sum(axis=2, dtype=np.int8)
        dealt: Int8 = self.hands + self.face_up + down
        return dealt


def check_number(number: object, what: str) -> None:
    """Checks that a number is a whole number from 1 on."""
    if isinstance(number, bool) or not isinstance(number, int | np.integer) or number < 1:
        raise SettingError(f"expected a whole number of {what} from 1 on, got {number!r}")


def own_tiles(view: View, worlds: int) -> tuple[Int8, Int8]:
    """Returns hands [N, worlds, 4, 8] and blocks [N, worlds, 16], the viewer's filled in."""
    hands = np.empty((len(view), worlds, NUM_SEATS, NUM_KINDS), np.int8)
    hands[:, :, 0] = view.hand[:, None]
    face_down = np.full((len(view), worlds, 4 * NUM_SEATS), NONE, np.int8)
    own = np.where(view.face_down[:, 0], view.blocks[:, 0], np.int8(NONE))
    face_down[:, :, :4] = own[:, None]
    return hands, face_down
