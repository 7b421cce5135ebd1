"""Draws what is told beside a position: actions with probabilities and values, beliefs as bars."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from math import isnan
from typing import Final

import numpy as np
import numpy.typing as npt

from goita_env import actions
from goita_env.errors import SettingError
from goita_env.render.pen import Pen, number
from goita_env.render.scene import Scene
from goita_env.render.words import action as action_words
from goita_env.tiles import NUM_KINDS, NUM_SEATS

MOST_ACTIONS: Final = 8
"""Actions that are listed; of the others their number is told."""

_COLUMNS: Final = 2
_ROW: Final = 36
_HEAD: Final = 34
_BARS: Final = 48


@dataclass(frozen=True)
class Listed:
    """An action that is listed."""

    action: int
    probability: float | None
    value: float | None
    best: bool
    """No action is more probable, or none worth more if no probabilities are told."""


@dataclass(frozen=True)
class Hand:
    """What is believed of a hand."""

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
    wanted = np.zeros(actions.NUM_ACTIONS, bool)
    wanted |= False if chances is None else chances > 0
    wanted |= False if worth is None else ~np.isnan(worth)
    keys = chances if chances is not None else worth
    found = []
    for action in np.flatnonzero(wanted).tolist():
        chance = None if chances is None else float(chances[action])
        value = None if worth is None or isnan(worth[action]) else float(worth[action])
        top = keys is not None and keys[action] == np.nanmax(keys)
        found.append(Listed(action, chance, value, bool(top)))
    return sorted(found, key=_place)


def _place(one: Listed) -> tuple[float, float]:
    return -(one.probability or 0), np.inf if one.value is None else -one.value


def _floats(array: npt.ArrayLike, shape: tuple[int, ...], name: str) -> npt.NDArray[np.float64]:
    found = np.asarray(array, np.float64)
    if found.shape != shape:
        raise SettingError(f"expected {name} of shape {shape}, got {found.shape}")
    return found


def hands(shown: Scene, belief: npt.ArrayLike | None) -> list[Hand]:
    """Reads what is believed of the hands that are to be drawn."""
    if belief is None:
        return []
    most = np.shape(belief)[-1:] or (0,)
    chances = _floats(belief, (NUM_SEATS, NUM_KINDS, *most), "a belief")
    sums = chances.sum(axis=2)
    some = sums.any(axis=1)
    if (chances < 0).any() or not np.allclose(sums[some], 1, atol=1e-3):
        raise SettingError("expected for each kind probabilities that sum to 1, got others")
    order = {place.name: seat for seat, place in enumerate(shown.places)}
    found = []
    for seat, name in enumerate(sorted(order) if "seat 0" in order else order):
        if some[seat]:
            found.append(Hand(name, tuple((1 - chances[seat, :, 0]).tolist())))
    return found


def height(shown: Sequence[Listed], belief: Sequence[Hand]) -> float:
    more = 24 if len(shown) > MOST_ACTIONS else 0
    high = _rows(shown) * _ROW + more + 16 if shown else 0.0
    return high + (_HEAD + len(belief) * _BARS + 40 if belief else 0)


def draw_actions(pen: Pen, top: float, shown: Sequence[Listed]) -> float:
    """Lists actions in columns, the best first; returns where they end."""
    if not shown:
        return top
    first, rows = shown[:MOST_ACTIONS], _rows(shown)
    tiles: list[tuple[float, float, int, bool]] = []
    tracks, bars, marks = "", "", ""
    texts: dict[str, list[tuple[float, float, str]]] = {"name": [], "chance": [], "value": []}
    for place, one in enumerate(first):
        x = 20 + 580 / _COLUMNS * (place // rows)
        y = top + 26 + _ROW * (place % rows)
        if (pair := actions.decode(one.action)) is None:
            texts["name"].append((x + 2, y + 6, action_words(one.action)))
        else:
            tiles += [(x + 14 + 30 * column, y, kind, False) for column, kind in enumerate(pair)]
        if one.best:  # a mark beside the colour
            marks += f"M{number(x - 12)} {number(y - 6)}l10 6-10 6z"
        at = x + 78
        if one.probability is not None:
            tracks += _bar(at, y - 6, 84, 12)
            bars += _bar(at, y - 6, max(84 * one.probability, 1) if one.probability else 0, 12)
            texts["chance"].append((at + 138, y + 6, _percent(one.probability)))
            at += 142
        if one.value is not None:
            texts["value"].append((at + 48, y + 6, f"{one.value:+.1f}".removesuffix(".0")))
    pen.tiles(tiles, 0.6)
    paths = (tracks, pen.colors.track), (bars, pen.colors.bar), (marks, pen.colors.last)
    for path, color in paths:
        if path:
            pen.path(path, color)
    pen.texts(texts["name"], 17)
    pen.texts(texts["chance"], 16, anchor="end")
    pen.texts(texts["value"], 16, pen.colors.faint, "end")
    below = top + 8 + rows * _ROW
    if len(shown) > MOST_ACTIONS:
        rest = sum(one.probability or 0 for one in shown[MOST_ACTIONS:])
        share = f", {_percent(rest)}" if shown[0].probability is not None else ""
        pen.text(
            580, below + 16, f"{len(shown) - MOST_ACTIONS} more{share}", 16, pen.colors.faint, "end"
        )
        below += 24
    return below + 8


def _rows(shown: Sequence[Listed]) -> int:
    return -(-min(len(shown), MOST_ACTIONS) // _COLUMNS)


def _bar(x: float, y: float, wide: float, high: float) -> str:
    length = number(wide)
    return f"M{number(x)} {number(y)}h{length}v{number(high)}h-{length}z" if wide else ""


def draw_belief(pen: Pen, top: float, belief: Sequence[Hand]) -> None:
    """Draws for each hand and kind a bar: the chance that it holds at least one."""
    if not belief:
        return
    pen.text(20, top + 24, "in hand, at least one:", 16, pen.colors.faint)
    top += _HEAD
    tracks, bars, names = "", "", []
    for hand in belief:
        names.append((20, top + 30, hand.name))
        for kind, chance in enumerate(hand.at_least_one):
            x, full = 116 + 59 * kind, 38 * chance
            tracks += _bar(x, top + 4, 46, 38)
            bars += _bar(x, top + 42 - full, 46, full) if full > 0.05 else ""
        top += _BARS
    pen.path(tracks, pen.colors.track)
    pen.path(bars, pen.colors.bar)
    pen.texts(names, 17)
    pen.tiles([(139 + 59 * kind, top + 20, kind, False) for kind in range(NUM_KINDS)], 0.6)


def _percent(share: float) -> str:
    return f"{100 * share:.0f} %"
