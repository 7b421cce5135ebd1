"""Draws worlds from the exact posterior of a listener that is kept from move to move.

A listener that begins asks the policy about every hand that was possible at each move made; one
that is kept hears what is new alone. ``asked`` tells beforehand how much the former would be.
"""

from __future__ import annotations

from collections import OrderedDict
from typing import Final

import numpy as np

from agents.base import Policy
from agents.beliefs import Assumed, Assumption, Listener, Seat
from agents.beliefs.history import deeds
from agents.beliefs.listener import bounds, own_tiles
from agents.beliefs.supports import support
from goita_env import View
from goita_env.errors import SettingError
from goita_env.tiles import COUNTS, NUM_SEATS
from goita_env.worlds import Worlds

KEPT: Final = 1_024
"""Rounds that are followed at a time; the one that was heard of longest ago is forgotten."""


class Hearing:
    """Follows the rounds that an agent plays.

    What is kept changes nothing but the time: a listener that begins anew believes the same.

    Args:
        policy: how the others are supposed to play.
        tremble: [4] by relative seat, how often each is supposed to do anything else.
    """

    def __init__(self, policy: Policy, tremble: tuple[float, ...]) -> None:
        _, one, two, three = (Assumed(policy, tremble=slip) for slip in tremble)
        self._assumed: dict[Seat, Assumption] = {"next": one, "partner": two, "previous": three}
        self._kept: OrderedDict[int, Listener] = OrderedDict()

    def worlds(self, view: View, count: int, rng: np.random.Generator) -> Worlds:
        """Draws so many worlds of a view of one row.

        Args:
            view: what the seat that is asked sees: one row.
            count: how many.
            rng: consumed.
        """
        return self._listener(view).deals().sample(count, rng)

    def _listener(self, view: View) -> Listener:
        """Returns the listener of a row, brought up to date."""
        game = int(view.game[0])
        listener = self._kept.pop(game, None)
        try:
            if listener is not None:
                listener.hear(view)
        except SettingError:  # another round under the same number
            listener = None
        if listener is None:
            listener = Listener(view, self._assumed)
        self._kept[game] = listener
        if len(self._kept) > KEPT:
            self._kept.popitem(last=False)
        return listener


def asked(view: View) -> float:
    """Tells about how often a policy is asked as a listener begins at a view of one row."""
    unseen = np.array(COUNTS) - own_tiles(view)
    hands, shown = support(unseen).hands, view.face_up[0].astype(np.int64)
    made, total = deeds(view), 0.0
    for seat in range(1, NUM_SEATS):
        fewest, most = bounds(unseen, shown, seat)
        possible = hands[((hands >= fewest) & (hands <= most)).all(axis=1)]
        states = np.ones(len(possible))
        for deed in made:
            if deed.seat == seat:
                states *= ((possible - fewest) > 0).sum(axis=1) if deed.hidden else 1
                total += states.sum()
    return total
