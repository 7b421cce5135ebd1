"""Holds what a seat may know of a game of Uke-Shogi, and turns it into an observation."""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np
import numpy.typing as npt

from goita_env.arrays import Bool, Int
from goita_env.tiles import NUM_KINDS
from goita_env.uke_shogi.rules import UkeShogiRules


@dataclass(frozen=True, eq=False)
class UkeShogiView:
    """What one seat may know; seats are relative: 0 the viewer, 1 the next, and so on."""

    rules: UkeShogiRules
    hand: Int
    """[8] Tiles of each kind in the viewer's hand."""
    played: Int
    """[players, 8] Tiles of each kind that each seat has played in this deal."""
    passed_on: Bool
    """[players, 8] The seat has passed in this deal when this kind was to be matched. Where
    matching is a duty, it holds none of this kind."""
    passed_since: Bool
    """[players] The seat has passed since the last tile was played."""
    tiles_left: Int
    """[players] Tiles in each hand."""
    led: int | None
    """The kind to match; None where a tile is led, and after the end."""
    asked: int | None
    """The acting seat; None after the end."""

    def legal_actions(self) -> list[int]:
        """Returns the legal actions of the viewer in order; none where it does not act."""
        return self.rules.legal_actions(self.hand.tolist(), self.led) if self.asked == 0 else []

    def unseen(self) -> Int:
        """Returns the tiles of each kind that the viewer has not seen: int64 [8]."""
        return np.asarray(np.array(self.rules.counts) - self.hand - self.played.sum(axis=0))

    def observation(self) -> npt.NDArray[np.uint8]:
        """Returns the view as one vector: uint8 [16 + 19 * players], see ``layout``."""
        parts = {
            "hand": self.hand,
            "led": _one_hot(self.led, NUM_KINDS),
            "asked": _one_hot(self.asked, self.rules.players),
            "tiles_left": self.tiles_left,
            "passed_since": self.passed_since,
            "played": self.played,
            "passed_on": self.passed_on,
        }
        return np.concatenate([parts[name].ravel() for name in layout(self.rules)]).astype(np.uint8)


def layout(rules: UkeShogiRules) -> dict[str, slice]:
    """Returns where each field of a view lies in its observation, in order.

    Integers are written as they are, flags as 0 and 1, ``led`` and ``asked`` as one-hot, all zero
    for None.
    """
    seats = rules.players
    sizes = {"hand": NUM_KINDS, "led": NUM_KINDS, "asked": seats, "tiles_left": seats}
    sizes |= {"passed_since": seats, "played": seats * NUM_KINDS, "passed_on": seats * NUM_KINDS}
    stops = np.cumsum(list(sizes.values())).tolist()
    pairs = zip(sizes.items(), stops, strict=True)
    return {name: slice(stop - size, stop) for (name, size), stop in pairs}


def observation_size(rules: UkeShogiRules) -> int:
    """Returns how many numbers an observation has: 16 + 19 * players."""
    return 2 * NUM_KINDS + rules.players * (3 + 2 * NUM_KINDS)


def _one_hot(index: int | None, size: int) -> Bool:
    return np.asarray(np.arange(size) == (-1 if index is None else index))
