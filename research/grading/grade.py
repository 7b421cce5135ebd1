"""Grades what people and bots lose against perfect play, by phase of the round.

::

    python research/grading/grade.py --agents greedy heuristic --rounds 200
    python research/grading/grade.py --records FOLDER

Perfect play sees all hands, so even the best play without them loses something. Compare one player
with another, or one phase of a round with the next. The phases: up to three plays made, up to
seven, more.
"""

from __future__ import annotations

import sys
from collections.abc import Sequence
from dataclasses import dataclass, replace
from pathlib import Path

from goita_agents.base import Agent, AgentError, close, is_stateless
from goita_agents.registry import check_names, load_agent
from goita_agents.solver.position import Position
from goita_agents.solver.solver import Solver
from goita_env import actions
from goita_env.errors import GoitaError, SettingError
from goita_env.records import DealRecord
from goita_env.rounds import Rounds
from goita_env.rules import JGA, Rules
from goita_env.seeds import bot_generator
from goita_env.tiles import NUM_SEATS
from goita_lab import cli
from goita_lab.arena.statistics.intervals import Interval, mean_interval
from goita_lab.arena.tournament.saved_games import Recorder
from goita_lab.phases import PLAY_PHASES, PlayPhase, phase_of
from goita_lab.work import stderr_progress
from research.drawing import bounds, table
from research.records import read_units


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
    """rule set"""

    def __post_init__(self) -> None:
        if not self.agents and not self.records:
            raise SettingError("expected --agents or --records, got neither")


def play_deals(
    agent: Agent, deals: int, seed: int = 0, rules: str | Rules = JGA
) -> list[DealRecord]:
    """Returns the records of rounds in which a stateless agent plays all four seats.

    A round that began with a redeal is recorded from the deal that was played out.
    """
    if not is_stateless(agent):
        raise AgentError(f"expected an agent without a memory of its own, got {agent.name!r}")
    rounds = Rounds(deals, rules=rules, seed=seed, finals=False, log=True)
    recorder = Recorder(rounds)
    rng = bot_generator(seed, "deals")
    while not rounds.over:
        decisions = rounds.decisions
        actions = (
            agent.act(decisions.view, decisions.legal, rng)
            if len(decisions.rows)
            else decisions.rows
        )
        recorder.note(rounds.step(actions))
    return [replace(played[-1], number=number) for number, played in enumerate(recorder.deals, 1)]


def main(argv: Sequence[str] | None = None) -> int:
    """Grades records and bots, prints the table and returns the exit code."""
    args = cli.parse(Args, argv, __doc__)
    found: list[tuple[str, Sequence[DealRecord]]] = []
    try:
        check_names(args.agents or ())
        if args.records:
            found.append(("people", read_kifu(args.records, args.rules)))
        for name in args.agents or ():
            agent = load_agent(name)
            try:
                found.append((agent.name, play_deals(agent, args.rounds, args.seed, args.rules)))
            finally:
                close([agent])
        losses, progress, solver = [], stderr_progress(), Solver()
        for name, deals in found:
            grades = []
            for deal in deals:
                grades.append(grade_deal(deal, solver))
                progress(name, len(grades), len(deals))
            losses.append(summarize(name, grades))
    except (GoitaError, OSError, ImportError) as error:
        cli.fail(error)
    print(told(losses))
    return 0


@dataclass(frozen=True)
class Grade:
    """The grade of one decision, in points for the mover's team."""

    seat: int
    action: int
    best: int
    """Points of the best action, with perfect play of all from there on."""
    value: int
    """Points of the action chosen."""
    choices: int
    """Legal actions that it had; 1: it was forced, and lost nothing."""
    tiles: int
    """Tiles played before, 0 to 24."""

    @property
    def loss(self) -> int:
        return self.best - self.value

    @property
    def phase(self) -> PlayPhase:
        return phase_of(self.tiles)


def grade_deal(deal: DealRecord, solver: Solver) -> list[Grade]:
    """Grades each play and pass of a deal, forced ones included, as far as it goes.

    Pre-play decisions are left out: whether a call is right depends on deals to come.
    """
    found: list[Grade] = []
    place = Position.set_up(deal.hands, deal.dealer, rules=deal.rules)
    replay = deal.replay()
    for (seat, action), game in zip(deal.moves, replay, strict=False):
        if action >= actions.CALL:
            continue
        choices = len(solver.legal_actions(place))
        best, value = solver.compare(place, action)
        tiles = NUM_SEATS * deal.rules.hand_size - place.tiles
        found.append(Grade(seat, action, best, value, choices, tiles))
        if not game.done:
            place = Position.from_game(game)
    return found


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
    """Sums up the grades of a player's rounds, of which two at least came to play."""
    played = [grades for grades in rounds if grades]
    lost = {
        phase: mean_interval(
            [sum(one.loss for one in each if phase in (one.phase, "all")) / 2 for each in played]
        )
        for phase in (*PLAY_PHASES, "all")
    }
    chosen = [one.loss for grades in played for one in grades if one.choices > 1]
    return Losses(name, len(played), len(chosen), lost, chosen.count(0) / max(1, len(chosen)))


def told(losses: Sequence[Losses]) -> str:
    """Returns losses as a table in Markdown."""
    heads = [
        "points lost",
        "rounds",
        "per team and round",
        *(f"{one} phase" for one in PLAY_PHASES),
    ]
    rows = [
        [
            one.name,
            f"{one.rounds:,}",
            bounds(one.lost["all"], decimals=1),
            *(f"{one.lost[phase].mean:.1f}" for phase in PLAY_PHASES),
            f"{one.decisions:,}",
            f"{one.right:.0%}",
        ]
        for one in losses
    ]
    return table([*heads, "decisions", "without loss"], rows)


def read_kifu(paths: Sequence[Path], rules: str | Rules) -> list[DealRecord]:
    """Returns the sound deals of records, or of folders of them, each once; tells what is left."""
    found = read_units(paths, rules, "grading")
    for line in (*found.notes, *(f"left out: {problem}" for problem in found.problems)):
        sys.stderr.write(f"{line}\n")
    deals = [one.deal for one in found.deals if one.sound]
    if len(deals) < 2:
        raise SettingError(f"expected two sound deals or more, got {len(deals)}")
    return deals


if __name__ == "__main__":
    cli.run(main)
