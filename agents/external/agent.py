"""Plays with any program that speaks the bot protocol on its standard streams: ``exec:COMMAND``.

The protocol, its limits and clocks are told in docs/protocol.md. One process serves one seat at
the table, so partners have no memory in common. They are asked one after the other: at any moment
at most one program of an agent thinks, and its clock is its own.

``python -m agents.external NAME`` is the other side: it hosts one of our bots.
"""

from __future__ import annotations

import os
import time
import weakref
from dataclasses import dataclass, field
from typing import Any, Final, Self

import numpy as np

from agents.base import AgentError, Bool, Int, Results
from agents.external import protocol
from agents.external.command import limited, split_command, split_options
from agents.external.program import OwnFaultError, Program
from agents.external.protocol import History
from agents.faults import FAULTS, RESTARTS, BotError, Fault
from goita_env.rules import JGA, Rules
from goita_env.tiles import NUM_SEATS
from goita_env.views import View

PATIENCE: Final = 0.5
"""Seconds that a program may take to end after "bye", and as many again after SIGTERM."""

_FIRST_UNKNOWN: Final = 1 << 40
"""Number of the first game whose beginning we were not told of."""


@dataclass
class _Table:
    """Holds one deal in which a program sits."""

    game: int
    seat: int
    history: list[str] = field(default_factory=list)
    """Lines of this deal: all that a program started anew needs."""
    unsent: list[str] = field(default_factory=list)
    """Lines that the program has not been sent."""
    events: int = 0
    """Events of this deal that are in the lines."""

    def deal(self, line: str) -> None:
        """Begins a deal; what the last one left unsent still comes before it."""
        self.history, self.events = [line], 0
        self.unsent.append(line)

    def add(self, lines: list[str]) -> None:
        """Adds events."""
        self.history += lines
        self.unsent += lines
        self.events += len(lines)


