"""Measures what actions reveal: the commands of ``goita signals``.

::

    goita signals log        play rounds and log every decision
    goita signals report     compute all measures of agents, and write a page
    goita signals worth      measure what one kind of decision reveals and is worth
    goita signals messages   measure whether agents use messages

``goita signals COMMAND --help`` shows examples and options. After an interruption the same command
resumes a log or a report, and also the other measures if they have --results.
"""

from __future__ import annotations

import sys
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field, fields, replace
from functools import cached_property
from pathlib import Path
from typing import Any, Final, Protocol

from goita_agents.files import write_whole
from goita_agents.identity import Identities
from goita_agents.registry import check_distinct, expand
from goita_env.errors import GoitaError, SettingError
from goita_env.information import PLAIN, InformationStructure
from goita_env.rules import JGA, Rules
from goita_lab import cli, provenance
from goita_lab.arena.report.to_terminal import draw
from goita_lab.signals import log, messages
from goita_lab.signals.plan import Settings, full, quick
from goita_lab.signals.study import study, to_json
from goita_lab.signals.worth import table as worth_table
from goita_lab.signals.worth import worth
from goita_lab.work import Runner, WorkerError, stderr_progress


@dataclass(frozen=True)
class LogArgs:
    """Plays rounds and logs every decision to Parquet files.

    ::

        goita signals log champion --rounds 100000 -o champion-log
        goita signals log greedy heuristic --rounds 2000 -o log --belief heuristic
    """

    agents: tuple[str, ...] = field(metadata=cli.POSITIONAL)
    """one agent for all seats, two for two teams (each deal is played twice), or four by seat"""
    rounds: int
    """number of rounds"""
    output: Path = field(metadata=cli.short("-o"))
    """folder of the log; parts that are there already stay, so that the same command resumes it"""
    seed: int = 0
    """seed of deals and random numbers"""
    rules: Rules = JGA
    belief: str | None = None
    """agent that models the other seats: adds what deciding seats know of the others' hands"""
    workers: int = 1
    anew: bool = False
    information: InformationStructure = PLAIN

    def __post_init__(self) -> None:
        cli.check_outputs(folder=self.output)

    def run(self, command: str) -> int:
        """Writes the log and returns the exit code."""
        progress = stderr_progress()
        logged_rounds = log.write(
            self.output,
            expand(self.agents),
            self.rounds,
            seed=self.seed,
            rules=self.rules,
            belief=self.belief,
            workers=self.workers,
            information=self.information,
            anew=self.anew,
        )
        for rounds in logged_rounds:
            progress("rounds", rounds, self.rounds)
        return 0


@dataclass(frozen=True, kw_only=True)
class Measure(Settings):
    """Options of every measure."""

    workers: int = 1
    results: Path | None = None
    """file for finished tasks, from which the same command resumes"""
    anew: bool = False
    json: Path | None = None

    def __post_init__(self) -> None:
        cli.check_outputs(self.json, store=self.results)

    @property
    def settings(self) -> Settings:
        return Settings(**{field.name: getattr(self, field.name) for field in fields(Settings)})

    @cached_property
    def runner(self) -> Runner:
        """Runs the tasks, and keeps the digests of the agents."""
        return Runner(self.workers, self.results, stderr_progress(), self.anew, Identities())

    def report(self, text: str, figures: Mapping[str, Any]) -> int:
        """Prints a text, and writes the figures to the JSON file; returns the exit code."""
        origin = provenance.provenance(self.runner.identities or ())
        if self.json is not None:
            content = {"settings": self.settings, **figures, **origin}
            write_whole(self.json, provenance.to_json(content))
        sys.stdout.write(f"{text}\n{provenance.marks(origin)}")
        return int(bool(origin["changed"]))


@dataclass(frozen=True)
class WorthArgs(Measure):
    """Measures what some decisions of agents are worth, in nats and in points, with controls.

    ::

        goita signals worth champion --where first_pass
        goita signals worth heuristic champion --where first_lead --deals 960 --workers 2
    """

    agents: tuple[str, ...] = field(metadata=cli.POSITIONAL)
    """policies, each of which is measured at all seats and as partner of the other policies"""
    where: str | None = None
    """the decisions to measure: first_lead, later_lead, first_pass (of each seat in a deal),
    partner_attack or opponent_attack (answers to such an attack), or message (not in the base
    game); by default all decisions"""
    deals: int = 240
    """number of deals of each agent; four times as many make intervals half as wide"""

    def run(self, command: str) -> int:
        worths = worth(
            self.agents, self.where, self.deals, settings=self.settings, runner=self.runner
        )
        return self.report(draw(worth_table(worths)), {"where": self.where, "agents": worths})


