"""Saves all that a training goes on from, and reads it back without unpickling anything.

A checkpoint is one safetensors file: weights, optimizers, games, open decisions, the frozen players
at the tables and the states of the random numbers as tensors, counters and the learning curve as
JSON in its metadata. What the settings say (layers, schedules, rules) is built from them, not read.
The file may be somebody else's: names, shapes, types and numbers are checked before any is used.
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
from msgspec import Meta
from safetensors.numpy import save

from agents.base import AgentError
from agents.bots.network_file import open_tensors
from agents.learning.measuring import History
from agents.learning.pool import PoolState
from agents.learning.ppo import SelfPlayPPO
from agents.learning.storage import write
from agents.learning.vec_env import GoitaVecEnv
from goita_env.errors import SettingError

Arrays = dict[str, npt.NDArray[Any]]

FORMAT: Final = "goita-checkpoint-1"
"""Names this kind of file; grows when its meaning changes."""

MAX_HEADER: Final = 1 << 24
"""Bytes of names, shapes and JSON: the curve of a hundred thousand measurements."""

BYTES_PER_WEIGHT: Final = 32
"""At most: the weight and seven numbers of its optimizer."""

BYTES_PER_GAME: Final = 2048
"""At most, of its state and open decisions."""


class Standing(msgspec.Struct, forbid_unknown_fields=True):
    """Says how far a training is."""

    decisions: Annotated[int, Meta(ge=0, lt=1 << 53)]
    updates: Annotated[int, Meta(ge=0, lt=1 << 53)]
    critic_leads: bool
    history: History
    pool: PoolState | None


def save_checkpoint(model: SelfPlayPPO, path: Path, history: History | None = None) -> None:
    """Writes the model, its games and the players at their tables.

    Args:
        model: between two rollouts.
        path: of the file.
        history: of the same moment.

    Raises:
        SettingError: if an optimizer or a network holds what is no tensor.
    """
    pool, arrays = None, _random(model) | model.rollout_buffer.open_arrays()
    for name, module, optimizer in _trained(model):
        arrays |= {f"{name}.{key}": _array(tensor) for key, tensor in _tensors(module).items()}
        arrays |= {f"{name}.{key}": _array(value) for key, value in _state(optimizer).items()}
    arrays |= {f"games.{key}": array for key, array in _games(model).games.save().items()}
    if model.pool is not None:
        pool, seats = model.pool.state()
        arrays |= {f"pool.{key}": array for key, array in seats.items()}
    standing = Standing(
        model.num_timesteps, model._n_updates, model.critic_leads, history or History(), pool
    )
    text = msgspec.json.encode(standing).decode()
    write(path, save(arrays, {"format": FORMAT, "standing": text}))


def load_checkpoint(model: SelfPlayPPO, path: Path) -> History:
    """Has a model go on exactly where another with the same settings was saved.

    Args:
        model: new, its pool at the tables.
        path: of the file.

    Returns:
        The history that was saved beside it.

    Raises:
        SettingError: if the file is no checkpoint of a training with these settings.
    """
    try:
        standing, arrays = _read(model, path)
        states = {
            name: (_checked(module, name, arrays), _optimized(optimizer, name, arrays))
            for name, module, optimizer in _trained(model)
        }
        model.rollout_buffer.take_up_arrays(_part("open", arrays))
        turn = _games(model).restore(_part("games", arrays))
        if (model.pool is None) != (standing.pool is None):
            raise SettingError("expected frozen players where the settings have some alone")
        if model.pool is not None and standing.pool is not None:
            model.pool.restore(standing.pool, _part("pool", arrays))
        _set_random(model, arrays)
        if arrays:
            raise SettingError(f"expected no more tensors, got {[*arrays][:3]}")
    except (SettingError, AgentError, OSError) as error:
        raise SettingError(f"expected a checkpoint of this training in {path}: {error}") from error
    for name, module, optimizer in _trained(model):
        tensors, state = states[name]
        with th.no_grad():
            for key, tensor in _tensors(module).items():
                tensor.copy_(tensors[key])
        groups = optimizer.state_dict()["param_groups"]
        optimizer.load_state_dict({"state": state, "param_groups": groups})
    model.num_timesteps, model._n_updates = standing.decisions, standing.updates
    model.critic_leads = standing.critic_leads
    model.go_on(turn)
    return standing.history


def _read(model: SelfPlayPPO, path: Path) -> tuple[Standing, Arrays]:
    """Returns the two parts of a file that is not larger than a model's checkpoint can be.

    Raises:
        SettingError, AgentError, OSError: if it is none.
    """
    weights = sum(t.numel() for _, module, _ in _trained(model) for t in _tensors(module).values())
    most = BYTES_PER_WEIGHT * weights + BYTES_PER_GAME * (model.n_envs + 64) + MAX_HEADER
    with open_tensors(path, most, MAX_HEADER) as file:
        metadata = file.metadata() or {}
        if metadata.get("format") != FORMAT:
            raise SettingError(f"expected the format {FORMAT!r}, got {metadata.get('format')!r}")
        arrays = {name: file.get_tensor(name) for name in file.keys()}  # noqa: SIM118
    try:
        standing = msgspec.json.decode(metadata.get("standing", ""), type=Standing)
        standing.history.check()
    except (msgspec.DecodeError, RecursionError) as error:
        raise SettingError(f"expected to read how far it is: {error}") from error
    return standing, arrays


# ------------------------------------------------------------------------------ weights, optimizers


def _trained(model: SelfPlayPPO) -> Iterator[tuple[str, th.nn.Module, th.optim.Optimizer]]:
    """Yields what learns: a name, the network and its optimizer."""
    yield "policy", model.policy, model.policy.optimizer
    if model.critic is not None:
        yield "critic", model.critic, model.critic.optimizer


def _tensors(module: th.nn.Module) -> dict[str, th.Tensor]:
    """Returns all that a network holds, each tensor under its first name alone."""
    found: dict[int, str] = {}
    tensors = module.state_dict(keep_vars=True)
    for name, tensor in tensors.items():
        if not isinstance(tensor, th.Tensor):
            raise SettingError(f"expected a network of tensors alone, got {name!r}: {tensor!r}")
        found.setdefault(id(tensor), name)
    return {name: tensors[name] for name in found.values()}


def _checked(module: th.nn.Module, name: str, arrays: Arrays) -> dict[str, th.Tensor]:
    """Takes a network's tensors out of a file's.

    Raises:
        SettingError: if one is missing or of another shape or type, or holds other than numbers.
    """
    wanted = _tensors(module)
    return {key: _taken(f"{name}.{key}", arrays, like) for key, like in wanted.items()}


def _state(optimizer: th.optim.Optimizer) -> dict[str, th.Tensor]:
    """Returns the state of an optimizer, by "optimizer.PARAMETER.NAME".

    Raises:
        SettingError: if it holds what is no tensor.
    """
    state = {
        f"optimizer.{number}.{key}": value
        for number, values in optimizer.state_dict()["state"].items()
        for key, value in values.items()
        if value is not None
    }
    if other := [key for key, value in state.items() if not isinstance(value, th.Tensor)]:
        raise SettingError(f"expected an optimizer with tensors as its state, got others: {other}")
    return state


def _optimized(
    optimizer: th.optim.Optimizer, name: str, arrays: Arrays
) -> dict[int, dict[str, th.Tensor]]:
    """Takes the state of an optimizer out of a file's tensors.

    A parameter has all that the optimizer keeps for one, or nothing if it was never moved.

    Raises:
        SettingError: if one is missing or of another shape or type, or holds other than numbers.
    """
    twin = copy.deepcopy(optimizer)  # tells what it keeps: one step of it moves only copies
    sums = [parameter.sum() for group in twin.param_groups for parameter in group["params"]]
    (0 * th.stack(sums).sum()).backward()  # type: ignore[no-untyped-call]
    twin.step()
    held = {key.split(".")[2] for key in arrays if key.startswith(f"{name}.optimizer.")}
    found: dict[int, dict[str, th.Tensor]] = {}
    for key, like in _state(twin).items():
        _, number, kept = key.split(".", 2)
        if number in held:
            found.setdefault(int(number), {})[kept] = _taken(f"{name}.{key}", arrays, like)
    return found


def _array(tensor: th.Tensor) -> npt.NDArray[Any]:
    """Returns a tensor's numbers."""
    return np.ascontiguousarray(tensor.numpy(force=True))


