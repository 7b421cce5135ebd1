"""Trains policies by self-play with stable-baselines3; no other package imports torch."""

import os
from importlib import import_module
from typing import Any, Final

from goita_env.errors import naming_extras

# Threads of torch that wait for one another must sleep, not spin: spinning gains nothing here, and
# makes a training several times slower where other programs want the cores. It counts only for a
# torch that is imported after it.
os.environ.setdefault("OMP_WAIT_POLICY", "PASSIVE")

_PLACES: Final = {
    "DivergedError": "policy",
    "SelfPlayVecEnv": "vec_env",
    "PRESETS": "settings",
    "OpponentPool": "pool",
    "Run": "run",
    "SavedPolicy": "policy_file",
    "SeatRolloutBuffer": "buffer",
    "SeatVecEnv": "vec_env",
    "SelfPlayPPO": "ppo",
    "SelfPlayPolicy": "policy",
    "Training": "settings",
    "init_from": "policy_file",
    "has_fast_bfloat16": "policy",
    "policy_bytes": "policy_file",
    "save_policy": "policy_file",
    "use_threads": "policy",
    "read_layer_widths": "settings",
}
"""The modules of the public names, imported when a name is first used: most import torch."""

__all__ = list(_PLACES)


def __getattr__(name: str) -> Any:
    if name not in _PLACES:
        raise AttributeError(f"module {__name__!r} has no attribute {name!r}")
    with naming_extras():
        module = import_module(f"{__name__}.{_PLACES[name]}")
    return getattr(module, name)


def __dir__() -> list[str]:
    return __all__
