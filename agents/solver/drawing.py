"""Draws a solution: the hands, the attack to be met, and what every action is worth."""

from __future__ import annotations

from typing import TYPE_CHECKING

import numpy as np

from goita_env import actions
from goita_env.engine.door import CODE_MASK, code_counts, search_rules
from goita_env.render import svg
from goita_env.render.pen import document
from goita_env.render.scene import TILE, Place, Scene
from goita_env.tiles import NUM_SEATS
from goita_env.views import NONE

if TYPE_CHECKING:
    from agents.solver.solution import Solution


def draw(solution: Solution) -> str:
    """Returns a solution as SVG text; where limits left an action open it has no figure."""
    place = solution.position
    values = np.full(actions.NUM_ACTIONS, np.nan)
    for action, points in solution.values.items():
        values[action] = points
    legal = np.zeros(actions.NUM_ACTIONS)
    legal[list(solution.bounds)] = 1
    rules = search_rules(place.rules)
    attack, passes = int(rules.attack[place.status]), int(rules.passes[place.status])
    leads = attack == NONE
    attacker = NONE if leads else (place.seat - 1 - passes) % NUM_SEATS
    what = "lead, a block face down" if leads else f"receive {TILE} or pass"
    counts = code_counts()[np.array(place.codes) & CODE_MASK].tolist()
    places = [
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
    ]
    shown = Scene(
        rules=place.rules.name,
        places=tuple(places),
        scores=(),
        bottom_team=0,
        attack=attack,
        mover=place.seat,
        template=f"seat {place.seat}: {what}",
    )
    return document(svg.draw(shown, legal=legal, values=values))
