"""Keeps a training in a directory of its own, from which it goes on after an interruption.

::

    config.json            every setting
    checkpoint.zip         weights, optimizer and counters, as stable-baselines3 saves a model, and
                           the games under way
    progress.csv           the log; progress-2.csv after the first resume
    events.out.tfevents.*  the log for TensorBoard
    policy.safetensors     the trained policy, played as "file:PATH"
    result.json            how it did against the bots

Files are written beside their place and moved there when complete, so none is ever half a file.
A checkpoint holds pickled objects: open only those that you trust. The policy file holds none.
"""

from __future__ import annotations

import io
import json
import os
import pickle
import signal
import threading
import zipfile
from collections.abc import Mapping, Sequence
from pathlib import Path
from types import FrameType
from typing import Any, Final, Self

import numpy as np
import torch as th
from stable_baselines3.common.callbacks import BaseCallback
from stable_baselines3.common.logger import Logger, make_output_format
from stable_baselines3.common.type_aliases import Schedule
from stable_baselines3.common.utils import LinearSchedule

from agents.bots.network import NetworkAgent, NetworkInfo
from agents.bots.network_file import write_tensors
from agents.learning.policy import MASKED
from agents.learning.ppo import SelfPlayPPO
from goita_env import GoitaVectorEnv
from goita_env.errors import SettingError
from goita_env.rules import Rules, get_rules

CONFIG: Final = "config.json"
CHECKPOINT: Final = "checkpoint.zip"
POLICY: Final = "policy.safetensors"
RESULT: Final = "result.json"
GAMES: Final = "games.pkl"
"""Member of the checkpoint beside those of stable-baselines3."""


class Run:
    """Is a training's directory.

    Args:
        directory: where it lies.
        config: every setting, as JSON can hold them.
    """

    def __init__(self, directory: Path, config: Mapping[str, Any]) -> None:
        self.directory = directory
        self.config = dict(config)
        self.policy = directory / POLICY
        self.checkpoint = directory / CHECKPOINT

    @classmethod
    def begin(cls, directory: Path, config: Mapping[str, Any]) -> Self:
        """Makes the directory of a new training.

        Raises:
            SettingError: if there is one already.
        """
        if (directory / CONFIG).exists():
            raise SettingError(f"expected a new run, got {directory}; --resume {directory} goes on")
        directory.mkdir(parents=True, exist_ok=True)
        run = cls(directory, config)
        run.configure(config)
        return run

    @classmethod
    def resume(cls, directory: Path) -> Self:
        """Opens the directory of a training.

        Raises:
            SettingError: if it is none.
        """
        try:
            config = json.loads((directory / CONFIG).read_bytes())
        except (OSError, ValueError) as error:
            raise SettingError(
                f"expected the directory of a run, got {directory}: {error}"
            ) from error
        return cls(directory, config)

    def configure(self, config: Mapping[str, Any]) -> None:
        """Writes the settings; from now on these are the run's."""
        self.config = dict(config)
        write(self.directory / CONFIG, json.dumps(self.config, indent=1).encode() + b"\n")

    def restore(self) -> SelfPlayPPO | None:
        """Returns the model of the last checkpoint and its games, None if there is none yet."""
        return load_checkpoint(self.checkpoint) if self.checkpoint.exists() else None

    def learn(
        self, model: SelfPlayPPO, decisions: int, *, save_every: int, progress: bool = True
    ) -> bool:
        """Trains, with logs and checkpoints, until so many decisions were made since the beginning.

        On SIGINT (Ctrl-C) or SIGTERM the rollout under way is learnt from, saved, and the training
        ends; a second signal ends it at once, with the checkpoint before.

        Args:
            model: new or restored.
            decisions: with a choice.
            save_every: decisions between checkpoints.
            progress: show a bar.

        Returns:
            Whether all decisions were made.
        """
        model.set_logger(self._logger())
        if model.num_timesteps < decisions:
            model.learn(
                decisions - model.num_timesteps,
                callback=Checkpoints(self.checkpoint, save_every),
                log_interval=1,
                reset_num_timesteps=model.num_timesteps == 0,
                progress_bar=progress,
            )
        model.logger.close()
        return model.num_timesteps >= decisions

    def save_policy(self, model: SelfPlayPPO, rules: str | Rules) -> Path:
        """Writes the policy as it is now to its file and returns the file's path."""
        save_policy(model, self.policy, rules)
        return self.policy

    def save_result(self, pairs: Sequence[Mapping[str, Any]]) -> None:
        """Writes how the policy did against each opponent."""
        write(self.directory / RESULT, json.dumps({"pairs": pairs}, indent=1).encode() + b"\n")

    def _logger(self) -> Logger:
        """Returns a logger into the directory; a log that is there already is left alone."""
        logs = len([*self.directory.glob("progress*.csv")])
        suffix = f"-{logs + 1}" if logs else ""
        formats = [
            make_output_format(kind, str(self.directory), suffix) for kind in ("csv", "tensorboard")
        ]
        return Logger(str(self.directory), formats)


