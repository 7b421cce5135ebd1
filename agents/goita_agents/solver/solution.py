"""Holds what the solver found out about a position, and draws it."""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np

from goita_agents.solver.position import Position
from goita_env import actions
from goita_env.engine.solver_api import CODE_MASK, code_counts, search_rules
from goita_env.render import svg
from goita_env.render.scene import Place, Scene
from goita_env.tiles import NONE, NUM_SEATS


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
    def value_bounds(self) -> tuple[int, int]:
        """Least and most points that the position is worth."""
        lows, highs = zip(*self.bounds.values(), strict=True)
        return max(lows), max(highs)

    @property
    def value(self) -> int | None:
        """Points that the position is worth; None where the limits left it open."""
        low, high = self.value_bounds
        return low if low == high else None

    @property
    def best(self) -> tuple[int, ...]:
        """All actions that are known to be worth the position's value."""
        return tuple(a for a, points in self.values.items() if points == self.value)

    def _repr_svg_(self) -> str:
        """Draws the position; an action that limits left open is not listed."""
        place = self.position
        values = np.full(actions.NUM_ACTIONS, np.nan)
        values[list(self.values)] = list(self.values.values())
        rules = search_rules(place.rules)
        attack, passes = int(rules.attack[place.status]), int(rules.passes[place.status])
        leads = attack == NONE
        attacker = NONE if leads else (place.seat - 1 - passes) % NUM_SEATS
        what = "lead, a tile face down" if leads else "receive {tile} or pass"
        counts = code_counts()[np.array(place.codes) & CODE_MASK].tolist()
        places = tuple(
            Place(
                name=f"seat {seat}",
                remarks=("to move",) * (seat == place.seat) + ("attacked",) * (seat == attacker),
                calls=(),
                blocks=(NONE,) * 4,
                attacks=(NONE,) * 4,
                face_down=(False,) * 4,
                hand=tuple(kind for kind, n in enumerate(counts[seat]) for _ in range(n)),
                tiles=sum(counts[seat]),
                last=NONE,
            )
            for seat in range(NUM_SEATS)
        )
        shown = Scene(
            rules=place.rules.name,
            places=places,
            scores=(),
            bottom_team=0,
            attack=attack,
            mover=place.seat,
            template=what,
            who=f"seat {place.seat}",
        )
        return svg.render(shown, values=values)
