"""Plays agents against each other over duplicate deals and says who is how much better.

python evaluate.py --agents greedy random --deals 2000                  every pair of the agents
python evaluate.py --one greedy --agents random heuristic               one against each
python evaluate.py --agents greedy heuristic --sprt 0,1.5               until it is decided
python evaluate.py --agents A B C --workers 8 --results long.db         goes on after a stop
python evaluate.py --agents mine:Bot greedy --isolate --seed random     a bot of somebody else's
python evaluate.py --agents A B --save-games games --save-share 0.1     keeps a tenth of the games

Exit code 0: every pairing was played. 1: an agent did not start, raised, answered what is illegal,
crashed or forfeited, which the tables say beside its rating; or an error stopped it. 2: wrong
arguments. 130: interrupted.
"""

from __future__ import annotations

import json
import os
import secrets
import shlex
import sys
import time
from collections.abc import Sequence
from contextlib import nullcontext
from dataclasses import dataclass, replace
from pathlib import Path
from typing import Literal, Self

from agents import cli, names
from agents.external.command import parse_memory
from agents.files import write_whole
from agents.statistics.sequential_test import Sprt
from agents.tournament import arena
from agents.tournament.games import check_share
from agents.tournament.games_folder import GamesFolder
from agents.tournament.plan import BLOCK_DEALS, Plan, parse_cap
from agents.tournament.progress import ProgressLine
from agents.tournament.results import ResultsFile, read_arguments
from agents.tournament.summary import Summary
from agents.tournament.task import Isolation
from agents.tournament.workers import MAX_WORKERS, check_workers
from goita_env.errors import GoitaError, SettingError
from goita_env.rules import JGA, Rules


@dataclass(frozen=True)
class Args:
    """Options of the command line."""

    agents: tuple[str, ...]
    """two agents or more; every pair of them plays. As text: NAME or NAME:option=value,..., a class
    as MODULE:CLASS, a short name as mine=TEXT. One named twice also plays against itself"""
    one: str | None = None
    """an agent that plays each of --agents, which then don't play among themselves"""
    cross: bool = False
    """also every two of the agents as partners, against two of one agent"""
    cross_opponent: str | None = None
    """that agent (default: the last of --agents)"""
    deals: int = 1000
    """deals a pair plays, each twice, the teams' seats exchanged (--cross: four times)"""
    fewer_deals: tuple[str, ...] | None = None
    """DEALS:AGENT, most deals of the pairs of a slow agent"""
    sprt: str | None = None
    """LOW,HIGH: stop a pair when a sequential test decides whether its points per round are
    LOW or HIGH, 5 % errors at most (0,1.5; write --sprt=-1,1 before a minus)"""
    episode: Literal["round", "match"] = "round"
    """what a deal begins: a round, or a match to 150 points"""
    rules: Rules = JGA
    """rule set: jga, pagat, nine, or a JSON file of your own"""
    seed: int | Literal["random"] = 0
    """seed of the deals and of the agents' random numbers; random: drawn by the system, so that no
    agent can know the deals, and told at the end"""
    block_deals: int = BLOCK_DEALS
    """deals of a block, which is played at once and depends on nothing else; a stop loses it"""
    workers: int = 1
    """processes; the result is the same with any number"""
    backend: Literal["loky", "ray"] = "loky"
    """where they run: this machine, or the Ray cluster at RAY_ADDRESS"""
    strict: bool = False
    """stop at the first fault of an agent; without, a random legal action takes its place, and
    after ten faults the agent is out of the pairing"""
    isolate: bool = False
    """host every class of your own (MODULE:CLASS) in processes of its own, one for each seat"""
    isolate_ms: int = 1000
    """milliseconds that such a class may take for a decision"""
    isolate_memory: str = "2G"
    """memory that such a process may take: bytes, or with K, M or G"""
    results: Path | None = None
    """file to which blocks are added as they are finished; the same command goes on with it"""
    save_games: Path | None = None
    """folder to which the games are written, a file a block and a deal a line of JSON; with
    --results none is lost or doubled by a stop"""
    save_share: float = 1.0
    """share of the deals whose games are saved, the same deals of every pair"""
    json: Path | None = None
    """file to which everything is written as JSON"""
    markdown: Path | None = None
    """file to which the tables are written as Markdown"""
    html: Path | None = None
    """file to which a page with the tables and pictures is written; with --save-games it links to
    pages that replay some of the games"""

    def __post_init__(self) -> None:
        """Checks what can be checked before an agent is built."""
        self.plan()
        files = [file for file in (self.results, self.json, self.markdown, self.html) if file]
        for file in files:
            check_writable(file)
        check_share(self.save_share)
        if self.save_games:
            check_writable(self.save_games, folder=True)
        if self.save_share < 1 and not self.save_games:
            raise SettingError(f"expected --save-games for a share, got {self.save_share!r} alone")
        if len({file.resolve() for file in files}) < len(files):
            raise SettingError("expected another file for each output, got one twice")
        if not 1 <= self.workers <= MAX_WORKERS:
            raise SettingError(f"expected 1 to {MAX_WORKERS:,} workers, got {self.workers!r}")

    def resolved(self) -> Self:
        """Returns the same with a seed, and with paths that hold whatever folder we are in.

        Raises:
            SettingError: if the file of results cannot be read.
        """
        seed = self.seed
        if seed == "random":
            kept = read_arguments(self.results) if self.results else None
            seed = secrets.randbits(64) if kept is None else kept["seed"]
        names = ("results", "save_games", "json", "markdown", "html")
        paths = {name: path.resolve() for name in names if (path := getattr(self, name))}
        return replace(self, seed=seed, **paths)

    def plan(self) -> Plan:
        """Returns the tournament; a seed that is still to be drawn is 0."""
        isolation = Isolation(self.isolate_ms, parse_memory(self.isolate_memory))
        return Plan(
            agents=self.agents,
            one=self.one,
            cross=self.cross,
            cross_opponent=self.cross_opponent,
            deals=self.deals,
            caps=tuple(parse_cap(text) for text in self.fewer_deals or ()),
            seed=0 if isinstance(self.seed, str) else self.seed,
            rules=self.rules,
            episode=self.episode,
            sprt=Sprt.parse(self.sprt) if self.sprt else None,
            block_deals=self.block_deals,
            isolation=isolation if self.isolate else None,
        )


