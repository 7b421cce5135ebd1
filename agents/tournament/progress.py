"""Shows on standard error how far a tournament is: deals, rounds a second, time left."""

from __future__ import annotations

import sys
import threading
import time
from collections import deque
from collections.abc import Sequence
from datetime import timedelta
from typing import Any, Final, Self

from rich.console import Console
from rich.progress import BarColumn, Progress, TextColumn, TimeRemainingColumn

from agents.tournament.arena import Ledger
from agents.tournament.task import BlockResult

EVERY: Final = 60.0
"""Seconds between two lines where there is no terminal."""

RECENT: Final = 5
"""Lines over which the speed is taken that the time left is told by."""


class ProgressLine(Progress):
    """Draws a line on a terminal, and wipes it out at the end; anywhere else writes one a minute.

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
        self._over = threading.Event()
        self._teller = threading.Thread(target=self._tell_on, daemon=True)

    def __enter__(self) -> Self:
        super().__enter__()
        if self.disable:
            self._teller.start()
        return self

    def __exit__(self, *error: Any) -> None:
        self._over.set()
        super().__exit__(*error)

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

    def _tell_on(self) -> None:
        """Writes a line now and then, for a log, until the tournament is over."""
        seen = deque([(self._begun, 0)], maxlen=RECENT)
        while not self._over.wait(EVERY):
            now, left = time.perf_counter(), self._left()
            # By what was done lately: a slow bot's pairings come when quick ones are over.
            seconds, deals = now - seen[0][0], self._deals - seen[0][1]
            rest = timedelta(seconds=round(seconds * left / deals)) if deals else "not known"
            seen.append((now, self._deals))
            sys.stderr.write(
                f"{self._deals:,} of {self._deals + left:,} deals, "
                f"{self._rounds / (now - self._begun):,.0f} rounds/s, time left: {rest}\n"
            )
            sys.stderr.flush()

    def _left(self) -> int:
        """Returns how many deals are still to be played, at most."""
        return sum(ledger.deals_left() for ledger in self._ledgers.values())
