"""Trains policies by self-play with stable-baselines3; no other package imports torch."""

import os
from importlib import import_module
from typing import TYPE_CHECKING, Any, Final

# Threads of torch that wait for one another must sleep, not spin: spinning gains nothing here, and
# makes a training several times slower where other programs want the cores. It counts only for a
# torch that is imported after it.
os.environ.setdefault("OMP_WAIT_POLICY", "PASSIVE")

if TYPE_CHECKING:
    from goita_lab.learning.buffer import SeatRolloutBuffer as SeatRolloutBuffer
    from goita_lab.learning.device import has_fast_bfloat16 as has_fast_bfloat16
    from goita_lab.learning.device import use_threads as use_threads
    from goita_lab.learning.layer_widths import widths as widths
    from goita_lab.learning.losses import DivergedError as DivergedError
    from goita_lab.learning.policy import SelfPlayPolicy as SelfPlayPolicy
    from goita_lab.learning.policy_agent import SavedPolicy as SavedPolicy
    from goita_lab.learning.policy_file import begin_from as begin_from
    from goita_lab.learning.policy_file import policy_bytes as policy_bytes
    from goita_lab.learning.policy_file import save_policy as save_policy
    from goita_lab.learning.pool import Pool as Pool
    from goita_lab.learning.ppo import SelfPlayPPO as SelfPlayPPO
    from goita_lab.learning.ppo import linear as linear
    from goita_lab.learning.run import Run as Run
    from goita_lab.learning.settings import PRESETS as PRESETS
    from goita_lab.learning.settings import Training as Training
    from goita_lab.learning.vec_env import GoitaVecEnv as GoitaVecEnv
    from goita_lab.learning.vec_env import SeatVecEnv as SeatVecEnv

_PLACES: Final = {
    "DivergedError": "losses",
    "GoitaVecEnv": "vec_env",
    "PRESETS": "settings",
    "Pool": "pool",
    "Run": "run",
    "SavedPolicy": "policy_agent",
    "SeatRolloutBuffer": "buffer",
    "SeatVecEnv": "vec_env",
    "SelfPlayPPO": "ppo",
    "SelfPlayPolicy": "policy",
    "Training": "settings",
    "begin_from": "policy_file",
    "has_fast_bfloat16": "device",
    "linear": "ppo",
    "policy_bytes": "policy_file",
    "save_policy": "policy_file",
    "use_threads": "device",
    "widths": "layer_widths",
}
"""The modules of the public names, imported when a name is first used: most import torch."""

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


def __getattr__(name: str) -> Any:
    if name not in _PLACES:
        raise AttributeError(f"module {__name__!r} has no attribute {name!r}")
    return getattr(import_module(f"{__name__}.{_PLACES[name]}"), name)


def __dir__() -> list[str]:
    return __all__