def main(argv: Sequence[str] | None = None) -> int:
    """Plays the tournament, prints it and returns the exit code."""
    args = cli.parse(Args, argv, f"{__doc__}\nAgents: {', '.join(names())}")
    command = shlex.join(["python", "evaluate.py", *(sys.argv[1:] if argv is None else argv)])
    try:
        return run(args, command)[0]
    except KeyboardInterrupt:
        sys.stderr.write("\nstopped before anything was played\n")
        return 130


def run(args: Args, command: str) -> tuple[int, Summary | None]:
    """Plays the tournament and prints it; returns the exit code and what was found, if anything.

    Args:
        args: what is asked for.
        command: what was typed to ask for it.
    """
    start, code = time.perf_counter(), 0
    try:
        drawn, args = args.seed == "random", args.resolved()
        plan = args.plan()
        plan.check_agents()
        check_workers(args.workers, args.backend)
        tournament = arena.Tournament(plan)
        file = open_results(args.results, tournament)
        games = open_games(args, tournament)
    except (ValueError, OSError) as error:
        cli.fail(error)

    try:
        with file or nullcontext(), ProgressLine(tournament.ledgers) as line:
            tournament.play(
                workers=args.workers,
                backend=args.backend,
                file=file,
                games=games,
                progress=line,
                strict=args.strict,
            )
    except KeyboardInterrupt:
        code = 130
    except (GoitaError, OSError) as error:
        code = 1
        sys.stderr.write(f"\n{error}")

    played = tournament.played()
    if code:
        more = "the same command goes on" if args.results else "without --results the rest is lost"
        sys.stderr.write(f"\nstopped after {len(played)} finished pairing(s); {more}\n")
        if drawn:
            sys.stderr.write(f"seed: {plan.seed}\n")
    if not played:
        return code, None
    found = Summary.of(plan, played, command=command, seconds=time.perf_counter() - start)
    try:
        show(args, found, files=code == 0)
    except OSError as error:
        sys.stderr.write(f"{error}\n")
        code = 1
    return code or int(found.failed()), found


def open_results(path: Path | None, tournament: arena.Tournament) -> ResultsFile | None:
    """Opens the file of results, and hands the blocks that it holds to the tournament."""
    if path is None:
        return None
    plan = tournament.plan
    file = ResultsFile(path, plan.arguments(), tournament.tasks(), plan.contents())
    tournament.add(file.blocks)
    if file.note:
        sys.stderr.write(f"{file.note}\n")
    return file


def open_games(args: Args, tournament: arena.Tournament) -> GamesFolder | None:
    """Opens the folder of games.

    Raises:
        SettingError: if it lacks games of blocks that the file of results holds.
        OSError: if it cannot be written.
    """
    if args.save_games is None:
        return None
    games = GamesFolder(args.save_games, tournament.plan, args.save_share)
    lost = [file.name for file in map(games.file, tournament.kept()) if not file.exists()]
    if lost:
        raise SettingError(
            f"expected the games of every block in {str(args.results)!r}, "
            f"got none of {len(lost)} in {str(args.save_games)!r}: {lost[0]} and so on"
        )
    return games


def show(args: Args, found: Summary, *, files: bool) -> None:
    """Prints the tables and, where the tournament was finished, writes the files."""
    from agents import report, watch

    print(report.terminal(found))
    if files and args.json:
        write_whole(args.json, json.dumps(found.to_json(), indent=1) + "\n")
    if files and args.markdown:
        write_whole(args.markdown, report.markdown(found))
    if files and args.html:
        games = watch.write_pages(args.save_games) if args.save_games else {}
        links = {name: os.path.relpath(page, args.html.parent) for name, page in games.items()}
        write_whole(args.html, report.html(found, links))


def check_writable(path: Path, *, folder: bool = False) -> None:
    """Checks that a file, or a folder, can be written, without touching it.

    Raises:
        SettingError: if it can't.
    """
    wanted, other = ("folder", "file") if folder else ("file", "folder")
    if path.exists() and path.is_dir() != folder:
        wrong = f"it is a {other}"
    elif not path.parent.is_dir():
        wrong = f"there is no folder {str(path.parent)!r}"
    elif not os.access(path if path.exists() else path.parent, os.W_OK):
        wrong = "it may not be written"
    else:
        return
    raise SettingError(f"expected a {wanted} for the results, got {str(path)!r}: {wrong}")


if __name__ == "__main__":
    raise SystemExit(main())
