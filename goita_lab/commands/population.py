"""Lists the population, and trains members of it.

::

    goita population list
    goita population train --method selfplay --seeds 8
    goita population train --method all
    goita population respond          what best responses to the benchmark's partners make

A training takes some minutes of one core. Runs are in runs/METHOD-SEED of the working directory.
The seeds of test players are drawn when they are trained.
The same command goes on with one that was stopped, and repeats nothing. Each run is cast to
float16, measured and added to the manifest when it is done. Exit code 0: done. 1: an error stopped
it. 2: wrong arguments. 130: interrupted.
"""

from __future__ import annotations

import sys
from collections.abc import Sequence
from dataclasses import dataclass, field
from pathlib import Path
from typing import Final

from goita_agents.population.manifest import FOLDER, PREFIX, Member, Population
from goita_agents.population.methods import METHODS
from goita_env.errors import GoitaError, SettingError
from goita_lab import cli
from goita_lab.arena.coordination.responses import FILE
from goita_lab.arena.coordination.task import VALIDATION, test_task
from goita_lab.population import AGAINST, seeds_of, train
from goita_lab.responses import respond

ALL: Final = "all"


@dataclass(frozen=True)
class ListArgs:
    """Prints the members with their strength."""

    def run(self) -> None:
        sys.stdout.write(table(Population()))


@dataclass(frozen=True)
class TrainArgs:
    """Trains, measures and adds members."""

    method: str
    """of the population's methods, or all"""
    seeds: int | None = None
    """runs (default: as many as the method has)"""
    folder: Path = Path()
    """directory in which runs/ is"""
    population: Path = field(default=FOLDER)
    """folder of the manifest and the weights"""

    def __post_init__(self) -> None:
        if self.method not in (*METHODS, ALL):
            known = ", ".join((*METHODS, ALL))
            raise SettingError(f"expected a method of {known}, got {self.method!r}")
        if self.seeds is not None and self.seeds < 1:
            raise SettingError(f"expected 1 seed or more, got {self.seeds!r}")

    def run(self) -> None:
        population = Population(self.population)
        for method in METHODS.values() if self.method == ALL else [METHODS[self.method]]:
            for seed in seeds_of(method, self.seeds or method.seeds, self.folder, population):
                member = train(method, seed, self.folder, population, _say)
                sys.stdout.write(f"{_line(member)}\n")


@dataclass(frozen=True)
class RespondArgs:
    """Finds the best responses to the partners of the coordination benchmark."""

    partners: tuple[str, ...] | None = None
    """texts of some of them (default: all)"""
    test: bool = False
    """the partners of the final table in place of those of the validation split"""
    folder: Path = Path()
    """directory in which runs/ is"""
    file: Path = FILE
    """takes what they make"""

    def run(self) -> None:
        task = test_task() if self.test else VALIDATION
        for partner in task.partners:
            if partner.counted and (not self.partners or partner.spec in self.partners):
                found = respond(partner, task.against(partner), self.folder, self.file, _say)
                mean = sum(one[0] for one in found.points.values()) / len(found.points)
                sys.stdout.write(f"{partner.spec}: {mean:+.2f} by {found.chosen}\n")


COMMANDS: Final[dict[str, type[ListArgs | TrainArgs | RespondArgs]]] = {
    "list": ListArgs,
    "train": TrainArgs,
    "respond": RespondArgs,
}


def main(argv: Sequence[str] | None = None) -> int:
    """Runs a command and returns the exit code."""
    args = cli.parse_one(COMMANDS, argv, __doc__)
    if isinstance(args, int):
        return args
    try:
        args.run()
    except (GoitaError, OSError, ImportError) as error:
        sys.stderr.write(f"error: {error}\n")
        return 1
    except KeyboardInterrupt:
        sys.stderr.write("\ninterrupted; the same command continues it\n")
        return 130
    return 0


def table(population: Population) -> str:
    """Returns the members as a table in Markdown."""
    names = [text.removeprefix(PREFIX) for text in population.names()]
    head = f"| member | split | decisions | points a round against `{AGAINST}` |\n"
    rows = [f"{_line(population.members[name])}\n" for name in names]
    return f"{head}|---|---|--:|--:|\n{''.join(rows)}"


def _line(member: Member) -> str:
    points = "not measured"
    if (one := member.strength) is not None:
        points = f"{one.points:+.2f} [{one.low:+.2f}, {one.high:+.2f}]"
    return f"| `{member.agent}` | {member.split} | {member.decisions:,} | {points} |"


def _say(text: str) -> None:
    sys.stderr.write(f"{text}\n")
