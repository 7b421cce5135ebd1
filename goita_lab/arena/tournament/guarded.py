"""Runs a user's class and turns what goes wrong in it into faults.

A class may raise, leave with ``SystemExit``, answer nonsense or change its arguments. None of that
ends a tournament: each is a recorded fault, and a random legal action is played instead.
"""

from __future__ import annotations

import mmap
import os
import struct
import time
import traceback
from collections.abc import Callable
from functools import partialmethod
from pathlib import Path
from typing import Any, Final, TypeVar

import numpy as np

from goita_agents.answers import AnswerError, read_actions
from goita_agents.base import Agent, Bool, Int, RedealObserver, StatefulAgent, uniform
from goita_agents.faults import FAULTS, Fault, Kind, contained
from goita_agents.registry import load_agent, short_name
from goita_env import View

TEXT: Final = 500  # Most characters of an error's text that are kept.
TRACEBACK: Final = 4000  # Last characters of a traceback that are kept.

T = TypeVar("T")


class Watch:
    """Notes in a file whose code this process runs, for another process to read after a crash.

    Args:
        folder: holds one file per process, named by its number.
        limits: seconds that a call may take, and seconds for each of its positions.
    """

    layout: Final = struct.Struct("<qqd")
    """Player, seat (-1: none), and until when the code may run."""

    def __init__(self, folder: str, limits: tuple[float, float]) -> None:
        self._limits = limits
        path = Path(folder, str(os.getpid()))
        if not path.exists():
            path.write_bytes(self.layout.pack(-1, -1, 0.0))
        with path.open("r+b") as file:
            self._map = mmap.mmap(file.fileno(), self.layout.size)

    def enter(self, player: int, seat: int, rows: int) -> None:
        """Notes that a player's code runs, for ``rows`` positions."""
        deadline = time.monotonic() + self._limits[0] + self._limits[1] * rows
        self._map[:] = self.layout.pack(player, seat, deadline)

    def leave(self) -> None:
        self._map[:] = self.layout.pack(-1, -1, 0.0)


class GuardedAgent:
    """Plays one seat of one seating by a user's class.

    The generator ``chance`` draws the actions that replace missing ones; the class never sees it.
    If its code has ended a process, the fault ``dead``, it is not built and has forfeited.
    """

    def __init__(
        self,
        spec: str,
        player: int,
        seat: int,
        chance: np.random.Generator,
        watch: Watch | None = None,
        dead: Fault | None = None,
    ) -> None:
        self.name = short_name(spec)
        self.faults = [dead] if dead else []
        self.forfeited = dead is not None
        self._player, self._seat, self._chance, self._watch = player, seat, chance, watch
        self._agent: Any = None
        self._methods = self._call("__init__", lambda: self._build(spec)) or []
        self.forfeited |= not self._methods
        self.is_stateful = "begin" in self._methods

    def _tell(self, method: str, *arguments: Any) -> None:
        if method in self._methods:
            games = arguments[0] if arguments else None
            self._call(method, lambda: getattr(self._agent, method)(*arguments), games)

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
        self._agent, self._methods = None, []

    def forfeit(self) -> None:
        self.forfeited = True

    def _build(self, spec: str) -> list[str]:
        """Builds the agent and returns its methods; even looking at them may run its code."""
        agent: Agent = load_agent(spec)
        methods = ["act"]
        if isinstance(agent, StatefulAgent):
            methods += ["begin", "end"]
        if isinstance(agent, RedealObserver):
            methods.append("redeal")
        if callable(getattr(agent, "close", None)):
            methods.append("close")
        self._agent = agent
        return methods

    def _call(self, what: str, work: Callable[[], T], games: Int | None = None) -> T | None:
        """Runs the class's code; returns None after a fault, or if it has forfeited."""
        if self.forfeited:
            return None
        rows = 1 if games is None else len(games)
        first = -1 if games is None or not rows else int(games[0])
        if self._watch is not None:
            self._watch.enter(self._player, self._seat, rows)
        try:
            with contained():
                return work()
        except KeyboardInterrupt:
            raise
        except AnswerError as error:
            self._fault("nonsense", first, str(error))
        except BaseException as error:  # SystemExit among them: a class may not end a tournament
            where = f" for {rows} positions at once, this game the first" if rows > 1 else ""
            text, trace = _describe(error)
            self._fault("raised", first, f"{what}{where}: {text}", trace)
        finally:
            if self._watch is not None:
                self._watch.leave()
        return None

    def _fault(self, kind: Kind, game: int, text: str, trace: str = "") -> None:
        if len(self.faults) < FAULTS:
            self.faults.append(Fault(kind, self._seat, game, text[:TEXT], traceback=trace))
        self.forfeited |= len(self.faults) >= FAULTS

    def _random(self, legal: Bool) -> Int:
        return uniform(legal, self._chance.random(len(legal)))


def _describe(error: BaseException) -> tuple[str, str]:
    """Returns an exception as one line, and the last lines of its traceback."""
    try:
        found = traceback.TracebackException.from_exception(error, limit=-10)
        found.stack[:] = [frame for frame in found.stack if frame.filename != __file__]
        line = " ".join("".join(found.format_exception_only()).split())
        return _clean(line), _clean("".join(found.format()))[-TRACEBACK:]
    except Exception:  # the exception is the user's object, too
        return "an exception that cannot be shown", ""


def _clean(text: str) -> str:
    """Replaces lone surrogates, which no file can hold."""
    return text.encode("utf-8", "replace").decode()
