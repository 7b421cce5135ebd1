"""Plays Uke-Shogi, also called Imo Shogi: the older game of which Goita may be a descendant.

Each plays for himself, two to seven at a table, and matches one tile at a time. The descriptions
that are left are short; ``rules`` tells what they say and what is ours. The PettingZoo environments
are in ``goita_env.uke_shogi_v0``.
"""

from goita_env.uke_shogi.game import UkeShogiGame
from goita_env.uke_shogi.players import PLAYERS
from goita_env.uke_shogi.rules import IMO_SHOGI, MURRAY, UMEBAYASHI, UkeShogiRules
from goita_env.uke_shogi.view import UkeShogiView

__all__ = [
    "IMO_SHOGI",
    "MURRAY",
    "PLAYERS",
    "UMEBAYASHI",
    "UkeShogiGame",
    "UkeShogiRules",
    "UkeShogiView",
]
