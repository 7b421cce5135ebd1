"""Teaches a policy by self-play with stable-baselines3; no other package imports torch."""

import os

# Threads of torch that wait for one another shall sleep, not spin: spinning gains nothing here, and
# makes a training several times slower where other programs want the cores. It counts only for a
# torch that is imported after it.
os.environ.setdefault("OMP_WAIT_POLICY", "PASSIVE")

from agents.learning.buffer import SeatRolloutBuffer
from agents.learning.policy import SelfPlayPolicy
from agents.learning.ppo import SelfPlayPPO
from agents.learning.run import Run, has_fast_bfloat16, linear, save_policy, use_threads
from agents.learning.vec_env import GoitaVecEnv

__all__ = [
    "GoitaVecEnv",
    "Run",
    "SeatRolloutBuffer",
    "SelfPlayPPO",
    "SelfPlayPolicy",
    "has_fast_bfloat16",
    "linear",
    "save_policy",
    "use_threads",
]
