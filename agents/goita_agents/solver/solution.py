"""The answer of the solver about a position."""

from __future__ import annotations

from dataclasses import dataclass

from goita_agents.solver.position import Position


@dataclass(frozen=True)
class Solution:
    """The value of a position with perfect play and open hands, for the acting seat's team."""

    position: Position  #: The solved position.
    bounds: dict[int, tuple[int, int]]  #: Least and most points of each legal action.
    line: tuple[tuple[int, int], ...]
    """(seat, action) of one best line to the end of the round, passes included; shorter, or empty,
    where a limit was reached."""
    nodes: int  #: Searched positions.
    seconds: float  #: Time of the search.

    @property
    def values(self) -> dict[int, int]:
        """Points of each action that is solved."""
        return {action: low for action, (low, high) in self.bounds.items() if low == high}

    @property
    def finished(self) -> bool:
        """Whether all actions are solved."""
        return len(self.values) == len(self.bounds)

    @property
    def value(self) -> int | None:
        """Points that the position is worth; None where a limit left it open."""
        lows, highs = zip(*self.bounds.values(), strict=True)
        return max(lows) if max(lows) == max(highs) else None

    @property
    def best(self) -> tuple[int, ...]:
        """All actions that are known to be worth the position's value."""
        return tuple(a for a, points in self.values.items() if points == self.value)
