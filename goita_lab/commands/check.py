"""Checks an agent in a minute, a line a check: "ok", or what is wrong.

goita check my_bots:Cautious:risk=0.9
goita check "exec:node my_bot.js" --rules pagat

"builds": the agent can be built, and a program starts. "answers": a class gives legal actions of
the right shape, within narrowed masks too, and the same for the same view; its probabilities are a
distribution over legal actions, if it has any (goita_env.testing.check_agent), and its beliefs for
the exam are probabilities, if it has a method ``beliefs``. A program plays 64 games in parallel, at
all seats, without a fault. "plays": it ends a small tournament against greedy without a fault.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, field
from typing import Final

from goita_agents.asking import ask_beliefs, at_temperature, build_agent, end_agent
from goita_agents.base import AgentError, HasTemperature, raised
from goita_agents.bots.wrapped import unwrapped
from goita_agents.external.agent import ExternalAgent
from goita_env.rules import JGA, Rules
from goita_env.testing import check_agent
from goita_lab import cli
from goita_lab.arena.report.figures import estimate
from goita_lab.arena.tournament.arena import Tournament
from goita_lab.arena.tournament.plan import TournamentPlan
from goita_lab.arena.tournament.summary import Summary
from goita_lab.exam.questions import Questions

CHECK_OPPONENT: Final = "greedy"
BELIEF_POSITIONS: Final = 12
"""Positions of the exam for which the beliefs of an agent are checked, if it has any."""


@dataclass(frozen=True)
class Args:
    """Options of the command line."""

    agent: str = field(metadata=cli.POSITIONAL)
    """the agent, as goita evaluate takes it: my_bots:Mine"""
    rules: Rules = JGA
    deals: int = 48
    """deals that it plays against greedy"""

    def __post_init__(self) -> None:
        self.plan()

    def plan(self) -> TournamentPlan:
        """Returns the small tournament; an agent named greedy plays against itself."""
        return TournamentPlan((CHECK_OPPONENT,), self.agent, deals=self.deals, rules=self.rules)


def main(argv: Sequence[str] | None = None) -> int:
    """Runs the checks in turn, up to the first that fails."""
    args = cli.parse(Args, argv, __doc__)
    plan = args.plan()
    try:
        plan.check_agents()
    except AgentError as error:
        cli.fail(error)
    print("builds: ok", flush=True)
    if wrong := _answers(args):
        print(f"answers: {wrong}")
        return 1
    print("answers: ok", flush=True)
    tournament = Tournament(plan)
    tournament.play()
    summary = Summary.of(plan, tournament.played())
    for fault in summary.faults:
        print(f"plays: {fault.count:,} faults, the last {fault.kind}: {fault.text}")
        print(*fault.stderr, fault.traceback, sep="\n")
    if not summary.faults:
        print(f"plays: ok, {estimate(summary.pairs[0].points)} points a round v {CHECK_OPPONENT}")
    return int(bool(summary.faults))


def _answers(args: Args) -> str:
    """Returns what is wrong with the agent's answers; empty: nothing."""
    agent = build_agent(args.agent)
    try:
        check_agent(agent, args.rules)
        program = unwrapped(agent)
        if isinstance(program, ExternalAgent) and program.faults:
            return str(program.faults[0])
        if isinstance(agent, HasTemperature):
            at_temperature(agent, agent.temperature)
        ask_beliefs(agent, Questions.load().view()[:BELIEF_POSITIONS])
    except (AssertionError, AgentError) as error:
        return str(error)
    except KeyboardInterrupt:
        raise
    except BaseException as error:  # an agent may raise anything
        return f"it raised {raised(error)}"
    finally:
        end_agent(agent)
    return ""
