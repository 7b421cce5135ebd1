"""Hosts one of our bots behind the bot protocol: ``goita bot NAME``."""

from __future__ import annotations

import os
import sys
from collections.abc import Iterable
from dataclasses import replace
from typing import Final, TextIO

import numpy as np

from goita_agents.asking import ask_actions, notify
from goita_agents.base import (
    Agent,
    AgentError,
    RedealObserver,
    Results,
    StatefulAgent,
    close,
    plays,
)
from goita_agents.external import protocol
from goita_agents.external.protocol import Message, ProtocolError
from goita_agents.external.seat_table import SeatTable
from goita_agents.registry import load_agent
from goita_env import actions
from goita_env.errors import GoitaError
from goita_env.hands import format_hand, parse_hands
from goita_env.information import PLAIN, InformationStructure
from goita_env.rules import JGA, Rules
from goita_env.tiles import NUM_KINDS

_FIRST_DEAL: Final = {"game": 0, "seat": 0, "dealer": 0, "scores": [0, 0]}


class Host:
    """An agent behind the protocol: it answers the messages of one client.

    An exception in the agent ends the conversation.

    Args:
        agent: the agent that plays.
        out: stream for the answers.
        rng: the agent's random numbers, unless the client gives a seed.
    """

    def __init__(self, agent: Agent, out: TextIO, rng: np.random.Generator) -> None:
        self._agent, self._out, self._rng = agent, out, rng
        self._rules: Rules | None = None
        self._information: InformationStructure = PLAIN
        self._tables: dict[int, SeatTable] = {}

    def run(self, lines: Iterable[str]) -> None:
        """Answers until "bye" or the end; a ValueError for a line that is no valid message."""
        answers = {
            "hello": self._hello,
            "deal": self._deal,
            "event": self._event,
            "act": self._act,
            "redeal": self._redeal,
            "end": self._end,
        }
        for line in lines:
            message = protocol.decode(line)
            if message["type"] == "bye":
                break
            if (answer := answers.get(message["type"])) is not None:
                answer(message)
            else:  # a later version may have more messages
                print(f"ignored a message of type {message['type']!r}", file=sys.stderr)
        close([self._agent])

    def _hello(self, message: Message) -> None:
        """Takes game and seed, and answers; an AgentError if the agent does not play the game."""
        if message.get("protocol") != protocol.PROTOCOL:
            raise ProtocolError(
                f"expected protocol {protocol.PROTOCOL}, got {message.get('protocol')!r}"
            )
        rules = Rules.from_keys({"rules": JGA.name} | message)
        if (seed := protocol.read_seed(message)) is not None:
            self._rng = np.random.default_rng(seed)
        self._information = information = InformationStructure.from_keys(message)
        _build_tables(rules, information)
        if not plays(self._agent, information):
            raise AgentError(f"{self._agent.name!r} does not play a game with {information!r}")
        self._rules = rules
        answer = {"type": "hello", "protocol": protocol.PROTOCOL, "name": self._agent.name}
        if isinstance(self._agent, RedealObserver):
            answer["features"] = [protocol.REDEAL]
        self._send(answer)

    def _deal(self, message: Message) -> None:
        if self._rules is None:
            raise ProtocolError('expected "hello" before anything else')
        table, agent = SeatTable(self._rules, message, self._information), self._agent
        self._tables[table.game] = table
        if isinstance(agent, StatefulAgent):
            view = table.view()
            notify(agent, "begin", view.game, np.array([table.seat]), view)

    def _event(self, message: Message) -> None:
        self._table(message).happens(message)

    def _act(self, message: Message) -> None:
        """Answers with the agent's action."""
        table, names = self._table(message), message.get("legal")
        if not isinstance(names, list) or not names or not all(isinstance(n, str) for n in names):
            raise ProtocolError(f"expected names of legal actions, got {names!r}")
        legal_actions = [actions.parse(name) for name in names]
        num_actions = self._information.num_actions
        if max(legal_actions) >= num_actions:
            raise ProtocolError(f"expected actions of a game without messages, got {names!r}")
        legal = np.zeros((1, num_actions), bool)
        legal[0, legal_actions] = True
        view, agent = table.asked(legal_actions), self._agent
        (chosen,) = ask_actions(agent, view, legal, self._rng).tolist()
        self._send({"type": "act", "game": table.game, "action": actions.name(chosen, num_actions)})

    def _redeal(self, message: Message) -> None:
        table, agent = self._table(message), self._agent
        table.ends()
        if isinstance(agent, RedealObserver):
            view = table.view()
            notify(agent, "redeal", view.game, view)

    def _end(self, message: Message) -> None:
        """Forgets the game, and notifies an agent with a memory of the end of the round."""
        table, agent = self._table(message), self._agent
        del self._tables[table.game]
        table.ends()
        if isinstance(agent, StatefulAgent):
            hands = message.get("hands")
            kinds = parse_hands(hands if isinstance(hands, list) else [], table.rules.deck)
            winner = protocol.read_seat(message, "winner")
            points = protocol.read_number(message, "points")
            view = table.view()
            results = Results(np.array([winner]), np.array([points]), view)
            counts = (kinds[:, :, None] == np.arange(NUM_KINDS)).sum(axis=1)
            notify(agent, "end", view.game, results, counts[None])

    def _table(self, message: Message) -> SeatTable:
        if (table := self._tables.get(protocol.read_number(message, "game"))) is None:
            raise ProtocolError(f"expected a game with a deal, got {message.get('game')!r}")
        return table

    def _send(self, message: Message) -> None:
        self._out.write(protocol.encode(message))
        self._out.flush()


def _build_tables(rules: Rules, information: InformationStructure) -> None:
    """Follows a deal for a moment: the core's tables are built on first use, now before any clock.

    The hand is any hand of the deck. No hands are shown, since the message has none.
    """
    deal = _FIRST_DEAL | {"hand": format_hand(np.array(rules.deck))[: rules.hand_size]}
    SeatTable(rules, deal, replace(information, shown=None)).view()


def serve(spec: str, seed: int = 0) -> int:
    """Hosts a bot on this process's standard streams; returns the exit code.

    0: after "bye" or when the input closes. 1: the answers are not read any more. 2: the bot cannot
    be built, does not play the game or answers with an illegal action, or a message breaks the
    protocol.
    """
    lines, out = _own_streams()
    try:
        Host(load_agent(spec), out, np.random.default_rng(seed)).run(lines)
    except BrokenPipeError:
        return 1
    except KeyboardInterrupt:
        return 130
    except GoitaError as error:
        print(f"goita bot {spec}: {error}", file=sys.stderr)
        return 2
    finally:
        try:
            out.flush()
        except BrokenPipeError:  # nobody reads it: closing it must not raise again
            os.dup2(os.open(os.devnull, os.O_WRONLY), out.fileno())
    return 0


def _own_streams() -> tuple[TextIO, TextIO]:
    """Takes standard input and output away from the bot and the programs that it starts.

    They get an empty input and standard error, so that what they print is not taken for an answer.
    """
    lines = os.fdopen(os.dup(0), encoding="utf-8", errors="replace")
    out = os.fdopen(os.dup(1), "w", encoding="utf-8", newline="\n")
    with open(os.devnull, "rb") as empty:
        os.dup2(empty.fileno(), 0)
    os.dup2(2, 1)
    sys.stdout = sys.stderr
    return lines, out
