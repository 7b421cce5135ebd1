"""Small policy networks with random weights, as arrays and as the bytes of a file."""

from dataclasses import replace

import numpy as np
from goita_agents.bots.network import NetworkInfo
from safetensors.numpy import save as reference_save

from goita_env.information import PLAIN

INFO = NetworkInfo(layers=2, decisions=7, reward_scale=0.02, rules="jga")


def tensors(widths=(12, 9), seed=0, information=PLAIN):
    rng = np.random.default_rng(seed)
    sizes = [information.observation_size, *widths]
    names = [*(f"layers.{i}" for i in range(len(widths))), "policy", "value"]
    shapes = [
        *zip(sizes[1:], sizes[:-1], strict=True),
        (information.num_actions, sizes[-1]),
        (1, sizes[-1]),
    ]
    found = {}
    for name, shape in zip(names, shapes, strict=True):
        found[f"{name}.weight"] = rng.normal(size=shape).astype(np.float32)
        found[f"{name}.bias"] = rng.normal(size=shape[0]).astype(np.float32)
    return found


def encoded(arrays=None, information=PLAIN, **metadata):
    info = replace(INFO, information=information)
    return reference_save(arrays or tensors(information=information), info.metadata() | metadata)
