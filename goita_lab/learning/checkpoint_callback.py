"""Takes and measures snapshots while a training runs, and saves checkpoints."""

from __future__ import annotations

import signal
import threading
import time
from types import FrameType
from typing import Any

from stable_baselines3.common.callbacks import BaseCallback
from stable_baselines3.common.logger import TensorBoardOutputFormat

from goita_agents.files import write_whole
from goita_lab.learning.checkpoint import save_checkpoint
from goita_lab.learning.measuring import Evaluator, History, Measured
from goita_lab.learning.policy_agent import load_policy
from goita_lab.learning.policy_file import save_policy
from goita_lab.learning.ppo import SelfPlayPPO
from goita_lab.learning.progress import DecisionBar
from goita_lab.learning.run_files import RunFiles
from goita_lab.learning.settings import Training


class CheckpointCallback(BaseCallback):
    """A callback that acts between two rollouts, when nothing is half done.

    What it writes depends on the checkpoint alone. A training that is killed at any moment and goes
    on from its last checkpoint writes the same files: no row of the curve is lost or doubled, and a
    file that a checkpoint may still need is deleted only after the next one is written.

    ``history`` is that of the checkpoint and grows. Without a bar measurements are printed.
    """

    model: SelfPlayPPO

    def __init__(
        self,
        files: RunFiles,
        history: History,
        measuring: Evaluator,
        settings: Training,
        bar: DecisionBar | None = None,
    ) -> None:
        super().__init__()
        self.files, self.history, self.measuring = files, history, measuring
        self.settings, self.bar = settings, bar
        self.stopping = self.stopped = False
        self.handlers: dict[int, Any] = {}
        self.measuring_seconds = 0.0  # of processor time

    def _on_training_start(self) -> None:
        self.saved_at = self.model.num_timesteps
        if threading.current_thread() is threading.main_thread():
            for number in (signal.SIGINT, signal.SIGTERM):
                self.handlers[number] = signal.signal(number, self._stop)

    def _on_rollout_start(self) -> None:
        made, snapshots = self.model.num_timesteps, self.history.snapshots
        every = self.settings.snapshot_every
        due = not snapshots or made // every > snapshots[-1] // every
        if due and not self.stopping:
            self._snapshot()
        if due or self.stopping or made >= self.saved_at + self.settings.save_every:
            self._save()
            self.stopped = self.stopping
        if self.model.pool is not None:
            self.model.pool.known = self.history.snapshots

    def _on_step(self) -> bool:
        return not self.stopped

    def _on_training_end(self) -> None:
        if not self.stopped:
            if self.history.snapshots[-1] < self.model.num_timesteps:
                self._snapshot()
            self._save()

    def restore_signals(self) -> None:
        """Restores the signal handlers, however the training ended."""
        for number, handler in self.handlers.items():
            signal.signal(number, handler)

    def _snapshot(self) -> None:
        start, made = time.process_time(), self.model.num_timesteps
        save_policy(self.model, self.files.snapshot(made), self.measuring.rules)
        past, policy = self.history.past(made), type(self.model.policy)
        agents = {
            decisions: load_policy(self.files.snapshot(decisions), policy)
            for decisions in (made, past)
            if decisions is not None
        }
        earlier = None if past is None else (past, agents[past])
        rows = self.measuring.measure(made, agents[made], earlier)
        self.history.rows += rows
        self.history.add_snapshot(made)
        self.measuring_seconds += time.process_time() - start
        if rows:
            write_whole(self.files.strength, self.history.csv())
            self._log(rows)
            text = f"{made:,} decisions: {'; '.join(row.text for row in rows)}"
            if self.bar is None:
                print(text, flush=True)
            else:
                self.bar.say(text, rows[len(self.measuring.against) - 1].text)

    def _log(self, rows: list[Measured]) -> None:
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
        self.saved_at = self.model.num_timesteps
        self.files.tidy(self.history, self.model.pool)

    def _stop(self, number: int, frame: FrameType | None) -> None:
        """Stops after the update on a first signal; the next one has its usual effect."""
        self.stopping = True
        signal.signal(number, self.handlers[number])
