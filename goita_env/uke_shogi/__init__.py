"""Plays Uke-Shogi, also called Imo Shogi: the older game of which Goita may be a descendant.

Two to seven players each play for themselves and match one tile at a time. The descriptions that
are left are short; ``rules`` says which rules are theirs and which are ours. The PettingZoo
environments are in ``goita_env.uke_shogi_v0``.
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
