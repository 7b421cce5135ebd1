"""Shows on standard error how far a tournament is: deals, rounds a second, time left."""

from __future__ import annotations

import sys
import time
from collections.abc import Sequence

from rich.console import Console
from rich.progress import BarColumn, Progress, TextColumn, TimeRemainingColumn

from agents.tournament.arena import Ledger
from agents.tournament.block import BlockResult


class ProgressLine(Progress):
    """Draws a line on a terminal, and wipes it out at the end; anywhere else it draws nothing.

    Args:
        ledgers: those of the tournament.
    """

    def __init__(self, ledgers: Sequence[Ledger]) -> None:
        text = "{task.completed:,} of {task.total:,} deals, {task.fields[speed]:,.0f} rounds/s,"
        super().__init__(
            TextColumn("{task.description}"),
            BarColumn(20),
            TextColumn(text),
            TimeRemainingColumn(),
            console=Console(stderr=True),
            refresh_per_second=2,
            transient=True,
            disable=not sys.stderr.isatty(),
        )
        self._ledgers = {ledger.pairing.tasks[0].agents: ledger for ledger in ledgers}
        self._begun, self._deals, self._rounds = time.perf_counter(), 0, 0
        self._line = self.add_task("", total=self._left(), speed=0.0)

    def __call__(self, result: BlockResult) -> None:
        """Takes notice of a block that was played."""
        self._deals += result.task.deals
        self._rounds += int(result.rounds.sum())
        self.update(
            self._line,
            description=self._ledgers[result.task.agents].pairing.title,
            completed=self._deals,
            total=self._deals + self._left(),  # less than before where a pairing was decided
            speed=self._rounds / (time.perf_counter() - self._begun),
        )

    def _left(self) -> int:
        """Returns how many deals are still to be played, at most."""
        return sum(ledger.deals_left() for ledger in self._ledgers.values())
