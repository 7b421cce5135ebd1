"""Checks an agent in a minute, and prints for each check "ok" or what is wrong.

goita check my_bots:Cautious:risk=0.9
goita check "exec:node my_bot.js" --rules pagat

The checks are:

    builds     the agent can be built, and a program starts
    answers    a class returns legal actions of the right shape, also if the mask allows fewer
               actions than the rules, and the same actions for the same view; its probabilities,
               if it has any, are a distribution over legal actions; a program plays 64 games in
               parallel, at all seats, without a fault
    speed      the time of the slowest answer to one position
    beliefs    the results of the method ``beliefs``, if there is one, are probabilities; the line
               compares them with counting unseen tiles, as the exam does
    plays      the agent plays a small tournament against greedy without a fault
"""

from __future__ import annotations

import time
from collections.abc import Callable, Sequence
from dataclasses import dataclass, field
from typing import Final

from goita_agents.asking import (
    Believes,
    ask_beliefs,
    at_temperature,
    attempt_actions,
    build_agent,
    end_agent,
)
from goita_agents.base import Agent, AgentError, HasTemperature, Policy, raised
from goita_agents.bots.wrapped import unwrapped
from goita_agents.external.agent import ExternalAgent
from goita_env.rules import JGA, Rules
from goita_env.testing import check_agent
from goita_lab import cli
from goita_lab.arena.tournament.arena import Tournament
from goita_lab.arena.tournament.plan import TournamentPlan
from goita_lab.arena.tournament.summary import fault_counts
from goita_lab.exam.questions import Questions
from goita_lab.exam.scoring import counted, score

CHECK_OPPONENT: Final = "greedy"
CHECKED_POSITIONS: Final = 64
"""Positions of the exam with which speed and beliefs are checked."""
UNTIMED_ANSWERS: Final = 8
SPEED_SECONDS: Final = 10.0
"""No further answer is timed after so many seconds."""


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
    if not _check_answers(args):
        return 1
    tournament = Tournament(plan)
    tournament.play()
    played = tournament.played()
    faults = [fault for pairing in played for fault in fault_counts(pairing)]
    for fault in faults:
        print(f"plays: {fault.count:,} faults, the last {fault.kind}: {fault.text}")
        print(*fault.stderr, fault.traceback, sep="\n")
    if not faults:
        rounds = sum(int(pairing.games("rounds").sum()) for pairing in played)
        print(f"plays: ok, {rounds:,} rounds against {CHECK_OPPONENT} over {plan.deals:,} deals")
    return int(bool(faults))


def _check_answers(args: Args) -> bool:
    """Prints a line for each check of the agent's answers; returns whether all passed."""
    checks: dict[str, Callable[[Agent, Rules], str]] = {
        "answers": _legal_answers,
        "speed": _slowest_answer,
        "beliefs": _sound_beliefs,
    }
    for name, check in checks.items():
        agent = build_agent(args.agent)  # for each check a new one: the games of another are over
        try:
            if text := check(agent, args.rules):
                print(f"{name}: ok, {text}", flush=True)
            continue
        except (AssertionError, AgentError) as error:
            print(f"{name}: {error}")
        except KeyboardInterrupt:
            raise
        except BaseException as error:  # an agent may raise anything
            print(f"{name}: it raised {raised(error)}")
        finally:
            end_agent(agent)
        return False
    return True


def _legal_answers(agent: Agent, rules: Rules) -> str:
    """Checks actions and probabilities, and returns what was checked."""
    check_agent(agent, rules)
    program = unwrapped(agent)
    if isinstance(program, ExternalAgent):
        if program.faults:
            raise AgentError(str(program.faults[0]))
        return "legal actions in 64 games at once"
    if isinstance(agent, HasTemperature):
        at_temperature(agent, agent.temperature)
    answers = "legal actions and probabilities" if isinstance(agent, Policy) else "legal actions"
    return f"{answers}, the same for the same view"


def _slowest_answer(agent: Agent, _: Rules) -> str:
    """Returns the time of the slowest answer to one position.

    The first answers start a program for each seat, and compile code, so they do not count.
    """
    view = Questions.load().view()[:CHECKED_POSITIONS]
    legal, seconds = view.legal(), list[float]()
    while len(seconds) < len(view) and sum(seconds) < SPEED_SECONDS:
        row, start = len(seconds), time.perf_counter()
        attempt_actions(agent, view[row : row + 1], legal[row : row + 1], seed=0)
        seconds.append(time.perf_counter() - start)
    program, timed = unwrapped(agent), seconds[UNTIMED_ANSWERS:] or seconds[-1:]
    limit = f" (limit {program.ms:,} ms)" if isinstance(program, ExternalAgent) else ""
    return f"the slowest of {len(timed)} answers took {1000 * max(timed):.3g} ms{limit}"


def _sound_beliefs(agent: Agent, _: Rules) -> str:
    """Checks the beliefs of a method ``beliefs``; returns how they compare with counting tiles."""
    if not isinstance(agent, Believes):
        return ""
    questions = Questions.load()
    # Phase 0 is before play, where next to nothing can be known.
    rows = questions.phase().nonzero()[0][:CHECKED_POSITIONS]
    view, exact = questions.view()[rows], questions.exact[rows]
    believed = ask_beliefs(agent, view)
    assert believed is not None
    gain = (score(believed, exact) - score(counted(view), exact)).sum(axis=1).mean()
    return (
        f"{CHECKED_POSITIONS} positions, probabilities; {gain:+.2f} nats a position compared with "
        "counting unseen tiles"
    )
