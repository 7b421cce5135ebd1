"""Saves all that a training goes on from, and reads it back without unpickling anything.

A checkpoint is one safetensors file. Tensors hold weights, optimizers, games, open decisions, the
seats of frozen players and the states of random generators; JSON in its metadata holds counters and
the learning curve. Layers, schedules and rules are built from the settings, not read. A digest of
all of it tells a damaged file; what an undamaged one says is believed.
"""

from __future__ import annotations

import json
from collections.abc import Iterator
from dataclasses import asdict
from hashlib import sha256
from pathlib import Path
from typing import Any, Final

import msgspec
import numpy as np
import numpy.typing as npt
import torch as th
from safetensors import SafetensorError, safe_open
from safetensors.numpy import save

from goita_agents.files import write_whole
from goita_env.errors import SettingError
from goita_lab.learning.measuring import History
from goita_lab.learning.ppo import SelfPlayPPO
from goita_lab.learning.vec_env import SelfPlayVecEnv

Arrays = dict[str, npt.NDArray[Any]]

FORMAT: Final = "goita-checkpoint-2"  # Names this kind of file; grows when its meaning changes.


def save_checkpoint(model: SelfPlayPPO, path: Path, history: History | None = None) -> None:
    """Writes a model between two rollouts, its games, pool and history."""
    parts = {"open": model.rollout_buffer.state_arrays(), "games": _games(model).games.save()}
    parts["random"] = {f"{n}": _array(one) for n, one in enumerate(_random_states(model))}
    state: dict[str, Any] = {
        "decisions": model.num_timesteps,
        "updates": model._n_updates,
        "critic_leads": model.critic_leads,
        "history": asdict(history or History()),
    }
    if model.pool is not None:
        state["pool"], parts["pool"] = model.pool.state()
    for name, network, optimizer in _networks(model):
        parts[name] = {key: _array(tensor) for key, tensor in _tensors(network).items()}
        if optimizer is None:
            continue
        parts[f"{name}.optimizer"] = {
            f"{number}.{key}": _array(value)
            for number, values in optimizer.state_dict()["state"].items()
            for key, value in values.items()
            if value is not None
        }
    arrays = {f"{name}/{key}": array for name, part in parts.items() for key, array in part.items()}
    text = json.dumps(state)
    metadata = {"format": FORMAT, "standing": text, "digest": _digest(text, arrays)}
    write_whole(path, save(arrays, metadata))


def load_checkpoint(model: SelfPlayPPO, path: Path) -> History:
    """Has a new model, with its pool, go on where one was saved; returns the saved history."""
    try:
        state, parts = _read(path)
        for name, network, optimizer in _networks(model):
            with th.no_grad():
                for key, tensor in _tensors(network).items():
                    tensor.copy_(th.from_numpy(parts[name][key]))
            if optimizer is None:
                continue
            moments: dict[int, dict[str, th.Tensor]] = {}
            for key, array in parts.get(f"{name}.optimizer", {}).items():
                number, _, kept = key.partition(".")
                moments.setdefault(int(number), {})[kept] = th.from_numpy(array.copy())
            groups = optimizer.state_dict()["param_groups"]
            optimizer.load_state_dict({"state": moments, "param_groups": groups})
        model.rollout_buffer.load_state_arrays(parts["open"])
        turn = _games(model).restore(parts["games"])
        if model.pool is not None:
            model.pool.load_state(state["pool"], parts["pool"])
        th.set_rng_state(th.from_numpy(parts["random"].pop("0")))
        for device, generator in parts["random"].items():
            th.cuda.set_rng_state(th.from_numpy(generator), int(device) - 1)
        history = msgspec.convert(state["history"], History)
        model.load_state(
            turn,
            decisions=state["decisions"],
            updates=state["updates"],
            critic_leads=state["critic_leads"],
        )
    except (SafetensorError, OSError, LookupError, ValueError, RuntimeError) as error:
        raise SettingError(f"expected a checkpoint of this training in {path}: {error}") from error
    return history


def _read(path: Path) -> tuple[dict[str, Any], dict[str, Arrays]]:
    """Returns the state and the arrays, by part, of a file that is not damaged."""
    with safe_open(path, framework="numpy") as file:
        metadata = file.metadata() or {}
        arrays = {name: file.get_tensor(name) for name in file.keys()}  # noqa: SIM118
    if metadata.get("format") != FORMAT:
        raise SettingError(f"expected the format {FORMAT!r}, got {metadata.get('format')!r}")
    if metadata["digest"] != _digest(metadata["standing"], arrays):
        raise SettingError("expected what was written, got other bytes")
    parts: dict[str, Arrays] = {}
    for name, array in arrays.items():
        part, _, key = name.partition("/")
        parts.setdefault(part, {})[key] = array
    return json.loads(metadata["standing"]), parts


def _digest(text: str, arrays: Arrays) -> str:
    found = sha256(text.encode())
    for name in sorted(arrays):
        array = arrays[name]
        found.update(f"{name} {array.dtype} {array.shape}".encode())
        found.update(array.tobytes())
    return found.hexdigest()


def _networks(model: SelfPlayPPO) -> Iterator[tuple[str, th.nn.Module, th.optim.Optimizer | None]]:
    """Yields what changes in a training: networks with their optimizers, if they have one."""
    yield "policy", model.policy, model.policy.optimizer
    if model.critic is not None:
        yield "critic", model.critic, model.critic.optimizer
    if model.reference is not None and model.reference.every:
        yield "reference", model.reference.policy, None


def _tensors(network: th.nn.Module) -> dict[str, th.Tensor]:
    """Returns all that a network holds, each tensor under its first name alone."""
    tensors = network.state_dict(keep_vars=True)
    first = {id(tensor): name for name, tensor in reversed(tensors.items())}
    return {name: tensors[name] for name in reversed(first.values())}


def _array(tensor: th.Tensor) -> npt.NDArray[Any]:
    return np.ascontiguousarray(tensor.numpy(force=True))


def _games(model: SelfPlayPPO) -> SelfPlayVecEnv:
    assert isinstance(model.env, SelfPlayVecEnv)
    return model.env


def _random_states(model: SelfPlayPPO) -> list[th.Tensor]:
    """Returns the states of torch's generators: the processor's, and those of all GPUs in use."""
    states = [th.get_rng_state()]
    return states + (th.cuda.get_rng_state_all() if model.device.type == "cuda" else [])
