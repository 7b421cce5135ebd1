"""Solves a small game, and computes exactly how far policies are from an equilibrium of it.

::

    goita exact mini_3                                solves the game, in half a minute
    goita exact mini_3 --team 60                      also proves what a team can gain
    goita exact mini_4 -o mini_4.npz                  stores the solution, and resumes from it
    goita exact mini_3 --agents heuristic champion    measures agents
    goita exact mini_3 --eyes partner                 solves the game with the partner's tiles shown
    goita exact mini_3 --message                      solves the game with a message before play

The solver, PCFR+, improves the policies of all seats until no single seat can gain more than
--target points, or for --rounds rounds. A team of two seats may gain more than a single seat. With
--team, a linear program computes an upper bound of the points that two partners gain by a joint
best response without communication, and an integer program proves the exact number.
"""

from __future__ import annotations

import sys
import time
from collections.abc import Sequence
from dataclasses import dataclass, field
from math import inf
from pathlib import Path
from typing import Any

from goita_agents.base import Float, Policy
from goita_agents.files import json_text, write_whole
from goita_agents.identity import Identities
from goita_env.errors import GoitaError, SettingError
from goita_env.rules import Rules
from goita_env.tiles import NUM_SEATS
from goita_lab import cli, provenance
from goita_lab.arena.report.export import check_table_path, write_table
from goita_lab.arena.report.runs import runs_tables
from goita_lab.arena.report.tables import Table
from goita_lab.arena.report.to_terminal import draw
from goita_lab.exact.agent import restore, save
from goita_lab.exact.team import Exploitability, Ruler
from goita_lab.exact.tree import Channel, Eyes, Tree, enumerate_game
from goita_lab.exact.values import Learner, gains, value
from goita_lab.signals.playing import load_policy

EVERY = 25
"""Rounds of the learners between two measurements, after each of which they are saved."""


@dataclass(frozen=True)
class Args:
    """Options of the command line."""

    rules: Rules = field(metadata=cli.POSITIONAL)
    """small game: mini_3, mini_4, mini_5, or a JSON file of your own"""
    agents: tuple[str, ...] | None = None
    """agents with known probabilities, which are measured at all four seats. The game is then not
    solved"""
    eyes: Eyes = "own"
    """tiles that a seat sees in addition to its own: own (no others, as in the real game), blocks
    (all face-down blocks) or partner (the tiles of its partner)"""
    message: bool = False
    """solve the game in which the dealer sends its partner one bit before play"""
    rounds: int = 1000
    """largest number of learning rounds"""
    target: float = 0.01
    """points that a single seat may still gain when the solver stops"""
    team: float | None = None
    """also compute the best responses of teams, with this number of seconds to prove each one; 0
    computes only bounds. In games with a million histories this takes minutes"""
    anew: bool = False
    output: Path | None = field(default=None, metadata=cli.short("-o"))
    """file for the solution (.npz), from which the same command resumes. The agent
    goita_lab.exact.agent:SolvedAgent:path=FILE plays this solution"""
    json: Path | None = None
    table: Path | None = None
    """file for the table of gains, .csv or .tex"""

    def __post_init__(self) -> None:
        if not self.rules.is_small:
            raise SettingError(f"expected a small game, such as mini_3, got {self.rules.name!r}")
        if self.rounds < 1:
            raise SettingError(f"expected a round or more, got {self.rounds!r}")
        for seconds in (self.team, self.target):
            if seconds is not None and not 0 <= seconds < inf:
                raise SettingError(f"expected 0 or more, and a finite number, got {seconds!r}")
        if self.agents and (self.output or self.is_changed):
            raise SettingError("expected --agents without -o, --eyes, --message")
        if self.team is not None and self.is_changed:
            raise SettingError("expected --team without --eyes, --message")
        if self.table is not None and self.is_changed:
            raise SettingError("expected --table without --eyes, --message")
        cli.check_outputs(self.output, self.json, self.table)
        check_table_path(self.table)

    @property
    def is_changed(self) -> bool:
        """Seats observe more than by the rules; only the value and gains of seats are measured."""
        return self.eyes != "own" or self.message


