"""Saves games as arrays, and goes on from them."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

import numpy as np
import numpy.typing as npt

from goita_env.engine.episodes import Match
from goita_env.engine.state import NO_ROWS, State
from goita_env.errors import SettingError

Arrays = Mapping[str, npt.NDArray[Any]]


def save(match: Match) -> dict[str, npt.NDArray[Any]]:
    """Returns copies of all that games go on from."""
    state = match.state
    return {
        "state": state.data.copy(),
        "clock": np.array([state.clock]),
        "keys": match.keys.copy(),
        "episodes": match.episodes.copy(),
        "deals": match.deals.copy(),
    }


def restore(match: Match, arrays: Arrays) -> None:
    """Goes on where games of the same rules, number and episode were saved.

    Raises:
        SettingError: if arrays have other names, types or shapes; nothing has changed then. What
            they hold is not looked at.
    """
    shown, wanted = (
        {name: (array.dtype.name, array.shape) for name, array in given.items()}
        for given in (arrays, save(match))
    )
    if shown != wanted:
        raise SettingError(f"expected saved games as arrays {wanted}, got {shown}")
    state = State(match.rules, arrays["state"].copy(), int(arrays["clock"][0]), match.information)
    match.state, match.keys = state, arrays["keys"].copy()
    match.episodes, match.deals = arrays["episodes"].copy(), arrays["deals"].copy()
    match.redealt = NO_ROWS
    match.ready.clear()
