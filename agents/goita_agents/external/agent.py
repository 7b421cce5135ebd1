"""Plays with any program that speaks the bot protocol on its standard streams: ``exec:COMMAND``.

``docs/protocol.md`` specifies the protocol, its limits and clocks. One process serves one seat, so
partners share no memory. The programs act one after the other: at any moment at most one program of
an agent thinks, and only its clock runs.

``goita bot NAME`` is the other side: it hosts one of our bots.
"""

from __future__ import annotations

import os
import re
import shlex
import shutil
import time
import weakref
from dataclasses import dataclass, field
from typing import Any, Final, Self

import numpy as np

from goita_agents.base import AgentError, Bool, Int, Results, uniform
from goita_agents.external import protocol
from goita_agents.external.program import Program
from goita_agents.external.protocol import EventMessages
from goita_agents.faults import FAULTS, RESTARTS, BotError, Fault
from goita_agents.registry import Entry
from goita_env.information import PLAIN, InformationStructure
from goita_env.rules import JGA, Rules
from goita_env.tiles import NUM_SEATS
from goita_env.views import View

EXIT_PATIENCE: Final = 0.5
"""Seconds that a program may take to end after "bye", and again after SIGTERM."""

_OPTION: Final = re.compile(r"\s*(ms|start_ms)=(\d+)\s*")

_FIRST_UNKNOWN: Final = 1 << 40
"""Number of the first game without a ``begin``; ``act`` numbers such games from here on."""


@dataclass
class _Table:
    """The current deal of one game for the program at one seat."""

    game: int
    seat: int
    history: list[str] = field(default_factory=list)
    """All lines of this deal, which a restarted program is sent again."""
    unsent: list[str] = field(default_factory=list)
    """Lines that the program has not been sent, also of the deal before."""

    def deal(self, view: View, row: int) -> None:
        self.history = [protocol.encode(protocol.deal(self.game, self.seat, view, row))]
        self.unsent += self.history

    def note(self, history: EventMessages, row: int) -> None:
        """Adds the events that are not yet among the lines."""
        new = history.since(row, self.seat, self.game, num_known=len(self.history) - 1)
        lines = [protocol.encode(event) for event in new]
        self.history += lines
        self.unsent += lines

    def take_unsent(self) -> str:
        lines, self.unsent = self.unsent, []
        return "".join(lines)


