"""Asks agents about positions in which the points of every action and every belief are known.

::

    goita exam take people greedy            where they lose points, and what they know
    goita exam take mine=my_agents:Bot --json mine.json
    goita exam make -o exam.npz --seed 7      another exam, in ten minutes

A tournament shows how many points a bot loses, and an exam shows in which decisions it loses them.
docs/exam.md explains how points and beliefs are computed, and the limits of both.
"""

from __future__ import annotations

import sys
from collections.abc import Sequence
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any, Final

from goita_agents.asking import check_agents
from goita_agents.files import write_whole
from goita_agents.registry import check_distinct
from goita_env.errors import GoitaError, SettingError
from goita_env.rules import JGA
from goita_lab import cli, provenance
from goita_lab.exam.answers import Sheet, controls, take_all
from goita_lab.exam.making import OTHER_ACTING_AGENT, TABLES, make
from goita_lab.exam.page import html
from goita_lab.exam.questions import SHIPPED, STORED_MODELS, Questions, model_digest
from goita_lab.exam.report import figures, terminal
from goita_lab.work import Runner, check_workers, stderr_progress


@dataclass(frozen=True)
class MakeArgs:
    """Makes an exam.

    ::

        goita exam make -o exam.npz --seed 7

    The same command resumes after a stop.
    """

    output: Path = field(metadata=cli.short("-o"))
    """file for the exam (.npz). Finished tasks are stored next to it until the exam is complete"""
    positions: int = 600
    """number of positions"""
    seed: int = 0
    """seed of the deals, of worlds and of playouts"""
    workers: int = 1
    anew: bool = False

    def __post_init__(self) -> None:
        if not 1 <= self.positions <= 100_000:
            raise SettingError(f"expected 1 to 100,000 positions, got {self.positions!r}")
        check_workers(self.workers)
        cli.check_outputs(self.output, store=cli.beside(self.output))

    def run(self, command: str) -> int:
        """Makes the exam and writes its file; returns the exit code."""
        parts = cli.beside(self.output)
        runner = Runner(self.workers, results=parts, progress=stderr_progress(), anew=self.anew)
        questions = make(self.positions, self.seed, runner)
        players = sorted({OTHER_ACTING_AGENT, *(player for table in TABLES for player in table)})
        about = {"command": command, "seed": self.seed, **provenance.provenance(players)}
        about["models"] = {model: model_digest(model) for model in STORED_MODELS}
        questions.save(self.output, about)
        if parts is not None:
            parts.unlink(missing_ok=True)
        dropped = f"of {questions.valued} {1 - questions.clear / questions.valued:.1%} were dropped"
        print(f"{len(questions)} positions in {self.output}; {dropped}")
        return 0


@dataclass(frozen=True)
class TakeArgs:
    """Takes an exam, together with champion and heuristic.

    ::

        goita exam take people greedy
        goita exam take "exec:./mybot" --json mine.json
    """

    agents: tuple[str, ...] = field(metadata=cli.POSITIONAL)
    """the agents, as goita evaluate takes them"""
    exam: Path | None = None
    """file of the exam (default: the exam of the package)"""
    seed: int = 0
    """seed of the agents that answer with an action and not with probabilities"""
    beliefs: bool = True
    """also grade what the agents know about other hands; with --no-beliefs grade only points"""
    results: Path | None = None
    """file for the answers, from which the same command resumes"""
    workers: int = 1
    anew: bool = False
    json: Path | None = None
    html: Path | None = None
    """file for a page with the tables, and with boards of the decisions at which the first agent
    loses most points"""

    def __post_init__(self) -> None:
        check_workers(self.workers)
        inputs = [self.exam] if self.exam else []
        cli.check_outputs(self.json, self.html, store=self.results, inputs=inputs)

    def run(self, command: str) -> int:
        """Lets the agents take the exam, prints and writes the results; returns the exit code."""
        references = [spec for spec in STORED_MODELS if spec not in self.agents]
        check_distinct((*self.agents, *references))
        questions = Questions.load(self.exam or SHIPPED)
        identities = check_agents(self.agents, JGA)
        specs = (*self.agents, *references)
        runner = Runner(self.workers, self.results, stderr_progress(), self.anew, identities)
        answers = take_all(specs, questions, self.seed, runner, with_beliefs=self.beliefs)
        sheet = Sheet(
            questions=questions,
            agents=tuple(answers[spec] for spec in self.agents),
            references=tuple(answers[spec] for spec in references),
            controls=controls(questions),
        )
        origin = provenance.provenance(identities)
        if self.json is not None:
            fields = {"command": command, **figures(sheet), **origin}
            write_whole(self.json, provenance.to_json(fields))
        if self.html is not None:
            foot = f"{command} {provenance.marks(origin)}".rstrip()
            write_whole(self.html, html(sheet, foot))
        sys.stdout.write(terminal(sheet) + provenance.marks(origin))
        failed = any(fault.kind != "late" for agent in sheet.agents for fault in agent.faults)
        return int(failed or bool(origin["changed"]))


COMMANDS: Final[dict[str, Any]] = {"make": MakeArgs, "take": TakeArgs}
"""Dataclasses of the commands' options, with a method ``run``."""


def main(argv: Sequence[str] | None = None) -> int:
    """Runs a command and returns the exit code."""
    args = cli.parse_one(COMMANDS, argv, __doc__)
    if isinstance(args, int):
        return args
    try:
        return int(args.run(cli.command("goita exam", argv)))
    except (GoitaError, OSError) as error:
        cli.fail(error)
    except KeyboardInterrupt:
        sys.stderr.write(
            "\ninterrupted; `make` resumes with the same command, `take` if it has --results\n"
        )
        return 130
