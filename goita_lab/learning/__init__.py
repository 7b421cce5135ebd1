"""Trains policies by self-play with stable-baselines3; no other package imports torch."""

import os

# Threads of torch that wait for one another must sleep, not spin: spinning gains nothing here, and
# makes a training several times slower where other programs want the cores. It counts only for a
# torch that is imported after it.
os.environ.setdefault("OMP_WAIT_POLICY", "PASSIVE")

from goita_lab.learning.buffer import SeatRolloutBuffer
from goita_lab.learning.building import build_model
from goita_lab.learning.device import find_device, has_fast_bfloat16, use_threads
from goita_lab.learning.export import policy_bytes, save_policy
from goita_lab.learning.measuring import Measuring
from goita_lab.learning.optimize import DivergedError
from goita_lab.learning.policy import SelfPlayPolicy
from goita_lab.learning.policy_agent import SavedPolicy, load_policy
from goita_lab.learning.policy_file import begin_from, find_policy, widths
from goita_lab.learning.pool import Pool
from goita_lab.learning.ppo import SelfPlayPPO, linear
from goita_lab.learning.presets import PLAYERS, PRESETS, TrainingSettings, check_widths
from goita_lab.learning.run import Run
from goita_lab.learning.vec_env import GoitaVecEnv, SeatVecEnv
from goita_lab.learning.weighted import has_kinds, kinds_of, named_agents, players_of

__all__ = [
    "PLAYERS",
    "PRESETS",
    "DivergedError",
    "GoitaVecEnv",
    "Measuring",
    "Pool",
    "Run",
    "SavedPolicy",
    "SeatRolloutBuffer",
    "SeatVecEnv",
    "SelfPlayPPO",
    "SelfPlayPolicy",
    "TrainingSettings",
    "begin_from",
    "build_model",
    "check_widths",
    "find_device",
    "find_policy",
    "has_fast_bfloat16",
    "has_kinds",
    "kinds_of",
    "linear",
    "load_policy",
    "named_agents",
    "players_of",
    "policy_bytes",
    "save_policy",
    "use_threads",
    "widths",
]
