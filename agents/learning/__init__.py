"""Teaches a policy by self-play with stable-baselines3; no other package imports torch."""

import os

# Threads of torch that wait for one another shall sleep, not spin: spinning gains nothing here, and
# makes a training several times slower where other programs want the cores. It counts only for a
# torch that is imported after it.
os.environ.setdefault("OMP_WAIT_POLICY", "PASSIVE")

from agents.learning.buffer import SeatRolloutBuffer
from agents.learning.divergence import DivergedError
from agents.learning.machine import find_device, has_fast_bfloat16, use_threads
from agents.learning.measuring import Measuring
from agents.learning.player import SavedPolicy, find_policy, play
from agents.learning.policy import SelfPlayPolicy
from agents.learning.policy_file import begin_from, policy_bytes, save_policy, widths
from agents.learning.pool import Pool
from agents.learning.ppo import SelfPlayPPO, linear
from agents.learning.presets import PRESETS, Settings, check_widths
from agents.learning.run import Run
from agents.learning.seat_vec_env import SeatVecEnv
from agents.learning.vec_env import GoitaVecEnv

__all__ = [
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
    "Settings",
    "begin_from",
    "check_widths",
    "find_device",
    "find_policy",
    "has_fast_bfloat16",
    "linear",
    "play",
    "policy_bytes",
    "save_policy",
    "use_threads",
    "widths",
]
