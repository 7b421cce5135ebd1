"""Reads what a training rewards beside the points: kinds of plays that its players shall prefer.

Players that were rewarded for another behaviour play another, sensible way, which networks of plain
self-play hardly do (compare the event rewards of ZSC-Eval, Wang et al. 2024).
"""

from __future__ import annotations

from collections.abc import Sequence
from math import isfinite

import numpy as np
import numpy.typing as npt

from goita_env import actions
from goita_env.errors import SettingError
from goita_env.tiles import DIGITS, NUM_KINDS


def read_preferences(texts: Sequence[str]) -> npt.NDArray[np.float32]:
    """Returns the points that a seat earns by each of its decisions: float32 [77].

    Args:
        texts: PLAYS:POINTS each, PLAYS as records write them: "p" a pass, "52" block and attack,
            "5x" every play with that block, "x2" every play with that attack. Several add up.
    """
    earned = np.zeros(actions.MAX_ACTIONS, np.float32)
    for text in texts:
        plays, _, points = text.partition(":")
        try:
            value = float(points)
        except ValueError:
            value = np.nan
        if not isfinite(value) or not (found := _actions(plays)):
            raise SettingError(f"expected PLAYS:POINTS such as p:1, 5x:-2 or x8:0.5, got {text!r}")
        earned[found] += value
    return earned


def _actions(plays: str) -> list[int]:
    """Returns the actions that a text stands for; none: it stands for nothing."""
    if plays == "p":
        return [actions.PASS]
    if len(plays) != 2:
        return []
    block, attack = (range(NUM_KINDS) if digit == "x" else [DIGITS.find(digit)] for digit in plays)
    return [actions.encode(b, a) for b in block for a in attack if min(b, a) >= 0]