def main(argv: Sequence[str] | None = None) -> int:
    """Solves the game or measures agents, prints it and returns the exit code."""
    args = cli.parse(Args, argv, __doc__)
    command, start = cli.command("goita exact", argv), time.perf_counter()
    try:
        agents = {text: load_policy(text) for text in args.agents or ()}
        identities = Identities(agents)
        fields: dict[str, Any] = {"command": command, "rules": args.rules.to_keys()}
        fields |= _changed_game(args) if args.is_changed else _game(args, agents)
    except KeyboardInterrupt:
        outlook = "the same command continues" if args.output else "without -o all is lost"
        sys.stderr.write(f"\nstopped; {outlook}\n")
        return 130
    except (GoitaError, OSError) as error:
        cli.fail(error)
    origin = provenance.provenance(identities)
    fields |= {"seconds": time.perf_counter() - start, **origin}
    if args.json:
        write_whole(args.json, json_text(fields))
    print(f"{provenance.marks(origin)}{command}", flush=True)
    return int(bool(origin["changed"]))


def _changed_game(args: Args) -> dict[str, Any]:
    """Solves a game in which seats observe more; returns its sizes, value and gains for JSON."""
    tree = enumerate_game(args.rules, args.eyes, Channel() if args.message else None)
    sizes = _describe(tree)
    policy = _solve(tree, args).average()
    points = value(tree, policy)
    print(f"value {points:+.3f} for the dealer's team", flush=True)
    return {"game": sizes, "value": points, "gains": gains(tree, policy)}


def _game(args: Args, agents: dict[str, Policy]) -> dict[str, Any]:
    """Measures agents, or the solution without any; returns sizes and measures for JSON."""
    ruler = Ruler(args.rules)
    sizes = _describe(ruler.tree)
    if agents:
        policies = {
            text: ruler.tree.policy_of([agent] * NUM_SEATS) for text, agent in agents.items()
        }
    else:
        policies = {"solution": _solve(ruler.tree, args).average()}
    return {"game": sizes, "measured": _measured(policies, ruler, args)}


def _describe(tree: Tree) -> dict[str, int]:
    """Prints and returns the sizes of a game."""
    sizes = {
        "deals": len(tree.chance),
        "histories": len(tree.info),
        "information sets": len(tree.seat),
        "actions in them": len(tree.action),
    }
    print(", ".join(f"{size:,} {name}" for name, size in sizes.items()), flush=True)
    return sizes


def _solve(tree: Tree, args: Args) -> Learner:
    """Learns until no single seat gains more than the target; prints the progress."""
    resumed = args.output and args.output.exists() and not args.anew
    learner = restore(tree, args.output) if resumed and args.output else Learner(tree)
    while True:
        gain = max(gains(tree, learner.average()).values())
        sys.stderr.write(f"{learner.rounds} rounds: one player gains {gain:.4f} at most\n")
        if gain <= args.target or learner.rounds >= args.rounds:
            return learner
        for _ in range(min(EVERY, args.rounds - learner.rounds)):
            learner.learn()
        if args.output:
            save(learner, args.output)


def _measured(policies: dict[str, Float], ruler: Ruler, args: Args) -> list[dict[str, Any]]:
    """Measures policies [A], shows them in a table, and returns their figures for JSON."""
    measured = {name: ruler.measure(policy, args.team) for name, policy in policies.items()}
    title = (
        "Points per round: the value for the dealer's team, and the gain of a best response of a "
        "seat, of a team, and of an open team, whose partners see each other's tiles"
    )
    columns = ("agent", "value", "seat's gain", "team's gain", "open team's gain")
    rows = [
        (name, f"{gain.value:+.3f}", f"{gain.alone:.4f}", _team(gain), f"{gain.open:.3f}")
        for name, gain in measured.items()
    ]
    table = Table(title, columns, tuple(rows))
    if args.table is not None:
        write_table(table, args.table)
    alone = {name: gain.alone for name, gain in measured.items()}
    for shown_table in (table, *runs_tables("seat's gain", alone)):
        print("\n" + draw(shown_table), flush=True)
    return [
        {
            "name": name,
            "value": gain.value,
            "seats": gain.seats,
            "teams": [{"value": team.value, "bound": team.bound} for team in gain.teams],
            "seen": gain.seen,
        }
        for name, gain in measured.items()
    ]


def _team(gain: Exploitability) -> str:
    """Returns what a team gains: a number if it is proven, else its bounds; "-": not sought."""
    if gain.team is None:
        return "-"
    low, high = gain.team
    proven = all(team.proven for team in gain.teams)
    return f"{low:.4f}" if proven else f"{low:.3f} to {high:.3f}"
