"""Changes observations before an agent or a training sees them.

A transform hides named slices of the observation, sets them to zero, and then applies a function of
the user's, if one is given. Names of slices are data, which a file may hold. A function is code: a
file may hold its name "MODULE:FUNCTION", but only the user can have it imported.
"""

from __future__ import annotations

from collections.abc import Sequence
from typing import Final

import numpy as np

from goita_agents.base import AgentError, Bool
from goita_agents.registry import ObservationFunction
from goita_env.errors import ObservationError
from goita_env.information import PLAIN, InformationStructure
from goita_env.views import View
from goita_env.views.observation import (
    MESSAGE_SLICES,
    NUM_WORDS,
    OBSERVATION_SIZE,
    SLICES,
    Words,
    compress,
    expand,
)

MOST_TEXTS: Final = 128
"""Texts that a file may hold: there are fewer slices."""


class Transform:
    """A transform of observations: slices are hidden, then a function is applied.

    Args:
        hide: names of slices (``goita_env.views.observation.SLICES``, and ``MESSAGE_SLICES``, which
            are zero in the base game), or what several names begin with: ``events``, ``messages``.
        function: applied after it; None: none.

    Raises:
        AgentError: if a name is that of no slice.

    Attributes:
        hidden: bool [512] the bits that are hidden.
    """

    def __init__(
        self, hide: Sequence[str] = (), function: ObservationFunction | None = None
    ) -> None:
        self.hide, self.function = tuple(hide), function
        self.hidden: Bool = np.zeros(OBSERVATION_SIZE, bool)
        for name in self.hide:
            for start, stop in _runs(name):
                self.hidden[start:stop] = True
        self._kept: Words = ~np.packbits(self.hidden, bitorder="little").view(np.uint64)

    def __bool__(self) -> bool:
        """Tells whether anything may change."""
        return bool(self.hide) or self.function is not None

    @property
    def texts(self) -> tuple[str, ...]:
        """Returns the names of what it hides and of its function, as a file holds them."""
        return (*self.hide, *([] if self.function is None else [self.function.name]))

    def view(self, view: View) -> View:
        """Returns what the agent is shown of N positions."""
        if not self:
            return view
        words = self.words(view.words, view.information)
        return View(words, view.game, view.rules, view.information)

    def words(self, words: Words, information: InformationStructure = PLAIN) -> Words:
        """Returns the packed observations that the agent is shown, of a game with these options.

        ``words`` are [N, 8]; words of shown tiles, behind the first eight, stay as they are.

        Raises:
            AgentError: if the function returns anything but as many observations.
        """
        if not self:
            return words
        words = words.copy()
        words[:, :NUM_WORDS] &= self._kept
        if self.function is None or not len(words):
            return words
        try:
            found = np.asarray(self.function.call(expand(words[:, :NUM_WORDS].copy())))
            if found.shape[:1] != (len(words),):
                raise ObservationError(f"expected {len(words)} rows, got shape {found.shape}")
            words[:, :NUM_WORDS] = compress(
                found, InformationStructure(channel=information.channel)
            )
        except ObservationError as error:
            raise AgentError(f"transform {self.function.name!r}: {error}") from error
        return words


UNCHANGED: Final = Transform()
"""Changes nothing."""


def read_texts(texts: Sequence[str], function: ObservationFunction | None, where: str) -> Transform:
    """Returns the transform that texts name, perhaps of somebody's file.

    Args:
        texts: names of slices, at most one "MODULE:FUNCTION" as the last.
        function: the function that the user named again; nothing is imported here.
        where: what holds the texts, for errors.

    Raises:
        AgentError: if the texts are others, or name another function than the user, or one where
            the user named none.
    """
    hide = [text for text in texts if ":" not in text]
    named = [text for text in texts if ":" in text]
    if len(texts) > MOST_TEXTS or named != list(texts[len(hide) :]) or len(named) > 1:
        raise AgentError(
            f"expected names of slices and at most one MODULE:FUNCTION, the last, in {where}, "
            f"got {list(texts)!s:.300}"
        )
    given = "" if function is None else function.name
    wanted = named[0] if named else ""
    if wanted and not given:
        raise AgentError(
            f"expected the transform {wanted:.200} to be given again, as in "
            f"transform={wanted:.200}: {where} was trained with it, and a file may not name code "
            "that runs"
        )
    if given != wanted:
        raise AgentError(
            f"expected {f'the transform {wanted:.200}' if wanted else 'no transform'}, as {where} "
            f"was trained, got {given!r}"
        )
    return Transform(hide, function)


def _runs(name: str) -> list[tuple[int, int]]:
    """Returns the first bit of each slice of a name, and the bit behind it."""
    slices = (*SLICES, *MESSAGE_SLICES)
    exact = [one for one in slices if one.name == name]
    found = exact or [one for one in slices if one.name.startswith(f"{name}_")]
    if not found:
        known = ", ".join(dict.fromkeys(one.name.rstrip("0123456789_") for one in slices))
        raise AgentError(
            f"expected names of slices of the observation ({known}; with the seat, 0 to 3, and the "
            f"play, 0 to 3, where there are several), got {name!r:.100}"
        )
    return [(one.start, one.stop) for one in found]
