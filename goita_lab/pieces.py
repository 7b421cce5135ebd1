"""Does long work in pieces: on processes, and with a file from which a stopped run goes on."""

from __future__ import annotations

import sys
import time
from collections.abc import Callable, Mapping
from contextlib import nullcontext
from dataclasses import dataclass
from functools import partial
from pathlib import Path
from typing import Any, Final, TypeVar

from goita_env.errors import SettingError
from goita_lab.processes import on_processes
from goita_lab.store import Parts, pack

T = TypeVar("T")
R = TypeVar("R")

Progress = Callable[[str, int, int], object]
"""Is told what is done, how many of it, and of how many."""


@dataclass(frozen=True)
class Runner:
    """How pieces of work are done; none of this changes a result."""

    workers: int = 1
    """Processes."""
    results: Path | None = None
    """File that keeps finished pieces, so that a stopped run goes on; None: none."""
    progress: Progress = lambda *_: None

    def __post_init__(self) -> None:
        if self.workers < 1:
            raise SettingError(f"expected 1 worker or more, got {self.workers!r}")

    def run(
        self,
        work: Callable[[T], R],
        todo: Mapping[str, T],
        kind: Callable[[T], Any],
        arguments: Mapping[str, Any],
        what: str = "pieces",
    ) -> dict[str, R]:
        """Returns the results of pieces of work by key, in the order of ``todo``.

        Args:
            work: does a piece; it can be pickled.
            todo: the pieces by key.
            kind: returns the type of a piece's result, as ``goita_lab.store`` keeps it.
            arguments: all that results depend on beside the key, as JSON; kept results of others
                are dropped.
            what: the pieces in words, for the progress.

        Raises:
            SettingError: if the file holds something else, is damaged, or is open in another
                program.
            WorkerError: if a process died.
            OSError: if the file cannot be read or written.
        """
        file, found = self.results, dict[str, R]()
        with nullcontext() if file is None else Parts(file, "pieces of work", arguments) as parts:
            if parts is not None:
                kept = [key for key in todo if key in parts.found]
                found = {key: parts.value(key, kind(todo[key])) for key in kept}
            missing = [(key, piece) for key, piece in todo.items() if key not in found]
            self.progress(what, len(found), len(todo))
            for key, result in on_processes(partial(_keyed, work), missing, self.workers):
                found[key] = result
                if parts is not None:
                    parts.add(key, pack(result))
                self.progress(what, len(found), len(todo))
        return {key: found[key] for key in todo}


HERE: Final = Runner()
"""Works in this process, keeps no file and tells nothing."""


def _keyed(work: Callable[[T], R], piece: tuple[str, T]) -> tuple[str, R]:
    return piece[0], work(piece[1])


def shown() -> Progress:
    """Returns a progress that is shown on standard error, with the time since now."""
    start = time.perf_counter()

    def show(what: str, done: int, of: int) -> None:
        end = "\n" if done >= of else ""
        seconds = time.perf_counter() - start
        sys.stderr.write(f"\r{what}: {done:,} of {of:,}, {seconds:.0f} s {end}")

    return show
