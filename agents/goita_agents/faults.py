"""Counts what goes wrong in agents that somebody else wrote.

Agents of this repository answer legally. A user's class or a program may raise, be late, answer
nonsense or die; the tournament goes on, and the report lists the faults. An agent that counts its
faults is a ``FaultTracking``; ``GuardedAgent`` makes one of a user's class.
"""

from __future__ import annotations

import traceback
from collections.abc import Callable
from dataclasses import dataclass
from functools import partialmethod
from typing import Any, Final, Literal, Protocol, TypeVar, runtime_checkable

import numpy as np

from goita_agents.base import AnswerError, read_actions
from goita_env import View
from goita_env.agent import Agent, StatefulAgent, uniform
from goita_env.arrays import Bool, Int
from goita_env.errors import GoitaError

TEXT: Final = 500  # Most characters of an error's text that are kept.
TRACEBACK: Final = 4000  # Last characters of a traceback that are kept.

T = TypeVar("T")

Kind = Literal["hello", "late", "illegal", "nonsense", "flood", "died", "raised"]
"""What a bot did: no proper handshake in time; no answer in time; an illegal action; something that
is no answer; too much output; its program ended; its code raised an exception."""

FAULTS: Final = 10  # Number of faults at which a bot forfeits the rest of its pairing.

RESTARTS: Final = 3  # Most restarts of an agent's programs; a tournament has one agent a seat.


@dataclass(frozen=True)
class Fault:
    """One fault of an agent."""

    kind: Kind
    seat: int  #: The seat, 0 to 3; -1: not known.
    game: int  #: Number of the game as ``view.game`` shows it; -1: in none.
    text: str  #: What was expected and what came.
    stderr: tuple[str, ...] = ()  #: The last lines of the program's standard error, oldest first.
    traceback: str = ""  #: Last lines of the traceback, for "raised".
    deal: int = -1  #: Number of the duplicate deal under the seed; -1: in none, or not known.
    seating: int = -1  #: The game of that deal: an index of ``Task.seatings``; -1: not known.

    def __str__(self) -> str:
        number = f"deal {self.deal}" if self.deal >= 0 else f"game {self.game}"
        where = f"seat {self.seat}" + (f", {number}" if self.game >= 0 else "")
        return "\n".join([f"{self.kind} ({where}): {self.text}", *(f"  {s}" for s in self.stderr)])


@runtime_checkable
class FaultTracking(Agent, Protocol):
    """An agent that counts its faults.

    A decision that the agent fails to make is replaced by a uniformly random legal action; after a
    forfeit every decision is. Faults are never removed: each pairing gets an agent of its own.

    Attributes:
        faults: all so far, in order; never more than ``FAULTS``.
        forfeited: it is out for the rest of the pairing. Its games go on at random, so that a
            block is always finished, but they are no results of this agent.
    """

    faults: list[Fault]
    forfeited: bool

    def forfeit(self) -> None:
        """Forfeits, because all instances of the player together made too many faults."""
        ...

    def close(self) -> None:
        """Ends what the agent runs; it may be used again and then starts anew."""
        ...


class BotError(GoitaError):
    """A fault of a program inside the bot protocol: what was expected and what came.

    After a ``fatal`` one the program must be restarted; so always after "hello", "flood", "died".
    """

    def __init__(self, kind: Kind, text: str, *, fatal: bool = False) -> None:
        super().__init__(text)
        self.kind: Kind = kind
        self.fatal = fatal or kind in ("hello", "flood", "died")


class GuardedAgent:
    """An agent that plays one seat of one seating by a user's class.

    The class may raise, leave with ``SystemExit``, answer nonsense or change its arguments: each is
    a recorded fault, and a random legal action is played instead.

    Args:
        name: of the agent.
        build: builds it.
        seat: that it plays.
        chance: draws the actions that replace missing ones; the class never sees it.
    """

    def __init__(
        self, name: str, build: Callable[[], Agent], seat: int, chance: np.random.Generator
    ) -> None:
        self.name, self.faults, self.forfeited = name, list[Fault](), False
        self._seat, self._chance = seat, chance
        self._agent: Any = self._call("__init__", build)
        self.forfeited = self._agent is None
        # Even to look for its methods may run the class's code.
        told = self._call("begin", lambda: isinstance(self._agent, StatefulAgent))
        self.is_stateful = bool(told)

    def _tell(self, method: str, *arguments: Any) -> None:
        def tell() -> None:
            if (told := getattr(self._agent, method, None)) is not None:
                told(*arguments)

        if self.is_stateful or method == "close":
            self._call(method, tell, arguments[0] if arguments else None)

    begin = partialmethod(_tell, "begin")
    redeal = partialmethod(_tell, "redeal")
    end = partialmethod(_tell, "end")

    def act(self, view: View, legal: Bool, rng: np.random.Generator) -> Int:
        """Returns the class's actions, random legal ones where it fails: int64 [N]."""
        games, agent = view.game.copy(), self._agent
        # The class may write into its mask. Reading its answer may run its code, too.
        found = self._call(
            "act", lambda: read_actions(agent.act(view, legal.copy(), rng), legal, self.name), games
        )
        if found is None:
            return self._random(legal)
        actions, wrong = found
        for row, text in wrong.items():
            self._fault("illegal", int(games[row]), text)
        if wrong:
            rows = list(wrong)
            actions[rows] = self._random(legal[rows])
        return actions

    def close(self) -> None:
        self._tell("close")
        self._agent = None

    def forfeit(self) -> None:
        self.forfeited = True

    def _call(self, what: str, work: Callable[[], T], games: Int | None = None) -> T | None:
        """Runs the class's code; returns None after a fault, or if it has forfeited."""
        if self.forfeited:
            return None
        rows = 1 if games is None else len(games)
        first = -1 if games is None or not rows else int(games[0])
        try:
            return work()
        except KeyboardInterrupt:
            raise
        except AnswerError as error:
            self._fault("nonsense", first, str(error))
        except BaseException as error:  # SystemExit among them: a class may not end a tournament
            where = f" for {rows} positions at once, this game the first" if rows > 1 else ""
            text, trace = _describe(error)
            self._fault("raised", first, f"{what}{where}: {text}", trace)
        return None

    def _fault(self, kind: Kind, game: int, text: str, trace: str = "") -> None:
        if len(self.faults) < FAULTS:
            self.faults.append(Fault(kind, self._seat, game, text[:TEXT], traceback=trace))
        self.forfeited |= len(self.faults) >= FAULTS

    def _random(self, legal: Bool) -> Int:
        return uniform(legal, self._chance.random(len(legal)))


def _describe(error: BaseException) -> tuple[str, str]:
    """Returns an exception as one line, and the last lines of its traceback; no lone surrogates."""
    try:
        line = " ".join("".join(traceback.format_exception_only(error)).split())
        lines = "".join(traceback.format_exception(error, limit=-10))[-TRACEBACK:]
    except Exception:  # the exception is the user's object, too
        return "an exception that cannot be shown", ""
    return line.encode("utf-8", "replace").decode(), lines.encode("utf-8", "replace").decode()
