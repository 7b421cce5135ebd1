"""Grades what people and bots lose against perfect play, by phase of the round.

::

    goita grade --agents greedy heuristic --rounds 200
    goita grade --records FOLDER

Losses are counted against a player who sees all hands: see ``goita_lab.arena.grading.grades``. The
phases: up to three plays made, up to seven, more. It needs numba, the extra ``goita-env[agents]``.
"""

from __future__ import annotations

import sys
from collections.abc import Callable, Sequence
from dataclasses import dataclass
from pathlib import Path

from rich.console import Console
from rich.progress import Progress, TaskID
from tabulate import tabulate

from goita_agents.base import close
from goita_agents.registry import check_names, load_agent
from goita_agents.solver.cores import on_all_cores
from goita_env.errors import GoitaError, SettingError
from goita_env.records import DealRecord
from goita_env.rules import JGA, Rules
from goita_lab import cli
from goita_lab.arena.grading.grades import PHASES, Grade, grade_deal
from goita_lab.arena.statistics.intervals import Interval, mean_interval
from goita_lab.arena.tournament.saved_games import play_deals
from goita_lab.record_files import read_records


@dataclass(frozen=True)
class Args:
    """Options of the command line."""

    agents: tuple[str, ...] | None = None
    """agents that play all four seats of some deals"""
    rounds: int = 200
    """rounds of each agent; those that a special hand ends before play have nothing to grade"""
    seed: int = 0
    """seed of deals and agents, the same deals for all"""
    records: tuple[Path, ...] | None = None
    """records in any notation, or folders of them; what is unsound or repeated is left out"""
    rules: Rules = JGA
    """rule set: jga, pagat, nine, mini_3 to mini_5, or a JSON file of your own"""
    workers: int = 1
    """threads, at most one a core"""

    def __post_init__(self) -> None:
        if not self.agents and not self.records:
            raise SettingError("expected --agents or --records, got neither")
        if self.rounds < 2:
            raise SettingError(f"expected 2 rounds or more, got {self.rounds!r}")


def main(argv: Sequence[str] | None = None) -> int:
    """Grades records and bots, prints the table and returns the exit code."""
    args = cli.parse(Args, argv, __doc__)
    found = []
    try:
        check_names(args.agents or ())
        if args.records:
            found.append(("people", read_kifu(args.records, args.rules, _tell)))
        for name in args.agents or ():
            agent = load_agent(name)
            try:
                found.append((agent.name, play_deals(agent, args.rounds, args.seed, args.rules)))
            finally:
                close([agent])
        losses = []
        console = Console(stderr=True)
        with Progress(console=console, transient=True, disable=not sys.stderr.isatty()) as bar:
            for name, deals in found:
                task = bar.add_task(name, total=len(deals))

                def show(done: int, task: TaskID = task) -> None:
                    bar.update(task, completed=done)

                losses.append(summarize(name, on_all_cores(grade_deal, deals, args.workers, show)))
    except (GoitaError, OSError, ImportError) as error:
        cli.fail(error)
    except KeyboardInterrupt:
        sys.stderr.write("\n")
        return 130
    sys.stdout.write(table(losses) + "\n")
    return 0


@dataclass(frozen=True)
class Losses:
    """The sum of the grades of a player's rounds."""

    name: str
    rounds: int
    """Rounds graded; those that a call ended before play are left out."""
    decisions: int
    """Decisions with a choice in them."""
    lost: dict[str, Interval]
    """Points that a team loses in a round, by phase and in "all": half of what the four seats lose.
    95 % intervals over rounds, as if those of one match were independent."""
    right: float
    """Share of the decisions with a choice that lost nothing."""


def summarize(name: str, rounds: Sequence[Sequence[Grade]]) -> Losses:
    """Sums up the grades of a player's rounds, of which two at least came to play.

    Raises:
        SettingError: if fewer did.
    """
    played = [grades for grades in rounds if grades]
    lost = {
        phase: mean_interval(
            [sum(one.loss for one in each if phase in (one.phase, "all")) / 2 for each in played]
        )
        for phase in (*PHASES, "all")
    }
    chosen = [one.loss for grades in played for one in grades if one.choices > 1]
    return Losses(name, len(played), len(chosen), lost, chosen.count(0) / max(1, len(chosen)))


def table(losses: Sequence[Losses]) -> str:
    """Returns losses as a table in Markdown."""
    phases = [f"{phase} phase" for phase in PHASES]
    heads = ["points lost", "rounds", "per team and round", *phases, "decisions", "without loss"]
    rows = [
        [
            one.name,
            f"{one.rounds:,}",
            f"{one.lost['all'].mean:.1f} [{one.lost['all'].low:.1f}, {one.lost['all'].high:.1f}]",
            *(f"{one.lost[phase].mean:.1f}" for phase in PHASES),
            f"{one.decisions:,}",
            f"{one.right:.0%}",
        ]
        for one in losses
    ]
    sides = ["left", *["right"] * (len(heads) - 1)]
    return tabulate(rows, heads, "pipe", colalign=sides, disable_numparse=True)


def read_kifu(
    paths: Sequence[Path], rules: str | Rules, tell: Callable[[str], object] = lambda _: None
) -> list[DealRecord]:
    """Returns the sound deals of records, or of folders of them, that were played to the end.

    Args:
        paths: files in any notation and folders of them; a repeated deal counts once.
        rules: the rule set of a kifu or of history strings.
        tell: is called with each note of what was left out.

    Raises:
        OSError: if a file can't be read.
        RecordError: if one is no record at all, or not of the base game.
        SettingError: if there are none, or a file is no text, or larger than any record.
        ImportError: if a kifu lacks its extra.
    """
    found = read_records(paths, rules, "grading")
    for line in (*found.notes, *(f"left out: {problem}" for problem in found.problems)):
        tell(line)
    deals = [one.deal for one in found.deals if one.sound]
    if len(deals) < 2:
        raise SettingError(f"expected two sound deals or more, got {len(deals)}")
    return deals


def _tell(note: str) -> None:
    sys.stderr.write(f"{note}\n")
