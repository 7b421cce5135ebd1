"""Infers hidden hands from what the others did.

``Listener`` follows a round as one seat sees it, ``follow`` a record. How the others play is
``PolicyModel``, ``UNIFORM_MODEL`` or ``LEGAL_MODEL``. The results are ``HandBelief`` about one
seat's hand and ``DealBelief`` about all three, or ``DealMixture`` where messages were not heard.
``TypeListener`` infers how the others play, too, among ``Types``.
"""

from agents.beliefs.deal_belief import DealBelief
from agents.beliefs.following import Seat
from agents.beliefs.hand_belief import HandBelief
from agents.beliefs.listener import Listener, follow
from agents.beliefs.mixture import DealMixture
from agents.beliefs.types import TypeListener, Types, types_of
from agents.models import (
    LEGAL_MODEL,
    UNIFORM_MODEL,
    CachedModel,
    OpponentModel,
    PolicyModel,
    UnexplainedError,
)

__all__ = [
    "LEGAL_MODEL",
    "UNIFORM_MODEL",
    "CachedModel",
    "DealBelief",
    "DealMixture",
    "HandBelief",
    "Listener",
    "OpponentModel",
    "PolicyModel",
    "Seat",
    "TypeListener",
    "Types",
    "UnexplainedError",
    "follow",
    "types_of",
]
