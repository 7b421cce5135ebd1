"""Measures what actions tell: the commands of ``goita signals``.

::

    goita signals log champion --rounds 100000 --out champion-log
    goita signals data goita-population --rounds 50000
    goita signals report heuristic champion -o page.html --quick
    goita signals worth champion --where first_pass
    goita signals follow FILE --seat 2 --assume champion

``COMMAND --help`` lists the options of each. Exit code 0: done. 1: an error stopped it. 2: wrong
arguments. 130: interrupted; the same command resumes a log or a report.
"""

from __future__ import annotations

import json
import sys
import time
from collections.abc import Sequence
from dataclasses import dataclass, field, replace
from pathlib import Path
from typing import Final

from goita_agents.beliefs import PolicyModel
from goita_agents.files import write_whole
from goita_agents.models import EPSILON
from goita_agents.registry import expand
from goita_env.errors import GoitaError, SettingError
from goita_env.information import PLAIN, Information
from goita_env.rules import JGA, Rules
from goita_lab import cli
from goita_lab.record_files import read_record
from goita_lab.signals import dataset, log, passes, tokens
from goita_lab.signals.follow import follow_deal, table
from goita_lab.signals.plan import SEARCHER, UNTIL_NATS, UNTIL_POINTS, full, quick
from goita_lab.signals.study import study, to_json
from goita_lab.signals.worth import table as worth_table
from goita_lab.signals.worth import worth

MAX_INFORMATION: Final = 1 << 16
"""Bytes of a file with options."""


def read_information(file: Path | None) -> Information:
    """Returns the options that a JSON file holds; without one the plain game.

    Raises:
        SettingError: if it holds none.
    """
    if file is None:
        return PLAIN
    if file.stat().st_size > MAX_INFORMATION:
        raise SettingError(f"expected a file of {MAX_INFORMATION:,} bytes at most, got {file}")
    try:
        keys = json.loads(file.read_bytes())
    except (ValueError, RecursionError) as error:
        raise SettingError(f"expected JSON in {file}: {error}") from error
    if not isinstance(keys, dict) or not keys.keys() <= {"information"}:
        raise SettingError(f"expected an object with the key 'information' in {file}, got {keys!r}")
    return Information.from_keys(keys)


@dataclass(frozen=True)
class LogArgs:
    """Plays rounds and logs every decision to Parquet files."""

    agents: tuple[str, ...] = field(metadata=cli.POSITIONAL)
    """one agent for all seats, two for two teams (each deal is played twice), or four by seat; with
    --drawn any number"""
    rounds: int
    """number of rounds"""
    out: Path
    """folder of the log; parts that are there already stay, so that a stopped log goes on"""
    seed: int = 0
    """seed of deals and random numbers"""
    rules: Rules = JGA
    """rule set"""
    belief: str | None = None
    """agent that models the other seats: adds what deciding seats know of the others' hands"""
    part_rounds: int = log.PART_ROUNDS
    """rounds per file"""
    workers: int = 1
    """number of processes"""
    information: Path | None = None
    """JSON file with the options of who knows and tells what, as written by Information.to_keys"""
    drawn: bool = False
    """draw who sits where for each round: a team is one agent twice, or two, half of the time each
    """

    def run(self) -> None:
        start = time.perf_counter()
        names = ("seed", "rules", "belief", "part_rounds", "workers", "drawn")
        options = {name: vars(self)[name] for name in names}
        options["information"] = read_information(self.information)
        for done in log.write(self.out, expand(self.agents), self.rounds, **options):
            _say_rounds(done, self.rounds, start)
        sys.stderr.write("\n")


@dataclass(frozen=True)
class DataArgs:
    """Plays rounds of the population to a data set with a data card."""

    folder: Path = field(metadata=cli.POSITIONAL)
    """folder of the data set; a stopped one goes on"""
    rounds: int = 50_000
    """number of rounds, a fifth of them by players that are held out"""
    seed: int = 0
    """seed of deals and random numbers"""
    workers: int = 1
    """number of processes"""

    def run(self) -> None:
        start = time.perf_counter()
        options = {"seed": self.seed, "workers": self.workers}
        for done in dataset.make(self.folder, self.rounds, **options):
            _say_rounds(done, self.rounds, start)
        sys.stderr.write("\n")


def _say_rounds(done: int, rounds: int, start: float) -> None:
    seconds = time.perf_counter() - start
    sys.stderr.write(f"\r{done:,} of {rounds:,} rounds, {seconds:.0f} s")


@dataclass(frozen=True)
class FollowArgs:
    """Prints what each move of a record tells one seat about the hidden hands."""

    record: Path = field(metadata=cli.POSITIONAL)
    """file with a record: a YAML kifu, history strings (a deal a line) or a complete record"""
    seat: int
    """seat that listens, 0 to 3"""
    assume: str
    """agent that models the other seats, as whose partner the seat reads the moves"""
    deal: int = 1
    """number of the deal in the record, from 1"""
    temperature: float | None = None
    """temperature of the model, 0: the agent's likeliest action; by default as the agent plays"""
    epsilon: float = EPSILON
    """probability with which the model takes a random legal action"""
    rules: Rules = JGA
    """rule set of a kifu or history string"""

    def run(self) -> None:
        record = read_record(self.record, self.rules)
        sys.stderr.writelines(f"{note}\n" for note in record.notes)
        deals = record.deals
        if not 1 <= self.deal <= len(deals):
            raise SettingError(f"expected a deal 1 to {len(deals)}, got {self.deal!r}")
        model = PolicyModel(self.assume, self.temperature, self.epsilon)
        deal = deals[self.deal - 1]
        steps = follow_deal(deal, self.seat, model)
        sys.stdout.write(f"{table(deal, self.seat, steps, model.name)}\n")


