"""Trains policies by self-play with stable-baselines3; no other package imports torch."""

import os

# Threads of torch that wait for one another must sleep, not spin: spinning gains nothing here, and
# makes a training several times slower where other programs want the cores. It counts only for a
# torch that is imported after it.
os.environ.setdefault("OMP_WAIT_POLICY", "PASSIVE")

from goita_lab.learning.buffer import SeatRolloutBuffer
from goita_lab.learning.device import has_fast_bfloat16, use_threads
from goita_lab.learning.losses import DivergedError
from goita_lab.learning.policy import SelfPlayPolicy
from goita_lab.learning.policy_agent import SavedPolicy
from goita_lab.learning.policy_file import begin_from, policy_bytes, save_policy, widths
from goita_lab.learning.pool import Pool
from goita_lab.learning.ppo import SelfPlayPPO, linear
from goita_lab.learning.run import Run
from goita_lab.learning.settings import PRESETS, Training
from goita_lab.learning.vec_env import GoitaVecEnv, SeatVecEnv

__all__ = [
    "PRESETS",
    "DivergedError",
    "GoitaVecEnv",
    "Pool",
    "Run",
    "SavedPolicy",
    "SeatRolloutBuffer",
    "SeatVecEnv",
    "SelfPlayPPO",
    "SelfPlayPolicy",
    "Training",
    "begin_from",
    "has_fast_bfloat16",
    "linear",
    "policy_bytes",
    "save_policy",
    "use_threads",
    "widths",
]
