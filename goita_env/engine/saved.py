"""Saves games as arrays, and checks arrays from outside before they are played on.

What passes holds a deal of the 32 tiles, plays that leave the hands it holds, and numbers that all
tables know, so that the engine can go on from it. Whether legal play led there is not asked.
"""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any, Final

import numpy as np
import numpy.typing as npt

from goita_env.engine import core, tables
from goita_env.engine.episodes import Match
from goita_env.engine.state import NO_ROWS, State
from goita_env.errors import SettingError
from goita_env.tiles import MAX_PLAYS, NUM_SEATS

Arrays = Mapping[str, npt.NDArray[Any]]

_FRAME_END: Final = tables.FRAME_OTHER_SCORE + tables.SCORE_BITS
_FRAME_BITS: Final = (1 << _FRAME_END) - (1 << tables.FRAME_DEALER)
_MESSAGES_END: Final = tables.FRAME_MESSAGES + tables.MESSAGE_BITS * NUM_SEATS
_MESSAGE_BITS: Final = (1 << _MESSAGES_END) - (1 << tables.FRAME_MESSAGES)
_LIMITS: Final = (("clock", 0, NUM_SEATS), ("episodes", 0, 1 << 44), ("deals", 1, 1 << 20))


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
        SettingError: if the arrays are none that can be played on; nothing has changed then.
    """
    shown, wanted = (
        {name: (array.dtype.name, array.shape) for name, array in given.items()}
        for given in (arrays, save(match))
    )
    if shown != wanted:
        raise SettingError(f"expected saved games as arrays {wanted}, got {shown}")
    for name, least, most in _LIMITS:
        _check(name, (arrays[name] >= least) & (arrays[name] < most))
    state = State(match.rules, arrays["state"].copy(), int(arrays["clock"][0]), match.information)
    _check_state(state)
    match.state, match.keys = state, arrays["keys"].copy()
    match.episodes, match.deals = arrays["episodes"].copy(), arrays["deals"].copy()
    match.redealt = NO_ROWS
    match.ready.clear()


def _check_state(state: State) -> None:
    codes = np.stack([state.hand & ~tables.KING_PERMIT, state.down])
    first = tables.MESSAGE_CHOICE if state.tables.bits else tables.FRESH
    for name, array, limit in (
        ("hand and down", codes, tables.NUM_CODES),
        ("up", state.up, tables.NUM_CODES),
        ("notes", state.notes, 1 << tables.NOTE_BITS),
        ("status", state.status - first, tables.WAITING - first),
        ("offset", state.offset, NUM_SEATS),
        ("query", state.query, len(state.tables.questions.status)),
        ("dealer", state.dealer, NUM_SEATS),
        ("scores", state.scores, state.rules.scores_below),
        ("points", state.points, 1),
        ("winner", state.winner + 1, 1),
    ):
        _check(name, (array >= 0) & (array < limit))
    known = _FRAME_BITS | (_MESSAGE_BITS if state.tables.bits else 0)
    _check("frame", (state.frame & ~np.int64(known)) == 0)
    # A seat whose message is still to come waits for a question of its number, and only then.
    asking = state.status == tables.MESSAGE_CHOICE
    _check("query", asking == (state.query >= len(tables.tables(state.rules).questions.status)))
    _check("scores", state.scores % 10 == 0)

    plays = np.ascontiguousarray(state.own).view(np.uint8).reshape(NUM_SEATS, -1, 8)
    many = np.count_nonzero(plays, axis=2)
    _check("own", np.bitwise_count(plays) == (np.arange(8) < many[..., None]))
    _check("shift", state.shift == 8 * many)
    _check("shown", (state.shown & ~state.own) == 0)
    events = (state.notes & ((1 << MAX_PLAYS) - 1)).sum(axis=0)
    _check("event", state.event == 1 << many.sum(axis=0) // 2)
    _check("notes", events == state.event - 1)

    hands = tables.code_counts()[state.hand & tables.CODE_MASK]  # [4, N, 8]
    dealt = np.moveaxis(state.dealt_counts(), 0, 1)
    _check("hand", (dealt.sum(axis=2) == state.rules.hand_size) & (hands.sum(axis=2) > 0))
    down = tables.code_counts()[state.down]
    lying = (hands + down).sum(axis=0) + tables.code_counts()[state.up]
    deck = state.rules.deck
    _check("up and down", (lying == deck) & (dealt.sum(axis=0) == deck))
    few, more = core.legal_actions(state)
    _check("status", (few | more) > 0)


def _check(name: str, holds: npt.NDArray[np.bool_]) -> None:
    if not holds.all():
        raise SettingError(f"expected saved games that can be played on, got others in {name!r}")
