"""Reads from a view what has happened: messages, pre-play decisions, plays and passes."""

from __future__ import annotations

from dataclasses import dataclass
from itertools import product
from typing import Final

from goita_env import InformationStructure, View
from goita_env.errors import SettingError
from goita_env.tiles import NUM_SEATS

MAX_PRIVATE_BITS: Final = 2
"""Most bits of private messages, which are summed over: two bits make sixteen pairs of messages."""

Sent = tuple[tuple[int, int], ...]
"""(seat, message) of the seats that have sent one, in order; seats are relative to the viewer."""


@dataclass(frozen=True)
class Event:
    """A play or a pass; seats are relative to the viewer."""

    seat: int  #: 0 the viewer, 1 the next seat, 2 the partner, 3 the previous.
    action: int  #: What it did; the block of a hidden play counts as kind 0.
    hidden: bool = False  #: It is a play whose block the viewer does not know.
    last: bool = False  #: The play ended the round.


def events(view: View) -> list[Event]:
    """Returns the plays and passes of a view of one row, in order."""
    decided = view.decisions()
    columns = decided.seat, decided.action, decided.hidden, decided.last  # as ``Event``'s fields
    length = int(decided.length[0])
    rows = zip(*(column[0, :length].tolist() for column in columns), strict=True)
    return [Event(*row) for row in rows]


@dataclass(frozen=True)
class Answers:
    """What seats decided before play; seats are relative to the viewer."""

    acted: tuple[int, ...]
    """Seats whose turn to call is over, whether or not they hold five pawns; without the viewer."""
    called: tuple[int, ...]  #: Seats that called five pawns, in order.
    choices: tuple[tuple[int, int], ...]
    """(seat, answer) of callers' partners that chose, in order."""
    all_acted: bool
    """Every seat's turn to call is over; not where the viewer itself has to decide now."""
    order: tuple[int, ...]  #: All seats in the order in which they decide.

    @classmethod
    def read(cls, view: View, *, calling: bool = True) -> Answers:
        """Reads a view of one row; where a partner has to choose, all turns to call are over.

        ``calling``: all messages have been sent, so that seats decide whether they call.
        """
        order = order_of(view)
        all_acted = calling and not view.asked_call[0]
        # Before the viewer's turn to call, the seats that precede it have acted.
        num_acted = len(order) if all_acted else order.index(0) if calling else 0
        acted = tuple(seat for seat in order[:num_acted] if seat)
        called = tuple(seat for seat in order if view.called[0, seat])
        partners = ((seat + 2) % NUM_SEATS for seat in called)
        choices = tuple(
            (seat, int(view.choices[0, seat])) for seat in partners if view.choices[0, seat]
        )
        return cls(acted=acted, called=called, choices=choices, all_acted=all_acted, order=order)


@dataclass(frozen=True)
class Messages:
    """What was sent before play, in order; seats are relative to the viewer."""

    sent: tuple[tuple[int, int | None], ...]  #: (seat, message); None: not observed.
    bits: int  #: Of a message; 0 where there are no messages.

    @classmethod
    def read(cls, view: View, count: int | None = None) -> Messages:
        """Reads a view of one row.

        Args:
            view: one row.
            count: number of messages sent so far; None: all four, or all before the viewer where
                it is about to send its own.
        """
        order, channel = order_of(view), view.information.channel
        if channel is None:
            return cls((), 0)
        own_turn = order.index(0) if view.asked_message[0] else None
        if count is None:
            count = NUM_SEATS if own_turn is None else own_turn
        if count not in range(NUM_SEATS + 1) or own_turn not in (None, count):
            numbers = "from 0 to 4" if own_turn is None else own_turn
            raise SettingError(f"expected the number of messages sent, {numbers}, got {count!r}")
        messages = view.messages[0].tolist()
        observed = [channel.audience == "all" or seat % 2 == 0 for seat in range(NUM_SEATS)]
        sent = tuple((seat, messages[seat] if observed[seat] else None) for seat in order[:count])
        return cls(sent, channel.bits)

    @property
    def unheard(self) -> tuple[int, ...]:
        """Seats whose messages the viewer does not observe, in order."""
        return tuple(seat for seat, message in self.sent if message is None)

    def possible(self) -> list[Sent]:
        """Lists the ways to send: a single one if the viewer observes all messages."""
        ways = []
        for messages in product(range(1 << self.bits), repeat=len(self.unheard)):
            assumed = dict(zip(self.unheard, messages, strict=True))
            ways.append(tuple((s, assumed[s] if m is None else m) for s, m in self.sent))
        return ways

    def observed(self) -> Sent:
        """Returns the messages that the viewer observes."""
        return tuple((seat, message) for seat, message in self.sent if message is not None)


def order_of(view: View) -> tuple[int, ...]:
    """Returns all relative seats in the order in which they decide; ``view``: one row."""
    dealer = int(view.dealer[0])
    return tuple((dealer + turn) % NUM_SEATS for turn in range(NUM_SEATS))


def check_followed(information: InformationStructure) -> None:
    """Raises a SettingError unless a listener can follow games with these options."""
    if information.shown is not None:
        raise SettingError(
            "expected a game in which no tiles of others are shown, since listeners follow each "
            f"hidden hand separately, got shown={information.shown!r}"
        )
    channel = information.channel
    if channel is not None and channel.audience == "partner" and channel.bits > MAX_PRIVATE_BITS:
        raise SettingError(
            f"expected private messages of {MAX_PRIVATE_BITS} bits at most, since listeners sum "
            f"over all pairs of the opponents' messages, got {channel.bits} bits"
        )