def _taken(name: str, arrays: Arrays, like: th.Tensor) -> th.Tensor:
    """Takes a tensor out of a file's, of the shape and type of another.

    Raises:
        SettingError: if it is none.
    """
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


# ------------------------------------------------------------------------------- games and numbers


def _games(model: SelfPlayPPO) -> GoitaVecEnv:
    """Returns a model's games."""
    assert isinstance(model.env, GoitaVecEnv)
    return model.env


def _part(name: str, arrays: Arrays) -> Arrays:
    """Takes the arrays "NAME.KEY" out of a file's; returns them by key."""
    names = [key for key in arrays if key.startswith(f"{name}.")]
    return {key.removeprefix(f"{name}."): arrays.pop(key) for key in names}


def _random(model: SelfPlayPPO) -> Arrays:
    """Returns the state of torch's random numbers."""
    states = [th.get_rng_state()]
    states += th.cuda.get_rng_state_all() if model.device.type == "cuda" else []
    return {f"random.{number}": _array(state) for number, state in enumerate(states)}


def _set_random(model: SelfPlayPPO, arrays: Arrays) -> None:
    """Sets the state of torch's random numbers to what a file says.

    Raises:
        SettingError: if it is none.
    """
    states = {name: array.copy() for name, array in _part("random", arrays).items()}
    wanted = _part("random", _random(model))
    if {k: (a.dtype, a.shape) for k, a in states.items()} != {
        k: (a.dtype, a.shape) for k, a in wanted.items()
    }:
        raise SettingError(f"expected the state of {len(wanted)} generators, got others")
    try:
        th.set_rng_state(th.from_numpy(states.pop("0")))
        for number, state in states.items():
            th.cuda.set_rng_state(th.from_numpy(state), int(number) - 1)
    except RuntimeError as error:
        raise SettingError(f"expected the state of a generator: {error}") from error
