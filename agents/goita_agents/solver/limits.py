"""Limits of the solver: positions and seconds."""

from __future__ import annotations

import time
from numbers import Real
from typing import Final

from goita_agents.base import is_whole
from goita_env.errors import SettingError

SLICE: Final = 100_000
"""Nodes between two looks at the clock, about 10 ms; Ctrl-C works between them too."""

NO_LIMIT: Final = 1 << 62


class Limits:
    """Limits of nodes and seconds; the clock begins with the object.

    Raises:
        SettingError: if a limit is not above 0.
    """

    def __init__(self, nodes: int | None = None, seconds: float | None = None) -> None:
        if nodes is not None and (not is_whole(nodes) or nodes < 1):
            raise SettingError(f"expected a limit of 1 node or more, got {nodes!r}")
        if seconds is not None and not (isinstance(seconds, Real) and seconds > 0):
            raise SettingError(f"expected a limit above 0 seconds, got {seconds!r}")
        self._nodes = NO_LIMIT if nodes is None else nodes
        self._slice = SLICE if seconds is None else SLICE // 10
        self._end = None if seconds is None else time.perf_counter() + seconds

    def reached(self, nodes: int) -> bool:
        return nodes >= self._nodes or (self._end is not None and time.perf_counter() >= self._end)

    def next(self, nodes: int) -> int:
        """Returns at how many nodes to look at the clock again."""
        return min(nodes + self._slice, self._nodes)