@dataclass(frozen=True)
class MessagesArgs(Measure):
    """Measures whether agents use messages: what their messages reveal, and what they are worth.

    An agent is a network that was trained in a game with messages.

    ::

        goita signals messages population:token-private-0,temperature=1
        goita signals messages A B C --deals 4000 --heard 400 --json messages.json
    """

    agents: tuple[str, ...] = field(metadata=cli.POSITIONAL)
    """policies that were trained in a game with messages, such as
    population:token-private-0,temperature=1; several policies are averaged as runs of one
    training"""
    deals: int = 4000
    """number of duplicate deals for the points, and of rounds for the dependence of messages on
    hands"""
    heard: int = 100
    """number of rounds in which exact listeners follow the messages"""

    def run(self, command: str) -> int:
        uses = messages.message_uses(
            self.agents, self.deals, self.heard, settings=self.settings, runner=self.runner
        )
        text = f"{draw(messages.table(uses))}\n\n{messages.told_kinds(uses)}"
        return self.report(text, {"agents": uses})


@dataclass(frozen=True)
class ReportArgs(Measure):
    """Measures what the actions of agents reveal, in nats and in points, and writes a page.

    ::

        goita signals report heuristic champion -o page.html --quick
        goita signals report champion -o page.html --share 0.25 --json study.json
    """

    agents: tuple[str, ...] = field(metadata=cli.POSITIONAL)
    """policies, each of which is measured at all seats and as partner of the other policies"""
    output: Path = field(metadata=cli.short("-o"))
    """HTML file to write. Finished tasks are stored in its folder until it is complete"""
    quick: bool = False
    """play few deals, which takes minutes and gives wide intervals"""
    share: float = 1.0
    """share of the deals, and of the time, of the full study; 0.25 makes intervals twice as wide"""

    def __post_init__(self) -> None:
        cli.check_outputs(self.output, self.json, store=self.results or cli.beside(self.output))
        if self.quick and self.share != 1.0:
            raise SettingError("expected --quick or --share, got both")

    def run(self, command: str) -> int:
        """Takes the measures, writes the page and the JSON, and returns the exit code."""
        from goita_lab.signals.page import html

        plan = quick(self.agents) if self.quick else full(self.agents, self.share)
        plan = replace(plan, seed=self.seed, rules=self.rules)
        parts = cli.beside(self.output)
        runner = replace(self.runner, results=self.results or parts)
        measured_study = study(plan, runner)
        origin = provenance.provenance(self.runner.identities or ())
        write_whole(self.output, html(measured_study, f"{command} {provenance.marks(origin)}"))
        if self.json is not None:
            write_whole(self.json, to_json(measured_study, command, origin))
        if parts is not None and not origin["changed"]:
            parts.unlink(missing_ok=True)
        sys.stdout.write(provenance.marks(origin))
        return int(bool(origin["changed"]))


class Command(Protocol):
    """The options of a command, which ``measured`` runs."""

    def run(self, command: str) -> int: ...


COMMANDS: Final[dict[str, Any]] = {
    "log": LogArgs,
    "report": ReportArgs,
    "worth": WorthArgs,
    "messages": MessagesArgs,
}
"""Dataclasses of the commands' options: each is a ``Command``."""


def main(argv: Sequence[str] | None = None) -> int:
    """Runs a command and returns the exit code."""
    args = cli.parse_one(COMMANDS, argv, __doc__)
    return args if isinstance(args, int) else measured(args, cli.command("goita signals", argv))


def measured(args: Command, command: str = "") -> int:
    """Runs a command by its options and returns the exit code."""
    try:
        check_distinct(getattr(args, "agents", ()))
        code = args.run(command)
    except (WorkerError, ImportError, OSError) as error:
        sys.stderr.write(f"error: {error}\n")
        return 1
    except GoitaError as error:
        cli.fail(error)
    except KeyboardInterrupt:
        sys.stderr.write("\ninterrupted; the same command continues, a measure with --results\n")
        return 130
    return code
