"""Shows the progress of a training on the terminal, and its last measurement."""

from __future__ import annotations

from rich.console import Console
from rich.markup import escape
from rich.progress import BarColumn, Progress, TextColumn, TimeElapsedColumn, TimeRemainingColumn
from stable_baselines3.common.callbacks import BaseCallback


class DecisionBar(BaseCallback):
    """A bar of decisions made and planned; SB3's bar would count every game in every step."""

    def __init__(self) -> None:
        super().__init__()
        console = Console()
        self.progress = Progress(
            TextColumn("{task.completed:,} of {task.total:,} decisions"),
            BarColumn(),
            TimeElapsedColumn(),
            TimeRemainingColumn(),
            TextColumn("{task.description}"),
            console=console,
            disable=not console.is_terminal,
        )
        self.task = self.progress.add_task("")

    def say(self, text: str, short: str) -> None:
        """Shows a measurement: a line above the bar, and shorter beside it until the next."""
        self.progress.console.print(text, highlight=False, markup=False, soft_wrap=True)
        self.progress.update(self.task, description=escape(short))

    def close(self) -> None:
        """Restores the terminal; may be called twice."""
        self.progress.stop()

    def _on_training_start(self) -> None:
        self.progress.update(self.task, total=self.locals["total_timesteps"])
        self._show()
        self.progress.start()

    def _on_step(self) -> bool:
        self._show()
        return True

    def _show(self) -> None:
        # The last update may make more decisions than were asked for.
        made = min(self.model.num_timesteps, self.locals["total_timesteps"])
        self.progress.update(self.task, completed=made)

    def _on_training_end(self) -> None:
        self.close()
