"""Measures what actions tell: the commands of ``python -m agents.signals``.

::

    python -m agents.signals log champion --rounds 100000 --out champion-log
    python -m agents.signals report heuristic champion -o page.html --quick
    python -m agents.signals follow FILE --seat 2 --assume champion

``COMMAND --help`` lists the options of each. Exit code 0: done. 1: an error stopped it. 2: wrong
arguments. 130: interrupted; a log or a report goes on where it stopped.
"""

from __future__ import annotations

import shlex
import sys
import time
from collections.abc import Callable, Sequence
from dataclasses import dataclass, field
from functools import partial
from pathlib import Path
from typing import Any, Final

from agents import cli
from agents.files import write_whole
from agents.signals import log
from goita_env.errors import GoitaError, SettingError
from goita_env.rules import JGA, Rules


@dataclass(frozen=True)
class LogArgs:
    """Plays rounds and writes down every decision, as Parquet files."""

    agents: tuple[str, ...] = field(metadata=cli.POSITIONAL)
    """one agent for all seats, two for two teams (each deal is played twice), or four by seat"""
    rounds: int
    """how many rounds are played"""
    out: Path
    """folder of the log; what is there already stays, and the log goes on"""
    seed: int = 0
    """seed of deals and random numbers"""
    rules: Rules = JGA
    """rule set"""
    belief: str | None = None
    """agent that the listeners assume at the other seats: adds what each deciding seat's exact
    listener knows of the others' hands"""
    part_rounds: int = log.PART_ROUNDS
    """rounds in a file"""
    workers: int = 1
    """processes"""

    def run(self) -> None:
        """Plays and writes."""
        start = time.perf_counter()
        written = log.write(
            self.out,
            self.agents,
            self.rounds,
            seed=self.seed,
            rules=self.rules,
            belief=self.belief,
            part_rounds=self.part_rounds,
            workers=self.workers,
        )
        for done in written:
            seconds = time.perf_counter() - start
            sys.stderr.write(f"\r{done:,} of {self.rounds:,} rounds, {seconds:.0f} s")
        sys.stderr.write("\n")


@dataclass(frozen=True)
class FollowArgs:
    """Prints what each move of a record told one seat of the hidden hands."""

    record: Path = field(metadata=cli.POSITIONAL)
    """file with a record: a YAML kifu (.yaml, .yml), else history strings, a deal a line"""
    seat: int
    """who listens, 0 to 3"""
    assume: str
    """agent as which the others are supposed to play; of people it is a supposition, and says what
    that agent's partner would read into their moves"""
    deal: int = 1
    """number of the deal in the record, from 1"""
    temperature: float | None = None
    """what the agent's probabilities are raised to the inverse of, 0 being its likeliest action
    alone; by default as the agent plays"""
    tremble: float = 0.02
    """how often the agent is supposed to slip to any legal action"""
    rules: Rules = JGA
    """rule set"""

    def run(self) -> None:
        """Prints what each move told."""
        from agents.beliefs import GROUNDED, Assumed
        from agents.signals.follow import follow_deal, read_record, table

        deals = read_record(self.record, self.rules).deals
        if not 1 <= self.deal <= len(deals):
            raise SettingError(f"expected a deal 1 to {len(deals)}, got {self.deal!r}")
        assumed = Assumed(self.assume, self.temperature, self.tremble)
        deal = deals[self.deal - 1]
        steps = follow_deal(deal, self.seat, assumed, GROUNDED)
        sys.stdout.write(table(deal, self.seat, steps, assumed.name) + "\n")


@dataclass(frozen=True)
class ReportArgs:
    """Measures what the actions of agents tell, in nats and in points, and writes a page."""

    agents: tuple[str, ...] = field(metadata=cli.POSITIONAL)
    """policies, each by itself at all seats and beside the others"""
    output: Path = field(metadata=cli.short("-o"))
    """HTML file that is written"""
    json: Path | None = None
    """JSON file with all numbers, beside the page"""
    quick: bool = False
    """few deals: minutes, and wide intervals"""
    share: float = 1.0
    """part of the full study's deals, and of its time; 0.25 makes intervals twice as wide"""
    temperature: float | None = None
    """of the policies that listeners assume; by default as the agents play"""
    tremble: float = 0.02
    """how often the assumed policies are supposed to slip"""
    seed: int = 0
    """seed of everything that is random"""
    rules: Rules = JGA
    """rule set"""
    workers: int = 2
    """processes; they change no result"""

    def run(self) -> None:
        """Takes every measure and writes the page; stopped, it goes on where it was."""
        from agents.signals.numbers import to_json
        from agents.signals.page import html
        from agents.signals.study import full, quick, study

        if self.quick and self.share != 1.0:
            raise SettingError("expected --quick or --share, got both")
        plan = (quick if self.quick else partial(full, share=self.share))(
            self.agents,
            temperature=self.temperature,
            tremble=self.tremble,
            seed=self.seed,
            rules=self.rules,
        )
        for file in (self.output, self.json or self.output):
            if file.is_dir() or not file.parent.is_dir():
                raise SettingError(f"expected a file in a folder that exists, got {file!s}")
        parts = self.output.with_name(f"{self.output.name}.parts")
        start = time.perf_counter()

        def progress(done: str) -> None:
            sys.stderr.write(f"\r{done}, {time.perf_counter() - start:.0f} s ")

        found = study(plan, self.workers, progress, parts)
        sys.stderr.write("\n")
        given = " ".join(shlex.quote(one) for one in sys.argv[1:])
        command = f"python -m agents.signals {given}"
        write_whole(self.output, html(found, command))
        if self.json is not None:
            write_whole(self.json, to_json(found, command))
        parts.unlink(missing_ok=True)


COMMANDS: Final[dict[str, Any]] = {"log": LogArgs, "report": ReportArgs, "follow": FollowArgs}
"""Every command: a dataclass of its options with ``run``."""


def main(argv: Sequence[str] | None = None) -> int:
    """Runs a command and returns the exit code."""
    given = list(sys.argv[1:] if argv is None else argv)
    if given[:1] in ([], ["-h"], ["--help"]):
        with cli.quiet_pipe():
            sys.stdout.write(f"{__doc__}\n")
        return 0 if given else 2
    if given[0] not in COMMANDS:
        cli.fail(f"expected a command of {', '.join(COMMANDS)}, got {given[0]!r}")
    kind = COMMANDS[given[0]]
    args = cli.parse(kind, given[1:], description=kind.__doc__, command=given[0])
    run: Callable[[], None] = args.run
    try:
        run()
    except SettingError as error:
        cli.fail(error)
    except (GoitaError, ImportError, OSError) as error:
        sys.stderr.write(f"error: {error}\n")
        return 1
    except KeyboardInterrupt:
        return 130
    return 0