class Checkpoints(BaseCallback):
    """Saves the model between two rollouts, every so often, when told to stop, and at the end.

    Args:
        path: of the checkpoint.
        every: decisions from one to the next.
    """

    def __init__(self, path: Path, every: int) -> None:
        super().__init__()
        self.path, self.every = path, every
        self.stopping = self.stopped = False

    def _on_training_start(self) -> None:
        self.saved_at = self.model.num_timesteps
        self.handlers: dict[int, Any] = {}
        if threading.current_thread() is threading.main_thread():
            for number in (signal.SIGINT, signal.SIGTERM):
                self.handlers[number] = signal.signal(number, self._stop)

    def _on_rollout_start(self) -> None:
        """Saves where nothing is half done: the last rollout learnt from, the next not begun."""
        if self.stopping or self.model.num_timesteps >= self.saved_at + self.every:
            self._save()
            self.stopped = self.stopping

    def _on_step(self) -> bool:
        """Says whether to go on."""
        return not self.stopped

    def _on_training_end(self) -> None:
        if not self.stopped:
            self._save()
        for number, handler in self.handlers.items():
            signal.signal(number, handler)

    def _save(self) -> None:
        """Writes the checkpoint."""
        assert isinstance(self.model, SelfPlayPPO)
        save_checkpoint(self.model, self.path)
        self.saved_at = self.model.num_timesteps

    def _stop(self, number: int, frame: FrameType | None) -> None:
        """Takes notice of a signal; the next one has its usual effect."""
        self.stopping = True
        signal.signal(number, self.handlers[number])


def save_checkpoint(model: SelfPlayPPO, path: Path) -> None:
    """Writes all that a training goes on from: the model and its games."""
    file = io.BytesIO()
    model.save(file)
    with zipfile.ZipFile(file, "a") as archive:
        archive.writestr(GAMES, pickle.dumps(model.under_way()))
    write(path, file.getvalue())


def load_checkpoint(path: Path) -> SelfPlayPPO:
    """Returns a model that goes on exactly where it was saved.

    Raises:
        SettingError: if the file is no checkpoint.
    """
    try:
        with zipfile.ZipFile(path) as archive:
            games = pickle.loads(archive.read(GAMES))
        model = SelfPlayPPO.load(path, env=games["env"], device="cpu")
    except (OSError, KeyError, zipfile.BadZipFile, pickle.UnpicklingError) as error:
        raise SettingError(f"expected a checkpoint, got {path}: {error!r}") from error
    model.go_on(games)
    return model


def save_policy(model: SelfPlayPPO, path: Path, rules: str | Rules) -> None:
    """Writes a policy as a network file, for ``agents.bots.network``.

    Args:
        model: trained.
        path: of the file.
        rules: the rule set it was trained on, or its name.

    Raises:
        SettingError: if the file would play or expect something else than the policy, as where
            ``logits_and_values`` uses layers that ``tensors`` does not name; nothing is written.
    """
    tensors = model.policy.tensors()
    info = NetworkInfo(
        layers=sum(name.startswith("layers.") for name in tensors) // 2,
        decisions=model.num_timesteps,
        points_per_value=model.points_per_value,
        rules=get_rules(rules),
    )
    check_agreement(model, NetworkAgent(info, tensors))
    write(path, write_tensors(tensors, info.metadata()))


def check_agreement(model: SelfPlayPPO, agent: NetworkAgent) -> None:
    """Checks that an agent plays and expects what the policy does, over positions of random play.

    Compared are the probabilities of the legal actions and the values, since logits may differ by a
    constant; the policy is asked in float32, as a file is played.

    Raises:
        SettingError: if they differ by more than rounding does.
    """
    games = GoitaVectorEnv(64, seed=1)
    rng, turn = np.random.default_rng(1), games.reset()
    for _ in range(8):
        bits = th.from_numpy(turn.observation).to(model.device)
        with th.no_grad():
            logits, values = model.policy.logits_and_values(bits)
        legal = th.as_tensor(turn.action_mask, device=model.device)
        policy = th.log_softmax(logits.float().masked_fill(~legal, MASKED), dim=1).numpy(force=True)
        foreseen = values.float().numpy(force=True) * model.points_per_value
        logits = th.from_numpy(agent.logits(turn.view)).masked_fill(~legal.cpu(), MASKED)
        played = th.log_softmax(logits, dim=1).numpy()
        for what, mine, theirs in (
            ("log-probabilities", policy, played),
            ("values", foreseen, agent.values(turn.view)),
        ):
            if not np.allclose(mine, theirs, rtol=1e-3, atol=1e-2):
                raise SettingError(
                    f"expected a file with the policy's {what}, got tensors that give others (by "
                    f"{np.abs(mine - theirs).max():.3g}): tensors() must name all layers that "
                    "logits_and_values() uses, and the file's format hold them"
                )
        turn = games.step(games.sample_legal(rng))


def write(path: Path, data: bytes) -> None:
    """Writes a file so that its path shows the old content or the new, never a part."""
    beside = path.with_name(f".{path.name}.part")
    with beside.open("wb") as file:
        file.write(data)
        file.flush()
        os.fsync(file.fileno())
    beside.replace(path)


def linear(start: float, end: float) -> Schedule:
    """Returns the schedule that goes straight from one number to another over the training."""
    return LinearSchedule(start, end, end_fraction=1.0)


def use_threads(threads: int) -> None:
    """Sets how many threads torch may use for one operation; results depend on their number."""
    th.set_num_threads(threads)


def has_fast_bfloat16() -> bool:
    """Says whether the processor multiplies bfloat16, several times faster than float32."""
    able = th.cpu.get_capabilities()
    return bool(able.get("avx512_bf16") or able.get("amx_bf16") or able.get("bf16"))
