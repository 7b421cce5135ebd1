"""Infers hidden hands from the actions of the others.

``Listener`` follows a round as one seat sees it, ``follow`` a record. Models say how the others
play: ``PolicyModel``, ``UNIFORM_MODEL`` or ``LEGAL_MODEL``. The results are ``HandBelief`` about
one seat's hand and ``DealBelief`` about all three hands, or ``DealMixture`` where the seat does not
observe all messages. ``TypeListener`` also infers which of several ``Types`` the others are.
"""

from goita_agents.beliefs.deal_belief import DealBelief
from goita_agents.beliefs.hand_belief import HandBelief
from goita_agents.beliefs.listener import Listener, follow
from goita_agents.beliefs.types import TypeListener, Types, make_types
from goita_agents.beliefs.unheard_messages import DealMixture
from goita_agents.models import (
    LEGAL_MODEL,
    UNIFORM_MODEL,
    CachedModel,
    OpponentModel,
    PolicyModel,
    UnexplainedError,
)
from goita_env.tiles import RelativeSeat

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
    "RelativeSeat",
    "TypeListener",
    "Types",
    "UnexplainedError",
    "follow",
    "make_types",
]
