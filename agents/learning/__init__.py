"""Trains policies by self-play with stable-baselines3; no other package imports torch."""

import os

# Threads of torch that wait for one another must sleep, not spin: spinning gains nothing here, and
# makes a training several times slower where other programs want the cores. It counts only for a
# torch that is imported after it.
os.environ.setdefault("OMP_WAIT_POLICY", "PASSIVE")

from agents.learning.buffer import SeatRolloutBuffer
from agents.learning.building import build_model
from agents.learning.device import find_device, has_fast_bfloat16, use_threads
from agents.learning.export import policy_bytes, save_policy
from agents.learning.measuring import Measuring
from agents.learning.optimize import DivergedError
from agents.learning.policy import SelfPlayPolicy
from agents.learning.policy_agent import SavedPolicy, load_policy
from agents.learning.policy_file import begin_from, find_policy, widths
from agents.learning.pool import Pool
from agents.learning.ppo import SelfPlayPPO, linear
from agents.learning.presets import PLAYERS, PRESETS, TrainingSettings, check_widths
from agents.learning.run import Run
from agents.learning.vec_env import GoitaVecEnv, SeatVecEnv
from agents.learning.weighted import has_kinds, kinds_of, named_agents, players_of

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