@dataclass(frozen=True)
class WorthArgs:
    """Measures what some decisions of agents are worth, in nats and in points, beside controls."""

    agents: tuple[str, ...] = field(metadata=cli.POSITIONAL)
    """policies, each studied at all seats and as partners of each other"""
    where: str | None = None
    """which decisions: first_lead, later_lead, first_pass (of each seat in a deal), partner_attack
    or opponent_attack (answers to one), token (messages: none in the plain game); by default all"""
    deals: int = 240
    """number of deals of each agent; four times as many make intervals half as wide"""
    temperature: float | None = None
    """temperature of the listeners' models; by default as the agents play"""
    epsilon: float = EPSILON
    """probability with which the models take a random legal action"""
    seed: int = 0
    """seed of everything that is random"""
    rules: Rules = JGA
    """rule set"""
    workers: int = 2
    """number of processes; they change no result"""

    def run(self) -> None:
        start = time.perf_counter()

        def progress(done: str) -> None:
            sys.stderr.write(f"\r{done}, {time.perf_counter() - start:.0f} s ")

        found = worth(progress=progress, **vars(self))
        sys.stderr.write("\n")
        sys.stdout.write(f"{worth_table(found)}\n")


@dataclass(frozen=True)
class ReportArgs:
    """Measures what the actions of agents tell, in nats and in points, and writes a page."""

    agents: tuple[str, ...] = field(metadata=cli.POSITIONAL)
    """policies, each studied at all seats and as partners of each other"""
    output: Path = field(metadata=cli.short("-o"))
    """HTML file to write"""
    json: Path | None = None
    """JSON file to write all numbers to"""
    quick: bool = False
    """few deals: minutes, and wide intervals"""
    share: float = 1.0
    """share of the full study's deals, and of its time; 0.25 makes intervals twice as wide"""
    searcher: str | None = SEARCHER
    """agent that plays in the listener's place, too, one that needs no memory; None: nobody"""
    until_nats: float = UNTIL_NATS
    """half-width of intervals at which an agent's listening ends early; 0: never"""
    until_points: float = UNTIL_POINTS
    """half-width of intervals at which an agent's searches end early; 0: never"""
    temperature: float | None = None
    """temperature of the listeners' models; by default as the agents play"""
    epsilon: float = EPSILON
    """probability with which the models take a random legal action"""
    seed: int = 0
    """seed of everything that is random"""
    rules: Rules = JGA
    """rule set"""
    workers: int = 2
    """number of processes; they change no result"""

    def run(self) -> None:
        from goita_lab.signals.page import html  # jinja2 is optional

        if self.quick and self.share != 1.0:
            raise SettingError("expected --quick or --share, got both")
        if min(self.until_nats, self.until_points) < 0:
            raise SettingError("expected half-widths of at least 0, got a negative one")
        names = ("searcher", "until_nats", "until_points", "temperature", "epsilon")
        options = {name: vars(self)[name] for name in (*names, "seed", "rules")}
        made = quick(self.agents) if self.quick else full(self.agents, self.share)
        plan = replace(made, **options)
        for file in (self.output, self.json or self.output):
            if file.is_dir() or not file.parent.is_dir():
                raise SettingError(f"expected a file in a folder that exists, got {file!s}")
        parts = self.output.with_name(f"{self.output.name}.parts")
        start = time.perf_counter()

        def progress(done: str) -> None:
            sys.stderr.write(f"\r{done}, {time.perf_counter() - start:.0f} s ")

        found = study(plan, self.workers, progress, parts)
        sys.stderr.write("\n")
        command = cli.command("goita signals", None)
        write_whole(self.output, html(found, command))
        if self.json is not None:
            write_whole(self.json, to_json(found, command))
        parts.unlink(missing_ok=True)


COMMANDS: Final[dict[str, type[LogArgs | DataArgs | ReportArgs | WorthArgs | FollowArgs]]] = {
    "log": LogArgs,
    "data": DataArgs,
    "report": ReportArgs,
    "worth": WorthArgs,
    "follow": FollowArgs,
}
"""Dataclasses of the commands' options, with a method ``run``."""

STUDIES: Final = {"passes": passes.main, "tokens": tokens.main}
"""Commands that hold a measure of their own."""


def main(argv: Sequence[str] | None = None) -> int:
    """Runs a command and returns the exit code."""
    given = list(sys.argv[1:] if argv is None else argv)
    if given[:1] in ([], ["-h"], ["--help"]):
        sys.stdout.write(f"{cli.without_marks(__doc__)}\n")
        return 0 if given else 2
    if given[0] in STUDIES:
        return STUDIES[given[0]](given[1:])
    if given[0] not in COMMANDS:
        cli.fail(f"expected a command of {', '.join((*COMMANDS, *STUDIES))}, got {given[0]!r}")
    kind = COMMANDS[given[0]]
    args = cli.parse(kind, given[1:], description=kind.__doc__, command=given[0])
    try:
        args.run()
    except SettingError as error:
        cli.fail(error)
    except (GoitaError, ImportError, OSError) as error:
        sys.stderr.write(f"error: {error}\n")
        return 1
    except KeyboardInterrupt:
        return 130
    return 0
