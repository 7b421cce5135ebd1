"""Plays as somebody else's class, and turns what goes wrong in it into faults.

A class may raise, leave with ``SystemExit``, answer nonsense or change what it is handed. None of
that ends a tournament: each is a fault on record, and random legal actions take its place.
"""

from __future__ import annotations

import traceback
from collections.abc import Callable
from typing import Final, Protocol, TypeVar

import numpy as np

from agents.answers import AnswerError, read_actions
from agents.base import Agent, Bool, Int, Memory, Results, ToldOfRedeals
from agents.faults import FAULTS, Fault, Kind
from agents.registry import load_agent, short_name
from goita_env import View

TEXT: Final = 500
"""Most characters of an error's text that are kept."""
TRACEBACK: Final = 4000
"""Last characters of a traceback that are kept."""

T = TypeVar("T")


class Watch(Protocol):
    """Is told which player's code runs, for whoever must know it after a crash."""

    def enter(self, player: int, seat: int, rows: int) -> None:
        """Takes notice that a player's code runs, for so many positions."""
        ...

    def leave(self) -> None:
        """Takes notice that it has returned."""
        ...


class GuardedAgent:
    """Plays as a class of somebody else's, one seat of one seating.

    Args:
        spec: the text that ``load_agent`` takes.
        player: its number in the pairing.
        seat: where it sits, 0 to 3.
        chance: draws the actions that replace those that it fails to choose; the class never sees
            it.
        watch: is told when the class's code runs.

    Attributes:
        name: by which results know it.
        faults: all so far (``agents.faults.Accountable``); never more than ``FAULTS``.
        forfeited: it is out; every decision is a random one.
    """

    def __init__(
        self,
        spec: str,
        player: int,
        seat: int,
        chance: np.random.Generator,
        watch: Watch | None = None,
    ) -> None:
        self.name = short_name(spec)
        self.faults: list[Fault] = []
        self.forfeited = False
        self._player, self._seat, self._chance, self._watch = player, seat, chance, watch
        self._class: _Class | None = None
        self._class = self._call("__init__", lambda: _Class(load_agent(spec)))
        self.forfeited = self._class is None
        self.remembers = self._class is not None and self._class.memory is not None

    def begin(self, games: Int, seats: Int, view: View) -> None:
        """Tells the class of new deals, if it has a memory."""
        memory = self._class.memory if self._class else None
        if memory is not None:
            self._call("begin", lambda: memory.begin(games, seats, view), games)

    def redeal(self, games: Int, view: View) -> None:
        """Tells the class of deals that ended in a redeal, if it wants to know."""
        redeal = self._class.redeal if self._class else None
        if redeal is not None:
            self._call("redeal", lambda: redeal(games, view), games)

    def end(self, games: Int, results: Results, hands: Int) -> None:
        """Tells the class of rounds that were scored, if it has a memory."""
        memory = self._class.memory if self._class else None
        if memory is not None:
            self._call("end", lambda: memory.end(games, results, hands), games)

    def act(self, view: View, legal: Bool, rng: np.random.Generator) -> Int:
        """Returns the class's actions, random legal ones where it fails: int64 [N]."""
        if self._class is None or self.forfeited:
            return self._random(legal)
        agent, games = self._class.agent, view.game.copy()
        # A copy, for the class may write into what it is handed. Its answer may be an object that
        # does what it likes as it is read.
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
        """Ends what the class runs beside it."""
        close = self._class.close if self._class else None
        if close is not None:
            self._call("close", close)
        self._class = None

    def forfeit(self) -> None:
        """Takes notice that the player is out."""
        self.forfeited = True

    def _call(self, what: str, work: Callable[[], T], games: Int | None = None) -> T | None:
        """Returns what a piece of the class's code returns; None, and a fault, where it raises."""
        if self.forfeited:
            return None
        rows = 1 if games is None else len(games)
        if self._watch is not None:
            self._watch.enter(self._player, self._seat, rows)
        try:
            return work()
        except KeyboardInterrupt:
            raise
        except AnswerError as error:
            self._fault("nonsense", -1 if games is None else int(games[0]), str(error))
            return None
        except BaseException as error:  # SystemExit among them: a class may not end a tournament
            first = -1 if games is None or not len(games) else int(games[0])
            where = f" for {rows} positions at once, this game the first" if rows > 1 else ""
            text, trace = _told(error)
            self._fault("raised", first, f"{what}{where}: {text}", trace)
            return None
        finally:
            if self._watch is not None:
                self._watch.leave()

    def _fault(self, kind: Kind, game: int, text: str, trace: str = "") -> None:
        """Puts a fault on record."""
        if len(self.faults) < FAULTS:
            self.faults.append(Fault(kind, self._seat, game, text[:TEXT], traceback=trace))
        self.forfeited |= len(self.faults) >= FAULTS

    def _random(self, legal: Bool) -> Int:
        """Returns a random legal action in each row: int64 [N]."""
        return random_actions(legal, self._chance)


class _Class:
    """Holds an agent of somebody else's, and what it can do: looking may run its code, too.

    Args:
        agent: built.
    """

    def __init__(self, agent: Agent) -> None:
        self.agent = agent
        self.memory = agent if isinstance(agent, Memory) else None
        self.redeal = agent.redeal if isinstance(agent, ToldOfRedeals) else None
        close = getattr(agent, "close", None)
        self.close: Callable[[], object] | None = close if callable(close) else None


class DeadAgent:
    """Plays at random for a player whose code ended the process that it ran in.

    Args:
        name: of the player.
        fault: what it did.
        chance: draws its actions.
    """

    def __init__(self, name: str, fault: Fault, chance: np.random.Generator) -> None:
        self.name, self.faults, self.forfeited = name, [fault], True
        self._chance = chance

    def act(self, view: View, legal: Bool, rng: np.random.Generator) -> Int:
        """Returns a random legal action in each row: int64 [N]."""
        return random_actions(legal, self._chance)

    def forfeit(self) -> None:
        """Is out already."""

    def close(self) -> None:
        """Has nothing to end."""


def random_actions(legal: Bool, chance: np.random.Generator) -> Int:
    """Returns a random legal action in each row, all equally likely: int64 [N]."""
    drawn: Int = np.where(legal, chance.random(legal.shape), -1.0).argmax(axis=1)
    return drawn


def _told(error: BaseException) -> tuple[str, str]:
    """Returns an exception as one line, and the last lines of its traceback."""
    try:
        found = traceback.TracebackException.from_exception(error, limit=-10)
        found.stack[:] = [frame for frame in found.stack if frame.filename != __file__]
        line = " ".join("".join(found.format_exception_only()).split())
        return _clean(line), _clean("".join(found.format()))[-TRACEBACK:]
    except Exception:  # the exception is somebody else's object, too
        return "an exception that cannot be shown", ""


def _clean(text: str) -> str:
    """Returns text that any file can hold: no lone surrogates."""
    return text.encode("utf-8", "replace").decode()
