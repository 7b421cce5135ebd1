"""Reads from a view what has happened in public: answers before play, plays and passes."""

from __future__ import annotations

from dataclasses import dataclass

from goita_env import View
from goita_env.tiles import NUM_SEATS


@dataclass(frozen=True)
class Event:
    """Tells of a play or a pass; seats are relative to the viewer."""

    seat: int  #: 0 the viewer, 1 the next seat, 2 the partner, 3 the previous.
    action: int  #: What it did; the block of a hidden play counts as kind 0.
    hidden: bool = False  #: It is a play whose block the viewer does not know.
    last: bool = False  #: The play ended the round.


def events(view: View) -> list[Event]:
    """Returns the plays and passes of a view of one row, in order."""
    decided = view.decisions()
    columns = decided.seat, decided.action, decided.hidden, decided.play == 3
    length = int(decided.length[0])
    rows = zip(*(column[0, :length].tolist() for column in columns), strict=True)
    return [Event(*row) for row in rows]


@dataclass(frozen=True)
class Answers:
    """Tells what was answered before play; seats are relative to the viewer."""

    asked: tuple[int, ...]
    """Seats that have been asked whether they call if they could be, the viewer left out."""
    called: tuple[int, ...]  #: Seats that called five pawns, in order.
    choices: tuple[tuple[int, int], ...]
    """(seat, answer) of callers' partners that chose, in order."""
    all_asked: bool
    """Every seat has been asked whether it calls; not where the viewer is asked just now."""
    order: tuple[int, ...]  #: All seats in the order in which they are asked.

    @classmethod
    def read(cls, view: View) -> Answers:
        """Reads a view of one row; one that waits before play: all have said whether they call."""
        dealer = int(view.dealer[0])
        order = tuple((dealer + turn) % NUM_SEATS for turn in range(NUM_SEATS))
        all_asked = not view.asked_call[0]
        asked = tuple(s for s in (order if all_asked else order[: order.index(0)]) if s)
        called = tuple(seat for seat in order if view.called[0, seat])
        chosen = ((seat + 2) % NUM_SEATS for seat in called)
        choices = tuple((s, int(view.choices[0, s])) for s in chosen if view.choices[0, s])
        return cls(asked, called, choices, all_asked, order)
