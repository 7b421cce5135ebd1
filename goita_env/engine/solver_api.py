"""Hands the engine's arrays to a compiled search: the one interface for code outside ``goita_env``.

A fast search cannot go through views and calls: it reads the rules as plain arrays
(``search_rules``) and positions as numbers (``position_arrays``). Both use the engine's *codes* of
hands and its *status*; the functions that convert them are exported here, too.
"""

from __future__ import annotations

from typing import Final, NamedTuple, Protocol

import numpy as np

from goita_env.arrays import Bits, Int
from goita_env.engine.state import SLOTS, State
from goita_env.engine.tables import (
    BLOCKS,
    CALL_CHOICE,
    CALL_DUTY,
    CHOOSE,
    CODE_MASK,
    KING_PERMIT,
    MESSAGE_CHOICE,
    NEXT,
    NUM_ATTACK_STATUSES,
    NUM_CODES,
    OVER,
    RADIX,
    WAITING,
    attack_status,
    code_counts,
    tables,
)
from goita_env.errors import SettingError
from goita_env.rules import Rules

__all__ = [
    "CODE_MASK",
    "KING_PERMIT",
    "NUM_ATTACK_STATUSES",
    "NUM_CODES",
    "RADIX",
    "PositionArrays",
    "SearchRules",
    "attack_status",
    "code_counts",
    "position_arrays",
    "search_rules",
]


_MOMENTS_BEYOND_PLAY: Final = {
    CALL_CHOICE: "a seat is asked whether it calls its pawns",
    CALL_DUTY: "a seat has to call its pawns",
    CHOOSE: "a seat is asked whether all are dealt new hands",
    WAITING: "new hands are to be dealt",
    OVER: "the round is over",
    MESSAGE_CHOICE: "a seat is asked for a message",
}
"""The moments, by status, in which no seat plays or passes."""

_LEAD_PASSES: Final = 3
"""Passes after which the attacker leads anew; the dealer's first turn counts as such a lead."""


class SearchRules(NamedTuple):
    """A rule set as a search reads it; ``S`` statuses of play, keys ``status * 69 + action``.

    The arrays are the engine's own: don't write into them.
    """

    pairs: Bits
    """[2 * 2**18] Bit 8 * block + attack: the hand (index: code, and KING_PERMIT where a king may
    attack) can play the pair, if the block is allowed."""
    blocks: Bits
    """[S] Pairs whose block is allowed, by status."""
    after: Int
    """[S * 69] Status after an action, by key."""
    points: Int
    """[S * 69] Points of the round if the hand is empty after an action, by key."""
    attack: Int
    """[S] Kind of the attack that the acting seat may receive, by status; -1 where it leads."""
    passes: Int
    """[S] Passes since that attack, 0 to 2; 3 where the acting seat leads."""
    king_up: Int
    """[S] 1 where a king lies face up, else 0."""


class PositionArrays(NamedTuple):
    """N positions of play with all hands known."""

    codes: Int
    """[n, 4] Code of each seat's hand, and KING_PERMIT where it may always attack with a king."""
    seat: Int
    """[n] The acting seat."""
    status: Int
    """[n] Public status."""


class Games(Protocol):
    """Games of the engine, as ``worlds.Positions`` and ``Game`` do."""

    @property
    def _state(self) -> State: ...


def search_rules(rules: Rules) -> SearchRules:
    """Returns a rule set as plain arrays."""
    t, statuses = tables(rules), np.arange(NUM_ATTACK_STATUSES + 1)
    num_actions = len(t.points) // len(t.answers)
    num_keys = num_actions * len(statuses)
    # The inverse of ``attack_status``; status 0, the first turn, is set after it.
    attacks_and_passes, king_up = np.divmod(statuses - 1, 2)
    attack, passes = np.divmod(attacks_and_passes, 4)
    passes[0], king_up[0] = _LEAD_PASSES, 0
    attack[passes == _LEAD_PASSES] = -1
    return SearchRules(
        pairs=t.pairs.view(np.uint64),
        blocks=t.asks[BLOCKS, : len(statuses)].view(np.uint64),
        after=t.moves[NEXT, :num_keys],
        points=t.points[:num_keys].astype(np.int64),
        attack=attack,
        passes=passes,
        king_up=king_up,
    )


def position_arrays(games: State | Games) -> PositionArrays:
    """Returns the positions of n games; a SettingError if no seat plays or passes in one."""
    state = games if isinstance(games, State) else games._state
    wrong = np.flatnonzero((state.status > NUM_ATTACK_STATUSES) | (state.status < 0))
    if len(wrong):
        moment = _MOMENTS_BEYOND_PLAY[int(state.status[wrong[0]])]
        where = "" if state.num_games == 1 else f" in game {wrong[0]}"
        raise SettingError(
            f"expected a position in which a seat plays or passes, got one in which {moment}{where}"
        )
    # From slots to seats, and from [4, n] to [n, 4].
    codes = np.ascontiguousarray(
        np.take_along_axis(state.hand, (SLOTS + state.offset) & 3, axis=0).T
    )
    return PositionArrays(codes, state.seat, state.status.copy())
