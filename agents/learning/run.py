"""Trains in a directory of its own, and goes on there after an interruption."""

from __future__ import annotations

import json
from collections.abc import Mapping, Sequence
from pathlib import Path
from typing import Any, Final, Self

import msgspec
from stable_baselines3.common.callbacks import BaseCallback
from stable_baselines3.common.logger import Logger, make_output_format

from agents.learning.bar import DecisionBar
from agents.learning.checkpoint import load_checkpoint
from agents.learning.files import RunFiles
from agents.learning.keeper import Keeper
from agents.learning.measuring import History, Measuring
from agents.learning.player import frozen
from agents.learning.policy_file import save_policy
from agents.learning.pool import Pool
from agents.learning.ppo import SelfPlayPPO
from agents.learning.storage import write
from goita_env.errors import SettingError
from goita_env.rules import Rules

MAX_CONFIG: Final = 1 << 20
"""Bytes of the settings that are read."""


class Run:
    """Is a training's directory.

    Args:
        directory: where it lies.
        config: every setting, as JSON can hold them.
    """

    def __init__(self, directory: Path, config: Mapping[str, Any]) -> None:
        self.files = RunFiles(directory)
        self.config = dict(config)
        self.history = History()
        self.measuring_seconds = 0.0

    def begin(self, init: Path | None = None) -> Self:
        """Makes the directory of a new training.

        Args:
            init: a policy to begin with; it is copied, so that the run goes on without it.

        Raises:
            SettingError: if there is one already.
        """
        directory = self.files.directory
        if self.files.config.exists():
            raise SettingError(f"expected a new run, got {directory}; --resume {directory} goes on")
        directory.mkdir(parents=True, exist_ok=True)
        if init is not None:
            write(self.files.init, init.read_bytes())
        self.configure(self.config)
        return self

    @classmethod
    def resume(cls, directory: Path) -> Self:
        """Opens the directory of a training, which may be somebody else's.

        Raises:
            SettingError: if it is none, or one of an older version, or holds links.
        """
        run = cls(directory, {})
        run.files.check()
        try:
            if run.files.config.stat().st_size > MAX_CONFIG:
                raise SettingError(f"config.json is larger than {MAX_CONFIG} bytes")
            run.config = msgspec.json.decode(run.files.config.read_bytes(), type=dict[str, Any])
        except (OSError, ValueError, RecursionError) as error:
            raise SettingError(
                f"expected the directory of a run, got {directory}: {error}"
            ) from error
        return run

    def configure(self, config: Mapping[str, Any]) -> None:
        """Writes the settings; from now on these are the run's."""
        self.config = dict(config)
        write(self.files.config, json.dumps(self.config, indent=1, default=str).encode() + b"\n")

    def restore(self, model: SelfPlayPPO) -> bool:
        """Has a new model go on from the last checkpoint, if there is one yet; says whether.

        Args:
            model: with the settings of this run, its frozen players seated.

        Raises:
            SettingError: if the checkpoint is gone, or cannot be read.
        """
        if not self.files.checkpoint.exists():
            if later := self.files.after_a_checkpoint():
                raise SettingError(f"expected {self.files.checkpoint} beside {later}, got none")
            return False
        self.history = load_checkpoint(model, self.files.checkpoint)
        return True

    def seat(self, model: SelfPlayPPO, pool: Pool) -> None:
        """Has frozen players play in a training, its own snapshots among them."""
        pool.load = lambda decisions: frozen(model, self.files.snapshot(decisions))
        model.join(pool)

    def learn(
        self,
        model: SelfPlayPPO,
        decisions: int,
        *,
        measuring: Measuring,
        snapshot_every: int,
        save_every: int,
        progress: bool = True,
    ) -> bool:
        """Trains, with logs, snapshots and checkpoints, until so many decisions were made in all.

        On SIGINT (Ctrl-C) or SIGTERM the rollout under way is learnt from, saved, and the training
        ends; a second signal ends it at once, with the checkpoint before.

        Args:
            model: new or restored.
            decisions: with a choice.
            measuring: what is measured of every snapshot.
            snapshot_every: decisions between snapshots.
            save_every: decisions between checkpoints.
            progress: show a bar.

        Returns:
            Whether all decisions were made.

        Raises:
            DivergedError: if a loss, gradient or weight became no number; the checkpoint and the
                snapshots before stay.
        """
        if model.num_timesteps >= decisions:
            return True
        if self.history.snapshots:  # what was written after the checkpoint will be written again
            self.files.tidy(self.history, [] if model.pool is None else model.pool.needed())
        bar = DecisionBar() if progress else None
        keeper = Keeper(
            self.files,
            self.history,
            measuring,
            snapshot_every=snapshot_every,
            save_every=save_every,
            bar=bar,
        )
        callbacks: list[BaseCallback] = [keeper, *([bar] if bar else [])]
        model.set_logger(self._logger())
        try:
            model.learn(
                decisions - model.num_timesteps,
                callback=callbacks,
                log_interval=1,
                reset_num_timesteps=False,  # a restored model's games must not begin anew
            )
        finally:
            keeper.let_go()
            model.logger.close()
            if bar:
                bar.close()
        self.measuring_seconds = keeper.seconds
        return model.num_timesteps >= decisions

    def save_policy(self, model: SelfPlayPPO, rules: str | Rules) -> Path:
        """Writes the policy as it is now to its file and returns the file's path."""
        save_policy(model, self.files.policy, rules)
        return self.files.policy

    def save_result(self, pairs: Sequence[Mapping[str, Any]]) -> None:
        """Writes how the policy did against each opponent."""
        write(self.files.result, json.dumps({"pairs": pairs}, indent=1).encode() + b"\n")

    def _logger(self) -> Logger:
        """Returns a logger into the directory; a log that is there already is left alone."""
        directory = self.files.directory
        logs = len([*directory.glob("progress*.csv")])
        suffix = f"-{logs + 1}" if logs else ""
        formats = [
            make_output_format(kind, str(directory), suffix) for kind in ("csv", "tensorboard")
        ]
        return Logger(str(directory), formats)
