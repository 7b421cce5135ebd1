"""Draws the panels below a position: actions with probabilities and values, beliefs as bars."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from math import isnan
from typing import Final

import numpy as np
import numpy.typing as npt

from goita_env import actions
from goita_env.errors import SettingError
from goita_env.render.pen import Pen, tenths
from goita_env.render.scene import Scene
from goita_env.render.words import action as action_words
from goita_env.tiles import NUM_KINDS, NUM_SEATS

MOST_ACTIONS: Final = 8
"""Actions that are listed; of all others only the number is drawn."""

_COLUMNS: Final = 2
_ROW_HEIGHT: Final = 36
"""Height of a line of actions; below: of the note about further actions, of the head of the
beliefs, of a hand's bars."""
_NOTE_HEIGHT: Final = 24
_HEAD_HEIGHT: Final = 34
_BARS_HEIGHT: Final = 48


@dataclass(frozen=True)
class Listed:
    """An action that is listed."""

    action: int
    probability: float | None
    value: float | None
    best: bool
    """No action is more probable, or if there are no probabilities, none is worth more."""


@dataclass(frozen=True)
class Hand:
    """The belief about a hand."""

    name: str
    at_least_one: tuple[float, ...]
    """[8] By kind."""


def listed(probabilities: npt.ArrayLike | None, values: npt.ArrayLike | None) -> list[Listed]:
    """Lists the actions that are to be drawn, the best first."""
    chances, worth = (
        None if array is None else _floats(array, (actions.NUM_ACTIONS,), name)
        for array, name in ((probabilities, "probabilities"), (values, "values"))
    )
    if chances is not None and not ((chances >= 0) & (chances <= 1)).all():
        raise SettingError("expected probabilities from 0 to 1, got others")
    is_listed = np.zeros(actions.NUM_ACTIONS, bool)
    is_listed |= False if chances is None else chances > 0
    is_listed |= False if worth is None else ~np.isnan(worth)
    keys = chances if chances is not None else worth
    rows = []
    for action in np.flatnonzero(is_listed).tolist():
        chance = None if chances is None else float(chances[action])
        value = None if worth is None or isnan(worth[action]) else float(worth[action])
        top = keys is not None and keys[action] == np.nanmax(keys)
        rows.append(Listed(action, chance, value, bool(top)))
    return sorted(rows, key=_order)


def _order(row: Listed) -> tuple[float, float]:
    return -(row.probability or 0), np.inf if row.value is None else -row.value


def _floats(array: npt.ArrayLike, shape: tuple[int, ...], name: str) -> npt.NDArray[np.float64]:
    numbers = np.asarray(array, np.float64)
    if numbers.shape != shape:
        raise SettingError(f"expected {name} of shape {shape}, got {numbers.shape}")
    return numbers


def hands(scene: Scene, belief: npt.ArrayLike | None) -> list[Hand]:
    """Reads the belief about each hand that is to be drawn."""
    if belief is None:
        return []
    # Any number of counts 0, 1, ... tiles; none for a belief that is a number, which is refused.
    num_counts = np.shape(belief)[-1] if np.ndim(belief) else 0
    chances = _floats(belief, (NUM_SEATS, NUM_KINDS, num_counts), "a belief")
    sums = chances.sum(axis=2)
    is_drawn = sums.any(axis=1)  # a seat whose probabilities are all zero is left out
    if (chances < 0).any() or not np.allclose(sums[is_drawn], 1, atol=1e-3):
        raise SettingError("expected for each kind probabilities that sum to 1, got others")
    # Places are in the order of the belief's seats, except where the drawing names absolute seats:
    # then the belief counts seats from seat 0, whichever place is at the bottom.
    names = [place.name for place in scene.places]
    return [
        Hand(name, tuple((1 - chances[seat, :, 0]).tolist()))
        for seat, name in enumerate(sorted(names) if "seat 0" in names else names)
        if is_drawn[seat]
    ]


def height(rows: Sequence[Listed], belief: Sequence[Hand]) -> float:
    """Returns the height of both panels, 0 for none."""
    note = _NOTE_HEIGHT if len(rows) > MOST_ACTIONS else 0
    high = _lines(rows) * _ROW_HEIGHT + note + 16 if rows else 0.0
    return high + (_HEAD_HEIGHT + len(belief) * _BARS_HEIGHT + 40 if belief else 0)


