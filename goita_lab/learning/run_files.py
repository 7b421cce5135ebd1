"""Names the files of a training.

::

    config.json             every setting
    init.safetensors        the policy to begin with, where one was given
    checkpoint.safetensors  all that the training goes on from
    strength.csv            the learning curve of strength
    progress.csv            the log of every update; progress-2.csv after the first resume
    events.out.tfevents.*   both for TensorBoard
    snapshots/              policies on the way, each named by its decisions
    best.safetensors        the best of them
    policy.safetensors      the trained policy, played as "file:PATH"
    result.json             how it did against the bots

Files are written whole or not at all (``goita_agents.files``).
"""

from __future__ import annotations

from pathlib import Path

from goita_agents.files import PART, write_whole
from goita_env.errors import SettingError
from goita_lab.learning.measuring import History
from goita_lab.learning.pool import OpponentPool


class RunFiles:
    """The paths of a training's files."""

    def __init__(self, directory: Path) -> None:
        self.directory = directory
        self.config = directory / "config.json"
        self.init = directory / "init.safetensors"
        self.checkpoint = directory / "checkpoint.safetensors"
        self.strength = directory / "strength.csv"
        self.best = directory / "best.safetensors"
        self.policy = directory / "policy.safetensors"
        self.result = directory / "result.json"
        self.snapshots = directory / "snapshots"

    def snapshot(self, decisions: int) -> Path:
        return self.snapshots / f"{decisions:012}.safetensors"

    def logs(self) -> list[Path]:
        """Returns the logs that are there: that of the beginning, then those of the resumes."""
        return sorted(
            self.directory.glob("progress*.csv"), key=lambda log: (len(log.name), log.name)
        )

    def after_a_checkpoint(self) -> Path | None:
        """Returns a file that is written only after a checkpoint, None if there is none."""
        later = sorted(self.snapshots.glob("*.safetensors"))[1:]
        return next((path for path in (self.policy, self.best, *later) if path.exists()), None)

    def tidy(self, history: History, pool: OpponentPool | None) -> None:
        """Copies the best snapshot and deletes those in neither the history nor the pool."""
        if (best := history.best()) is not None:
            try:
                data = self.snapshot(best).read_bytes()
            except OSError as error:
                raise SettingError(f"expected the best of the snapshots: {error}") from error
            if not self.best.exists() or self.best.read_bytes() != data:
                write_whole(self.best, data)
        needed = [*history.snapshots, *(pool.needed() if pool else [])]
        known = {self.snapshot(decisions) for decisions in needed}
        unneeded = {*self.snapshots.glob("*.safetensors")} - known
        for path in [*unneeded, *self.snapshots.glob(PART), *self.directory.glob(PART)]:
            path.unlink()
