"""Saves all that a training goes on from, and reads it back without unpickling anything.

A checkpoint is one safetensors file. Tensors hold weights, optimizers, games, open decisions, the
seats of frozen players and the states of random generators; JSON in its metadata holds counters and
the learning curve. Layers, schedules and rules are built from the settings, not read. The file may
be somebody else's: names, shapes, types and numbers are checked before any is used.
"""

from __future__ import annotations

import copy
from collections.abc import Iterator
from pathlib import Path
from typing import Annotated, Any, Final

import msgspec
import numpy as np
import numpy.typing as npt
import torch as th
from goita_agents.base import AgentError
from goita_agents.bots.network_file import open_tensors
from goita_agents.files import write_whole
from msgspec import Meta
from safetensors.numpy import save

from goita_env.errors import SettingError
from goita_lab.learning.measuring import History
from goita_lab.learning.pool import PoolState
from goita_lab.learning.ppo import SelfPlayPPO
from goita_lab.learning.vec_env import GoitaVecEnv

Arrays = dict[str, npt.NDArray[Any]]

FORMAT: Final = "goita-checkpoint-1"  # Names this kind of file; grows when its meaning changes.

# Limits of a file, in bytes.
MAX_HEADER: Final = 1 << 24  # names, shapes and JSON: the curve of 100,000 measurements
BYTES_PER_WEIGHT: Final = 32  # the weight and seven numbers of its optimizer
BYTES_PER_GAME: Final = 2048  # state and open decisions


class TrainingState(msgspec.Struct, forbid_unknown_fields=True):
    """Holds the JSON part of a checkpoint; the metadata calls it "standing"."""

    decisions: Annotated[int, Meta(ge=0, lt=1 << 53)]
    updates: Annotated[int, Meta(ge=0, lt=1 << 53)]
    critic_leads: bool
    history: History
    pool: PoolState | None


def save_checkpoint(model: SelfPlayPPO, path: Path, history: History | None = None) -> None:
    """Writes a model between two rollouts, its games, pool and history."""
    arrays = {f"random.{n}": _array(state) for n, state in enumerate(_random_states(model))}
    parts = {"open": model.rollout_buffer.state_arrays(), "games": _games(model).games.save()}
    pool = None
    if model.pool is not None:
        pool, parts["pool"] = model.pool.state()
    for name, network, optimizer in _trained(model):
        tensors = _tensors(network) | _optimizer_tensors(optimizer)
        parts[name] = {key: _array(tensor) for key, tensor in tensors.items()}
    for name, part in parts.items():
        arrays |= {f"{name}.{key}": array for key, array in part.items()}
    state = TrainingState(
        model.num_timesteps, model._n_updates, model.critic_leads, history or History(), pool
    )
    text = msgspec.json.encode(state).decode()
    write_whole(path, save(arrays, {"format": FORMAT, "standing": text}))


def load_checkpoint(model: SelfPlayPPO, path: Path) -> History:
    """Has a new model, with its pool, go on where one was saved; returns the saved history.

    Raises:
        SettingError: if the file is no checkpoint of a training with these settings.
    """
    try:
        state, arrays = _read(model, path)
        weights = [
            (
                {key: _take(f"{name}.{key}", arrays, t) for key, t in _tensors(network).items()},
                _take_optimizer(optimizer, name, arrays),
            )
            for name, network, optimizer in _trained(model)
        ]
        random = [
            _take(f"random.{n}", arrays, like) for n, like in enumerate(_random_states(model))
        ]
        parts = {name: _take_part(name, arrays) for name in ("open", "games", "pool")}
        if arrays:
            raise SettingError(f"expected no more tensors, got {[*arrays][:3]}")
        model.rollout_buffer.load_state_arrays(parts["open"])
        turn = _games(model).restore(parts["games"])
        if (model.pool is None) != (state.pool is None):
            raise SettingError("expected frozen players in the settings and the file, or in none")
        if model.pool is not None and state.pool is not None:
            model.pool.load_state(state.pool, parts["pool"])
        try:
            th.set_rng_state(random[0])
            for device, generator in enumerate(random[1:]):
                th.cuda.set_rng_state(generator, device)
        except RuntimeError as error:
            raise SettingError(f"expected the state of a generator: {error}") from error
    except (SettingError, AgentError, OSError) as error:
        raise SettingError(f"expected a checkpoint of this training in {path}: {error}") from error
    for (_, network, optimizer), (tensors, moments) in zip(_trained(model), weights, strict=True):
        with th.no_grad():
            for key, tensor in _tensors(network).items():
                tensor.copy_(tensors[key])
        groups = optimizer.state_dict()["param_groups"]
        optimizer.load_state_dict({"state": moments, "param_groups": groups})
    model.load_state(
        turn, decisions=state.decisions, updates=state.updates, critic_leads=state.critic_leads
    )
    return state.history


