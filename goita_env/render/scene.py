"""Says what is to be seen of a position, whatever it is drawn with: seats, tiles, scores, moment.

A scene comes from a view (what one seat may know) or from a whole table. Its four places count from
the bottom counter-clockwise: the viewer, the next seat, the partner, the previous one.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import Final

import numpy as np
import numpy.typing as npt

from goita_env import actions
from goita_env.engine.state import State
from goita_env.engine.tables import CALL_CHOICE, CALL_DUTY, CHOOSE, FRESH, OVER, WAITING, tables
from goita_env.errors import SettingError
from goita_env.tiles import HAND_SIZE, NUM_SEATS, PAWN
from goita_env.views import View, seat_view
from goita_env.views.fields import NONE

_RELATIVE_NAMES: Final = ("you", "next", "partner", "previous")
_NUMBERS: Final = {5: "five", 6: "six", 7: "seven", 8: "eight"}
TILE: Final = "{tile}"
"""Stands in a template for how the attack is written."""

_QUESTIONS: Final = {
    CALL_CHOICE: "call or keep silent",
    CALL_DUTY: "call, a duty",
    CHOOSE: "redeal or continue",
}


@dataclass(frozen=True)
class Place:
    """Shows one seat."""

    name: str
    """"you", "next", ... or "seat 2"."""
    remarks: tuple[str, ...]
    """Any of "dealer", "passed", "to move"."""
    calls: tuple[str, ...]
    """What it called and chose before play: "called five pawns", "chose: redeal"."""
    blocks: tuple[int, ...]
    """[4] Kinds in order of play, FACE_DOWN for one that is unknown, NONE where none lies."""
    attacks: tuple[int, ...]
    """[4] Kinds in order of play, NONE where none lies."""
    face_down: tuple[bool, ...]
    """[4] Which blocks lie face down."""
    hand: tuple[int, ...] | None
    """Kinds in ascending order, None where they are hidden."""
    tiles: int
    """Tiles in the hand."""
    last: int
    """Which of its plays was the last of all, NONE: none."""


@dataclass(frozen=True)
class Scene:
    """Shows a position."""

    rules: str
    """Name of the rule set."""
    places: tuple[Place, ...]
    """The seats from the bottom counter-clockwise."""
    scores: tuple[tuple[str, int], ...]
    """Each team's name and points before the round: first that of the bottom seat if a view is
    shown, else that of seats 0 and 2."""
    bottom_team: int
    """Which of the two is the bottom seat's."""
    attack: int
    """Kind of the attack that is to be met, NONE: none."""
    mover: int
    """Place of whom the moment waits for, NONE: nobody."""
    template: str
    """What is to be done now."""

    def moment(self, tile: str) -> str:
        """Says what is to be done now; ``tile``: how the attack is written."""
        return self.template.replace(TILE, tile)

    def calls(self) -> list[str]:
        """Lists the special hands called, then what the callers' partners chose."""
        said = [(place.name, call) for place in self.places for call in place.calls]
        said.sort(key=lambda one: one[1].startswith("chose"))
        return [f"{name} {call}" for name, call in said]


def of_view(view: View, index: int = 0, viewer: int | None = None) -> Scene:
    """Returns what one seat may know.

    Args:
        view: views, of which one is shown.
        index: its number.
        viewer: the seat whose view it is, where seats are to be named by their numbers; None: they
            are "you", "next" and so on.

    Raises:
        SettingError: if there is no such view or seat.
    """
    one = view[_one(index, len(view))]
    names = _RELATIVE_NAMES if viewer is None else _names(viewer)
    asked = one.asked_call[0] or one.asked_choice[0]
    mover = 0 if asked else _mover(one)
    own, other = one.scores[0].tolist()
    if viewer is None:
        scores: tuple[tuple[str, int], ...] = (("you and partner", own), ("the others", other))
    else:
        scores = _scores(own, other) if viewer % 2 == 0 else _scores(other, own)
    return Scene(
        one.rules.name,
        _places(one, names, mover),
        scores,
        0 if viewer is None else viewer % 2,
        int(one.attack[0]) if one.passes[0] < 3 else NONE,
        mover,
        _moment_of_view(one, names),
    )


def of_table(state: State, index: int = 0, viewer: int = 0) -> Scene:
    """Returns the whole table of one game, all tiles open.

    Args:
        state: games, of which one is shown.
        index: its number.
        viewer: the seat at the bottom.

    Raises:
        SettingError: if there is no such game or seat.
    """
    names = _names(viewer)
    one = state.select(_one(index, state.num_games))
    seats = [(viewer + place) % NUM_SEATS for place in range(NUM_SEATS)]
    asked = int(one.seat[0])
    mover = (asked - viewer) % NUM_SEATS if asked >= 0 else NONE
    even, odd = one.scores[:, 0].tolist()
    eyes = seat_view(one.repeat(NUM_SEATS), np.array(seats))
    return Scene(
        one.rules.name,
        _places(eyes, names, mover),
        _scores(even, odd),
        viewer % 2,
        int(eyes.attack[0]) if eyes.passes[0] < 3 else NONE,
        mover,
        _moment_of_state(one, eyes, f"seat {asked}"),
    )


