"""Defines what a seat may know: everything an agent sees comes from here.

``View`` holds N positions as one seat each may know them; ``from_observation`` reads observations
back into views, ``seat_view`` and ``acting_view`` look at a state. ``Replay`` follows deals move by
move and returns their seats' views.
"""

from goita_env.tiles import FACE_DOWN, NONE
from goita_env.views.fields import DecisionHistory
from goita_env.views.replay import Choices, Replay
from goita_env.views.view import View, acting_view, from_observation, seat_view

__all__ = [
    "FACE_DOWN",
    "NONE",
    "Choices",
    "DecisionHistory",
    "Replay",
    "View",
    "acting_view",
    "from_observation",
    "seat_view",
]
