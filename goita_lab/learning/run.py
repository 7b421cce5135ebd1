"""Runs a training in a directory of its own, where it can be resumed."""

from __future__ import annotations

import json
import sys
from collections.abc import Mapping, Sequence
from contextlib import ExitStack
from pathlib import Path
from typing import Any, Self

from stable_baselines3.common.logger import Logger, make_output_format

from goita_agents.bots.network import file_digest
from goita_agents.files import json_text, locked, write_whole
from goita_env.errors import SettingError
from goita_lab.learning.measuring import Evaluator, History
from goita_lab.learning.policy_file import init_from, load_frozen, policy_bytes
from goita_lab.learning.ppo import SelfPlayPPO
from goita_lab.learning.saving import CheckpointCallback, RunFiles, load_checkpoint
from goita_lab.learning.settings import Training, read_settings
from goita_lab.provenance import provenance


class Run:
    """The directory of a training and its settings, as JSON can hold them.

    From ``begin`` or ``resume`` to ``close`` no other process can train there.

    Args:
        directory: the directory.
        config: the settings.
        players: texts of the agents that the training plays with; their weights are named in the
            stored settings, under "provenance".
    """

    def __init__(
        self, directory: Path, config: Mapping[str, Any], players: Sequence[str] = ()
    ) -> None:
        self.files = RunFiles(directory)
        self.config = dict(config)
        self.players = players
        self.history = History()
        self.measuring_seconds = 0.0
        self._open = ExitStack()

    def begin(self, init: Path | None = None) -> Self:
        """Makes the directory of a new training.

        Args:
            init: a policy to begin with; it is copied, so that the run does not need the file.
        """
        directory = self.files.directory
        directory.mkdir(parents=True, exist_ok=True)
        self._lock()
        if self.files.config.exists():
            raise SettingError(
                f"expected a new run, got {directory}; --resume {directory} continues it"
            )
        if init is not None:
            write_whole(self.files.init, init.read_bytes())
        origin = provenance(self.players)
        if init is not None:
            origin["weights"]["init"] = file_digest(init)
        self.configure(self.config | {"provenance": origin})
        return self

    def __str__(self) -> str:
        return str(self.files.directory)

    @classmethod
    def resume(cls, directory: Path) -> Self:
        """Opens the directory of a training.

        Raises:
            SettingError: if it is no such directory, or another process trains there.
            OSError: if it may not be written.
        """
        run = cls(directory, read_settings(directory / "config.json"))
        run._lock()
        return run

    def note_changes(self, players: Sequence[str]) -> None:
        """Says which agents are made of something else since the run began, and stores it."""
        begun, now = self.config.get("provenance", {}), provenance(players)["digests"]
        before = begun.get("digests", {})
        changed = [name for name in players if before.get(name) != now.get(name)]
        if changed:
            sys.stderr.write(f"{self}: agents have changed since it began: {', '.join(changed)}\n")
            changed = sorted({*begun.get("changed", []), *changed})
            self.configure(self.config | {"provenance": {**begun, "changed": changed}})

    def close(self) -> None:
        """Lets other processes train in the directory."""
        self._open.close()

    def _lock(self) -> None:
        self._open.enter_context(locked(self.files.config, "a run that no process trains"))

    def configure(self, config: Mapping[str, Any]) -> None:
        """Replaces the run's settings and writes them."""
        self.config = dict(config)
        write_whole(
            self.files.config,
            json.dumps(self.config, indent=1, default=str, allow_nan=False) + "\n",
        )

    def learn(self, model: SelfPlayPPO, settings: Training, measuring: Evaluator) -> bool:
        """Trains until all decisions were made, with logs, snapshots and checkpoints.

        On SIGINT (Ctrl-C) or SIGTERM the current rollout is learnt from and saved, and the training
        ends; a second signal ends it at once, with the checkpoint before.

        Returns:
            Whether all decisions were made.

        Raises:
            DivergedError: at the first number that is not finite; the files stay as they are.
        """
        if model.num_timesteps >= settings.total_timesteps:
            return True
        if self.history.snapshots:  # what was written after the checkpoint will be written again
            self.files.tidy(self.history, model.pool)
        saving = CheckpointCallback(self.files, self.history, measuring, settings)
        # Into the directory; a log that is there already stays.
        folder = str(self.files.directory)
        logs = len([*self.files.directory.glob("progress*.csv")])
        suffix = f"-{logs + 1}" if logs else ""
        formats = [make_output_format(kind, folder, suffix) for kind in ("csv", "tensorboard")]
        model.set_logger(Logger(folder, formats))
        try:
            model.learn(
                settings.total_timesteps - model.num_timesteps,
                callback=saving,
                log_interval=1,
                reset_num_timesteps=False,  # a restored model's games must not begin anew
            )
        finally:
            saving.close()
            model.logger.close()
        self.measuring_seconds = saving.measuring_seconds
        return model.num_timesteps >= settings.total_timesteps

    def save_result(self, pairs: Sequence[Mapping[str, Any]]) -> None:
        """Writes the results of the final measurement."""
        summary = {"pairs": pairs, **provenance([f"file:{self.files.policy}"])}
        write_whole(self.files.result, json_text(summary))


def start(settings: Training, run: Run, *, new: bool) -> SelfPlayPPO:
    """Returns the model of a run, new or from its last checkpoint; begins a run that is new."""
    try:
        pool, model = settings.frozen(), settings.model()
    except (MemoryError, RuntimeError) as error:
        # Torch raises a RuntimeError of several lines where numpy raises a MemoryError.
        if isinstance(error, RuntimeError) and "allocate" not in str(error):
            raise
        reason = str(error).strip().partition("\n")[0]
        raise SettingError(f"expected a training that fits the memory: {reason:.200}") from error
    if pool is not None:  # its snapshots are those of the run
        pool.load = lambda decisions: load_frozen(model, run.files.snapshot(decisions))
        model.pool = pool
    if settings.init is not None:
        init_from(model, settings.init if new else run.files.init)
    if settings.kl:
        model.hold_close(settings.kl, settings.refresh, settings.refresh_share)
    if new:
        policy_bytes(model, settings.rules)  # raises if no file could hold the policy
        run.begin(settings.init)
    elif run.files.checkpoint.exists():
        run.history = load_checkpoint(model, run.files.checkpoint)
    elif run.files.policy.exists():
        raise SettingError(f"expected {run.files.checkpoint}, got a policy without it")
    return model
