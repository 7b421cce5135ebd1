"""Holds what the solver found out about a position."""

from __future__ import annotations

from dataclasses import dataclass

from goita_agents.solver.position import Position


@dataclass(frozen=True)
class Solution:
    """The value of a position with perfect play, all hands known, in points of the mover's team."""

    position: Position  #: What was solved.
    bounds: dict[int, tuple[int, int]]  #: Least and most points of each legal action.
    line: tuple[tuple[int, int], ...]
    """(seat, action) of one best line to the end of the round, passes included; shorter, or empty,
    where the limits cut it off."""
    nodes: int  #: Positions searched.
    seconds: float  #: Time that it took.

    @property
    def values(self) -> dict[int, int]:
        """Points of each action that is solved."""
        return {action: low for action, (low, high) in self.bounds.items() if low == high}

    @property
    def finished(self) -> bool:
        """All actions are solved."""
        return len(self.values) == len(self.bounds)

    @property
    def value(self) -> int | None:
        """Points that the position is worth; None where the limits left it open."""
        lows, highs = zip(*self.bounds.values(), strict=True)
        return max(lows) if max(lows) == max(highs) else None

    @property
    def best(self) -> tuple[int, ...]:
        """All actions that are known to be worth the position's value."""
        return tuple(a for a, points in self.values.items() if points == self.value)