def draw_actions(pen: Pen, top: float, rows: Sequence[Listed]) -> float:
    """Lists actions in columns from ``top`` down, the best first; returns where they end.

    Each has its tiles or its name, then a bar and a number for its probability, then its value.
    """
    if not rows:
        return top
    lines = _lines(rows)
    tiles: list[tuple[float, float, int, bool]] = []  # as ``Pen.tiles`` takes them
    tracks, bars, marks = "", "", ""
    texts: dict[str, list[tuple[float, float, str]]] = {"name": [], "chance": [], "value": []}
    for place, row in enumerate(rows[:MOST_ACTIONS]):
        # ``x`` moves on to the left edge of each part.
        x = 20 + 580 / _COLUMNS * (place // lines)
        y = top + 26 + _ROW_HEIGHT * (place % lines)
        if (pair := actions.decode(row.action)) is None:
            texts["name"].append((x + 2, y + 6, action_words(row.action)))
        else:
            tiles += [(x + 14 + 30 * column, y, kind, False) for column, kind in enumerate(pair)]
        if row.best:  # a mark next to the tiles
            marks += f"M{tenths(x - 12)} {tenths(y - 6)}l10 6-10 6z"
        x += 78
        if row.probability is not None:
            tracks += _bar(x, y - 6, 84, 12)
            bars += _bar(x, y - 6, max(84 * row.probability, 1) if row.probability else 0, 12)
            texts["chance"].append((x + 138, y + 6, _percent(row.probability)))
            x += 142
        if row.value is not None:
            texts["value"].append((x + 48, y + 6, f"{row.value:+.1f}".removesuffix(".0")))
    pen.tiles(tiles, 0.6)
    paths = (tracks, pen.colors.track), (bars, pen.colors.bar), (marks, pen.colors.last)
    for path, color in paths:
        if path:
            pen.path(path, color)
    pen.texts(texts["name"], 17)
    pen.texts(texts["chance"], 16, anchor="end")
    pen.texts(texts["value"], 16, pen.colors.faint, "end")
    below = top + 8 + lines * _ROW_HEIGHT
    if len(rows) > MOST_ACTIONS:
        chance = sum(row.probability or 0 for row in rows[MOST_ACTIONS:])
        share = f", {_percent(chance)}" if rows[0].probability is not None else ""
        pen.text(
            580, below + 16, f"{len(rows) - MOST_ACTIONS} more{share}", 16, pen.colors.faint, "end"
        )
        below += _NOTE_HEIGHT
    return below + 8


def _lines(rows: Sequence[Listed]) -> int:
    """Returns how many lines the listed actions take in columns."""
    return -(-min(len(rows), MOST_ACTIONS) // _COLUMNS)


def _bar(x: float, y: float, wide: float, high: float) -> str:
    length = tenths(wide)
    return f"M{tenths(x)} {tenths(y)}h{length}v{tenths(high)}h-{length}z" if wide else ""


def draw_belief(pen: Pen, top: float, belief: Sequence[Hand]) -> None:
    """Draws for each hand and kind a bar: the chance that it holds at least one."""
    if not belief:
        return
    pen.text(20, top + 24, "in hand, at least one:", 16, pen.colors.faint)
    top += _HEAD_HEIGHT
    tracks, bars, names = "", "", []
    for hand in belief:
        names.append((20, top + 30, hand.name))
        for kind, chance in enumerate(hand.at_least_one):
            x, full = 116 + 59 * kind, 38 * chance
            tracks += _bar(x, top + 4, 46, 38)
            bars += _bar(x, top + 42 - full, 46, full) if full > 0.05 else ""
        top += _BARS_HEIGHT
    pen.path(tracks, pen.colors.track)
    pen.path(bars, pen.colors.bar)
    pen.texts(names, 17)
    pen.tiles([(139 + 59 * kind, top + 20, kind, False) for kind in range(NUM_KINDS)], 0.6)


def _percent(share: float) -> str:
    return f"{100 * share:.0f} %"
