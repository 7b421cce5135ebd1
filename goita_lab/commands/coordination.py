"""Measures how well agents play with partners that they do not know.

::

    goita coordination heuristic champion                 the benchmark
    goita coordination AGENT --quick                      a fifth of the deals
    goita coordination AGENT --results mine.db --workers 8 --json mine.json
    goita coordination AGENT --test              the partners of the final table
    goita coordination AGENT --test --enter benchmarks/leaderboard.json
    goita coordination --check benchmarks/leaderboard.json
    goita coordination AGENT --partners "exec:./hidden" --opponents greedy heuristic
    goita coordination AGENT --rules mini_3      a small game, in which all values are exact
    goita coordination AGENT --rules mini_3 --message     the same, with a message before play

Each agent plays with every held-out partner, against every held-out opponent and against two copies
of the partner. It does so over duplicate deals, in either seat of its team and on both sides.
docs/coordination.md explains the rules of a fair entry. Agents are named as for goita evaluate. A
small game needs no deals: an agent acts once at every information set, and its regret is exact.
"""

from __future__ import annotations

import secrets
import sys
import time
from collections.abc import Sequence
from dataclasses import dataclass, field, replace
from functools import cache
from pathlib import Path

from goita_agents.files import json_text, write_whole
from goita_agents.registry import short_name
from goita_env.errors import SettingError
from goita_env.rounds import Episode
from goita_env.rules import JGA, RULE_SETS, Rules
from goita_lab import cli
from goita_lab.arena.coordination import leaderboard, report
from goita_lab.arena.coordination.benchmark import Benchmark
from goita_lab.arena.coordination.leaderboard import (
    ExactBoard,
    ExactEntry,
    PlayedBoard,
    PlayedEntry,
)
from goita_lab.arena.coordination.results import Results
from goita_lab.arena.coordination.task import VALIDATION, CoordinationTask, Partner, test_task
from goita_lab.arena.report.export import check_table_path, write_table
from goita_lab.arena.report.figures import line
from goita_lab.arena.report.plots import check_picture_path
from goita_lab.arena.tournament.arena import exit_code, play_schedule
from goita_lab.arena.tournament.plan import parse_fewer_deals
from goita_lab.arena.tournament.results import draw_seed, read_arguments
from goita_lab.arena.tournament.summary import deal_figures, failed
from goita_lab.exact import entries
from goita_lab.exact import report as exact_report
from goita_lab.exact.teamwork import Benchmark as ExactBenchmark
from goita_lab.exact.teamwork import Split
from goita_lab.provenance import write_summary
from goita_lab.work import check_workers


