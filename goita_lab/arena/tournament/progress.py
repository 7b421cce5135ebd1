"""Shows the progress of a tournament on standard error: deals, rounds per second, time left."""

from __future__ import annotations

import sys
import threading
import time
from collections import deque
from datetime import timedelta
from typing import Any, Final, Self

from rich.console import Console
from rich.progress import BarColumn, Progress, TextColumn, TimeRemainingColumn

from goita_lab.arena.tournament.arena import Tournament
from goita_lab.arena.tournament.task import BlockResult

EVERY: Final = 60.0  # Seconds between two lines without a terminal.

RECENT: Final = 5  # Lines over which the speed for the time left is averaged.


class ProgressLine(Progress):
    """A line on a terminal that is erased at the end; elsewhere one line a minute."""

    def __init__(self, tournament: Tournament) -> None:
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
        self._tournament = tournament
        self._begun, self._deals, self._rounds = time.perf_counter(), 0, 0
        self._line = self.add_task("", total=tournament.deals_left(), speed=0.0)
        self._over = threading.Event()
        self._writer = threading.Thread(target=self._write_lines, daemon=True)

    def __enter__(self) -> Self:
        super().__enter__()
        if self.disable:
            self._writer.start()
        return self

    def __exit__(self, *error: Any) -> None:
        self._over.set()
        super().__exit__(*error)

    def __call__(self, result: BlockResult) -> None:
        self._deals += result.task.deals
        self._rounds += int(result.rounds.sum())
        self.update(
            self._line,
            description=self._tournament.ledgers[result.task.agents].pairing.title,
            completed=self._deals,
            total=self._deals
            + self._tournament.deals_left(),  # less than before where a pairing was decided
            speed=self._rounds / (time.perf_counter() - self._begun),
        )

    def _write_lines(self) -> None:
        seen = deque([(self._begun, 0)], maxlen=RECENT)
        while not self._over.wait(EVERY):
            now, left = time.perf_counter(), self._tournament.deals_left()
            # By the latest speed: the pairings of a slow bot come after quick ones.
            seconds, deals = now - seen[0][0], self._deals - seen[0][1]
            rest = timedelta(seconds=round(seconds * left / deals)) if deals else "not known"
            seen.append((now, self._deals))
            sys.stderr.write(
                f"{self._deals:,} of {self._deals + left:,} deals, "
                f"{self._rounds / (now - self._begun):,.0f} rounds/s, time left: {rest}\n"
            )
            sys.stderr.flush()
