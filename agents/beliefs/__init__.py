"""Infers hidden hands from what the others did: the exact listener.

``Listener`` follows a round through the eyes of one seat, ``follow`` a record. How the others are
supposed to play is ``Assumed``, ``GROUNDED`` or ``FACTS``; what comes out are ``HandBelief`` of one
seat's hand and ``DealBelief`` of all three. ``SampledListener`` and ``Acting`` are for policies
that are too slow to be asked about every hand.
"""

from agents.beliefs.assumed import (
    FACTS,
    GROUNDED,
    Acting,
    Assumed,
    Assumption,
    Remembered,
    UnexplainedError,
)
from agents.beliefs.deal_belief import DealBelief
from agents.beliefs.hand_belief import HandBelief
from agents.beliefs.listener import Listener, Seat, follow
from agents.beliefs.sampled import SampledListener

__all__ = [
    "FACTS",
    "GROUNDED",
    "Acting",
    "Assumed",
    "Assumption",
    "DealBelief",
    "HandBelief",
    "Listener",
    "Remembered",
    "SampledListener",
    "Seat",
    "UnexplainedError",
    "follow",
]
