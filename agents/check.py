"""Checks an agent in a minute, a line a check: "ok", or what is wrong.

python -m agents.check my_bots:Cautious:risk=0.9

"answers": legal actions of the right shape, the same to the same question
(goita_env.testing.check_agent). "isolated": it plays in a process of its own, which asks for one
row at a time, as it plays here. "attack": what it is given in a tournament, generator, views and
numbers of games, does not tell the seed, with which it could rebuild all hands.

Exit code 0: all is well. 1: something is wrong. 2: wrong arguments, or there is no such agent.
"""

from __future__ import annotations

import contextlib
import secrets
import sys
import traceback
from collections.abc import Callable, Iterator, Sequence
from concurrent.futures.process import BrokenProcessPool
from dataclasses import dataclass, field
from functools import partial
from pathlib import Path
from typing import Final

import numpy as np

from agents import cli
from agents.answers import check_actions
from agents.attack import Attacker
from agents.base import Agent, AgentError, Bool, Int, Memory, Results, ToldOfRedeals
from agents.bots.greedy import GreedyAgent
from agents.external.agent import ExternalAgent
from agents.external.command import parse_memory
from agents.external.isolated import isolated
from agents.registry import load_agent
from agents.tournament.block import play_block
from agents.tournament.children import Children
from agents.tournament.plan import tasks
from goita_env import View, actions
from goita_env.errors import SettingError
from goita_env.rounds import Rounds, Tick
from goita_env.rules import JGA, Rules
from goita_env.seeds import GameNumbers, bot_seed
from goita_env.testing import check_agent

SEATS: Final = (0, 2)
"""Where the agent sits when it plays here and elsewhere; greedy players sit at the others."""


@dataclass(frozen=True)
class Args:
    """Options of the command line."""

    agent: str = field(metadata=cli.POSITIONAL)
    """the agent, as evaluate.py takes it: my_bots:Mine"""
    rules: Rules = JGA
    """rule set: jga, pagat, nine, or a JSON file of your own"""
    deals: int = 48
    """deals that it plays here and in processes of its own"""
    seed: int = 0
    """seed of the deals and of its random numbers"""
    ms: int = 1000
    """milliseconds for a decision in such a process"""
    memory: str = "2G"
    """memory of such a process"""
    seconds: int = 300
    """for each check"""

    def __post_init__(self) -> None:
        """Checks what can be checked before the agent is built."""
        parse_memory(self.memory)
        bot_seed(self.seed, "check")
        if min(self.deals, self.ms, self.seconds) < 1:
            given = f"{self.deals}, {self.ms}, {self.seconds}"
            raise SettingError(f"expected at least 1 deal, 1 ms and 1 s, got {given}")


def main(argv: Sequence[str] | None = None) -> int:
    """Runs every check, prints what each has found and returns the exit code."""
    args, code = cli.parse(Args, argv, __doc__), 0
    with Children(1) as children:
        for name in CHECKS:
            wrong, found = _found(children, name, args)
            if wrong == 2:
                cli.fail(found)
            code = max(code, wrong)
            print(f"{name}: {found}", flush=True)
            if code and name == "builds":
                break
    return code


def _found(children: Children, name: str, args: Args) -> tuple[int, str]:
    """Has a child do a check: an agent may end its process, or never answer.

    Args:
        children: where.
        name: of the check.
        args: what is checked.

    Returns:
        The exit code, and what was found.
    """
    try:
        return children.submit(partial(_check, name, args)).result(args.seconds)
    except BrokenProcessPool:
        return 1, "expected its process to live, but it ended"
    except TimeoutError:
        children.end()
        return 1, f"expected an end within {args.seconds} s (--seconds), got none"


def _check(name: str, args: Args) -> tuple[int, str]:
    """Does a check; returns the exit code and what was found."""
    try:
        CHECKS[name](args)
    except BaseException as error:  # an agent may raise whatever it likes
        return 2 if name == "builds" and isinstance(error, AgentError) else 1, _sentence(error)
    return 0, "ok"


def _sentence(error: BaseException) -> str:
    """Returns in a line what an exception says, and where it was raised unless a check did so."""
    text = " ".join(str(error).split())
    if isinstance(error, AssertionError | AgentError) and text:
        return text
    place = traceback.extract_tb(error.__traceback__)[-1]
    where = f"{Path(place.filename).name}, line {place.lineno}"
    return f"{type(error).__name__}{': ' if text else ''}{text} ({where})"


# --------------------------------------------------------------------------------------- the checks


@contextlib.contextmanager
def _built(spec: str) -> Iterator[Agent]:
    """Builds an agent, and ends in the end what it runs."""
    agent = load_agent(spec)
    try:
        yield agent
    finally:
        close = getattr(agent, "close", None)
        if callable(close):
            close()


def _builds(args: Args) -> None:
    """Checks that there is such an agent.

    Raises:
        AgentError: if there is none.
    """
    with _built(args.agent):
        pass


