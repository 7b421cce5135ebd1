"""Says what can go wrong with an agent that somebody else wrote, and how that is told.

An agent of this repository answers legally. A class or a program of somebody else's may raise, be
late, answer nonsense or die; the tournament goes on without it, and the report says what happened.
Whoever runs agents may ask any of them: ``isinstance(agent, Accountable)``, then read ``faults``.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import Final, Literal, Protocol, runtime_checkable

from agents.base import Agent
from goita_env.errors import GoitaError

Kind = Literal["hello", "late", "illegal", "nonsense", "flood", "died", "raised"]
"""What a bot did: no proper handshake in time; no answer in time; an action that the rules forbid;
something that is no answer; too much output; its program ended; its code raised an exception."""

FAULTS: Final = 10
"""So many faults of a bot and it forfeits the rest of its pairing."""

RESTARTS: Final = 3
"""So often a bot's programs are started again, all seats together."""


@dataclass(frozen=True)
class Fault:
    """Puts one fault of an agent on record."""

    kind: Kind
    seat: int
    """The seat at the table that the program served."""
    game: int
    """Number of the game as ``view.game`` shows it; -1: in none."""
    text: str
    """What was expected and what came."""
    stderr: tuple[str, ...] = ()
    """The last lines of the program's standard error, oldest first."""
    traceback: str = ""
    """Of the exception, for "raised"; cut to its last lines."""
    deal: int = -1
    """Number of the duplicate deal under the seed; -1: in none, or not known."""
    seating: int = -1
    """Which of the games of that deal: an index of ``Task.seatings``; -1: not known."""

    def __str__(self) -> str:
        """Writes the fault and the last lines of standard error, for a report."""
        number = f"deal {self.deal}" if self.deal >= 0 else f"game {self.game}"
        where = f"seat {self.seat}" + (f", {number}" if self.game >= 0 else "")
        return "\n".join([f"{self.kind} ({where}): {self.text}", *(f"  {s}" for s in self.stderr)])


@runtime_checkable
class Accountable(Agent, Protocol):
    """Plays, and keeps count of its faults.

    A decision that the agent failed to make has been made for it, uniformly at random among the
    legal actions with the generator handed to ``act``. Once it has forfeited, all are. Nothing
    takes a fault off the record: each pairing gets an agent of its own.

    Attributes:
        faults: all so far, in order; never more than ``FAULTS``.
        forfeited: it is out for the rest of the pairing. Its games go on at random, so that a
            block is always finished, but they are not results of this agent.
    """

    faults: list[Fault]
    forfeited: bool

    def forfeit(self) -> None:
        """Takes notice that it is out: all instances of a player together made too many faults."""
        ...

    def close(self) -> None:
        """Ends what the agent runs. It may be used again afterwards, and starts anew."""
        ...


class BotError(GoitaError):
    """Reports, inside the bot protocol, that a program failed to do what it should.

    Args:
        kind: what it did.
        text: what was expected and what came.
        fatal: the program cannot go on and has to be started again; so it is in any case after
            "hello", "flood" and "died".
    """

    def __init__(self, kind: Kind, text: str, *, fatal: bool = False) -> None:
        super().__init__(text)
        self.kind: Kind = kind
        self.fatal = fatal or kind in ("hello", "flood", "died")
