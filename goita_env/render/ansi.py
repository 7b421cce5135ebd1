"""Draws the table in characters: what one seat may know, or the whole table laid open.

The drawn seat sits at the bottom, the next one to its right, its partner on top, the previous one
on the left. Each has its plays in order of time, blocks in the upper row and attacks below, then
its hand. ``(し)`` lies face down but is known, ``〓`` is a back, ``[金]`` is the last attack.
Only ASCII and characters two columns wide are used: the columns stand straight in any terminal.
"""

from __future__ import annotations

import re
from dataclasses import dataclass
from typing import Final
from unicodedata import east_asian_width

import numpy as np
import numpy.typing as npt

from goita_env import actions
from goita_env.engine.state import State
from goita_env.engine.tables import CALL_CHOICE, CALL_DUTY, CHOOSE, FRESH, OVER, WAITING, tables
from goita_env.errors import SettingError
from goita_env.tiles import CHARACTERS, DIGITS, NUM_SEATS, PAWN
from goita_env.views import View, seat_view
from goita_env.views.fields import FACE_DOWN, NONE

_RELATIVE_NAMES: Final = ("you", "next", "partner", "previous")
_NUMBERS: Final = {5: "five", 6: "six", 7: "seven", 8: "eight"}

# Columns where the panels of the four seats begin, from the bottom counter-clockwise.
_PANEL_COLUMNS: Final = (23, 41, 23, 4)
_WIDTH: Final = 66

_QUESTIONS: Final = {
    CALL_CHOICE: "call or keep silent",
    CALL_DUTY: "call, a duty",
    CHOOSE: "redeal or continue",
}
_BOLD, _DIM, _PLAIN = "\x1b[1m", "\x1b[2m", "\x1b[0m"
_ESCAPES: Final = re.compile(r"\x1b\[\d*m")


def view(view: View, index: int = 0, *, ascii: bool = False, color: bool = False) -> str:  # noqa: A002  (its plain name)
    """Returns a drawing of what one seat may know.

    Args:
        view: views, of which one is drawn.
        index: its number.
        ascii: digits as in records instead of characters.
        color: the last attack bold and face-down tiles dim, by escape sequences.

    Raises:
        SettingError: if there is no such view.
    """
    one = view[_one(index, len(view))]
    brush = _Brush.of(ascii, color)
    names = _RELATIVE_NAMES
    asked = one.asked_call[0] or one.asked_choice[0]
    mover = 0 if asked else _mover(one)
    panels = [
        _panel(one, seat, [name, *_remarks(one, seat, mover)], brush)
        for seat, name in enumerate(names)
    ]
    own, other = one.scores[0]
    return _picture(
        panels,
        (one.rules.name, f"you and partner: {own}   the others: {other}"),
        [_moment_of_view(one, brush), *_calls(one, names)],
    )


def table(
    state: State,
    index: int = 0,
    viewer: int = 0,
    *,
    ascii: bool = False,  # noqa: A002  (its plain name)
    color: bool = False,
) -> str:
    """Returns a drawing of the whole table of one game, all tiles open.

    Args:
        state: games, of which one is drawn.
        index: its number.
        viewer: the seat at the bottom.
        ascii: digits as in records instead of characters.
        color: the last attack bold and face-down tiles dim, by escape sequences.

    Raises:
        SettingError: if there is no such game or seat.
    """
    if viewer not in range(NUM_SEATS):
        raise SettingError(f"expected a seat 0..3 at the bottom, got {viewer!r}")
    one = state.select(_one(index, state.num_games))
    brush = _Brush.of(ascii, color)
    seats = [(viewer + seat) % NUM_SEATS for seat in range(NUM_SEATS)]
    names = tuple(f"seat {seat}" for seat in seats)
    mover = (int(one.seat[0]) - viewer) % NUM_SEATS if one.seat[0] >= 0 else NONE
    below = seat_view(one, viewer)
    panels = [
        _panel(seat_view(one, seat), 0, [name, *_remarks(below, place, mover)], brush)
        for place, (seat, name) in enumerate(zip(seats, names, strict=True))
    ]
    even, odd = one.scores[:, 0]
    return _picture(
        panels,
        (one.rules.name, f"seats 0 and 2: {even}   seats 1 and 3: {odd}"),
        [_moment_of_state(one, below, brush), *_calls(below, names)],
    )


@dataclass(frozen=True)
class _Brush:
    """Writes tiles: in characters or digits, with or without escape sequences."""

    faces: str
    back: str
    empty: str
    color: bool

    @classmethod
    def of(cls, plain: bool, color: bool) -> _Brush:
        """Returns a brush for ASCII or for characters two columns wide."""
        return cls(DIGITS, "#", ".", color) if plain else cls(CHARACTERS, "〓", "・", color)

    def tile(self, kind: int) -> str:
        """Returns one tile, its back, or its empty place."""
        if kind == NONE:
            return self.empty
        return self.back if kind == FACE_DOWN else self.faces[kind]

    def cell(self, kind: int, face_down: bool, last: bool = False) -> str:
        """Returns a tile on the table with its marks, a column on either side."""
        if last:
            return self._painted(f"[{self.tile(kind)}]", _BOLD)
        if face_down:
            marked = f" {self.back} " if kind == FACE_DOWN else f"({self.tile(kind)})"
            return self._painted(marked, _DIM)
        return f" {self.tile(kind)} "

    def _painted(self, text: str, escape: str) -> str:
        """Returns a text within escape sequences, if wanted."""
        return f"{escape}{text}{_PLAIN}" if self.color else text


