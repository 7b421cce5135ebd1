"""Checks games that come from outside, as from a checkpoint's file, before they are played on.

What passes holds a deal of the 32 tiles, plays that leave the hands it holds, and numbers that all
tables know, so that the engine can go on from it. Whether legal play led there is not asked.
"""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any, Final

import numpy as np
import numpy.typing as npt

from goita_env.engine import core
from goita_env.engine.history import FRAME_DEALER, FRAME_OTHER_SCORE, NOTE_BITS, SCORE_BITS
from goita_env.engine.state import State
from goita_env.engine.tables import CODE_MASK, KING_PERMIT, NUM_CODES, WAITING, code_counts
from goita_env.errors import SettingError
from goita_env.tiles import COUNTS, HAND_SIZE, MATCH_POINTS, MAX_PLAYS, NUM_SEATS

Arrays = Mapping[str, npt.NDArray[Any]]

FRAME_BITS: Final = ((1 << (FRAME_OTHER_SCORE + SCORE_BITS)) - 1) & -(1 << FRAME_DEALER)
MOST_EPISODES: Final = 1 << 44
MOST_DEALS: Final = 1 << 20


def check_saved(arrays: Arrays, like: Arrays) -> None:
    """Checks that arrays have the names, shapes and types of others.

    Raises:
        SettingError: if they haven't.
    """
    shown = {name: (array.dtype.name, array.shape) for name, array in arrays.items()}
    wanted = {name: (array.dtype.name, array.shape) for name, array in like.items()}
    if shown != wanted:
        raise SettingError(f"expected saved games as arrays {wanted}, got {shown}")
    for name, least, most in (
        ("clock", 0, NUM_SEATS),
        ("episodes", 0, MOST_EPISODES),
        ("deals", 1, MOST_DEALS),
    ):
        _check(name, (arrays[name] >= least) & (arrays[name] < most))


def check_state(state: State) -> None:
    """Checks games in which somebody is asked.

    Raises:
        SettingError: if they are none that can be played on.
    """
    codes = np.stack([state.hand & ~KING_PERMIT, state.down])
    for name, array, limit in (
        ("hand and down", codes, NUM_CODES),
        ("up", state.up, NUM_CODES),
        ("notes", state.notes, 1 << NOTE_BITS),
        ("status", state.status, WAITING),
        ("offset", state.offset, NUM_SEATS),
        ("query", state.query, len(state.questions.status)),
        ("dealer", state.dealer, NUM_SEATS),
        ("scores", state.scores, MATCH_POINTS),
        ("points", state.points, 1),
        ("winner", state.winner + 1, 1),
    ):
        _check(name, (array >= 0) & (array < limit))
    _check("frame", (state.frame & ~np.int64(FRAME_BITS)) == 0)
    _check("scores", state.scores % 10 == 0)

    plays = np.ascontiguousarray(state.own).view(np.uint8).reshape(NUM_SEATS, -1, HAND_SIZE)
    many = np.count_nonzero(plays, axis=2)
    _check("own", np.bitwise_count(plays) == (np.arange(HAND_SIZE) < many[..., None]))
    _check("shift", state.shift == 8 * many)
    _check("shown", (state.shown & ~state.own) == 0)
    events = (state.notes & ((1 << MAX_PLAYS) - 1)).sum(axis=0)
    _check("event", state.event == 1 << many.sum(axis=0) // 2)
    _check("notes", events == state.event - 1)

    hands = code_counts()[state.hand & CODE_MASK]  # [4, N, 8]
    dealt = np.moveaxis(state.dealt_counts(), 0, 1)
    _check("hand", (dealt.sum(axis=2) == HAND_SIZE) & (hands.sum(axis=2) > 0))
    down = code_counts()[state.down]
    lying = (hands + down).sum(axis=0) + code_counts()[state.up]
    _check("up and down", (lying == COUNTS) & (dealt.sum(axis=0) == COUNTS))
    few, more = core.legal_actions(state)
    _check("status", (few | more) > 0)


def _check(name: str, holds: npt.NDArray[np.bool_]) -> None:
    """Raises a SettingError unless everything holds."""
    if not holds.all():
        raise SettingError(f"expected saved games that can be played on, got others in {name!r}")
