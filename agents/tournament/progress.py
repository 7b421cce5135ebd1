"""Shows on standard error how far a tournament is: deals, rounds a second, time left."""

from __future__ import annotations

import sys
import time
from collections.abc import Sequence

from agents.tournament.arena import Book
from agents.tournament.block import BlockResult


class ProgressLine:
    """Draws one line anew, ten times a second at most, and wipes it out at the end.

    Nothing is drawn where standard error is no terminal.

    Args:
        books: those of the tournament.
    """

    def __init__(self, books: Sequence[Book]) -> None:
        self.books = {book.pairing.agents: book for book in books}
        self.start = time.perf_counter()
        self.shown = sys.stderr.isatty()
        self.drawn = 0.0
        self.deals = self.rounds = 0

    def __call__(self, result: BlockResult) -> None:
        """Takes notice of a block that was played."""
        self.deals += result.task.deals
        self.rounds += int(result.rounds.sum())
        now = time.perf_counter()
        if self.shown and now - self.drawn >= 0.1:
            self.drawn, seconds = now, now - self.start
            book = self.books[result.task.agents]
            left = sum(book.deals_left() for book in self.books.values())
            of_pair = book.pairing.deals - book.deals_left()
            sys.stderr.write(
                f"\r\x1b[K{book.pairing.title}: {of_pair:,} of {book.pairing.deals:,} deals, "
                f"{self.rounds / seconds:,.0f} rounds/s; in all {left:,} deals left, "
                f"{duration(seconds * left / self.deals)}"
            )
            sys.stderr.flush()

    def close(self) -> None:
        """Wipes out the line."""
        if self.shown:
            sys.stderr.write("\r\x1b[K")
            sys.stderr.flush()


def duration(seconds: float) -> str:
    """Returns a time as "8 s", "12:05" or "3:00:00"."""
    minutes, rest = divmod(round(seconds), 60)
    hours, minutes = divmod(minutes, 60)
    if hours:
        return f"{hours}:{minutes:02}:{rest:02}"
    return f"{minutes}:{rest:02}" if minutes else f"{rest} s"
