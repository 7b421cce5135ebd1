"""Teaches a policy by self-play with stable-baselines3; no other package imports torch."""

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
