"""Holds what studies share: their options, pieces of work that survive a stop, and their files."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from dataclasses import dataclass
from pathlib import Path
from typing import Any, Final, TypeVar

from goita_env import __version__
from goita_lab.arena.statistics.intervals import Interval
from goita_lab.processes import on_processes
from goita_lab.store import Parts, pack

T = TypeVar("T")
R = TypeVar("R")

KIND: Final = "pieces of a study"


Progress = Callable[[str, int, int], object]
"""Is told what is done, and how many pieces of how many."""


@dataclass(frozen=True)
class Options:
    """Says how a study is run."""

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
        work: Callable[[T], tuple[str, R]],
    ) -> dict[str, R]:
        """Returns the results of pieces of work by key; those that are finished are not repeated.

        Args:
            name: of the file of pieces.
            kind: the type of a result.
            arguments: all that results depend on; results of others are dropped.
            todo: the pieces, by key.
            work: does one, in a process of its own, and returns its key and result.

        Raises:
            SettingError: if the file holds something else or is open in another program.
            WorkerError: if a process died.
            OSError: if the file cannot be read or written.
        """
        self.output.mkdir(parents=True, exist_ok=True)
        everything = {"version": __version__, "study": name, **arguments}
        with Parts(self.kept(name), KIND, everything) as parts:
            found = {key: parts.value(key, kind) for key in todo if key in parts.found}
            missing = [piece for key, piece in todo.items() if key not in found]
            self.progress(name, len(found), len(todo))
            if missing:
                for key, result in on_processes(work, missing, min(self.workers, len(missing))):
                    found[key] = result
                    parts.add(key, pack(result))
                    self.progress(name, len(found), len(todo))
        return found

    def kept(self, name: str) -> Path:
        """Returns the file in which pieces of work stand until the study is done."""
        return self.output / f"{name}.parts"


def interval(value: Interval, sign: str = "+", digits: int = 2) -> str:
    """Returns a mean and its 95 % interval as text."""
    rounded = (round(one, digits) + 0.0 for one in (value.mean, value.low, value.high))
    mean, low, high = (f"{one:{sign}.{digits}f}" for one in rounded)  # never -0.00
    return f"{mean} [{low}, {high}]"


def table(heads: list[str], rows: list[list[str]]) -> str:
    """Returns a table in Markdown, whose first column is text and whose others are figures."""
    lines = [heads, ["---", *["--:"] * (len(heads) - 1)], *rows]
    return "\n".join(f"| {' | '.join(line)} |" for line in lines)
