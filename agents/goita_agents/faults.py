"""Counts the faults of agents that somebody else wrote.

Agents of this repository answer legally. A user's class or a program may raise, be late, answer
nonsense or die; the tournament continues, and the report lists the faults. An agent that counts its
faults is a ``FaultTracking``; ``goita_agents.asking.GuardedAgent`` makes one of a user's class.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import Final, Literal, Protocol, runtime_checkable

from goita_env.agent import Agent
from goita_env.errors import GoitaError

Kind = Literal["hello", "late", "illegal", "nonsense", "flood", "died", "raised"]
"""Kinds of faults: no proper handshake in time; no answer in time; an illegal action; a line that
is not an answer; too much output; the program ended; the code raised an exception."""

FAULTS: Final = 10  # Number of faults at which a bot forfeits the rest of its pairing.

RESTARTS: Final = 3  # Most restarts of an agent's programs; a tournament has one agent a seat.


@dataclass(frozen=True)
class Fault:
    """A fault of an agent."""

    kind: Kind
    seat: int  #: The seat, 0 to 3; -1: not known.
    game: int  #: Number of the game as ``view.game`` shows it; -1: not in a game.
    text: str  #: What was expected and what came.
    stderr: tuple[str, ...] = ()  #: The last lines of the program's standard error, oldest first.
    traceback: str = ""  #: Last lines of the traceback, for "raised".
    deal: int = -1  #: Number of the duplicate deal under the seed; -1: not in a deal, or not known.
    seating: int = -1  #: The game of that deal: an index of ``Task.seatings``; -1: not known.

    def __str__(self) -> str:
        game = f"deal {self.deal}" if self.deal >= 0 else f"game {self.game}"
        where = f"seat {self.seat}" + (f", {game}" if self.game >= 0 else "")
        return "\n".join([f"{self.kind} ({where}): {self.text}", *(f"  {s}" for s in self.stderr)])


@runtime_checkable
class FaultTracking(Agent, Protocol):
    """An agent that counts its faults.

    A decision that the agent fails to make is replaced by a uniformly random legal action; after a
    forfeit every decision is. Faults are never removed: each pairing gets an agent of its own.

    Attributes:
        faults: all faults so far, in order; never more than ``FAULTS``.
        forfeited: it is out for the rest of the pairing. Its games continue at random, so that a
            block is always finished, but they are not results of this agent.
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

    After a ``fatal`` fault the program must be restarted; "hello", "flood" and "died" always are.
    """

    def __init__(self, kind: Kind, text: str, *, fatal: bool = False) -> None:
        super().__init__(text)
        self.kind: Kind = kind
        self.fatal = fatal or kind in ("hello", "flood", "died")
