"""Talks with the program at one seat: handshake, questions, answers, and whose fault it is."""

from __future__ import annotations

import time
from collections.abc import Sequence
from typing import Final

from agents.base import Bool
from agents.external import protocol
from agents.external.process import Process
from agents.faults import BotError
from goita_env import actions
from goita_env.rules import Rules


class Program:
    """Holds the program at one seat of the table, started and sent its ``hello``.

    Args:
        command: the program and its arguments; a text is a line for the shell.
        rules: the rule set.
        ms: milliseconds for a decision.

    Raises:
        BotError: if it cannot be started.

    Attributes:
        process: the running program.
    """

    def __init__(self, command: Sequence[str] | str, rules: Rules, ms: int) -> None:
        self.process: Final = Process(command)
        self._ms = ms
        self._title: str | None = None
        self._owed: int | None = None
        """Game of an answer that was late and has not come yet."""
        self._asked: int | None = None
        """Game that it was asked about last."""
        self._was_late = False
        """Its last answer did not come in time."""
        hello = {"type": "hello", "protocol": protocol.PROTOCOL}
        self.process.send(protocol.encode(hello | rules.to_keys() | {"ms_per_decision": ms}))

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
        except ValueError as error:  # a BotError is one, too
            raise BotError("hello", f"in the handshake: {error}") from error
        version = message.get("protocol")
        if message["type"] != "hello" or version is True or version != protocol.PROTOCOL:
            wanted = f'a "hello" with "protocol":{protocol.PROTOCOL}'
            text = f"expected {wanted}, got {protocol.shorten(line)}"
            raise BotError("hello", text)
        self._title = str(message.get("name", ""))[:100]
        return self._title

    def clear(self) -> None:
        """Takes, before a question, what was said unasked: only the last answer may be there.

        Raises:
            BotError: if it was anything else.
        """
        lines = self.process.ready_lines()
        self.process.fresh()
        for line in lines:
            answered, _ = _answer(line)
            if answered not in (self._owed, self._asked):
                raise BotError(
                    "nonsense", f"expected no word unasked, got {protocol.shorten(line)}"
                )
            self._owed = None

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
        self._asked, again, self._was_late = game, self._was_late, False
        self.process.send(news + act)
        while True:
            try:
                line = self.process.read_line(deadline)
            except BotError as failure:
                raise self._late(game, again) if failure.kind == "late" else failure from None
            answered, action = _answer(line)
            if answered == self._owed:
                self._owed = None  # answers come in order, so this is the late one
                continue
            self._owed = None
            if answered != game:
                text = f"expected an answer for game {game}, got {protocol.shorten(line)}"
                raise BotError("nonsense", text)
            if action not in names:
                raise BotError("illegal", f"expected one of {' '.join(names)}, got {action!r}")
            return actions.parse(action)

    def _late(self, game: int, again: bool) -> BotError:
        """Takes note that no answer came in time; fatal if it was so the time before."""
        self._owed, self._was_late = game, True
        text = f"expected an answer within {self._ms} ms, got none"
        return BotError("late", text + " for the second time in a row" * again, fatal=again)


def _answer(line: bytes) -> tuple[int, str]:
    """Returns game and action of an answer.

    Raises:
        BotError: if the line is none.
    """
    try:
        message = protocol.decode(line)
    except ValueError as error:
        raise BotError("nonsense", str(error)) from error
    game, action = message.get("game"), message.get("action")
    if message["type"] == "act" and type(game) is int and isinstance(action, str):
        return game, action
    wanted = '{"type":"act","game":...,"action":"..."}'
    raise BotError("nonsense", f"expected {wanted}, got {protocol.shorten(line)}")
