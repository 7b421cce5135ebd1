"""Tells what a seat may know: everything an agent sees comes from here.

``View`` holds N positions as one seat each may know them; ``from_observation`` reads observations
back into views, ``seat_view`` and ``asked_view`` look at a state, ``suppose`` replays a deal as a
seat would have seen it with other hands.
"""

from goita_env.views.fields import FACE_DOWN, NONE
from goita_env.views.supposition import DealRecord, suppose
from goita_env.views.view import (
    Decisions,
    View,
    asked_view,
    from_observation,
    seat_view,
    unpack_legal,
)

__all__ = [
    "FACE_DOWN",
    "NONE",
    "DealRecord",
    "Decisions",
    "View",
    "asked_view",
    "from_observation",
    "seat_view",
    "suppose",
    "unpack_legal",
]
