"""Says what a search may spend: positions, seconds, worlds and work."""

from __future__ import annotations

import time
from numbers import Integral, Real
from typing import Final

from agents.base import AgentError
from goita_env.errors import SettingError

SLICE: Final = 100_000
"""Nodes between two looks at the clock, about 10 ms; Ctrl-C works between them too."""

NO_LIMIT: Final = 1 << 62
MOST_WORLDS: Final = 100_000
MOST_MS: Final = 10_000_000


def is_whole(number: object) -> bool:
    """Tells whether something is a whole number."""
    return isinstance(number, Integral) and not isinstance(number, bool)


def check_limits(nodes: int | None, seconds: float | None) -> None:
    """Checks limits.

    Raises:
        SettingError: if one is not above 0.
    """
    if nodes is not None and (not is_whole(nodes) or nodes < 1):
        raise SettingError(f"expected a limit of 1 node or more, got {nodes!r}")
    number = isinstance(seconds, Real) and not isinstance(seconds, bool)
    if seconds is not None and not (number and seconds > 0):
        raise SettingError(f"expected a limit above 0 seconds, got {seconds!r}")


def check_search(worlds: int, ms: float) -> None:
    """Checks the options of a bot that searches sampled worlds.

    Raises:
        AgentError: if the worlds aren't a whole number, or one of them is not above 0 or too large.
    """
    if not is_whole(worlds) or not 1 <= worlds <= MOST_WORLDS:
        raise AgentError(f"expected worlds=1 to {MOST_WORLDS}, got {worlds!r}")
    if isinstance(ms, bool) or not isinstance(ms, Real) or not 0 < ms <= MOST_MS:
        raise AgentError(f"expected ms, milliseconds above 0 and up to {MOST_MS}, got {ms!r}")


class Limits:
    """Counts nodes and seconds; the clock begins with it."""

    def __init__(self, nodes: int | None, seconds: float | None) -> None:
        self._nodes = NO_LIMIT if nodes is None else nodes
        self._slice = SLICE if seconds is None else SLICE // 10
        self._end = None if seconds is None else time.perf_counter() + seconds

    def reached(self, nodes: int) -> bool:
        """Tells whether a limit is reached after so many nodes."""
        return nodes >= self._nodes or (self._end is not None and time.perf_counter() >= self._end)

    def next(self, nodes: int) -> int:
        """Returns at how many nodes to look at the clock again."""
        return min(nodes + self._slice, self._nodes)