def _answers(args: Args) -> None:
    """Checks that it answers what it may, and a program that it makes no fault.

    Raises:
        AssertionError: if not.
    """
    with _built(args.agent) as agent:
        check_agent(agent, args.rules)
    if isinstance(agent, ExternalAgent) and agent.faults:
        raise AssertionError(str(agent.faults[0]))


def _isolated(args: Args) -> None:
    """Checks that it plays elsewhere as it plays here; a program has processes of its own anyway.

    Raises:
        AssertionError: if not.
    """
    with contextlib.ExitStack() as stack:
        if isinstance(stack.enter_context(_built(args.agent)), ExternalAgent):
            return
        twins = {seat: _Twins(args, seat, stack) for seat in SEATS}
        numbers = GameNumbers(args.seed, "check").shown(np.arange(args.deals))
        rounds = Rounds(args.deals, rules=args.rules, seed=args.seed, numbers=numbers)
        greedy, rng, tick = GreedyAgent(), np.random.default_rng(0), rounds.tick
        while True:
            for one in twins.values():
                one.tell(rounds, tick)
            if rounds.over:
                break
            chosen = np.zeros(len(tick.rows), np.int64)
            for seat in range(4):
                mine = tick.seats == seat
                if mine.any():
                    agent = twins.get(seat, greedy)
                    chosen[mine] = agent.act(tick.view[mine], tick.legal[mine], rng)
            tick = rounds.step(chosen)
    for one in twins.values():
        one.check_faults()


def _attack(args: Args) -> None:
    """Checks that nobody could rebuild a deal from what the agent is given.

    Raises:
        AssertionError: if somebody could.
    """
    seed = secrets.randbits(63)
    with _built(args.agent) as agent:
        attacker = Attacker(agent)
        (task,) = tasks((attacker.name, "greedy"), max(2, args.deals), seed=seed, rules=args.rules)
        play_block(task, [attacker])
    rebuilt = attacker.rebuilt()
    if rebuilt:
        games = len(attacker.hands)
        raise AssertionError(f"expected hidden hands, got {rebuilt} of {games} deals rebuilt")


class _Twins:
    """Holds an agent at one seat twice, here and in a process of its own, and compares them.

    Args:
        args: what is checked.
        seat: where it sits.
        stack: closes both.
    """

    def __init__(self, args: Args, seat: int, stack: contextlib.ExitStack) -> None:
        seed = bot_seed(args.seed, "check", seat)
        self.seat, self.rng = seat, np.random.default_rng(seed)
        self.here = stack.enter_context(_built(args.agent))
        self.there = stack.enter_context(
            isolated(args.agent, ms=args.ms, memory=parse_memory(args.memory), seed=seed)
        )

    def tell(self, rounds: Rounds, tick: Tick) -> None:
        """Tells both what ended and what was dealt."""
        for agent in (self.here, self.there):
            for what in (tick.redealt, tick.ended, tick.dealt):
                if what is None or not isinstance(agent, Memory):
                    continue
                index, seats = np.arange(len(what.rows)), np.full(len(what.rows), self.seat)
                view, games = what.view(index, seats), 4 * rounds.numbers[what.rows] + seats
                if what is tick.dealt:
                    agent.begin(games, seats, view)
                elif what is tick.ended:
                    agent.end(games, Results(what.winner, what.points, view), what.hands)
                elif isinstance(agent, ToldOfRedeals):
                    agent.redeal(games, view)

    def act(self, view: View, legal: Bool, rng: np.random.Generator) -> Int:
        """Returns what both answer.

        Raises:
            AssertionError, AgentError: if that is not the same, or no answer.
        """
        answer = self.here.act(view, legal.copy(), self.rng)
        here = check_actions(answer, legal, self.here.name, view.game)
        there = self.there.act(view, legal, rng)
        self.check_faults()
        other = np.flatnonzero(here != there)
        if len(other):
            row = other[0]
            raise AssertionError(
                f"expected the same play in a process of its own, row by row, as here, got "
                f"{actions.name(int(there[row]))} there and {actions.name(int(here[row]))} here "
                f"(row {row} of {len(view)}, seat {self.seat}): an action may depend on nothing "
                "but its row, what it was told of the game, and one draw a row in their order"
            )
        return here

    def check_faults(self) -> None:
        """Checks that the one elsewhere has made no fault.

        Raises:
            AssertionError: if it has.
        """
        for fault in self.there.faults:
            sys.stderr.write(f"{fault.traceback}\n")
            raise AssertionError(f"in a process of its own: {fault.kind}: {fault.text}")


CHECKS: Final[dict[str, Callable[[Args], None]]] = {
    "builds": _builds,
    "answers": _answers,
    "isolated": _isolated,
    "attack": _attack,
}
"""Every check by the name that its line begins with; it raises where something is wrong."""

if __name__ == "__main__":
    raise SystemExit(main())
