"""Follows a deal from the messages to one seat.

The messages are passed to ``goita_env.views.Replay``, so the views equal those that the seat gets
in the process that plays the game.
"""

from __future__ import annotations

from collections.abc import Sequence

import numpy as np

from goita_agents.base import Int
from goita_agents.external import protocol
from goita_agents.external.protocol import HIDDEN, Message, ProtocolError
from goita_env import actions
from goita_env.checks import check_scores
from goita_env.information import PLAIN, InformationStructure
from goita_env.rules import Rules
from goita_env.tiles import NUM_KINDS, NUM_SEATS
from goita_env.views import NONE, Replay, View


class SeatTable:
    """A table that follows one deal from one seat, beginning with the message "deal".

    Every method raises a ``GoitaError`` for a message that is impossible at its point.
    """

    def __init__(
        self, rules: Rules, message: Message, information: InformationStructure = PLAIN
    ) -> None:
        self.game = protocol.read_number(message, "game")
        self.seat = protocol.read_seat(message, "seat")
        dealer = protocol.read_seat(message, "dealer")
        hand = protocol.read_counts(message, "hand", rules.hand_size)[None]
        scores = check_scores(np.array([message.get("scores")]), 1, rules.scores_below)[:, 0]
        self.rules, self._information = rules, information
        self._shown = {(self.seat + relative) % NUM_SEATS for relative in information.shown_seats}
        game, shown_hands = np.array([self.game]), self._shown_hands(message, hand)
        self._replay = Replay.of_seat(
            rules, self.seat, hand, dealer, scores, game, information, shown_hands
        )

    def view(self) -> View:
        """Returns the seat's view while other seats act."""
        return self._replay.view(self.seat)

    def asked(self, legal: Sequence[int]) -> View:
        """Returns the seat's view when it has to choose among these actions."""
        if legal[0] >= actions.CALL:
            return self._replay.question(legal[0])
        turn = int(self._replay.seat[0])
        if turn != self.seat:
            raise ProtocolError(f"expected seat {turn} to be asked, got seat {self.seat}")
        return self._replay.view()

    def happens(self, message: Message) -> None:
        """Takes in the message "event"."""
        seat, event = protocol.read_seat(message, "seat"), message.get("event")
        turn = int(self._replay.seat[0])
        if turn == NONE:
            raise ProtocolError("expected no event after the end")
        if event in ("call", "redeal", "continue"):
            self._replay.answer(seat, actions.parse(event))
            if event == "call" and protocol.read_number(message, "pawns") > 5:
                self._replay.lay_open(
                    seat, protocol.read_counts(message, "hand", self.rules.hand_size)
                )
        elif event == protocol.SAY and self._information.channel is not None:
            sent = protocol.read_number(message, "message")
            if sent >= 1 << self._information.bits:
                raise ProtocolError(
                    f"expected a message below {1 << self._information.bits}, got {sent!r}"
                )
            self._replay.answer(seat, actions.MESSAGE + sent)
        elif event in ("play", "pass"):
            if turn != seat:
                raise ProtocolError(f"expected an event of seat {turn}, got seat {seat}")
            self._replay.step(self._play_or_pass(seat, message))
        else:
            raise ProtocolError(f"expected an event of the protocol, got {event!r}")

    def ends(self) -> None:
        self._replay.end()

    def _play_or_pass(self, seat: int, message: Message) -> int:
        """Returns the action of an event "play" or "pass", after a check.

        A block that lies face down is sent as "x" (HIDDEN) to seats that do not see it, except
        where scoring shows it: in a finish of two tiles alike.
        """
        view = self.view()
        leads = view.attack[0] == NONE or view.passes[0] == 3
        if message["event"] == "pass":
            if leads:
                raise ProtocolError(f"expected a play of seat {seat}, which leads, got a pass")
            return actions.PASS
        block, attack = message.get("block"), protocol.read_kind(message.get("attack"))
        relative_seat = (seat - self.seat) % NUM_SEATS
        is_hidden = leads and seat != self.seat and seat not in self._shown
        shown_kinds = self._replay.shown_at_scoring(attack)[0]  # [8] in a last play
        is_last = view.hand_sizes[0, relative_seat] == 2
        if is_hidden and is_last and block != HIDDEN:
            is_hidden = not shown_kinds[protocol.read_kind(block)]
        if (block == HIDDEN) != is_hidden:
            raise ProtocolError(f"expected a block {'x' if is_hidden else 'to see'}, got {block!r}")
        if is_hidden:  # any kind that is not shown at scoring will do
            return actions.encode(int(shown_kinds.argmin()), attack)
        played = [protocol.read_kind(block), attack]
        hand = view.hands[0, relative_seat]
        is_known = hand[0] != NONE
        if is_known and (hand < np.bincount(played, minlength=NUM_KINDS)).any():
            raise ProtocolError(f"expected a play from the hand, got {message!r}")
        return actions.encode(*played)

    def _shown_hands(self, message: Message, hand: Int) -> Int | None:
        """Returns the dealt tiles [k, 8] of the seats shown to this seat; None without any.

        ``hand``: [1, 8] the tiles dealt to this seat.
        """
        if not self._shown:
            return None
        stated = message.get("shown")
        expected = [seat in self._shown for seat in range(NUM_SEATS)]
        if not isinstance(stated, list) or [text is not None for text in stated] != expected:
            raise ProtocolError(
                f"expected the hands of seats {sorted(self._shown)} in a list of four, null for "
                f'the others, as "shown", got {stated!r}'
            )
        seats = [(self.seat + relative) % NUM_SEATS for relative in self._information.shown_seats]
        size = self.rules.hand_size
        hands = [protocol.read_counts({"shown": stated[seat]}, "shown", size) for seat in seats]
        if (sum([*hands, hand[0]]) > np.array(self.rules.deck)).any():
            raise ProtocolError(f"expected hands of one set of tiles, got {message!r}")
        return np.array(hands)
