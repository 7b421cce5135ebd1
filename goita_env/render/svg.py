"""Draws the table as SVG: what one seat may know, or the whole table laid open.

::

    svg.render(game.view(2), theme="dark")
    svg.render(game, faces="letters", probabilities=probabilities[0])

Seats sit as in ``ansi``: the drawn one at the bottom, the next to its right. Each lays its plays
from its left to its right, blocks toward the middle and attacks toward itself, and holds its hand
outside of them. A tile that is face down and known shows its face faintly.
"""

from __future__ import annotations

from collections.abc import Mapping
from typing import Final, Literal, NotRequired, TypedDict, Unpack, get_args

import numpy.typing as npt

from goita_env import actions
from goita_env.errors import SettingError
from goita_env.render import panels, words
from goita_env.render.pen import Anchor, Drawing, Faces, Pen, text_width, wrap_text, write_document
from goita_env.render.scene import Drawable, Place, Scene, as_scene
from goita_env.render.themes import Theme
from goita_env.render.translation import ENGLISH, Language, Phrase
from goita_env.tiles import FACE_DOWN, NONE

SIZE: Final = 600
"""Width and height of a table, without the panels below it."""

_MIDDLE: Final = SIZE / 2
_BLOCKS, _ATTACKS, _HAND = 150.0, 208.0, 268.0
"""Distances of the three rows of a seat from the middle."""
_COLUMN, _HAND_COLUMN = 50.0, 47.0
"""Widths of a column of plays, and of a tile in hand."""

# Where the words about each seat are, from the bottom counter-clockwise: in the corner at its left
# hand. x, the base line of the name, and which side of the text begins there.
_WORD_PLACES: Final[tuple[tuple[float, float, Anchor], ...]] = (
    (68, 448, "start"),
    (532, 448, "end"),
    (532, 88, "end"),
    (68, 88, "start"),
)


Mark = Literal["played", "best"]
"""What an action is marked as: with a solid line, and with a dashed one around it."""


class Options(TypedDict):
    """How a position is drawn, and the panels below it."""

    theme: NotRequired[Theme]
    """"light" or "dark"."""
    faces: NotRequired[Faces]
    """"characters" as on the tiles, "letters" (PLNSGBRK) or "digits" as in records."""
    language: NotRequired[Language]
    """Of the words; English by default."""
    size: NotRequired[float | None]
    """Width in pixels; None: 600."""
    marked: NotRequired[Mapping[Mark, int]]
    """Actions whose two tiles are marked in the mover's hand, where it is shown."""
    probabilities: NotRequired[npt.ArrayLike | None]
    """[69] A policy's probability of each action; those above 0 are listed."""
    values: NotRequired[npt.ArrayLike | None]
    """[69] Points that each action is worth; those that are not NaN are listed."""
    belief: NotRequired[npt.ArrayLike | None]
    """[4, 8, n] Probability that each hand holds 0, 1, ... tiles of each kind; all zero for a seat
    that is left out. Seats count as the drawing names them: from the viewer in a view."""


def render(position: Scene | Drawable, **options: Unpack[Options]) -> str:
    """Draws a game, a view or positions as SVG text.

    Args:
        position: what is drawn; of several positions the first.
        options: how, and the panels below it (``Options``).

    Raises:
        SettingError: if it cannot be drawn, if there is no position, or an option is impossible.
    """
    return write_document(draw(position, **options), options.get("size"))


def draw(position: Scene | Drawable, **options: Unpack[Options]) -> Drawing:
    """Draws the same as ``render``, for animations and for pages that use a drawing's parts."""
    scene, say = as_scene(position), options.get("language", ENGLISH)
    pen = Pen(options.get("theme", "light"), options.get("faces", "characters"), say)
    listed = panels.listed(options.get("probabilities"), options.get("values"))
    belief = panels.hands(scene, options.get("belief"))
    high = SIZE + panels.height(listed, belief)
    _ground(pen, high)
    marked = _marks(scene, options.get("marked", {}))
    for turn, place in enumerate(scene.places):
        _seat(pen, place, turn, marked if turn == _decider(scene) else {})
        _words(pen, place, turn, scene)
    _centre(pen, scene)
    panels.draw_belief(pen, panels.draw_actions(pen, SIZE, listed), belief)
    sentences = words.position(scene)
    sentences += [
        Phrase(f"Marked as {mark}: {{action}}.", action=words.action(action))
        for mark, action in marked.items()
    ]
    return pen.drawing(SIZE, high, say(words.title(scene)), "\n".join(map(say, sentences)))


def _turned(x: float, y: float, turn: int) -> tuple[float, float]:
    """Returns where a point of the bottom seat's side lies at another's; from the middle."""
    for _ in range(turn):
        x, y = y, -x
    return _MIDDLE + x, _MIDDLE + y


def _ground(pen: Pen, high: float) -> None:
    pen.box(0, 0, SIZE, high, pen.colors.ground)
    pen.box(62, 62, 476, 476, pen.colors.board, 18)
    places = ""
    for turn in range(4):
        for column in range(4):
            for row in (_BLOCKS, _ATTACKS):
                x, y = _turned((column - 1.5) * _COLUMN, row, turn)
                wide, high = (44, 52) if turn % 2 == 0 else (52, 44)
                places += f"M{x - wide / 2:g} {y - high / 2:g}h{wide}v{high}h-{wide}z"
    pen.path(places, pen.colors.slot)


def _decider(scene: Scene) -> int:
    """Returns the place whose hand is marked: the acting seat's, before all plays the dealer's.

    A view before the first play does not show the acting seat: others may be answering questions.
    """
    first = scene.dealer if not scene.decisions else NONE
    return first if scene.mover == NONE else scene.mover