@dataclass(frozen=True)
class Args:
    """Options of the command line."""

    agents: tuple[str, ...] | None = field(default=None, metadata=cli.POSITIONAL)
    """the agents to measure, as goita evaluate takes them; with --check, the agents of entries that
    may not name them"""
    rules: Rules = JGA
    """rule set: jga for the full game, or a small game with exact values, mini_3 or mini_4"""
    message: bool = False
    """in a small game, let the dealer send one bit to its partner before play. Partners and
    opponents use this message. The agents do not observe it, and send each bit with probability one
    half"""
    quick: bool = False
    """play only a fifth of the deals, and mark the results"""
    episode: Episode = "round"
    """whether each deal is a round or begins a match, for agents that learn during a match"""
    test: bool = False
    """use the partners of the test split, for a final table, instead of the validation split"""
    speak: bool = False
    """let the agents send and observe messages in games with messages; without this option they do
    neither"""
    partners: tuple[str, ...] | None = None
    """partners instead of the held-out partners; the results are marked"""
    opponents: tuple[str, ...] | None = None
    """opponents instead of the held-out opponents; the results are marked"""
    fewer_deals: tuple[str, ...] | None = None
    """DEALS:AGENT, a smaller number of deals for a slow agent, such as a search bot; the results
    are marked"""
    seed: int | None = None
    """seed of the deals and of the agents' random numbers; the results are marked. Without this
    option the operating system draws a seed, so that no agent can know the deals"""
    workers: int = 1
    results: Path | None = None
    """file for finished blocks of deals, from which the same command resumes"""
    anew: bool = False
    enter: Path | None = None
    """leaderboard to which the agents are added, if their results have no marks"""
    check: Path | None = None
    """leaderboard to check. Its figures are computed again from its cells, three cells of each
    entry are played again, and the networks are compared; in a small game everything is computed
    again. The file names the game. The exit code is 1 if a figure differs or an entry was
    skipped"""
    json: Path | None = None
    table: Path | None = None
    """file for the table of agents, .csv or .tex"""
    plot: Path | None = None
    """file for a picture, .svg, .png or .pdf: the points with each partner or, in a small game, the
    regret divided into its parts"""

    def __post_init__(self) -> None:
        played = ("quick", "speak", "partners", "opponents", "fewer_deals", "results")
        if self.check is not None:
            self._refuse(
                (*played, "seed", "enter", "json", "message", "table", "plot"), "with --check"
            )
        if self.rules.is_small:
            self._refuse(played, "in a small game")
            if not (self.agents or self.check):
                raise SettingError("expected an agent or more, got none")
            if self.message:
                self._refuse(("enter",), "with --message")
        elif self.rules != JGA:
            raise SettingError(f"expected jga or a small game, got {self.rules.name!r}")
        elif self.message:
            raise SettingError("expected --message in a small game, as with --rules mini_3")
        elif self.check is None:
            self.benchmark()
        check_workers(self.workers)
        cli.check_outputs(
            *(self.enter, self.table, self.plot), summary=self.json, store=self.results
        )
        check_table_path(self.table)
        check_picture_path(self.plot)
        if self.enter is not None:
            leaderboard.read_for(self.enter, ExactBoard if self.rules.is_small else PlayedBoard)

    def _refuse(self, options: Sequence[str], where: str) -> None:
        """Raises a SettingError if the command line has one of these options."""
        for option in options:
            value = getattr(self, option)
            if value is not None and value is not False:
                raise SettingError(f"expected no --{option.replace('_', '-')} {where}")

    def benchmark(self) -> Benchmark:
        """Returns the benchmark; without --seed its seed is not drawn yet."""
        if self.test and (self.partners or self.opponents):
            raise SettingError("expected --test, or players of your own, got both")
        task = test_task() if self.test else VALIDATION
        if self.partners or self.opponents:
            partners = tuple(map(Partner, self.partners or ())) or task.partners
            task = CoordinationTask(partners, self.opponents or task.opponents)
        specs = {short_name(spec): spec for spec in (*(self.agents or ()), *task.specs)}
        fewer = (parse_fewer_deals(text) for text in self.fewer_deals or ())
        return Benchmark(
            agents=self.agents or (),
            task=task,
            seed=self.seed or 0,
            seed_given=self.seed is not None,
            episode=self.episode,
            quick=self.quick,
            speak=self.speak,
            fewer_deals=tuple((deals, specs.get(agent, agent)) for deals, agent in fewer),
        )


def main(argv: Sequence[str] | None = None) -> int:
    args = cli.parse(Args, argv, __doc__)
    if args.check is not None:
        return check(args, args.check)
    if args.rules.is_small:
        return exact(args)
    return run(args, cli.command("goita coordination", argv))[0]


def run(args: Args, command: str) -> tuple[int, Results | None]:
    """Plays the benchmark, prints it and writes files; returns the exit code and the results.

    Args:
        args: the options.
        command: the command line, for the report.
    """
    start = time.perf_counter()
    try:
        benchmark = completed(args.benchmark(), None if args.anew else args.results)
        tournament, stop = play_schedule(
            benchmark, workers=args.workers, results=args.results, anew=args.anew
        )
    except (ValueError, OSError) as error:
        cli.fail(error)
    if code := exit_code(tournament, stop, args.results):
        return code, None
    seconds = time.perf_counter() - start
    results = Results.of(
        benchmark,
        tournament.played(),
        identities=tournament.identities,
        command=command,
        seconds=seconds,
    )
    code = int(failed(results.faults) or bool(results.changed))
    try:
        if args.json is not None:
            deals = deal_figures(tournament.played())
            write_summary(args.json, json_text(results.to_json()), deals)
        if args.enter is not None:
            leaderboard.enter(args.enter, results)
        if args.table is not None:
            write_table(report.agents_table(results), args.table)
        if args.plot is not None:
            report.plot_partners(results, args.plot)
    except (SettingError, OSError) as error:
        sys.stderr.write(f"{error}\n")
        code = 1
    print(report.terminal(results))
    return code, results