class ExternalAgent:
    """An agent that plays by a program that speaks the bot protocol.

    Args:
        command: the program and its arguments, split as a shell would split them.
        ms: milliseconds for a decision.
        start_ms: milliseconds for the handshake.
        seed: sent in the handshake for the program's random numbers, the same to all seats; None:
            not sent.

    Attributes:
        restarts: number of restarted programs.
        faults, forfeited: as in ``goita_agents.faults.FaultTracking``.
    """

    def __init__(
        self, command: str, *, ms: int = 1000, start_ms: int = 10_000, seed: int | None = None
    ) -> None:
        if os.name != "posix":
            raise AgentError(f"expected a POSIX system for a program as a bot, got {os.name!r}")
        if min(ms, start_ms) < 1:
            raise AgentError(f"expected limits of at least 1 ms, got {ms!r} and {start_ms!r}")
        self.name = command
        self.ms, self.start_ms, self.command = ms, start_ms, command
        self.seed = seed
        self._command = _split_command(command)
        self.faults: list[Fault] = []
        self.forfeited = False
        self.restarts = 0
        self._rules: Rules = JGA
        self._information: InformationStructure = PLAIN
        self._tables: dict[int, _Table] = {}
        """By number of the game."""
        self._programs: dict[int, Program] = {}
        """By seat."""
        self._unknown = _FIRST_UNKNOWN
        weakref.finalize(self, _end_all, self._programs)  # also when the interpreter exits

    @classmethod
    def parse(cls, text: str) -> Self:
        """Builds the agent of "COMMAND" or "[ms=200]COMMAND"; else raises an AgentError."""
        limits, bracket, command = text[1:].partition("]") if text[:1] == "[" else ("", "]", text)
        if not bracket:
            raise AgentError(f"expected exec:[OPTIONS]COMMAND, got no closing bracket in {text!r}")
        options: dict[str, int] = {}
        for part in limits.split(",") if limits.strip() else []:
            if (match := _OPTION.fullmatch(part)) is None:
                raise AgentError(
                    "expected options ms=1000 and start_ms=10000, in whole milliseconds, got "
                    f"{part!r} in {text!r}"
                )
            options[match[1]] = int(match[2])
        return cls(command.strip(), **options)

    def __reduce__(self) -> tuple[type[Self], tuple[str], dict[str, Any]]:
        """Copies and pickles as a new agent with the same settings and no running program."""
        settings = ("name", "ms", "start_ms", "seed")
        return type(self), (self.command,), {name: getattr(self, name) for name in settings}

    def __enter__(self) -> Self:
        return self

    def __exit__(self, *_: object) -> None:
        self.close()

    # ------------------------------------------------------------------------------------ the agent

    def begin(self, games: Int, seats: Int, view: View) -> None:
        self._play_by(view)
        if self.forfeited:
            return
        for row, (game, seat) in enumerate(zip(games.tolist(), seats.tolist(), strict=True)):
            self._tables.setdefault(game, _Table(game, seat)).deal(view, row)
        self.start(np.unique(seats).tolist())

    def redeal(self, games: Int, view: View) -> None:
        """Notes deals that ended in a redeal, for programs that want to know."""
        history = EventMessages(view)
        for row, game in enumerate(games.tolist()):
            if (table := self._tables.get(game)) is None:
                continue
            table.note(history, row)
            program = self._programs.get(table.seat)
            if program is not None and program.wants_redeals:
                table.unsent.append(protocol.encode({"type": protocol.REDEAL, "game": game}))

    def end(self, games: Int, results: Results, hands: Int) -> None:
        history = EventMessages(results.view)
        for row, game in enumerate(games.tolist()):
            table = self._tables.pop(game, None)
            if table is None or self.forfeited or table.seat not in self._programs:
                continue
            table.note(history, row)
            winner, points = int(results.winner[row]), int(results.points[row])
            last = protocol.encode(protocol.end(game, winner, points, hands[row]))
            self._programs[table.seat].process.send(table.take_unsent() + last)

    def act(self, view: View, legal: Bool, rng: np.random.Generator) -> Int:
        """Returns the programs' actions, a random legal action where a program fails: int64 [N].

        A game that was not announced by ``begin`` is sent as a new game at each decision: it has a
        new number and all events so far, and the program gets no end of it. Its seat is
        ``view.game`` modulo 4.
        """
        self._play_by(view)
        history = None if self.forfeited else EventMessages(view)
        chosen = np.empty(len(view), np.int64)
        for row, game in enumerate(view.game.tolist()):
            answer = None
            if history is not None and not self.forfeited:
                if (table := self._tables.get(game)) is None:
                    table = _Table(self._unknown, game % NUM_SEATS)
                    self._unknown += 1
                    table.deal(view, row)
                table.note(history, row)
                answer = self._decide(table, legal[row])
            if answer is None:
                answer = uniform(legal[row : row + 1], rng.random(1))[0]
            chosen[row] = answer
        return chosen

    def plays(self, information: InformationStructure) -> bool:
        """Returns True: the program itself refuses games with these options in its ``hello``."""
        return True

    def check_start(self, rules: Rules, information: InformationStructure) -> None:
        """Starts the program once and ends it; raises an AgentError if it does not start."""
        programs: dict[int, Program] = {}
        try:
            programs[0] = self._started(rules, information)
            programs[0].greet(time.monotonic() + self.start_ms / 1000)
        except BotError as error:
            stderr = programs[0].process.stderr() if programs else ()
            last_line = f"; it wrote {stderr[-1]!r}" if stderr else ""
            raise AgentError(
                f"expected to start {self.command!r}, but: {error}{last_line}"
            ) from error
        finally:
            _end_all(programs)

    def close(self) -> None:
        """Says goodbye to all programs and waits until they are gone, a second at most."""
        _end_all(self._programs)
        self._tables.clear()

    def forfeit(self) -> None:
        """Forfeits: ends the programs; every further decision is a random one."""
        self.forfeited = True
        for seat in list(self._programs):
            self._kill(seat)
        self._tables.clear()

    # --------------------------------------------------------------------------------- the programs

    def _play_by(self, view: View) -> None:
        if (view.rules, view.information) != (self._rules, self._information):
            self.close()  # a program knows one game
            self._rules, self._information = view.rules, view.information

    def _started(self, rules: Rules, information: InformationStructure) -> Program:
        return Program(self._command, rules, self.ms, self.seed, information)

    def start(self, seats: list[int]) -> None:
        """Starts the programs of these seats together and awaits their handshakes."""
        deadline = time.monotonic() + self.start_ms / 1000
        for greets in (False, True):  # first all start, then all handshakes are awaited
            for seat in seats:
                try:
                    if not greets and not self.forfeited:
                        self._program(seat)
                    elif greets and seat in self._programs:
                        self._programs[seat].greet(deadline)
                except BotError as failure:
                    self._fault(seat, game=-1, failure=failure)

    def _program(self, seat: int) -> Program:
        if seat not in self._programs:
            for table in self._tables.values():
                if table.seat == seat:
                    table.unsent = list(table.history)
            self._programs[seat] = self._started(self._rules, self._information)
        return self._programs[seat]

    def _decide(self, table: _Table, legal: Bool) -> int | None:
        """Returns a program's action, None where it failed; ``legal``: [69]."""
        failure = answer = None
        try:
            program = self._program(table.seat)
            program.greet(time.monotonic() + self.start_ms / 1000)
            program.clear()
            answer = program.ask(table.game, table.take_unsent(), legal)
        except BotError as error:
            failure = error
        except BaseException:
            # Interrupted: the program owes an answer that nobody will wait for.
            self._kill(table.seat)
            raise
        if failure is not None:
            self._fault(table.seat, table.game, failure)
        return None if self.forfeited else answer

    def _fault(self, seat: int, game: int, failure: BotError) -> None:
        """Notes a fault, and ends the program or forfeits if need be; ``game`` -1: in no game."""
        if self.forfeited:
            return
        program = self._programs.get(seat)
        stderr = program.process.stderr() if program is not None else ()
        self.faults.append(Fault(failure.kind, seat, game, text=str(failure), stderr=stderr))
        if failure.fatal:
            self._kill(seat)
        if len(self.faults) >= FAULTS or (failure.fatal and self.restarts >= RESTARTS):
            self.forfeit()
        elif failure.fatal:
            self.restarts += 1  # it starts when it is needed next

    def _kill(self, seat: int) -> None:
        if (program := self._programs.pop(seat, None)) is not None:
            program.process.stop()


def _split_command(command: str) -> list[str]:
    """Returns a command's words; raises an AgentError if there is no such program."""
    try:
        words = shlex.split(command)
    except ValueError as error:
        raise AgentError(f"expected a command, got {command!r}: {error}") from error
    if not words or shutil.which(words[0]) is None:
        raise AgentError(f"expected a program that can be started, got {command!r}")
    return words


def _end_all(programs: dict[int, Program]) -> None:
    """Says goodbye to programs, waits for all of them together, and forgets them."""
    for program in programs.values():
        program.process.part(protocol.encode({"type": "bye"}))
    deadline = time.monotonic() + EXIT_PATIENCE
    for program in programs.values():
        program.process.stop(max(deadline - time.monotonic(), 0.02))
    programs.clear()


ENTRY = Entry(ExternalAgent.parse, argument="COMMAND", options=False, is_outside=True)
"""``exec``, as texts name it."""
