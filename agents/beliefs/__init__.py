"""Infers hidden hands from what the others did: the exact listener.

``Listener`` follows a round through the eyes of one seat, ``follow`` a record. How the others are
supposed to play is ``Assumed``, ``GROUNDED`` or ``FACTS``; what comes out are ``HandBelief`` of one
seat's hand and ``DealBelief`` of all three.
"""

from agents.beliefs.assumed import FACTS, GROUNDED, Assumed, Assumption, UnexplainedError
from agents.beliefs.deal_belief import DealBelief
from agents.beliefs.hand_belief import HandBelief
from agents.beliefs.listener import Listener, Seat, follow

__all__ = [
    "FACTS",
    "GROUNDED",
    "Assumed",
    "Assumption",
    "DealBelief",
    "HandBelief",
    "Listener",
    "Seat",
    "UnexplainedError",
    "follow",
]
