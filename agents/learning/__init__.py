"""Teaches a policy by self-play with stable-baselines3; no other package imports torch."""

# ruff: noqa: E402 - the setting below counts for a torch that is imported after it.

import os

# Threads of torch that wait for one another sleep. By default they spin, which gains nothing here, and
# where other programs want the cores makes a training several times slower.
os.environ.setdefault("OMP_WAIT_POLICY", "PASSIVE")

from agents.learning.buffer import SeatRolloutBuffer
from agents.learning.policy import SelfPlayPolicy
from agents.learning.ppo import SelfPlayPPO
from agents.learning.run import Run, has_fast_bfloat16, save_policy, use_threads
from agents.learning.vec_env import GoitaVecEnv

__all__ = [
    "GoitaVecEnv",
    "Run",
    "SeatRolloutBuffer",
    "SelfPlayPPO",
    "SelfPlayPolicy",
    "has_fast_bfloat16",
    "save_policy",
    "use_threads",
]
