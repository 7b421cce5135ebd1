"""Checks an agent in a minute, a line a check: "ok", or what is wrong.

goita check my_bots:Cautious:risk=0.9
goita check "exec:node my_bot.js" --rules pagat

"builds": the agent can be built; a program starts and answers the first message. "answers": legal
actions of the right shape, the same to the same question (goita_env.testing.check_agent).
"isolated": in a process of its own, one row at a time, it plays as it does here; programs always
have processes of their own.

Exit code 0: all is well. 1: something is wrong. 2: wrong arguments, or an agent that cannot be
built.
"""

from __future__ import annotations

import contextlib
import sys
import traceback
from collections.abc import Callable, Iterator, Sequence
from concurrent.futures.process import BrokenProcessPool
from dataclasses import dataclass, field
from functools import partial, partialmethod
from pathlib import Path
from typing import Final

import numpy as np

from goita_agents.base import Agent, AgentError, Bool, Int, close
from goita_agents.bots.wrapped import unwrapped
from goita_agents.external.agent import ExternalAgent
from goita_agents.external.command import parse_memory
from goita_agents.external.isolated import isolated
from goita_agents.faults import check_actions, contained
from goita_agents.registry import load_agent
from goita_env import Game, View, actions
from goita_env.errors import SettingError
from goita_env.rules import JGA, Rules
from goita_env.seeds import bot_seed
from goita_env.testing import check_agent
from goita_lab import cli
from goita_lab.arena.tournament.block import play_block
from goita_lab.arena.tournament.task import Seating, Task
from goita_lab.processes import Processes

TWINS: Final[Seating] = (0, 2, 1, 2)
"""The agent plays seats 0 and 2, here and in processes of its own; greedy players the others."""


@dataclass(frozen=True)
class Args:
    """Options of the command line."""

    agent: str = field(metadata=cli.POSITIONAL)
    """the agent, as goita evaluate takes it: my_bots:Mine"""
    rules: Rules = JGA
    """rule set: jga, pagat, nine, mini_3 to mini_5, or a JSON file of your own"""
    deals: int = 48
    """deals that it plays here and in processes of its own"""
    seed: int = 0
    """seed of the deals and of its random numbers"""
    isolate_ms: int = 1000
    """milliseconds for a decision in such a process"""
    isolate_memory: str = "2G"
    """memory of such a process"""
    seconds: int = 300
    """for each check"""

    def __post_init__(self) -> None:
        parse_memory(self.isolate_memory)
        bot_seed(self.seed, "check")
        if min(self.deals, self.isolate_ms, self.seconds) < 1:
            given = f"{self.deals}, {self.isolate_ms}, {self.seconds}"
            raise SettingError(f"expected at least 1 deal, 1 ms and 1 s, got {given}")


def main(argv: Sequence[str] | None = None) -> int:
    args, code = cli.parse(Args, argv, __doc__), 0
    with Processes() as processes:
        for name in CHECKS:
            wrong, found = _run(processes, name, args)
            if wrong == 2:
                cli.fail(found)
            code = max(code, wrong)
            print(f"{name}: {found}", flush=True)
            if code and name == "builds":
                break
    return code


def _run(processes: Processes, name: str, args: Args) -> tuple[int, str]:
    """Runs a check in a child, which the agent may end or block; returns exit code and finding."""
    try:
        return processes.submit(partial(_check, name, args)).result(args.seconds)
    except BrokenProcessPool:
        return 1, "expected its process to live, but it ended"
    except TimeoutError:
        processes.end()
        return 1, f"expected an end within {args.seconds} s (--seconds), got none"


def _check(name: str, args: Args) -> tuple[int, str]:
    try:
        with contained():
            return 0, CHECKS[name](args) or "ok"
    except BaseException as error:  # an agent may raise whatever it likes
        return 2 if name == "builds" and isinstance(error, AgentError) else 1, _sentence(error)


def _sentence(error: BaseException) -> str:
    """Returns an exception in a line, with its place unless a check raised it."""
    text = " ".join(str(error).split())
    if isinstance(error, AssertionError | AgentError) and text:
        return text
    place = traceback.extract_tb(error.__traceback__)[-1]
    where = f"{Path(place.filename).name}, line {place.lineno}"
    return f"{type(error).__name__}{': ' if text else ''}{text} ({where})"


# --------------------------------------------------------------------------------------- the checks


@contextlib.contextmanager
def _built(spec: str) -> Iterator[Agent]:
    agent = load_agent(spec)
    try:
        yield agent
    finally:
        close([agent])


def _builds(args: Args) -> None:
    with _built(args.agent) as agent:
        program, view = unwrapped(agent), Game(args.rules, seed=args.seed).view(0)
        if isinstance(program, ExternalAgent):
            program.begin(view.game, np.zeros(1, np.int64), view)  # starts it
            for fault in program.faults:
                lines = [f"the program did not start: {fault.text}", *fault.stderr]
                raise AssertionError("\n".join(lines))


def _answers(args: Args) -> None:
    with _built(args.agent) as agent:
        check_agent(agent, args.rules)
    program = unwrapped(agent)
    if isinstance(program, ExternalAgent) and program.faults:
        raise AssertionError(str(program.faults[0]))


def _isolated(args: Args) -> str | None:
    with contextlib.ExitStack() as stack:
        if isinstance(unwrapped(stack.enter_context(_built(args.agent))), ExternalAgent):
            return "not tried, because a program always has processes of its own"
        twins = [_Twins(args, TWINS.index(player), stack) for player in (0, 1)]
        names = (args.agent, args.agent, "greedy")
        play_block(Task(names, args.seed, 0, 0, args.deals, args.rules, seatings=(TWINS,)), twins)
    for one in twins:
        one.check_faults()
    return None


class _Twins:
    """An agent that plays here and in a process, and both are compared."""

    def __init__(self, args: Args, seat: int, stack: contextlib.ExitStack) -> None:
        seed = bot_seed(args.seed, "check", seat)
        self.name, self.seat, self.rng = args.agent, seat, np.random.default_rng(seed)
        self.here = stack.enter_context(_built(args.agent))
        self.there = stack.enter_context(
            isolated(
                args.agent,
                ms=args.isolate_ms,
                memory=parse_memory(args.isolate_memory),
                seed=seed,
            )
        )

    def _tell(self, method: str, *arguments: object) -> None:
        for agent in (self.here, self.there):
            # a stateless agent has none of these methods
            if (tell := getattr(agent, method, None)) is not None:
                tell(*arguments)

    begin = partialmethod(_tell, "begin")
    redeal = partialmethod(_tell, "redeal")
    end = partialmethod(_tell, "end")

    def act(self, view: View, legal: Bool, rng: np.random.Generator) -> Int:
        """Returns what both answer; raises if that differs, is illegal or no answer."""
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
        for fault in self.there.faults:
            sys.stderr.write(f"{fault.traceback}\n")
            raise AssertionError(f"in a process of its own: {fault.kind}: {fault.text}")


CHECKS: Final[dict[str, Callable[[Args], str | None]]] = {
    "builds": _builds,
    "answers": _answers,
    "isolated": _isolated,
}
"""The checks by the name that their line begins with; each raises where something is wrong, and
returns what the line says in place of "ok"."""
