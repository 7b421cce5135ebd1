"""Talks with the program at one seat: handshake, questions, answers, and whose fault it is."""

from __future__ import annotations

import contextlib
import time
from collections.abc import Sequence
from typing import Final, NamedTuple

from agents.base import Bool
from agents.external import protocol
from agents.external.process import Process
from agents.external.protocol import Message
from agents.faults import BotError, Kind
from goita_env import actions
from goita_env.rules import Rules

_KINDS: Final[tuple[Kind, ...]] = ("raised", "nonsense", "illegal", "hello")
"""What a program may say that it did."""


class OwnFaultError(BotError):
    """Reports a fault that a program itself told us of.

    Args:
        kind: as the program says.
        text: what was expected and what came, as it says.
        game: that it was about, as it says; -1: about none.
        during: type of the message at which the program failed.
        traceback: of its exception.
    """

    def __init__(self, kind: Kind, text: str, game: int, during: str, traceback: str) -> None:
        super().__init__(kind, text, fatal=during == "hello")
        self.game, self.during, self.traceback = game, during, traceback


class _Answer(NamedTuple):
    """Holds an answer to a question."""

    game: int
    action: str


class Program:
    """Holds the program at one seat of the table, started and sent its ``hello``.

    Args:
        command: the program and its arguments.
        rules: the rule set.
        ms: milliseconds for a decision.
        seed: for the program's random numbers; None: it is told none.

    Raises:
        BotError: if it cannot be started.

    Attributes:
        process: the running program.
        features: what it takes beyond the first version's messages, once it was greeted.
        told: faults that it told of itself and that nobody has put on record yet.
    """

    def __init__(
        self, command: Sequence[str], rules: Rules, ms: int, seed: int | None = None
    ) -> None:
        self.process: Final = Process(command)
        self.features: frozenset[str] = frozenset()
        self.told: Final[list[OwnFaultError]] = []
        self._ms = ms
        self._title: str | None = None
        self._owed: int | None = None
        """Game of an answer that was late and has not come yet."""
        self._open: int | None = None
        """Game that it was asked about last, until it has answered."""
        self._was_late = False
        """Its last answer did not come in time."""
        hello: Message = {"type": "hello", "protocol": protocol.PROTOCOL}
        hello |= rules.to_keys() | {"ms_per_decision": ms, "features": [protocol.FAULT]}
        if seed is not None:
            hello["seed"] = str(seed)
        self.process.send(protocol.encode(hello))

    def greet(self, deadline: float) -> str:
        """Awaits the handshake, the first time, and returns the name that the program has.

        Args:
            deadline: on the clock of ``time.monotonic``.

        Raises:
            BotError: if no handshake comes, or it is none.
        """
        if self._title is not None:
            return self._title
        try:
            line = self.process.read_line(deadline)
            message = protocol.decode(line)
            if message["type"] == protocol.FAULT:
                raise _own_fault(message | {"during": "hello"}, line)
        except OwnFaultError:
            raise
        except ValueError as error:  # a BotError is one, too
            raise BotError("hello", f"in the handshake: {error}") from error
        version = message.get("protocol")
        if message["type"] != "hello" or version is True or version != protocol.PROTOCOL:
            wanted = f'a "hello" with "protocol":{protocol.PROTOCOL}'
            text = f"expected {wanted}, got {protocol.shorten(line)}"
            raise BotError("hello", text)
        name = message.get("name")
        self.features = protocol.features(message)
        self._title = protocol.printable(name[:100]) if isinstance(name, str) else ""
        return self._title

    def clear(self) -> None:
        """Takes, before a question, what was said unasked: an answer may have been late.

        Raises:
            BotError: if it was anything else but faults of its own.
        """
        lines = self.process.ready_lines()
        self.process.fresh()
        for line in lines:
            said = self._said(line)
            if said is None:
                continue
            if said.game == self._owed:
                self._owed = None
            elif said.game == self._open:
                self._owed = self._open = None
            else:
                raise BotError(
                    "nonsense", f"expected no word unasked, got {protocol.shorten(line)}"
                )

    def ask(self, game: int, news: str, legal: Bool) -> int:
        """Asks for a decision and returns its action.

        Args:
            game: the number of the game.
            news: lines that come before the question; part of the clock.
            legal: [69] of the seat.

        Raises:
            BotError: if it does not answer with a legal action in time.
        """
        names = protocol.legal_names(legal)
        act = protocol.encode({"type": "act", "game": game, "legal": names})
        deadline = time.monotonic() + self._ms / 1000
        self._open, again, self._was_late = game, self._was_late, False
        self.process.send(news + act)
        while True:
            try:
                line = self.process.read_line(deadline)
            except BotError as failure:
                raise self._late(game, again) if failure.kind == "late" else failure from None
            said = self._said(line)
            if said is None:
                continue
            if said.game == self._owed:
                self._owed = None  # answers come in order, so this is the late one
                continue
            self._owed = None
            if said.game != game:
                text = f"expected an answer for game {game}, got {protocol.shorten(line)}"
                raise BotError("nonsense", text)
            self._open = None
            if isinstance(said, OwnFaultError):
                raise said
            if said.action not in names:
                raise BotError("illegal", f"expected one of {' '.join(names)}, got {said.action!r}")
            return actions.parse(said.action)

    def take_last_words(self) -> None:
        """Takes the faults that it told of before it ended; whatever else it said is no matter."""
        if self._title is None:
            return  # its handshake is among them
        for line in self.process.rest():
            with contextlib.suppress(BotError):
                self._said(line)

    def _late(self, game: int, again: bool) -> BotError:
        """Takes note that no answer came in time; fatal if it was so the time before."""
        self._owed, self._open, self._was_late = game, None, True
        text = f"expected an answer within {self._ms} ms, got none"
        return BotError("late", text + " for the second time in a row" * again, fatal=again)

    def _said(self, line: bytes) -> _Answer | OwnFaultError | None:
        """Returns an answer, or the fault in its place; None after a fault in anything else.

        Raises:
            BotError: "nonsense", if the line is neither.
        """
        try:
            message = protocol.decode(line)
        except ValueError as error:
            raise BotError("nonsense", str(error)) from error
        game, action = message.get("game"), message.get("action")
        if message["type"] == "act" and type(game) is int and isinstance(action, str):
            return _Answer(game, action)
        if message["type"] == protocol.FAULT:
            fault = _own_fault(message, line)
            if fault.during == "act":
                return fault
            self.told.append(fault)
            return None
        wanted = '{"type":"act","game":...,"action":"..."}'
        raise BotError("nonsense", f"expected {wanted}, got {protocol.shorten(line)}")


def _own_fault(message: Message, line: bytes) -> OwnFaultError:
    """Returns the fault that a message "fault" tells of.

    Raises:
        BotError: "nonsense", if it tells of none.
    """
    game, kind = message.get("game", -1), message.get("kind")
    texts = [message.get(key, "") for key in ("text", "during", "traceback")]
    if type(game) is not int or kind not in _KINDS or not all(type(t) is str for t in texts):
        wanted = f'a "fault" with a "kind" of {", ".join(_KINDS)}'
        raise BotError("nonsense", f"expected {wanted}, got {protocol.shorten(line)}")
    text, during, traceback = map(protocol.printable, texts)
    return OwnFaultError(kind, text, game, during, traceback)
