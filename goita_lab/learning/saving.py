"""Names the files of a training, and saves them while it runs.

::

    config.json             every setting
    init.safetensors        the policy to begin with, where one was given
    checkpoint.safetensors  everything from which the training continues
    strength.csv            the learning curve of strength
    progress.csv            the log of every update; progress-2.csv after the first resume
    events.out.tfevents.*   both for TensorBoard
    snapshots/              policies on the way, each named by its decisions
    best.safetensors        the best of them
    policy.safetensors      the trained policy, played as "file:PATH"
    result.json             how it did against the bots

Files are written whole or not at all (``goita_agents.files``).

In a checkpoint tensors hold weights, optimizers, games, open decisions, the seats of frozen players
and the states of random generators; JSON in its metadata holds counters and the learning curve.
Layers, schedules and rules are built from the settings, and nothing is unpickled. A digest of all
of it tells a damaged file; what an undamaged one says is believed.
"""

from __future__ import annotations

import json
import signal
import threading
import time
from collections.abc import Iterator
from dataclasses import asdict
from hashlib import sha256
from pathlib import Path
from types import FrameType
from typing import Any, Final

import msgspec
import numpy as np
import numpy.typing as npt
import torch as th
from safetensors import SafetensorError, safe_open
from safetensors.numpy import save
from stable_baselines3.common.callbacks import BaseCallback
from stable_baselines3.common.logger import TensorBoardOutputFormat

from goita_agents.files import PART, write_whole
from goita_agents.registry import RUN_POLICY
from goita_env.errors import SettingError
from goita_lab.learning.measuring import Evaluator, History, Measured
from goita_lab.learning.policy_file import load_policy, save_policy
from goita_lab.learning.pool import OpponentPool
from goita_lab.learning.ppo import SelfPlayPPO
from goita_lab.learning.settings import Training
from goita_lab.learning.vec_env import SelfPlayVecEnv
from goita_lab.work import Progress, stderr_progress


class RunFiles:
    """The paths of a training's files."""

    def __init__(self, directory: Path) -> None:
        self.directory = directory
        self.config = directory / "config.json"
        self.init = directory / "init.safetensors"
        self.checkpoint = directory / "checkpoint.safetensors"
        self.strength = directory / "strength.csv"
        self.best = directory / "best.safetensors"
        self.policy = directory / RUN_POLICY
        self.result = directory / "result.json"
        self.snapshots = directory / "snapshots"

    def snapshot(self, decisions: int) -> Path:
        return self.snapshots / f"{decisions:012}.safetensors"

    def tidy(self, history: History, pool: OpponentPool | None) -> None:
        """Copies the best snapshot and deletes those in neither the history nor the pool."""
        if (best := history.best()) is not None:
            data = self.snapshot(best).read_bytes()
            if not self.best.exists() or self.best.read_bytes() != data:
                write_whole(self.best, data)
        needed = [*history.snapshots, *(pool.needed() if pool else [])]
        needed_files = {self.snapshot(decisions) for decisions in needed}
        unneeded = {*self.snapshots.glob("*.safetensors")} - needed_files
        for path in [*unneeded, *self.snapshots.glob(PART), *self.directory.glob(PART)]:
            path.unlink()


class CheckpointCallback(BaseCallback):
    """A callback that acts between two rollouts, when nothing is half done.

    What it writes depends only on the checkpoint. A training that is killed at any moment and goes
    on from its last checkpoint writes the same files: no row of the curve is lost or doubled, and a
    file that a checkpoint may still need is deleted only after the next one is written.

    ``history`` is that of the checkpoint and grows. Measurements are printed, and how far it is.
    """

    model: SelfPlayPPO

    def __init__(
        self, files: RunFiles, history: History, measuring: Evaluator, settings: Training
    ) -> None:
        super().__init__()
        self.files, self.history, self.measuring = files, history, measuring
        self.settings = settings
        self.show: Progress = stderr_progress() if settings.progress else lambda *_: None
        self.stopping = self.stopped = False
        self.handlers: dict[int, Any] = {}
        self.measuring_seconds = 0.0  # of processor time

    def _on_training_start(self) -> None:
        if threading.current_thread() is threading.main_thread():
            for signal_number in (signal.SIGINT, signal.SIGTERM):
                self.handlers[signal_number] = signal.signal(signal_number, self._stop)

    def _on_rollout_start(self) -> None:
        decisions, snapshots = self.model.num_timesteps, self.history.snapshots
        interval = self.settings.snapshot_every
        due = not snapshots or decisions // interval > snapshots[-1] // interval
        if due and not self.stopping:
            self._snapshot()
        if due or self.stopping:
            self._save()
            self.stopped = self.stopping
        if self.model.pool is not None:
            self.model.pool.known = self.history.snapshots

    def _on_step(self) -> bool:
        # The last update may make more decisions than the setting says.
        decisions = min(self.model.num_timesteps, self.settings.total_timesteps)
        self.show("decisions", decisions, self.settings.total_timesteps)
        return not self.stopped

    def _on_training_end(self) -> None:
        if not self.stopped:
            if self.history.snapshots[-1] < self.model.num_timesteps:
                self._snapshot()
            self._save()

    def close(self) -> None:
        """Restores the terminal and the signal handlers, however the training ended."""
        self._wipe()
        for signal_number, handler in self.handlers.items():
            signal.signal(signal_number, handler)

    def _wipe(self) -> None:
        """Wipes out the line that says how far it is."""
        self.show("decisions", self.settings.total_timesteps, self.settings.total_timesteps)

    def _snapshot(self) -> None:
        """Saves a snapshot of the policy, measures it, and logs and prints the results."""
        start, decisions = time.process_time(), self.model.num_timesteps
        save_policy(self.model, self.files.snapshot(decisions), self.measuring.rules)
        policy, past = type(self.model.policy), self.history.past(decisions)
        agent = load_policy(self.files.snapshot(decisions), policy)
        earlier = None
        if past is not None:
            earlier = past, load_policy(self.files.snapshot(past), policy)
        rows = self.measuring.measure(decisions, agent, earlier)
        self.history.rows += rows
        self.history.add_snapshot(decisions)
        self.measuring_seconds += time.process_time() - start
        if rows:
            write_whole(self.files.strength, self.history.csv())
            self._log(rows)
            text = f"{decisions:,} decisions: {'; '.join(row.text for row in rows)}"
            self._wipe()
            print(text, flush=True)

    def _log(self, rows: list[Measured]) -> None:
        """Writes measurements to TensorBoard only; the log of updates does not have them."""
        values: dict[str, Any] = {}
        for row in rows:
            values[f"eval/{row.opponent}"] = row.points_per_round
            values[f"eval/{row.opponent}_low"] = row.low
            values[f"eval/{row.opponent}_high"] = row.high
            if row.match_win_rate is not None:
                values[f"eval/{row.opponent}_matches_won"] = row.match_win_rate
        for output in self.model.logger.output_formats:
            if isinstance(output, TensorBoardOutputFormat):
                output.write(values, dict.fromkeys(values, ()), self.model.num_timesteps)

    def _save(self) -> None:
        """Writes the checkpoint, then deletes what no checkpoint needs any more."""
        save_checkpoint(self.model, self.files.checkpoint, self.history)
        self.files.tidy(self.history, self.model.pool)

    def _stop(self, signal_number: int, frame: FrameType | None) -> None:
        """Stops after the update on a first signal; the next one has its usual effect."""
        self.stopping = True
        signal.signal(signal_number, self.handlers[signal_number])