def check(args: Args, path: Path) -> int:
    """Checks each entry of a leaderboard and names those that are skipped.

    Args:
        args: the options. ``rules``, if they are small, and ``test`` select the entries of one game
            and one split; the others are skipped.
        path: a leaderboard of the full game or of small games.

    Returns:
        The exit code: 0 if all entries were checked and are as entered, else 1.
    """
    try:
        board = leaderboard.read(path).entries
        named = {entry.name for entry in board}
        agents = {short_name(agent): agent for agent in args.agents or ()}
        if not board:
            raise SettingError(f"expected an entry or more in {path}, got none")
        if strangers := [name for name in agents if name not in named]:
            raise SettingError(f"expected agents of {path}, got {strangers[0]!r}")
    except (ValueError, OSError) as error:
        sys.stderr.write(f"goita coordination: error: {error}\n")
        return 1
    benchmark = cache(ExactBenchmark.load)
    games = RULE_SETS | {args.rules.name: args.rules}
    wrong = 0
    try:
        for entry in board:
            agent, rules = agents.get(entry.name), games.get(entry.rules)
            if (skip := _skip(args, entry, rules)) or rules is None:
                sentences = [f"not checked: {skip}"]
            elif isinstance(entry, ExactEntry):
                game = benchmark(rules, entry.split)
                sentences = list(entries.check(entry, game, agent))
            else:
                sentences = list(leaderboard.check(entry, secrets.randbits(32), agent))
            wrong += len(sentences)
            for sentence in sentences or ["as entered"]:
                print(line(f"{entry.name}: {sentence}"), flush=True)
    except (ValueError, OSError) as error:
        cli.fail(error)
    return int(wrong > 0)


def _skip(args: Args, entry: PlayedEntry | ExactEntry, rules: Rules | None) -> str:
    """Returns why an entry cannot be checked with these options; empty: it can."""
    if args.rules.is_small and entry.rules != args.rules.name:
        return f"it is of {entry.rules}, --rules of {args.rules.name}"
    if args.test and entry.split != "test":
        return f"it is of the {entry.split} split, --test of the test split"
    return "" if rules else f"its game {entry.rules} has no name here, expected --rules FILE"


def exact(args: Args) -> int:
    """Measures agents in a small game; returns the exit code."""
    split: Split = "test" if args.test else "validation"
    try:
        benchmark = ExactBenchmark.load(args.rules, split, message=args.message)
        measured = benchmark.measure(args.agents or ())
        if args.json is not None:
            write_whole(args.json, json_text(exact_report.to_json(measured)))
        if args.enter is not None:
            entries.enter(args.enter, measured)
        if args.table is not None:
            write_table(exact_report.table(measured), args.table)
        if args.plot is not None:
            exact_report.plot_regret(measured, args.plot)
    except (ValueError, OSError) as error:
        cli.fail(error)
    sys.stdout.write(exact_report.terminal(measured))
    failed = any(fault.kind != "late" for row in measured.rows for fault in row.faults)
    return int(failed or bool(measured.origin["changed"]))


def completed(benchmark: Benchmark, results: Path | None) -> Benchmark:
    """Returns the benchmark with a seed: that of the file of results, else a secret one."""
    if benchmark.seed_given:
        return benchmark
    arguments = read_arguments(results)
    seed_given = arguments is not None and bool(arguments.get("seed_given", True))
    return replace(benchmark, seed=draw_seed(arguments), seed_given=seed_given)
