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
from typing import TYPE_CHECKING, Final

from goita_agents.files import PART, write_whole
from goita_env.errors import SettingError
from goita_lab.learning.measuring import MAX_SNAPSHOTS, History
from goita_lab.learning.pool import GROUPS, OpponentPool

if TYPE_CHECKING:
    from goita_lab.learning.ppo import SelfPlayPPO  # torch, which a plot can do without

BYTES_PER_GAME: Final = 2000  # in a checkpoint: a game's state and its open decisions
BYTES_PER_UPDATE: Final = 3000  # in the logs


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

    def most_bytes(self, model: SelfPlayPPO, decisions: int) -> int:
        """Returns about how many bytes a training's files take at most, with one or two resumes."""
        networks = [model.policy, *([] if model.critic is None else [model.critic])]
        sizes = [4 * sum(weight.numel() for weight in net.parameters()) for net in networks]
        policies = (MAX_SNAPSHOTS + 2 * GROUPS + 3) * sizes[0]  # snapshots; best, first and last
        optimized = 3 * sum(sizes)  # with the optimizer's two numbers for each weight
        checkpoints = 2 * (optimized + BYTES_PER_GAME * model.n_envs)  # the old and the new
        rollouts = decisions / (model.n_envs * model.n_steps / 2)
        return policies + checkpoints + round(BYTES_PER_UPDATE * rollouts)

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
