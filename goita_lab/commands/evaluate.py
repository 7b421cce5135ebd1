"""Plays agents against each other over duplicate deals and measures points per round.

goita evaluate --agents greedy random --deals 2000                  every pair of the agents
goita evaluate --one greedy --agents random heuristic               one against each
goita evaluate --agents greedy heuristic --sprt 0,1.5               until it is decided
goita evaluate --agents A B C --workers 8 --results long.db         resumes after a stop
goita evaluate --agents "exec:goita bot mine:Bot" greedy --seed random     somebody else's bot
goita evaluate --agents A B --save-games games                      saves the games
goita evaluate --agents A B C --table pairs.tex --plot points.pdf   for a paper
"""

from __future__ import annotations

import sys
import time
from collections.abc import Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Literal

from goita_agents import agent_names
from goita_agents.files import json_text, write_whole
from goita_agents.registry import expand
from goita_env.errors import SettingError
from goita_env.information import PLAIN, InformationStructure
from goita_env.rules import JGA, Rules
from goita_lab import cli
from goita_lab.arena import report
from goita_lab.arena.report.export import check_table_path, write_table
from goita_lab.arena.report.plots import check_picture_path, cross_table
from goita_lab.arena.report.tables import pairs_table
from goita_lab.arena.statistics.sequential_test import Sprt
from goita_lab.arena.tournament.arena import exit_code, play_schedule
from goita_lab.arena.tournament.plan import TournamentPlan, parse_fewer_deals
from goita_lab.arena.tournament.results import draw_seed, read_arguments
from goita_lab.arena.tournament.summary import Summary, deal_figures, failed
from goita_lab.provenance import write_summary
from goita_lab.work import check_workers


@dataclass(frozen=True)
class Args:
    """Options of the command line."""

    agents: tuple[str, ...]
    """two or more agents, of which every pair plays. An agent is written as NAME or as
    NAME:option=value,..., a class as MODULE:CLASS, and mine=TEXT gives it a short name. An agent
    that is named twice also plays against itself"""
    one: str | None = None
    """an agent that plays against each of --agents, which then do not play against each other"""
    cross: bool = False
    """also play every two of the agents as partners against two copies of the last agent"""
    deals: int = 1000
    """number of deals for each pair. Each deal is played twice, with the seats of the teams
    exchanged (with --cross four times)"""
    fewer_deals: tuple[str, ...] | None = None
    """DEALS:AGENT, a smaller number of deals for all pairs with a slow agent"""
    sprt: str | None = None
    """LOW,HIGH, such as 0,1.5: stop a pair when a sequential test decides whether its points per
    round are LOW or HIGH, with at most 5 % errors. If LOW is negative, write --sprt=-1,1"""
    episode: Literal["round", "match"] = "round"
    """whether each deal is a round or begins a match to the points of the rule set (150)"""
    rules: Rules = JGA
    information: InformationStructure = PLAIN
    seed: int | Literal["random"] = 0
    """seed of the deals and of the agents' random numbers. With the word random, the operating
    system draws the seed, so that no agent can know the deals, and the command prints it at the
    end"""
    workers: int = 1
    results: Path | None = None
    """file for finished blocks of deals, from which the same command resumes"""
    anew: bool = False
    save_games: Path | None = None
    """folder for the games, with one file for each block of deals and one line of JSON for each
    deal. With --results an interruption neither loses nor repeats a game"""
    json: Path | None = None
    """file for all results as JSON. The figures of each deal are written to an .npz file of the
    same name"""
    html: Path | None = None
    """file for a page with the tables and a chart"""
    table: Path | None = None
    """file for the table of pairs, .csv or .tex"""
    plot: Path | None = None
    """file for a picture of the points of each agent against each other agent, .svg, .png or
    .pdf"""

    def __post_init__(self) -> None:
        self.plan()
        check_workers(self.workers)
        files = self.html, self.json, self.results, self.table, self.plot
        cli.check_outputs(
            *(self.html, self.table, self.plot),
            summary=self.json,
            store=self.results,
            folder=self.save_games,
        )
        check_table_path(self.table)
        check_picture_path(self.plot)
        if self.save_games and any(file and self.save_games in file.parents for file in files):
            raise SettingError(f"expected nothing but games in {str(self.save_games)!r}")

    def plan(self, seed: int = 0) -> TournamentPlan:
        """Returns the tournament; ``seed`` replaces a random one."""
        return TournamentPlan(
            agents=expand(self.agents),
            one=self.one,
            cross=self.cross,
            deals=self.deals,
            fewer_deals=tuple(parse_fewer_deals(text) for text in self.fewer_deals or ()),
            seed=seed if isinstance(self.seed, str) else self.seed,
            rules=self.rules,
            information=self.information,
            episode=self.episode,
            sprt=Sprt.parse(self.sprt) if self.sprt else None,
        )


def main(argv: Sequence[str] | None = None) -> int:
    args = cli.parse(Args, argv, f"{__doc__}\nAgents: {', '.join(agent_names())}")
    return run(args, cli.command("goita evaluate", argv))[0]


def run(args: Args, command: str) -> tuple[int, Summary | None]:
    """Plays the tournament and prints it; returns the exit code and the finished pairings.

    Args:
        args: the options.
        command: the command line, for the report.
    """
    start = time.perf_counter()
    try:
        plan = args.plan(draw_seed(None if args.anew else read_arguments(args.results)))
        tournament, stop = play_schedule(
            plan,
            workers=args.workers,
            results=args.results,
            games=args.save_games,
            anew=args.anew,
        )
    except (ValueError, OSError) as error:
        cli.fail(error)
    code, played = exit_code(tournament, stop, args.results), tournament.played()
    if code and args.seed == "random":
        sys.stderr.write(f"seed: {plan.seed}\n")
    if not played:
        return code, None
    summary = Summary.of(
        plan,
        played,
        identities=tournament.identities,
        command=command,
        seconds=time.perf_counter() - start,
    )
    try:
        if args.json and not code:
            write_summary(args.json, json_text(summary.to_json()), deal_figures(played))
        if args.html and not code:
            write_whole(args.html, report.html(summary))
        if args.table and not code and (table := pairs_table(summary.pairs)):
            write_table(table, args.table)
        if args.plot and not code:
            cross_table(summary, args.plot)
    except OSError as error:
        sys.stderr.write(f"{error}\n")
        code = 1
    print(report.terminal(summary))
    return code or int(failed(summary.faults) or bool(summary.changed)), summary
