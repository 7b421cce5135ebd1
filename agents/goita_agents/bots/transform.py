"""Hides named slices of the observation from an agent or a training: they are set to zero.

Names of slices are data, which a file may hold.
"""

from __future__ import annotations

from collections.abc import Sequence
from typing import Final

import numpy as np

from goita_agents.base import AgentError, Bool
from goita_env.views import View
from goita_env.views.observation import MESSAGE_SLICES, NUM_WORDS, OBSERVATION_SIZE, SLICES, Words


class Transform:
    """A transform of observations, which hides slices.

    Args:
        hide: names of slices (``goita_env.views.observation.SLICES``, and ``MESSAGE_SLICES``, which
            are zero in the base game), or the beginning of several names: ``events``, ``messages``.

    Attributes:
        texts: the names, as a file holds them.
        hidden: bool [512] the hidden bits.
    """

    def __init__(self, hide: Sequence[str] = ()) -> None:
        self.texts = tuple(hide)
        self.hidden: Bool = np.zeros(OBSERVATION_SIZE, bool)
        slices = (*SLICES, *MESSAGE_SLICES)
        for name in self.texts:
            exact = [part for part in slices if part.name == name]
            matching = exact or [part for part in slices if part.name.startswith(f"{name}_")]
            if not matching:
                names = ", ".join(dict.fromkeys(part.name.rstrip("0123456789_") for part in slices))
                raise AgentError(
                    f"expected names of slices of the observation ({names}; with the seat, 0 to 3, "
                    f"and the play, 0 to 3, where there are several), got {name!r:.100}"
                )
            for part in matching:
                self.hidden[part.start : part.stop] = True
        self._mask: Words = ~np.packbits(self.hidden, bitorder="little").view(np.uint64)

    def __bool__(self) -> bool:
        """Returns whether anything is hidden."""
        return bool(self.texts)

    def view(self, view: View) -> View:
        """Returns the views of N positions that the agent is shown."""
        if not self:
            return view
        return View(self.words(view.words), view.game, view.rules, view.information)

    def words(self, words: Words) -> Words:
        """Returns the packed observations that the agent is shown.

        ``words`` are [N, 8]; further words, of shown tiles, stay as they are.
        """
        if not self:
            return words
        words = words.copy()
        words[:, :NUM_WORDS] &= self._mask
        return words


UNCHANGED: Final = Transform()
"""Changes nothing."""
