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

Files are written beside their place and moved there when complete, so none is ever half a file.
"""

from __future__ import annotations

from collections.abc import Iterable
from pathlib import Path
from typing import Final

from agents.base import Agent
from agents.files import PART
from agents.learning.measuring import MAX_SNAPSHOTS, History
from agents.learning.player import play
from agents.learning.policy import SelfPlayPolicy
from agents.learning.pool import GROUPS
from agents.learning.ppo import SelfPlayPPO
from agents.learning.storage import write
from goita_env.errors import SettingError

BYTES_PER_GAME: Final = 2000
"""In a checkpoint: a game's state and its open decisions."""

BYTES_PER_UPDATE: Final = 3000
"""In the logs of an update."""


class RunFiles:
    """Holds the paths of a training's files.

    Args:
        directory: of the training.
    """

    def __init__(self, directory: Path) -> None:
        self.directory = directory
        self.config = directory / "config.json"
        self.init = directory / "init.safetensors"
        self.checkpoint = directory / "checkpoint.safetensors"
        self.strength = directory / "strength.csv"
        self.best = directory / "best.safetensors"
        self.policy = directory / "policy.safetensors"
        self.result = directory / "result.json"

    def check(self) -> None:
        """Checks a directory that may be somebody else's.

        A link in it could have a file elsewhere read, written or deleted. Checkpoints up to version
        0.2.0 were pickled, and unpickling runs what somebody else wrote.

        Raises:
            SettingError: if it holds a link or what is no file, or such a checkpoint.
        """
        for path in self.directory.rglob("*"):
            if path.is_symlink() or not (path.is_file() or path.is_dir()):
                raise SettingError(f"expected files alone in a run's directory, got {path}")
        old = self.directory / "checkpoint.zip"
        if old.exists():
            raise SettingError(
                f"expected a run of this version, got {old} of version 0.2.0 or before, which is "
                f"pickled: begin a new run with --init {self.policy} or one of its snapshots"
            )

    def snapshot(self, decisions: int) -> Path:
        """Returns the path of a snapshot."""
        return self.directory / "snapshots" / f"{decisions:012}.safetensors"

    def after_a_checkpoint(self) -> Path | None:
        """Returns a file that is written only where a checkpoint is, None if there is none."""
        snapshots = sorted((self.directory / "snapshots").glob("*.safetensors"))[1:]
        written = [self.policy, self.best, *snapshots]
        return next((path for path in written if path.exists()), None)

    def player(self, decisions: int, policy: type[SelfPlayPolicy]) -> Agent:
        """Returns a snapshot as an agent that takes the likeliest action.

        Args:
            decisions: it was trained on.
            policy: its class.
        """
        return play(self.snapshot(decisions), policy)

    def most_bytes(self, model: SelfPlayPPO, decisions: int) -> int:
        """Returns about how many bytes the files take at most, going on once or twice included.

        Args:
            model: with its games.
            decisions: of the whole training.
        """
        weights = 4 * sum(parameter.numel() for parameter in model.policy.parameters())
        policies = (MAX_SNAPSHOTS + 2 * GROUPS + 3) * weights  # snapshots; best, first and last
        trained = weights
        if model.critic is not None:
            trained += 4 * sum(parameter.numel() for parameter in model.critic.parameters())
        optimized = 3 * trained  # with the optimizer's two numbers for each
        checkpoints = 2 * (optimized + BYTES_PER_GAME * model.n_envs)  # the old and the new
        rollouts = decisions / (model.n_envs * model.n_steps / 2)
        return policies + checkpoints + round(BYTES_PER_UPDATE * rollouts)

    def tidy(self, history: History, needed: Iterable[int]) -> None:
        """Brings the snapshots in line with a checkpoint.

        The best is copied to its place; snapshots that the checkpoint doesn't know are deleted.

        Args:
            history: of the checkpoint.
            needed: snapshots that still play.

        Raises:
            SettingError: if the best cannot be read.
        """
        best = history.best()
        if best is not None:
            try:
                data = self.snapshot(best).read_bytes()
            except OSError as error:
                raise SettingError(f"expected the best of the snapshots: {error}") from error
            if not self.best.exists() or self.best.read_bytes() != data:
                write(self.best, data)
        known = {self.snapshot(decisions) for decisions in [*history.snapshots, *needed]}
        snapshots = self.directory / "snapshots"
        unknown = [path for path in snapshots.glob("*.safetensors") if path not in known]
        for path in [*unknown, *snapshots.glob(PART), *self.directory.glob(PART)]:
            path.unlink()
