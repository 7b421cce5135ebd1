"""Holds what studies share: their options, and pieces of work that survive a stop."""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any, TypeVar

import numpy as np

from goita_env import __version__
from goita_lab.pieces import Progress, Runner

T = TypeVar("T")
R = TypeVar("R")


@dataclass(frozen=True)
class Options:
    """How a study is run."""

    output: Path
    """Folder of its files; finished pieces stand there, too, until the study is done."""
    quick: bool = False
    """A fraction of the work, which shows that all of it runs and what comes out."""
    workers: int = 1
    """Processes; they change no result."""
    records: Path | None = None
    """Folder of human records."""
    progress: Progress = lambda *_: None

    def pieces(
        self,
        name: str,
        kind: Any,
        arguments: Mapping[str, Any],
        todo: Mapping[str, T],
        work: Callable[[T], R],
    ) -> dict[str, R]:
        """Returns the results of pieces of work by key; those that are finished are not repeated.

        Args:
            name: of the file of pieces.
            kind: the type of a result.
            arguments: all that results depend on; results of others are dropped.
            todo: the pieces, by key.
            work: does one, in a process of its own.

        Raises:
            SettingError, WorkerError, OSError: as ``Runner.run`` does.
        """
        self.output.mkdir(parents=True, exist_ok=True)
        everything = {"version": __version__, "study": name, **arguments}
        runner = Runner(self.workers, self.kept(name), self.progress)
        return runner.run(work, todo, lambda _: kind, everything, name)

    def kept(self, name: str) -> Path:
        """Returns the file in which pieces of work stand until the study is done."""
        return self.output / f"{name}.parts"


def corrected(p_values: Sequence[float]) -> list[float]:
    """Corrects the p-values of several tests by Holm's method."""
    least, found = 0.0, [1.0] * len(p_values)
    for place, number in enumerate(np.argsort(p_values).tolist()):
        least = max(least, min(1.0, (len(found) - place) * p_values[number]))
        found[number] = least
    return found
