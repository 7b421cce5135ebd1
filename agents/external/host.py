"""Hosts one of our bots behind the bot protocol: ``python -m agents.external NAME``."""

from __future__ import annotations

import os
import sys
from collections.abc import Iterable, Sequence
from dataclasses import dataclass, field
from typing import Final, TextIO

import numpy as np

from agents import cli
from agents.base import Agent, Memory, Results
from agents.external import protocol
from agents.external.protocol import Message, ProtocolError
from agents.external.seat_table import SeatTable
from agents.registry import load_agent
from goita_env import actions
from goita_env.hands import parse_hands
from goita_env.rules import JGA, Rules
from goita_env.tiles import NUM_KINDS

_FIRST_DEAL: Final = {"game": 0, "seat": 0, "dealer": 0, "hand": "11235578", "scores": [0, 0]}


class Host:
    """Answers the messages of one client for an agent.

    Args:
        agent: plays.
        out: where answers are written.
        rng: the agent's random numbers.
    """

    def __init__(self, agent: Agent, out: TextIO, rng: np.random.Generator) -> None:
        self._agent, self._out, self._rng = agent, out, rng
        self._memory = agent if isinstance(agent, Memory) else None
        self._rules: Rules | None = None
        self._tables: dict[int, SeatTable] = {}

    def run(self, lines: Iterable[str]) -> None:
        """Answers until "bye" or the end of the lines.

        Raises:
            ValueError: if a line is no message, or comes where it cannot.
        """
        answers = {
            "hello": self._hello,
            "deal": self._deal,
            "event": self._event,
            "act": self._act,
            "end": self._end,
        }
        for line in lines:
            message = protocol.decode(line)
            if message["type"] == "bye":
                return
            answer = answers.get(message["type"])
            if answer is not None:
                answer(message)
            else:  # a later version may say more; what we know stays true
                print(f"ignored a message of type {message['type']!r}", file=sys.stderr)

    def _hello(self, message: Message) -> None:
        """Answers the handshake."""
        if message.get("protocol") != protocol.PROTOCOL:
            raise ProtocolError(
                f"expected protocol {protocol.PROTOCOL}, got {message.get('protocol')!r}"
            )
        self._rules = Rules.from_keys({"rules": JGA.name} | message)
        # The core's tables are built on first use: now, before any clock runs.
        SeatTable(self._rules, _FIRST_DEAL).view()
        self._say({"type": "hello", "protocol": protocol.PROTOCOL, "name": self._agent.name})

    def _deal(self, message: Message) -> None:
        """Sits down to a deal."""
        if self._rules is None:
            raise ProtocolError('expected "hello" before anything else')
        table = SeatTable(self._rules, message)
        self._tables[table.game] = table
        if self._memory is not None:
            view = table.view()
            self._memory.begin(view.game, np.array([table.seat]), view)

    def _event(self, message: Message) -> None:
        """Takes in an event."""
        self._table(message).happens(message)

    def _act(self, message: Message) -> None:
        """Answers with an action."""
        table, names = self._table(message), message.get("legal")
        if not isinstance(names, list) or not names or not all(isinstance(n, str) for n in names):
            raise ProtocolError(f"expected names of legal actions, got {names!r}")
        numbers = [actions.parse(name) for name in names]
        legal = np.zeros((1, actions.NUM_ACTIONS), bool)
        legal[0, numbers] = True
        chosen = int(self._agent.act(table.asked(numbers), legal, self._rng)[0])
        self._say({"type": "act", "game": table.game, "action": actions.name(chosen)})

    def _end(self, message: Message) -> None:
        """Takes in the end of a round."""
        table = self._table(message)
        del self._tables[table.game]
        table.ends()
        if self._memory is not None:
            hands = message.get("hands")
            kinds = parse_hands(hands if isinstance(hands, list) else [])
            winner = protocol.read_seat(message, "winner")
            points = protocol.read_number(message, "points")
            view = table.view()
            results = Results(np.array([winner]), np.array([points]), view)
            counts = (kinds[:, :, None] == np.arange(NUM_KINDS)).sum(axis=1)
            self._memory.end(view.game, results, counts[None])

    def _table(self, message: Message) -> SeatTable:
        """Returns the table of a message.

        Raises:
            ProtocolError: if no such deal has begun.
        """
        table = self._tables.get(protocol.read_number(message, "game"))
        if table is None:
            raise ProtocolError(f"expected a game with a deal, got {message.get('game')!r}")
        return table

    def _say(self, message: Message) -> None:
        """Writes an answer."""
        self._out.write(protocol.encode(message))
        self._out.flush()


@dataclass(frozen=True)
class Args:
    """Options of the command line."""

    agent: str = field(metadata=cli.POSITIONAL)
    """the bot, as evaluate.py takes it: greedy"""
    seed: int = 0
    """seed of its random numbers"""


def main(arguments: Sequence[str] | None = None) -> int:
    """Hosts the bot that the command line names; returns the exit code.

    It is 0 after "bye" or when the input closes, 1 when nobody reads our answers any more, 2 for a
    wrong command line or a message that the protocol does not allow.
    """
    args = cli.parse(Args, arguments, "Hosts one of our bots: docs/protocol.md.")
    out = sys.stdout
    sys.stdout = sys.stderr  # what a bot may print is no answer
    try:
        agent = load_agent(args.agent)
        rng = np.random.default_rng(args.seed)
        Host(agent, out, rng).run(sys.stdin)
    except BrokenPipeError:
        return 1
    except KeyboardInterrupt:
        return 130
    except ValueError as error:
        print(f"python -m agents.external {args.agent}: {error}", file=sys.stderr)
        return 2
    finally:
        sys.stdout = out
        _let_go(out)
    return 0


def _let_go(out: TextIO) -> None:
    """Closes the output, whether or not somebody still reads it."""
    try:
        out.flush()
    except BrokenPipeError:
        os.dup2(os.open(os.devnull, os.O_WRONLY), out.fileno())
