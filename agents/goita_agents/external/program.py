"""Talks with the program at one seat: handshake, questions and answers; classifies faults."""

from __future__ import annotations

import time
from collections.abc import Sequence
from typing import Final

from goita_agents.base import Bool
from goita_agents.external import protocol
from goita_agents.external.protocol import Message
from goita_agents.external.streams import Process
from goita_agents.faults import BotError, Kind
from goita_env import actions
from goita_env.information import PLAIN, InformationStructure
from goita_env.rules import Rules


class Program:
    """The running program of one seat; it is started and sent ``hello``.

    Attributes:
        process: the running program.
        wants_redeals: it asked in its handshake for the message "redeal".
    """

    def __init__(
        self,
        command: Sequence[str],
        rules: Rules,
        ms: int,
        seed: int | None = None,
        information: InformationStructure = PLAIN,
    ) -> None:
        self.process: Final = Process(command)
        self.wants_redeals = False
        self._ms = ms
        self._is_greeted = False
        self._late_game: int | None = None  # Game of a late answer that has not come yet.
        self._open_game: int | None = None  # Game of the last question, until it is answered.
        self._was_late = False
        hello: Message = {"type": "hello", "protocol": protocol.PROTOCOL}
        hello |= rules.to_keys() | information.to_keys()
        hello["ms_per_decision"] = ms
        if seed is not None:
            hello["seed"] = str(seed)
        self.process.send(protocol.encode(hello))

    def greet(self, deadline: float) -> None:
        """Awaits the handshake, if there was none yet.

        Raises a BotError if no handshake comes by ``deadline``, a time of ``time.monotonic``.
        """
        if self._is_greeted:
            return
        try:
            line = self.process.read_line(deadline)
            message = protocol.decode(line)
        except ValueError as error:  # a BotError is one, too
            raise BotError("hello", f"in the handshake: {error}") from error
        version = message.get("protocol")
        if message["type"] != "hello" or version is True or version != protocol.PROTOCOL:
            raise _unexpected("hello", f'a "hello" with "protocol":{protocol.PROTOCOL}', line)
        features = message.get("features")
        self.wants_redeals = isinstance(features, list) and protocol.REDEAL in features
        self._is_greeted = True

    def clear(self) -> None:
        """Reads the lines since the last answer; a BotError for any except late answers."""
        while True:
            try:
                line = self.process.read_line()
            except BotError as failure:
                if failure.kind == "late":  # there is no further line
                    return
                raise
            game, _ = self._read(line)
            if game == self._late_game:
                self._late_game = None
            elif game == self._open_game:
                self._late_game = self._open_game = None
            else:
                raise _unexpected("nonsense", "no word unasked", line)

    def ask(self, game: int, news: str, legal: Bool) -> int:
        """Asks for a decision in a game and returns the action.

        Args:
            game: its number.
            news: lines that are sent before the question, on the same clock.
            legal: [69] the legal actions.

        Raises:
            BotError: if no legal action comes in time.
        """
        names = protocol.legal_names(legal)
        act = protocol.encode({"type": "act", "game": game, "legal": names})
        deadline = time.monotonic() + self._ms / 1000
        was_late_before = self._was_late
        self._open_game, self._was_late = game, False
        self.process.send(news + act)
        while True:
            try:
                line = self.process.read_line(deadline)
            except BotError as failure:
                if failure.kind == "late":
                    raise self._late(game, was_late_before) from None
                raise
            answered_game, action = self._read(line)
            is_late = answered_game == self._late_game
            self._late_game = None  # answers come in order, so a late answer comes first
            if is_late:
                continue
            if answered_game != game:
                raise _unexpected("nonsense", f"an answer for game {game}", line)
            self._open_game = None
            if action not in names:
                raise BotError("illegal", f"expected one of {' '.join(names)}, got {action!r}")
            return actions.parse(action)

    def _late(self, game: int, was_late_before: bool) -> BotError:
        """Notes that no answer came in time; returns the error, fatal the second time in a row."""
        self._late_game, self._open_game, self._was_late = game, None, True
        text = f"expected an answer within {self._ms} ms, got none"
        if was_late_before:
            text += " for the second time in a row"
        return BotError("late", text, fatal=was_late_before)

    def _read(self, line: bytes) -> tuple[int, str]:
        """Returns an answer: its game and its action."""
        try:
            message = protocol.decode(line)
        except ValueError as error:
            raise BotError("nonsense", str(error)) from error
        game, action = message.get("game"), message.get("action")
        if message["type"] == "act" and type(game) is int and isinstance(action, str):
            return game, action
        raise _unexpected("nonsense", '{"type":"act","game":...,"action":"..."}', line)


def _unexpected(kind: Kind, expected: str, line: bytes) -> BotError:
    return BotError(kind, f"expected {expected}, got {protocol.shorten(line)}")
