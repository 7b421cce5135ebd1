"""Writes and reads the messages of the bot protocol (docs/protocol.md): a JSON object per line.

The functions ``read_...`` take a field of a message, and raise a ProtocolError if it is wrong.
"""

from __future__ import annotations

import json
import re
from functools import cached_property
from typing import Any, Final

import numpy as np

from goita_agents.base import Bool, Int
from goita_env import actions
from goita_env.arrays import Int8
from goita_env.errors import GoitaError
from goita_env.hands import format_hand
from goita_env.information import MessageChannel
from goita_env.tiles import DIGITS, NUM_KINDS, NUM_SEATS, SECOND_KING_DIGIT
from goita_env.views import FACE_DOWN, NONE, View

PROTOCOL: Final = 1  # Version of the protocol, in the ``hello`` of both sides.

HIDDEN: Final = "x"  # Replaces the digit of a block that lies face down for the viewer.

SAY: Final = "say"  # Event: a seat has sent its message.

REDEAL: Final = "redeal"  # Feature of a bot: it wants to know which deals ended in a redeal.

MAX_LINE: Final = 4096  # Most bytes of a line that a bot writes; an answer has about fifty.

Message = dict[str, Any]


class ProtocolError(GoitaError):
    """An unknown or malformed message, or a message that is impossible at this point."""


def encode(message: Message) -> str:
    return json.dumps(message, separators=(",", ":")) + "\n"


def decode(line: bytes | str) -> Message:
    """Parses a line; raises a ProtocolError if it is not a JSON object with a "type"."""
    try:
        message = json.loads(line)
    except (ValueError, RecursionError) as error:
        raise ProtocolError(f"expected a line of JSON, got {shorten(line)}") from error
    if not isinstance(message, dict) or not isinstance(message.get("type"), str):
        raise ProtocolError(f'expected a JSON object with a "type", got {shorten(line)}')
    return message


def shorten(line: bytes | str) -> str:
    """Returns a line quoted and shortened for an error."""
    text = line if isinstance(line, str) else line.decode(errors="replace")
    return repr(text if len(text) <= 120 else text[:120] + "...")


def printable(text: str) -> str:
    """Replaces characters that must not be shown or stored: controls and lone surrogates."""
    return "".join(sign if sign.isprintable() or sign in "\n\t" else "\ufffd" for sign in text)


def deal(game: int, seat: int, view: View, row: int) -> Message:
    """Returns the message that begins a deal, for the viewer at ``seat`` of one row."""
    own, opponents = view.scores[row].tolist()
    message: Message = {
        "type": "deal",
        "game": game,
        "seat": seat,
        "dealer": (seat + int(view.dealer[row])) % NUM_SEATS,
        "hand": dealt_hand(view, row),
        "scores": [opponents, own] if seat & 1 else [own, opponents],
    }
    if view.information.shown is not None:
        shown_hands: list[str | None] = [None] * NUM_SEATS
        for relative in view.information.shown_seats:
            shown_hands[(seat + relative) % NUM_SEATS] = _shown_hand(view, row, relative)
        message["shown"] = shown_hands
    return message


def end(game: int, winner: int, points: int, hands: Int) -> Message:
    """Returns the message that ends a round; ``hands``: [4, 8] the tiles dealt to each seat."""
    dealt = [format_hand(hand) for hand in hands]
    return {"type": "end", "game": game, "winner": winner, "points": points, "hands": dealt}


def dealt_hand(view: View, row: int) -> str:
    """Returns the digits that the viewer was dealt: its hand and the tiles it has played."""
    return format_hand(view.hand[row] + view.face_up[row, 0] + view.own_face_down[row])


def _shown_hand(view: View, row: int, seat: int) -> str:
    """Returns the digits dealt to a seat whose tiles the viewer is shown."""
    played = np.concatenate([view.known_blocks[row, seat], view.attacks[row, seat]])
    played = played[played != NONE]
    return format_hand(view.hands[row, seat] + np.bincount(played, minlength=NUM_KINDS))