Arrays = dict[str, npt.NDArray[Any]]

FORMAT: Final = "goita-checkpoint-2"  # Names this kind of file; grows when its meaning changes.


def save_checkpoint(model: SelfPlayPPO, path: Path, history: History | None = None) -> None:
    """Writes a model between two rollouts, its games, pool and history."""
    # Arrays by part of the model, then by name; the file names them PART/NAME.
    parts = {"open": model.rollout_buffer.state_arrays(), "games": _games(model).games.save()}
    parts["random"] = {
        f"{index}": _array(generator) for index, generator in enumerate(_random_states(model))
    }
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
            f"{parameter}.{key}": _array(value)
            for parameter, values in optimizer.state_dict()["state"].items()
            for key, value in values.items()
            if value is not None
        }
    arrays = {f"{name}/{key}": array for name, part in parts.items() for key, array in part.items()}
    text = json.dumps(state)
    metadata = {"format": FORMAT, "standing": text, "digest": _digest(text, arrays)}
    write_whole(path, save(arrays, metadata))


def load_checkpoint(model: SelfPlayPPO, path: Path) -> History:
    """Restores a saved training in a new model and its pool; returns the saved history."""
    try:
        state, parts = _read(path)
        for name, network, optimizer in _networks(model):
            with th.no_grad():
                for key, tensor in _tensors(network).items():
                    tensor.copy_(th.from_numpy(parts[name][key]))
            if optimizer is None:
                continue
            # The state of the optimizer for each parameter, stored under "PARAMETER.NAME".
            moments: dict[int, dict[str, th.Tensor]] = {}
            for key, array in parts.get(f"{name}.optimizer", {}).items():
                parameter, _, moment = key.partition(".")
                moments.setdefault(int(parameter), {})[moment] = th.from_numpy(array.copy())
            groups = optimizer.state_dict()["param_groups"]
            optimizer.load_state_dict({"state": moments, "param_groups": groups})
        model.rollout_buffer.load_state_arrays(parts["open"])
        turn = _games(model).restore(parts["games"])
        if model.pool is not None:
            model.pool.load_state(state["pool"], parts["pool"])
        # Generator 0 is the processor's, generator n that of GPU n - 1.
        th.set_rng_state(th.from_numpy(parts["random"].pop("0")))
        for index, generator in parts["random"].items():
            th.cuda.set_rng_state(th.from_numpy(generator), int(index) - 1)
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
    digest = sha256(text.encode())
    for name in sorted(arrays):
        array = arrays[name]
        digest.update(f"{name} {array.dtype} {array.shape}".encode())
        digest.update(array.tobytes())
    return digest.hexdigest()


def _networks(model: SelfPlayPPO) -> Iterator[tuple[str, th.nn.Module, th.optim.Optimizer | None]]:
    """Yields what changes in a training: networks with their optimizers, if they have one."""
    yield "policy", model.policy, model.policy.optimizer
    if model.critic is not None:
        yield "critic", model.critic, model.critic.optimizer
    if model.reference is not None and model.reference.interval:
        yield "reference", model.reference.policy, None


def _tensors(network: th.nn.Module) -> dict[str, th.Tensor]:
    """Returns all tensors of a network, each only under its first name."""
    tensors = network.state_dict(keep_vars=True)
    # A later name of the same tensor replaces an earlier one, so the names are read backwards.
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
