"""Follows a deal from the messages that one seat gets, as that seat may know it.

The messages are played through the core, the others' hands unknown; so the views are the very ones
that the seat is shown in the process that plays the game.
"""

from __future__ import annotations

from collections.abc import Sequence
from typing import Final

import numpy as np

from agents.base import Int
from agents.external import protocol
from agents.external.protocol import HIDDEN, Message, ProtocolError
from goita_env import actions
from goita_env.checks import check_scores
from goita_env.engine import core
from goita_env.engine.deals import lay, prepare
from goita_env.engine.state import OWN, SHOWN, State
from goita_env.engine.tables import (
    ALL_TILES,
    CALL_CHOICE,
    CHOOSE,
    FRESH,
    MAY_PASS,
    OVER,
    RADIX,
    WAITING,
)
from goita_env.rules import Rules
from goita_env.tiles import NUM_KINDS, NUM_SEATS
from goita_env.views import View, asked_view, seat_view

_UNKNOWN: Final = 0
"""Kind that stands for a block which only others see; no view of this seat shows it."""


_LAST_SHIFT: Final = 16 * 3
"""``State.shift`` of a seat before its fourth play."""


class SeatTable:
    """Follows one deal as one seat may know it.

    The others' hands are the whole set in the core's state: never looked at, never empty.

    Args:
        rules: the rule set.
        message: the message "deal".

    Raises:
        ProtocolError, GoitaError: if something in it is impossible.
    """

    def __init__(self, rules: Rules, message: Message) -> None:
        self.game = protocol.read_number(message, "game")
        self.seat = protocol.read_seat(message, "seat")
        dealer = protocol.read_seat(message, "dealer")
        codes = np.full((1, NUM_SEATS), ALL_TILES)
        codes[0, self.seat] = RADIX @ protocol.read_counts(message, "hand")
        self.state = State.empty(1, rules)
        # Slots are seats: the clock stands at the dealer, who begins.
        self.state.clock = dealer
        scores = check_scores(np.array([message.get("scores")]), 1)
        dealt = prepare(rules, codes, np.array([dealer]), scores, questions=False)
        lay(self.state, np.arange(1), dealt)

    def view(self) -> View:
        """Returns what the seat knows while it is not asked."""
        return seat_view(self.state, self.seat, self._games())

    def asked(self, legal: Sequence[int]) -> View:
        """Returns what the seat knows as it is asked for one of these actions.

        Raises:
            ProtocolError: if it cannot be its turn.
        """
        state = self.state
        if legal[0] >= actions.CALL:
            before = state.clock
            state.clock = self.seat
            choosing = legal[0] in (actions.REDEAL, actions.CONTINUE)
            state.status[:] = CHOOSE if choosing else CALL_CHOICE
            view = asked_view(state, self._games())
            state.clock, state.status[:] = before, FRESH
            return view
        if state.clock != self.seat:
            raise ProtocolError(f"expected seat {state.clock} to be asked, got seat {self.seat}")
        return asked_view(state, self._games())

    def happens(self, message: Message) -> None:
        """Takes in an event.

        Raises:
            ProtocolError: if it cannot happen here.
        """
        state, seat, event = self.state, protocol.read_seat(message, "seat"), message.get("event")
        if state.status[0] >= WAITING:
            raise ProtocolError("expected no event after the end")
        if event in ("call", "redeal", "continue"):
            if state.status[0] != FRESH:
                raise ProtocolError(f"expected no {event!r} once play has begun")
            before = state.clock
            state.clock = seat
            core.note(state, actions.parse(event))
            if event == "call" and protocol.read_number(message, "pawns") > 5:
                self._show_hand(seat, message)
            state.clock = before
        elif event in ("play", "pass"):
            if state.clock != seat:
                raise ProtocolError(f"expected an event of seat {state.clock}, got seat {seat}")
            leads = self._leads()
            action = self._action(seat, message)
            core.step(state, np.array([action]))
            if event == "play" and leads and seat != self.seat and message["block"] != HIDDEN:
                kind = protocol.read_kind(message["block"])
                core.show_seventh(state, seat, np.arange(1), np.array([RADIX[kind]]))
        else:
            raise ProtocolError(f"expected an event of the protocol, got {event!r}")

    def ends(self) -> None:
        """Takes in that the round is over."""
        self.state.status[:] = OVER

    def _action(self, seat: int, message: Message) -> int:
        """Returns the action of a pass or play.

        Raises:
            ProtocolError: if it cannot be made.
        """
        leads = self._leads()
        if message["event"] == "pass":
            if leads:
                raise ProtocolError(f"expected a play of seat {seat}, which leads, got a pass")
            return actions.PASS
        block, attack = message.get("block"), protocol.read_kind(message.get("attack"))
        # At scoring a doubled finish shows its seventh tile.
        finishes = self.state.shift[seat, 0] == _LAST_SHIFT and block == message.get("attack")
        hidden = leads and seat != self.seat and not (finishes and block != HIDDEN)
        if (block == HIDDEN) != hidden:
            raise ProtocolError(f"expected a block {'x' if hidden else 'to see'}, got {block!r}")
        played = [_UNKNOWN if hidden else protocol.read_kind(block), attack]
        if seat == self.seat:
            left = self.state.hand_counts()[0, seat] - np.bincount(played, minlength=NUM_KINDS)
            if left.min() < 0:
                raise ProtocolError(f"expected a play from the hand, got {message!r}")
        return actions.encode(*played)

    def _leads(self) -> bool:
        """Tells whether the seat whose turn it is leads."""
        return not self.state.tables.asks[MAY_PASS, self.state.status[0]]

    def _show_hand(self, seat: int, message: Message) -> None:
        """Lays the hand of a caller of six or more open, as the core does, and ends the round."""
        state, code = self.state, int(RADIX @ protocol.read_counts(message, "hand"))
        state.by_slot[OWN : SHOWN + 1, seat, 0] = state.tables.call_bits[code]
        state.hand[seat, 0], state.up[0] = 0, code
        state.status[:] = OVER

    def _games(self) -> Int:
        """Returns the game's number as views carry it."""
        return np.array([self.game])
