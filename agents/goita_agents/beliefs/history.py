"""Reads from a view what has happened: messages, pre-play decisions, plays and passes."""

from __future__ import annotations

from dataclasses import dataclass
from itertools import product
from typing import Final

from goita_env import InformationStructure, View
from goita_env.errors import SettingError
from goita_env.tiles import NUM_SEATS

MAX_PRIVATE_BITS: Final = 2
"""Most bits of messages that are summed over: sixteen pairs of two opponents."""

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
    columns = decided.seat, decided.action, decided.hidden, decided.last
    length = int(decided.length[0])
    rows = zip(*(column[0, :length].tolist() for column in columns), strict=True)
    return [Event(*row) for row in rows]


@dataclass(frozen=True)
class Answers:
    """What was answered before play; seats are relative to the viewer."""

    asked: tuple[int, ...]
    """Seats that have been asked whether they call if they could be, the viewer left out."""
    called: tuple[int, ...]  #: Seats that called five pawns, in order.
    choices: tuple[tuple[int, int], ...]
    """(seat, answer) of callers' partners that chose, in order."""
    all_asked: bool
    """Every seat has been asked whether it calls; not where the viewer is asked just now."""
    order: tuple[int, ...]  #: All seats in the order in which they are asked.

    @classmethod
    def read(cls, view: View, *, begun: bool = True) -> Answers:
        """Reads a view of one row; one that waits before play: all have said whether they call.

        ``begun``: these questions have come; False: messages are still sent.
        """
        order = order_of(view)
        all_asked = begun and not view.asked_call[0]
        last = len(order) if all_asked else order.index(0) if begun else 0
        asked = tuple(seat for seat in order[:last] if seat)
        called = tuple(seat for seat in order if view.called[0, seat])
        chosen = ((seat + 2) % NUM_SEATS for seat in called)
        choices = tuple((s, int(view.choices[0, s])) for s in chosen if view.choices[0, s])
        return cls(asked, called, choices, all_asked, order)


@dataclass(frozen=True)
class Messages:
    """What was sent before play, in order; seats are relative to the viewer."""

    sent: tuple[tuple[int, int | None], ...]  #: (seat, message); None: it is not observed.
    bits: int  #: Of a message; 0 where there are no messages.

    @classmethod
    def read(cls, view: View, number: int | None = None) -> Messages:
        """Reads a view of one row.

        Args:
            view: one row.
            number: how many messages have been sent; None: all, but where the viewer is asked for
                its own just now.
        """
        order, channel = order_of(view), view.information.channel
        if channel is None:
            return cls((), 0)
        asked = order.index(0) if view.asked_message[0] else None
        if number is None:
            number = NUM_SEATS if asked is None else asked
        if number not in range(NUM_SEATS + 1) or asked not in (None, number):
            raise SettingError(
                f"expected the number of messages sent, {asked or 'from 0 to 4'}, got {number!r}"
            )
        told = view.messages[0].tolist()
        heard = [channel.audience == "all" or seat % 2 == 0 for seat in range(NUM_SEATS)]
        sent = tuple((seat, told[seat] if heard[seat] else None) for seat in order[:number])
        return cls(sent, channel.bits)

    @property
    def unheard(self) -> tuple[int, ...]:
        """Seats whose messages the viewer doesn't hear, in order."""
        return tuple(seat for seat, message in self.sent if message is None)

    def possible(self) -> list[Sent]:
        """Lists what may have been sent: one entry if the viewer hears everything."""
        unheard, found = self.unheard, []
        for guess in product(range(1 << self.bits), repeat=len(unheard)):
            known = dict(zip(unheard, guess, strict=True))
            found.append(tuple((s, known[s] if m is None else m) for s, m in self.sent))
        return found

    def heard(self) -> Sent:
        """Returns the messages that the viewer hears."""
        return tuple((seat, message) for seat, message in self.sent if message is not None)


def order_of(view: View) -> tuple[int, ...]:
    """Returns all relative seats in the order in which they are asked; ``view``: one row."""
    dealer = int(view.dealer[0])
    return tuple((dealer + turn) % NUM_SEATS for turn in range(NUM_SEATS))


def check_followed(information: InformationStructure) -> None:
    """Raises a SettingError unless a listener can follow games with these options."""
    if information.shown is not None:
        raise SettingError(
            "expected a game in which no tiles of others are shown, since listeners follow each "
            f"hidden hand by itself, got shown={information.shown!r}"
        )
    channel = information.channel
    if channel is not None and channel.audience == "partner" and channel.bits > MAX_PRIVATE_BITS:
        raise SettingError(
            f"expected private messages of {MAX_PRIVATE_BITS} bits at most, since listeners sum "
            f"over all pairs of the opponents', got {channel.bits} bits"
        )
