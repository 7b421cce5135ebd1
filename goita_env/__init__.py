"""Plays Goita, the four-player partnership tile game from Noto: environments, rules, records.

The names here and those of the pages in docs/reference are the public interface; what else the
submodules hold may change.
"""

import gymnasium as _gymnasium

from goita_env import actions, errors, goita_v0, records, uke_shogi_v0, views
from goita_env.envs.seat_env import SeatEnv
from goita_env.envs.seat_vector_env import SeatVectorEnv
from goita_env.envs.vector import GoitaVectorEnv, StepResult
from goita_env.errors import GoitaError
from goita_env.game import Game
from goita_env.information import InformationStructure, MessageChannel
from goita_env.rules import JGA, NINE, PAGAT, Rules, get_rules
from goita_env.tiles import TEAMS
from goita_env.views import View

__version__ = "0.4.0"

__all__ = [
    "JGA",
    "NINE",
    "PAGAT",
    "TEAMS",
    "Game",
    "GoitaError",
    "GoitaVectorEnv",
    "InformationStructure",
    "MessageChannel",
    "Rules",
    "SeatEnv",
    "SeatVectorEnv",
    "StepResult",
    "View",
    "__version__",
    "actions",
    "errors",
    "get_rules",
    "goita_v0",
    "records",
    "uke_shogi_v0",
    "views",
]

_gymnasium.register(
    "goita/Seat-v0",
    entry_point="goita_env.envs.seat_env:SeatEnv",
    vector_entry_point="goita_env.envs.seat_vector_env:SeatVectorEnv",
)