def _one(index: int, number: int) -> npt.NDArray[np.int64]:
    """Returns the index of one position as an array.

    Raises:
        SettingError: if there is no such position.
    """
    if index not in range(number):
        raise SettingError(f"expected an index 0..{number - 1}, got {index!r}")
    return np.array([index], np.int64)


def _panel(view: View, seat: int, header: list[str], brush: _Brush) -> list[str]:
    """Returns the lines of one seat: header, blocks, attacks, hand; ``view``: of one position."""
    blocks, attacks = view.blocks[0, seat].tolist(), view.attacks[0, seat].tolist()
    down = view.face_down[0, seat].tolist()
    plays = int(view.num_plays[0])
    last = -1  # the seat's play that was the last of all
    if plays and view.event_seat[0, plays - 1] == seat:
        last = int((view.event_seat[0] == seat).sum()) - 1
    if seat == 0:
        hand = "".join(brush.faces[kind] * int(n) for kind, n in enumerate(view.hand[0]))
    else:
        tiles = 0 if view.called[0, seat] > 5 else int(view.hand_sizes[0, seat])
        hand = f"{brush.back * tiles} {tiles}" if tiles else ""
    return [
        ", ".join(header),
        "".join(brush.cell(kind, hidden) for kind, hidden in zip(blocks, down, strict=True)),
        "".join(brush.cell(kind, False, place == last) for place, kind in enumerate(attacks)),
        hand,
    ]


def _mover(view: View) -> int:
    """Returns the seat whose turn it is by the clock, NONE if no attack is open."""
    if view.attack[0] == NONE:
        return NONE
    return (int(view.attacker[0]) + 1 + int(view.passes[0])) % NUM_SEATS


def _remarks(view: View, seat: int, mover: int) -> list[str]:
    """Lists what is said of a seat beside its name."""
    passed = view.attack[0] != NONE
    passed &= (seat - int(view.attacker[0]) - 1) % NUM_SEATS < int(view.passes[0])
    remarks = {
        "dealer": view.dealer[0] == seat,
        "passed": passed,
        "to move": seat == mover,
    }
    return [remark for remark, holds in remarks.items() if holds]


def _turn(view: View, brush: _Brush) -> str:
    """Says what the seat to move may do after an attack."""
    if view.passes[0] == 3:
        return "lead again, a block face down"
    return f"receive {brush.tile(int(view.attack[0]))} or pass"


def _moment_of_view(view: View, brush: _Brush) -> str:
    """Says what is to be done now, as far as the viewer may know."""
    if view.asked_call[0]:
        return f"you: {_QUESTIONS[int(tables(view.rules).question[view.hand[0, PAWN]])]}"
    if view.asked_choice[0]:
        return f"you: {_QUESTIONS[CHOOSE]}"
    if view.attack[0] != NONE:
        return f"{_RELATIVE_NAMES[_mover(view)]}: {_turn(view, brush)}"
    if (view.hand_sizes[0] == 0).any() or (view.called[0] > 5).any():
        return "the round is over"
    return "no attack yet, the dealer leads"


def _moment_of_state(state: State, view: View, brush: _Brush) -> str:
    """Says what is to be done now."""
    status, seat = int(state.status[0]), int(state.seat[0])
    if status == OVER:
        return f"seat {int(state.winner[0])} ended the round: {int(state.points[0])} points"
    if status == WAITING:
        return "waiting for a deal"
    if status == FRESH:
        return f"seat {seat}: lead, a block face down"
    if status in _QUESTIONS:
        return f"seat {seat}: {_QUESTIONS[status]}"
    return f"seat {seat}: {_turn(view, brush)}"


def _calls(view: View, names: tuple[str, ...]) -> list[str]:
    """Lists the special hands called and what the callers' partners chose; ``names``: by seat."""
    called, choices = view.called[0].tolist(), view.choices[0].tolist()
    calls = [
        f"{name} called {_NUMBERS[pawns]} pawns"
        for name, pawns in zip(names, called, strict=True)
        if pawns
    ]
    return calls + [
        f"{name} chose: {actions.name(choice)}"
        for name, choice in zip(names, choices, strict=True)
        if choice
    ]


def _width(text: str) -> int:
    """Returns the columns that a text takes in a terminal."""
    return sum(2 if east_asian_width(c) in "WF" else 1 for c in _ESCAPES.sub("", text))


def _line(*parts: tuple[int, str]) -> str:
    """Returns a framed line with texts at given columns."""
    line = ""
    for column, text in parts:
        line += " " * (column - _width(line)) + text
    return f"|{line}{' ' * (_WIDTH - _width(line))}|"


def _picture(panels: list[list[str]], header: tuple[str, str], footer: list[str]) -> str:
    """Returns the table: panels of the seats from the bottom counter-clockwise, within a frame."""
    below, right, above, left = (
        # Header and hand begin where the first tile's face stands.
        [(column + 1, name), (column, blocks), (column, attacks), (column + 1, hand)]
        for column, (name, blocks, attacks, hand) in zip(_PANEL_COLUMNS, panels, strict=True)
    )
    rules, scores = header
    while _width(rules) > _WIDTH - 6 - _width(scores):
        rules = rules[:-1]
    rule, blank = f"+{'-' * _WIDTH}+", _line()
    lines = [
        rule,
        _line((2, rules), (_WIDTH - 2 - _width(scores), scores)),
        blank,
        *(_line(place) for place in above),
        blank,
        *(_line(*places) for places in zip(left, right, strict=True)),
        blank,
        *(_line(place) for place in below),
        rule,
        *(_line((2, text)) for text in footer),
        rule,
    ]
    return "\n".join(lines)