class EventMessages:
    """The events of N positions, as each viewer learns of them, in the order of the game.

    Views do not contain which seats kept silent before play, so events do not either. The messages
    that the viewer observes come first, in seat order from the dealer; then the calls in the same
    order, and the choices of the callers' partners. No other order can occur.
    """

    def __init__(self, view: View) -> None:
        self._view = view
        self._decisions = decisions = view.decisions()
        self._seat, self._event = decisions.seat, decisions.event
        self._length = decisions.length
        self._special: Bool = view.called.max(axis=1) > 0
        self._channel, self._shown = view.information.channel, view.information.shown_seats

    def since(self, row: int, seat: int, game: int, num_known: int) -> list[Message]:
        """Returns the events of a position, from a seat 0 to 3, after the first ``num_known``."""
        before_play = self._answers(row) if self._special[row] else []
        if self._channel is not None:
            before_play = self._messages(row, self._channel) + before_play
        first = max(num_known - len(before_play), 0)
        new = before_play[num_known:]
        new += [self._decision(row, index) for index in range(first, int(self._length[row]))]
        return [
            {"type": "event", "game": game, "seat": (seat + relative) % NUM_SEATS, **event}
            for relative, event in new
        ]

    @cached_property
    def _view_messages(self) -> Int8:
        return self._view.messages

    @cached_property
    def _known_blocks(self) -> Int8:
        return self._view.known_blocks

    def _messages(self, row: int, channel: MessageChannel) -> list[tuple[int, Message]]:
        """Returns the messages that the viewer has observed, with relative seats."""
        view = self._view
        dealer, sent = int(view.dealer[row]), self._view_messages[row]
        # The dealer sends first, so the seats from it to a viewer that is about to send have sent.
        turns = -dealer % NUM_SEATS if view.asked_message[row] else NUM_SEATS
        seats = ((dealer + turn) % NUM_SEATS for turn in range(turns))
        return [
            (seat, {"event": SAY, "message": int(sent[seat])})
            for seat in seats
            if channel.audience == "all" or seat % 2 == 0
        ]

    def _answers(self, row: int) -> list[tuple[int, Message]]:
        """Returns the calls and the choices before play, with relative seats."""
        view = self._view
        dealer, called, choices = int(view.dealer[row]), view.called[row], view.choices[row]
        order = ((dealer + turn) % NUM_SEATS for turn in range(NUM_SEATS))
        callers = [seat for seat in order if called[seat]]
        answers: list[tuple[int, Message]] = []
        for seat in callers:
            call: Message = {"event": "call", "pawns": int(called[seat])}
            if called[seat] > 5:
                call["hand"] = format_hand(view.face_up[row, seat])
            answers.append((seat, call))
        partners = [(seat + 2) % NUM_SEATS for seat in callers]
        answers += [
            (seat, {"event": actions.name(int(choices[seat]))})
            for seat in partners
            if choices[seat]
        ]
        return answers

    def _decision(self, row: int, index: int) -> tuple[int, Message]:
        """Returns a pass or a play, a decision by its index, with its relative seat."""
        # The number of the play in the round; ``decisions.play`` is its number among its seat's.
        seat, play = int(self._seat[row, index]), int(self._event[row, index])
        if play == NONE:
            return seat, {"event": "pass"}
        view = self._view
        kind = int(view.event_block[row, play])
        if kind == FACE_DOWN and seat in self._shown:
            kind = int(self._known_blocks[row, seat, self._decisions.play[row, index]])
        return seat, {
            "event": "play",
            "block": HIDDEN if kind == FACE_DOWN else DIGITS[kind],
            "attack": DIGITS[view.event_attack[row, play]],
            "face_down": bool(view.event_face_down[row, play]),
        }


def legal_names(legal: Bool) -> list[str]:
    """Returns the names of the legal actions in order; ``legal``: [69], with messages [77]."""
    return [actions.name(action, len(legal)) for action in np.flatnonzero(legal).tolist()]


def read_number(message: Message, key: str) -> int:
    """Returns a whole number of a message, 0 or more."""
    value = message.get(key)
    if type(value) is not int or not 0 <= value < 1 << 62:
        raise ProtocolError(f'expected a whole number as "{key}", got {value!r}')
    return value


def read_seed(message: Message) -> int | None:
    """Returns the seed of a "hello", up to 100 digits in a text; None if it has none."""
    if (text := message.get("seed")) is None:
        return None
    if not isinstance(text, str) or re.fullmatch("[0-9]{1,100}", text) is None:
        raise ProtocolError(f'expected digits in a text as "seed", got {text!r}')
    return int(text)


def read_seat(message: Message, key: str) -> int:
    """Returns a seat of a message, 0 to 3."""
    value = read_number(message, key)
    if value >= NUM_SEATS:
        raise ProtocolError(f'expected a seat 0..3 as "{key}", got {value!r}')
    return value


def read_kind(digit: object) -> int:
    """Returns the kind of tile of a digit."""
    if isinstance(digit, str) and len(digit) == 1 and digit in DIGITS + SECOND_KING_DIGIT:
        return DIGITS.index(digit.replace(SECOND_KING_DIGIT, DIGITS[-1]))
    raise ProtocolError(f"expected a digit of a kind, got {digit!r}")


def read_counts(message: Message, key: str, size: int) -> Int:
    """Returns the tiles of each kind in a message's hand of ``size`` tiles: [8]."""
    text = message.get(key)
    if not isinstance(text, str) or len(text) != size:
        raise ProtocolError(f"expected {size} digits as {key!r}, got {text!r}")
    return np.bincount([read_kind(digit) for digit in text], minlength=NUM_KINDS)
