"""Keeps a training while it runs: takes snapshots, has them measured, and saves checkpoints."""

from __future__ import annotations

import signal
import threading
import time
from types import FrameType
from typing import Any

from stable_baselines3.common.callbacks import BaseCallback
from stable_baselines3.common.logger import TensorBoardOutputFormat

from agents.learning.bar import DecisionBar
from agents.learning.checkpoint import save_checkpoint
from agents.learning.files import RunFiles
from agents.learning.measuring import History, Measured, Measuring
from agents.learning.policy_file import save_policy
from agents.learning.ppo import SelfPlayPPO
from agents.learning.storage import write


class Keeper(BaseCallback):
    """Works between two rollouts, where nothing is half done.

    What it writes depends on the checkpoint alone, so a training that is killed anywhere and goes
    on from its last checkpoint writes the same again: no row of the curve is lost or doubled, and
    a file that a checkpoint may still need is deleted only after the next one is written.

    Args:
        files: of the run.
        history: measured so far, by the checkpoint; grows.
        measuring: what is measured.
        snapshot_every: decisions from one snapshot to the next.
        save_every: decisions from one checkpoint to the next, at most.
        bar: shows what was measured; None: it is printed.
    """

    model: SelfPlayPPO

    def __init__(
        self,
        files: RunFiles,
        history: History,
        measuring: Measuring,
        *,
        snapshot_every: int,
        save_every: int,
        bar: DecisionBar | None = None,
    ) -> None:
        super().__init__()
        self.files, self.history, self.measuring = files, history, measuring
        self.snapshot_every, self.save_every, self.bar = snapshot_every, save_every, bar
        self.stopping = self.stopped = False
        self.handlers: dict[int, Any] = {}
        self.seconds = 0.0
        """Of processor time that measuring took."""

    def _on_training_start(self) -> None:
        self.saved_at = self.model.num_timesteps
        if threading.current_thread() is threading.main_thread():
            for number in (signal.SIGINT, signal.SIGTERM):
                self.handlers[number] = signal.signal(number, self._stop)

    def _on_rollout_start(self) -> None:
        """Does what is due: the last rollout is learnt from, the next has not begun."""
        made, snapshots = self.model.num_timesteps, self.history.snapshots
        every = self.snapshot_every
        due = not snapshots or made // every > snapshots[-1] // every
        if due and not self.stopping:
            self._snapshot()
        if due or self.stopping or made >= self.saved_at + self.save_every:
            self._save()
            self.stopped = self.stopping
        if self.model.pool is not None:
            self.model.pool.known = self.history.snapshots

    def _on_step(self) -> bool:
        """Says whether to go on."""
        return not self.stopped

    def _on_training_end(self) -> None:
        if not self.stopped:
            if self.history.snapshots[-1] < self.model.num_timesteps:
                self._snapshot()
            self._save()

    def let_go(self) -> None:
        """Gives the signals back, however the training ended."""
        for number, handler in self.handlers.items():
            signal.signal(number, handler)

    def _snapshot(self) -> None:
        """Writes the policy as it is now, and measures it."""
        start, made = time.process_time(), self.model.num_timesteps
        save_policy(self.model, self.files.snapshot(made), self.measuring.rules)
        past = self.history.past(made)
        policy = type(self.model.policy)
        rows = self.measuring.measure(
            made,
            self.files.player(made, policy),
            None if past is None else (past, self.files.player(past, policy)),
        )
        self.history.rows += rows
        self.history.add_snapshot(made)
        self.seconds += time.process_time() - start
        if rows:
            write(self.files.strength, self.history.csv())
            self._draw(rows)
            text = f"{made:,} decisions: {'; '.join(row.text for row in rows)}"
            if self.bar is None:
                print(text, flush=True)
            else:
                self.bar.say(text, rows[len(self.measuring.against) - 1].text)

    def _draw(self, rows: list[Measured]) -> None:
        """Adds a measurement to TensorBoard, at its decisions."""
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
        """Writes the checkpoint, then tidies up what no checkpoint needs any more."""
        save_checkpoint(self.model, self.files.checkpoint, self.history)
        self.saved_at = self.model.num_timesteps
        pool = self.model.pool
        self.files.tidy(self.history, [] if pool is None else pool.needed())

    def _stop(self, number: int, frame: FrameType | None) -> None:
        """Takes notice of a signal; the next one has its usual effect."""
        self.stopping = True
        signal.signal(number, self.handlers[number])