class ExternalAgent:
    """Plays as a program says that speaks the bot protocol.

    Args:
        command: the program and its arguments, split as a shell would split them.
        ms: milliseconds for a decision.
        start_ms: milliseconds for the handshake.
        shell: hand the command to ``/bin/sh`` instead.
        memory: bytes that each of the program's processes may take; None: no limit.
        seed: for its random numbers, told in the handshake; None: none is told.

    Raises:
        AgentError: if a limit is impossible or there is no such program.

    Attributes:
        name: the command, or the text that ``load_agent`` was given.
        title: the name that the program gave itself, "" before it did.
        faults: all faults so far (``agents.faults.Accountable``).
        forfeited: the bot is out; every decision is a random one.
        restarts: how often a program was started again.
        seed: as above; programs that are started from now on are told it, all seats the same.
    """

    def __init__(
        self,
        command: str,
        *,
        ms: int = 1000,
        start_ms: int = 10_000,
        shell: bool = False,
        memory: int | None = None,
        seed: int | None = None,
    ) -> None:
        if os.name != "posix":
            raise AgentError(f"expected a POSIX system for a program as a bot, got {os.name!r}")
        if min(ms, start_ms) < 1:
            raise AgentError(f"expected limits of at least 1 ms, got {ms!r} and {start_ms!r}")
        self.name, self.title = command, ""
        self.ms, self.start_ms, self.shell, self.command = ms, start_ms, shell, command
        self.seed = seed
        words = ["/bin/sh", "-c", command] if shell else split_command(command)
        self._command = words if memory is None else limited(words, memory)
        self.faults: list[Fault] = []
        self.forfeited = False
        self.restarts = 0
        self._rules: Rules = JGA
        self._tables: dict[int, _Table] = {}
        self._programs: dict[int, Program] = {}
        self._unknown = _FIRST_UNKNOWN
        self._told: set[int] = set()
        """Every game that programs were told of."""
        weakref.finalize(self, _end_all, self._programs)  # also when the interpreter exits

    @classmethod
    def parse(cls, text: str) -> Self:
        """Returns the agent of "COMMAND" or "[ms=200,mem=2G]COMMAND"; options as in the class.

        Raises:
            AgentError: if an option is none, or there is no such program.
        """
        command, options = split_options(text)
        return cls(command, **options)

    def __reduce__(self) -> tuple[type[Self], tuple[str], dict[str, Any]]:
        """Copies and pickles as a new agent with the same settings, no program running yet."""
        settings = ("name", "ms", "start_ms", "shell", "seed", "_command")
        return type(self), (self.command,), {key: getattr(self, key) for key in settings}

    def __enter__(self) -> Self:
        return self

    def __exit__(self, *_: object) -> None:
        self.close()

    # ------------------------------------------------------------------------------------ the agent

    def begin(self, games: Int, seats: Int, view: View) -> None:
        """Takes notice of new deals, and starts the programs of their seats."""
        self._play_by(view.rules)
        if self.forfeited:
            return
        for row, (game, seat) in enumerate(zip(games.tolist(), seats.tolist(), strict=True)):
            table = self._tables.setdefault(game, _Table(game, seat))
            table.deal(_deal_line(game, seat, view, row))
            self._told.add(game)
        self.start(np.unique(seats).tolist())

    def redeal(self, games: Int, view: View) -> None:
        """Takes notice of deals that end in a redeal; ``begin`` tells the new ones.

        Args:
            games: [n] their numbers.
            view: [n] the table as each seat sees it after the last choice.
        """
        history = History(view)
        for row, game in enumerate(games.tolist()):
            table = self._tables.get(game)
            if table is None:
                continue
            self._note(table, history, row)
            program = self._programs.get(table.seat)
            if program is not None and protocol.REDEAL in program.features:
                table.unsent.append(protocol.encode({"type": protocol.REDEAL, "game": game}))

    def end(self, games: Int, results: Results, hands: Int) -> None:
        """Takes notice of rounds that were scored, and tells the programs."""
        history = History(results.view)
        for row, game in enumerate(games.tolist()):
            table = self._tables.pop(game, None)
            if table is None or self.forfeited or table.seat not in self._programs:
                continue
            self._note(table, history, row)
            winner, points = int(results.winner[row]), int(results.points[row])
            last = protocol.encode(protocol.end(game, winner, points, hands[row]))
            self._programs[table.seat].process.send("".join(table.unsent) + last)

    def act(self, view: View, legal: Bool, rng: np.random.Generator) -> Int:
        """Returns what the programs answer; random legal actions where they fail: int64 [N].

        A game whose beginning nobody told is sent as one that begins here, with all its events,
        under a number of its own, and never ends; the seat is the game's number modulo 4.
        """
        self._play_by(view.rules)
        history = None if self.forfeited else History(view)
        chosen = np.empty(len(view), np.int64)
        for row, game in enumerate(view.game.tolist()):
            answer = None
            if history is not None and not self.forfeited:
                table = self._tables.get(game) or self._unknown_table(game, view, row)
                self._note(table, history, row)
                answer = self._decide(table, legal[row])
            chosen[row] = rng.choice(np.flatnonzero(legal[row])) if answer is None else answer
        return chosen

    def close(self) -> None:
        """Says goodbye to all programs and waits until they are gone, a second at most."""
        ended = dict(self._programs)
        _end_all(self._programs)
        self._tables.clear()
        for seat, program in ended.items():
            program.take_last_words()
            self._record_told(seat, program)

    def forfeit(self) -> None:
        """Puts the bot out: its programs are ended, and every decision is a random one."""
        self.forfeited = True
        for seat in list(self._programs):
            self._kill(seat)
        self._tables.clear()

    # ----------------------------------------------------------------------------------- the tables

    def _play_by(self, rules: Rules) -> None:
        """Takes notice of the rule set; programs know one alone, so they end when it changes."""
        if rules != self._rules:
            self.close()
            self._rules = rules

    def _note(self, table: _Table, history: History, row: int) -> None:
        """Adds the events that a table has not got yet."""
        new = history.since(row, table.seat, table.game, table.events)
        table.add([protocol.encode(event) for event in new])

    def _unknown_table(self, game: int, view: View, row: int) -> _Table:
        """Returns a table for a position out of the blue."""
        table = _Table(self._unknown, game % NUM_SEATS)
        self._unknown += 1
        table.deal(_deal_line(table.game, table.seat, view, row))
        return table

    # --------------------------------------------------------------------------------- the programs

    def start(self, seats: list[int]) -> None:
        """Starts the programs of these seats side by side and awaits their handshakes."""
        deadline = time.monotonic() + self.start_ms / 1000
        for greet in (False, True):
            for seat in seats:
                try:
                    if not greet and not self.forfeited:
                        self._program(seat)
                    elif greet and seat in self._programs:
                        self.title = self._programs[seat].greet(deadline)
                except BotError as failure:
                    self._fault(seat, -1, failure)

    def _program(self, seat: int) -> Program:
        """Returns the program of a seat, started if it is not running.

        Raises:
            BotError: if it cannot be started.
        """
        if seat not in self._programs:
            for table in self._tables.values():
                if table.seat == seat:
                    table.unsent = list(table.history)
            self._programs[seat] = Program(self._command, self._rules, self.ms, self.seed)
        return self._programs[seat]

    def _decide(self, table: _Table, legal: Bool) -> int | None:
        """Returns the action that a table's program answers, None where it failed.

        Args:
            table: the deal, all its events noted.
            legal: [69] of its seat.
        """
        failure = answer = program = None
        try:
            program = self._program(table.seat)
            self.title = program.greet(time.monotonic() + self.start_ms / 1000)
            program.clear()
            unsent, table.unsent = "".join(table.unsent), []
            answer = program.ask(table.game, unsent, legal)
        except BotError as error:
            failure = error
        except BaseException:
            # Interrupted, it owes an answer that nobody will wait for.
            self._kill(table.seat)
            raise
        if program is not None:
            self._record_told(table.seat, program)
        if failure is not None:
            self._fault(table.seat, table.game, failure)
        return None if self.forfeited else answer

    def _record_told(self, seat: int, program: Program) -> None:
        """Puts on record what a program told of itself, other than in place of an answer."""
        for failure in program.told:
            self._fault(seat, failure.game if failure.game in self._told else -1, failure)
        program.told.clear()

    def _fault(self, seat: int, game: int, failure: BotError) -> None:
        """Puts a fault on record and does what follows from it."""
        if self.forfeited:
            return
        program = self._programs.get(seat)
        stderr = program.process.stderr() if program is not None else ()
        traceback = failure.traceback if isinstance(failure, OwnFaultError) else ""
        self.faults.append(Fault(failure.kind, seat, game, str(failure), stderr, traceback))
        if failure.fatal:
            self._kill(seat)
        if len(self.faults) >= FAULTS or (failure.fatal and self.restarts >= RESTARTS):
            self.forfeit()
        elif failure.fatal:
            self.restarts += 1  # it starts when it is needed next

    def _kill(self, seat: int) -> None:
        """Ends the program of a seat at once."""
        program = self._programs.pop(seat, None)
        if program is not None:
            program.process.stop()


def _end_all(programs: dict[int, Program]) -> None:
    """Says goodbye to programs, waits for them side by side, and forgets them."""
    for program in programs.values():
        program.process.part(protocol.encode({"type": "bye"}))
    deadline = time.monotonic() + PATIENCE
    for program in programs.values():
        program.process.stop(max(deadline - time.monotonic(), 0.02))
    programs.clear()


def _deal_line(game: int, seat: int, view: View, row: int) -> str:
    """Returns the line that begins a deal; arguments as ``protocol.deal``."""
    return protocol.encode(protocol.deal(game, seat, view, row))