def _marks(scene: Scene, marked: Mapping[Mark, int]) -> dict[Mark, int]:
    """Returns the actions to mark in the hand of ``_decider``, by mark; none if it is not shown.

    Raises:
        SettingError: if there is no such mark or action, or the hand lacks a tile of the action.
    """
    decider = _decider(scene)
    hand = None if decider == NONE else scene.places[decider].hand
    for mark, action in marked.items():
        if mark not in get_args(Mark) or action not in range(actions.NUM_ACTIONS):
            raise SettingError(
                f"expected {' or '.join(get_args(Mark))} with an action 0 to "
                f"{actions.NUM_ACTIONS - 1}, got {mark!r}: {action!r}"
            )
        pair = actions.decode(action)
        if hand is not None and pair is not None and None in _columns(hand, pair):
            raise SettingError(
                f"expected the tiles of an action in the mover's hand as {mark!r}, "
                f"got {words.action(action)}"
            )
    return {} if hand is None else dict(marked)


def _columns(hand: tuple[int, ...], pair: tuple[int, ...]) -> list[int | None]:
    """Returns the columns of a hand with the two tiles of a play; None: the hand lacks the tile."""
    columns: list[int | None] = []
    for kind in pair:
        # Two tiles of one kind lie in two columns.
        free = (column for column in range(len(hand)) if column not in columns)
        columns.append(next((column for column in free if hand[column] == kind), None))
    return columns


def _seat(pen: Pen, place: Place, turn: int, marked: Mapping[Mark, int]) -> None:
    """Draws the plays and the hand of a place, and marks in the hand, on the side ``turn``."""
    with pen.side(turn):
        for column in range(4):
            x = _MIDDLE + (column - 1.5) * _COLUMN
            block, attack = place.blocks[column], place.attacks[column]
            if block != NONE:
                down = place.face_down[column] and block != FACE_DOWN
                pen.tile(x, _MIDDLE + _BLOCKS, block, down=down)
            if attack != NONE:
                pen.tile(x, _MIDDLE + _ATTACKS, attack)
            if column == place.last:
                pen.outline(x, _MIDDLE + _ATTACKS, pen.colors.last, 4)
        hand = place.hand if place.hand is not None else (FACE_DOWN,) * place.tiles
        places = [
            (_MIDDLE + (column - (len(hand) - 1) / 2) * _HAND_COLUMN, _MIDDLE + _HAND)
            for column in range(len(hand))
        ]
        for (x, y), kind in zip(places, hand, strict=True):
            pen.tile(x, y, kind)
        for mark, action in marked.items():
            for marked_column in _columns(hand, actions.decode(action) or ()):
                if marked_column is not None and mark == "played":
                    pen.outline(*places[marked_column], pen.colors.mover, 4)
                elif marked_column is not None:
                    pen.outline(*places[marked_column], pen.colors.last, 3, 1.14, dashed=True)


def _words(pen: Pen, place: Place, turn: int, scene: Scene) -> None:
    """Writes the name of a place with the sign of its team, and below it remarks and calls."""
    x, y, anchor = _WORD_PLACES[turn]
    side = 1 if anchor == "start" else -1  # the direction in which the text lies from x
    _team(pen, x + side * 7, y - 8, (turn + scene.bottom_team) % 2)
    pen.text(x + side * 20, y, place.name, 22, anchor=anchor)
    for remark in (*place.remarks, *place.calls):
        y += 22
        if remark == "to move":
            wide = text_width(pen.say(remark), 17)
            pen.box(x - (0 if side > 0 else wide + 16), y - 16, wide + 16, 22, pen.colors.mover, 11)
            pen.text(x + side * 8, y, remark, 17, pen.colors.on_mover, anchor)
            y += 3
        else:
            pen.text(x, y, remark.removesuffix(" pawns"), 17, pen.colors.faint, anchor)


def _team(pen: Pen, x: float, y: float, team: int) -> None:
    """Draws the sign of a team: a disc, or a diamond."""
    if team == 0:
        pen.path(f"M{x - 6:g} {y:g}a6 6 0 1 1 12 0a6 6 0 1 1-12 0z", pen.colors.text)
    else:
        pen.path(f"M{x - 6:g} {y:g}l6-6 6 6-6 6z", stroke=pen.colors.text, weight=2.5)


def _centre(pen: Pen, scene: Scene) -> None:
    """Draws scores, the mover's mark, the attack to be met, and the moment in words."""
    for team, (name, points) in enumerate(scene.scores):
        y = 226 + 23 * team
        _team(pen, 203, y - 6, team)
        pen.text(216, y, name, 17, pen.colors.faint)
        pen.text(404, y, str(points), 19, anchor="end")
    if scene.mover != NONE:
        with pen.side(scene.mover):
            pen.path("M286 395h28l-14 18z", pen.colors.mover)
    if scene.attack != NONE:
        pen.tiles([(_MIDDLE, 307, scene.attack, False)], 1.5)
        pen.outline(_MIDDLE, 307, pen.colors.last, 3, 1.5)
    at_side = scene.attack == NONE and scene.mover in (1, 3)  # the mover's mark takes some room
    rows = wrap_text(pen.say(scene.moment("")), 17, 180 if at_side else 224)
    top = 378 if scene.attack != NONE else 328 - 11 * len(rows)
    for line, row in enumerate(rows):
        pen.text(_MIDDLE, top + 22 * line, row, 17, anchor="middle")
