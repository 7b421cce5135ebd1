"""Runs a study and holds what all share: their options, and pieces of work that survive a stop."""

from __future__ import annotations

import sys
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, field
from importlib import import_module
from pathlib import Path
from typing import Any, NoReturn, TypeVar

import numpy as np

from goita_agents.files import check_writable, decode, write_whole
from goita_env.errors import GoitaError
from goita_lab import cli
from goita_lab.provenance import to_json
from goita_lab.work import Runner, stderr_progress
from research.drawing import THEMES

T = TypeVar("T")
R = TypeVar("R")


@dataclass(frozen=True)
class Options:
    """Options of the command line: how a study is run."""

    output: Path = field(default=Path("studies"), metadata=cli.short("-o"))
    """folder of the tables, NAME.md, of all figures, NAME.json, and of a picture for light and for
    dark pages, NAME-light.svg and NAME-dark.svg; finished pieces of work are kept there until the
    study is done"""
    quick: bool = False
    """a fraction of the work, in less than five minutes"""
    workers: int = 1
    """processes, at most one a core; they change no result"""
    anew: bool = False
    draw: bool = False
    """only draw the picture of the finished study NAME.json in the folder again"""
    records: Path | None = None
    """folder of human records (default: that of the environment variable GOITA_KIFU)"""

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
            name: of the file in which pieces stand until the study is done: its own, or longer.
            kind: the type of a result.
            arguments: all that results depend on; a file of others is refused.
            todo: the pieces, by key.
            work: does one, in a process of its own.
        """
        self.output.mkdir(parents=True, exist_ok=True)
        everything = {"study": name, **arguments}
        runner = Runner(self.workers, self.output / f"{name}.parts", stderr_progress(), self.anew)
        return runner.run(work, todo, lambda _: kind, everything, name)


def corrected(p_values: Sequence[float]) -> list[float]:
    """Corrects the p-values of several tests by Holm's method."""
    least, adjusted = 0.0, [1.0] * len(p_values)
    for place, index in enumerate(np.argsort(p_values).tolist()):
        least = max(least, min(1.0, (len(adjusted) - place) * p_values[index]))
        adjusted[index] = least
    return adjusted


def stored(name: str, folder: Path) -> Any:
    """Returns the result of a finished study; raises a SettingError if the file has none."""
    study = import_module(f"research.studies.{name}")
    path = folder / f"{name}.json"
    return decode(path.read_bytes(), study.Result, f"the result of a study in {str(path)!r}")


def draw(name: str, result: Any, folder: Path) -> None:
    """Writes the picture of a study for both themes, if it has one."""
    study = import_module(f"research.studies.{name}")
    if hasattr(study, "figure"):
        for theme, colors in THEMES.items():
            write_whole(folder / f"{name}-{theme}.svg", study.figure(result, colors))


def run(name: str, argv: Sequence[str] | None = None) -> int:
    """Runs a study, writes and prints what it found, and returns the exit code."""
    # By its full name: processes and kept pieces name the types of a script's results by it.
    study = import_module(f"research.studies.{name}")
    args = cli.parse(Options, argv, study.__doc__)
    try:
        check_writable(args.output, folder=True)
        if args.draw:
            draw(name, stored(name, args.output), args.output)
            return 0
        result = study.run(args)
        text = study.report(result)
        agents = study.players(result) if hasattr(study, "players") else ()
        content = to_json({"quick": args.quick, **vars(result)}, agents)
        write_whole(args.output / f"{name}.json", content)
        write_whole(args.output / f"{name}.md", f"{text}\n".encode())
        draw(name, result, args.output)
        for file in args.output.glob(f"{name}*.parts"):
            file.unlink()
    except (GoitaError, OSError, ImportError) as error:
        cli.fail(str(error).partition("\n")[0])
    except KeyboardInterrupt:
        sys.stderr.write("\ninterrupted; the same command continues it\n")
        return 130
    sys.stdout.write(f"{text}\n")
    return 0


def main(name: str) -> NoReturn:
    """Runs a study as this program."""
    cli.run(lambda: run(name))