def _read(model: SelfPlayPPO, path: Path) -> tuple[TrainingState, Arrays]:
    """Returns the two parts of a file that is not larger than a model's checkpoint can be."""
    weights = sum(t.numel() for _, net, _ in _trained(model) for t in _tensors(net).values())
    most = BYTES_PER_WEIGHT * weights + BYTES_PER_GAME * (model.n_envs + 64) + MAX_HEADER
    with open_tensors(path, most, MAX_HEADER) as file:
        metadata = file.metadata() or {}
        if metadata.get("format") != FORMAT:
            raise SettingError(f"expected the format {FORMAT!r}, got {metadata.get('format')!r}")
        arrays = {name: file.get_tensor(name) for name in file.keys()}  # noqa: SIM118
    try:
        return msgspec.json.decode(metadata.get("standing", ""), type=TrainingState), arrays
    except (msgspec.DecodeError, RecursionError) as error:
        raise SettingError(f"expected the state of a training: {error}") from error


def _trained(model: SelfPlayPPO) -> Iterator[tuple[str, th.nn.Module, th.optim.Optimizer]]:
    yield "policy", model.policy, model.policy.optimizer
    if model.critic is not None:
        yield "critic", model.critic, model.critic.optimizer
    if model.predictor is not None:
        yield "predictor", model.predictor, model.predictor.optimizer


def _tensors(network: th.nn.Module) -> dict[str, th.Tensor]:
    """Returns all that a network holds, each tensor under its first name alone."""
    found: dict[int, str] = {}
    tensors = network.state_dict(keep_vars=True)
    for name, tensor in tensors.items():
        if not isinstance(tensor, th.Tensor):
            raise SettingError(f"expected a network of tensors alone, got {name!r}: {tensor!r}")
        found.setdefault(id(tensor), name)
    return {name: tensors[name] for name in found.values()}


def _optimizer_tensors(optimizer: th.optim.Optimizer) -> dict[str, th.Tensor]:
    """Returns the state of an optimizer, by "optimizer.PARAMETER.NAME"."""
    state = {
        f"optimizer.{number}.{key}": value
        for number, values in optimizer.state_dict()["state"].items()
        for key, value in values.items()
        if value is not None
    }
    if other := [key for key, value in state.items() if not isinstance(value, th.Tensor)]:
        raise SettingError(f"expected an optimizer with tensors as its state, got others: {other}")
    return state


def _take_optimizer(
    optimizer: th.optim.Optimizer, name: str, arrays: Arrays
) -> dict[int, dict[str, th.Tensor]]:
    """Takes the state of an optimizer out of a file's arrays.

    A parameter has all that the optimizer keeps for one, or nothing if it was never moved.
    """
    twin = copy.deepcopy(optimizer)  # one step of the copy shows what an optimizer keeps
    sums = [parameter.sum() for group in twin.param_groups for parameter in group["params"]]
    (0 * th.stack(sums).sum()).backward()  # type: ignore[no-untyped-call]
    twin.step()
    moved = {key.split(".")[2] for key in arrays if key.startswith(f"{name}.optimizer.")}
    found: dict[int, dict[str, th.Tensor]] = {}
    for key, like in _optimizer_tensors(twin).items():
        _, number, kept = key.split(".", 2)
        if number in moved:
            found.setdefault(int(number), {})[kept] = _take(f"{name}.{key}", arrays, like)
    return found


def _array(tensor: th.Tensor) -> npt.NDArray[Any]:
    return np.ascontiguousarray(tensor.numpy(force=True))


def _take(name: str, arrays: Arrays, like: th.Tensor) -> th.Tensor:
    """Takes a finite tensor of the shape and type of another out of a file's arrays."""
    if name not in arrays:
        raise SettingError(f"expected the tensor {name!r}, got none")
    array, wanted = arrays.pop(name), _array(like)
    if (array.dtype, array.shape) != (wanted.dtype, wanted.shape):
        raise SettingError(
            f"expected {name!r} as {wanted.dtype} {wanted.shape}, got {array.dtype} {array.shape}"
        )
    if not np.isfinite(array).all():
        raise SettingError(f"expected finite numbers in {name!r}, got others")
    return th.from_numpy(array.copy())


def _take_part(name: str, arrays: Arrays) -> Arrays:
    """Takes the arrays "NAME.KEY" out of a file's; returns them by key."""
    names = [key for key in arrays if key.startswith(f"{name}.")]
    return {key.removeprefix(f"{name}."): arrays.pop(key) for key in names}


def _games(model: SelfPlayPPO) -> GoitaVecEnv:
    assert isinstance(model.env, GoitaVecEnv)
    return model.env


def _random_states(model: SelfPlayPPO) -> list[th.Tensor]:
    """Returns the states of torch's generators: the processor's, and those of all GPUs in use."""
    states = [th.get_rng_state()]
    return states + (th.cuda.get_rng_state_all() if model.device.type == "cuda" else [])
