"""Small policy networks with random weights, as arrays and as the bytes of a file."""

import json
from dataclasses import replace

import numpy as np
from safetensors import safe_open
from safetensors.numpy import save as reference_save

from goita_agents.bots.network_file import FORMAT, NetworkInfo
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


def encoded(arrays=None, information=PLAIN, **changes):
    """Returns a file, with other fields of its description perhaps."""
    described = replace(INFO, information=information).description() | changes
    metadata = {"format": FORMAT, "network": json.dumps(described)}
    return reference_save(arrays or tensors(information=information), metadata)


def described(path, **changes):
    """Writes a network's file again with other fields in its description."""
    with safe_open(path, "numpy") as file:
        metadata = file.metadata()
        arrays = {name: file.get_tensor(name) for name in file.keys()}  # noqa: SIM118
    metadata["network"] = json.dumps(json.loads(metadata["network"]) | changes)
    path.write_bytes(reference_save(arrays, metadata))