def _names(viewer: int) -> tuple[str, ...]:
    """Returns the seats' names by place.

    Raises:
        SettingError: if there is no such seat to sit at the bottom.
    """
    if viewer not in range(NUM_SEATS):
        raise SettingError(f"expected a seat 0..3 at the bottom, got {viewer!r}")
    return tuple(f"seat {(viewer + place) % NUM_SEATS}" for place in range(NUM_SEATS))


def _scores(even: int, odd: int) -> tuple[tuple[str, int], ...]:
    """Returns the points of the teams with the names that their seats' numbers give them."""
    return (("seats 0 and 2", even), ("seats 1 and 3", odd))


def _one(index: int, number: int) -> npt.NDArray[np.int64]:
    """Returns the index of one position as an array.

    Raises:
        SettingError: if there is no such position.
    """
    if index not in range(number):
        raise SettingError(f"expected an index 0..{number - 1}, got {index!r}")
    return np.array([index], np.int64)


def _places(eyes: View, names: tuple[str, ...], mover: int) -> tuple[Place, ...]:
    """Returns the four places.

    Args:
        eyes: what the seat at the bottom sees, alone; or what each seat sees, by place.
        names: by place.
        mover: place that is said to be to move.
    """
    called, choices = eyes.called[0].tolist(), eyes.choices[0].tolist()
    sizes, plays = eyes.hand_sizes[0].tolist(), int(eyes.num_plays[0])
    last_seat = int(eyes.event_seat[0, plays - 1]) if plays else NONE
    shown = []
    for place, name in enumerate(names):
        known = place < len(eyes)
        row, seat = (place, 0) if known else (0, place)
        calls = [f"called {_NUMBERS[called[place]]} pawns"] if called[place] else []
        calls += [f"chose: {actions.name(choices[place])}"] if choices[place] else []
        counts = enumerate(eyes.hand[row].tolist())
        shown.append(
            Place(
                name,
                _remarks(eyes, place, mover),
                tuple(calls),
                tuple(eyes.blocks[row, seat].tolist()),
                tuple(eyes.attacks[row, seat].tolist()),
                tuple(eyes.face_down[row, seat].tolist()),
                tuple(kind for kind, n in counts for _ in range(n)) if known else None,
                sizes[place],
                (HAND_SIZE - sizes[place]) // 2 - 1 if place == last_seat else NONE,
            )
        )
    return tuple(shown)


def _mover(view: View) -> int:
    """Returns the seat whose turn it is by the clock, NONE if no attack is open."""
    if view.attack[0] == NONE:
        return NONE
    return (int(view.attacker[0]) + 1 + int(view.passes[0])) % NUM_SEATS


def _remarks(view: View, seat: int, mover: int) -> tuple[str, ...]:
    """Lists what is said of a seat beside its name."""
    passed = view.attack[0] != NONE
    passed &= (seat - int(view.attacker[0]) - 1) % NUM_SEATS < int(view.passes[0])
    remarks = {
        "dealer": view.dealer[0] == seat,
        "passed": passed,
        "to move": seat == mover,
    }
    return tuple(remark for remark, holds in remarks.items() if holds)


def _turn(view: View) -> str:
    """Says what the seat to move may do after an attack."""
    if view.passes[0] == 3:
        return "lead again, a block face down"
    return f"receive {TILE} or pass"


def _moment_of_view(view: View, names: tuple[str, ...]) -> str:
    """Says what is to be done now, as far as the viewer may know."""
    if view.asked_call[0]:
        return f"{names[0]}: {_QUESTIONS[int(tables(view.rules).question[view.hand[0, PAWN]])]}"
    if view.asked_choice[0]:
        return f"{names[0]}: {_QUESTIONS[CHOOSE]}"
    if view.attack[0] != NONE:
        return f"{names[_mover(view)]}: {_turn(view)}"
    if (view.hand_sizes[0] == 0).any() or (view.called[0] > 5).any():
        return "the round is over"
    return "no attack yet, the dealer leads"


def _moment_of_state(state: State, view: View, asked: str) -> str:
    """Says what is to be done now; ``asked``: the name of the seat that is asked."""
    status = int(state.status[0])
    if status == OVER:
        return f"seat {int(state.winner[0])} ended the round: {int(state.points[0])} points"
    if status == WAITING:
        return "waiting for a deal"
    if status == FRESH:
        return f"{asked}: lead, a block face down"
    if status in _QUESTIONS:
        return f"{asked}: {_QUESTIONS[status]}"
    return f"{asked}: {_turn(view)}"
