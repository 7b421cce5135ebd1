"""Turns the tables of a rule set into what the compiled search reads."""

from __future__ import annotations

from functools import cache

import numpy as np

from agents.solver.kernel import ACTIONS, LEAD, Int, RuleArrays
from goita_env import actions
from goita_env.engine.tables import (
    BLOCKS,
    KING_PERMIT,
    NEXT,
    NUM_CODES,
    RADIX,
    Tables,
    attack_status,
    tables,
)
from goita_env.rules import Rules
from goita_env.tiles import KING, NUM_KINDS, POINTS

_KINDS = range(NUM_KINDS)
U64 = np.uint64


@cache
def rule_arrays(rules: Rules) -> RuleArrays:
    """Returns the arrays of a rule set, built on first use and kept."""
    t = tables(rules)
    stops = _stops(t)
    held = np.arange(256)[:, None, None] >> np.arange(NUM_KINDS)[:, None] & 1
    stopped = ((held & stops).any(axis=1) << np.arange(NUM_KINDS)).sum(axis=1)
    # Neighbours of the same points do the same, but where a king blocks one of the two only.
    twins = [
        (one, one + 1, int(stops[KING, one] != stops[KING, one + 1]))
        for one in _KINDS[:-1]
        if POINTS[one] == POINTS[one + 1]
    ]
    return RuleArrays(
        pairs=t.pairs.view(U64),
        blocks=t.asks[BLOCKS].view(U64).copy(),
        after=t.moves[NEXT].copy(),
        points=t.points.astype(np.int64) // 10,
        finish=_finish(t),
        stopped=stopped.astype(np.int64),
        twins=np.array(twins, np.int64),
        twin_pairs=np.array([_without(one, other) for one, other, _ in twins], U64),
        radix=np.array([*RADIX, NUM_CODES], np.int64),
        permit=np.array([KING_PERMIT], np.int64),
    )


def _stops(t: Tables) -> Int:
    """Returns which block (row) stops which attack (column): int64 [8, 8] of zeros and ones."""
    blocks = t.asks[BLOCKS].view(U64)
    statuses = [attack_status(attack, 0, False) for attack in _KINDS]
    allowed = blocks[statuses][None, :] >> (8 * np.arange(NUM_KINDS, dtype=U64))[:, None] & U64(1)
    stops: Int = allowed.astype(np.int64)
    return stops


def _finish(t: Tables) -> Int:
    """Returns tens of points of a last pair that is led, not alike and alike: int64 [2, 8]."""
    unlike = [actions.encode((attack + 1) % NUM_KINDS, attack) for attack in _KINDS]
    alike = [actions.encode(attack, attack) for attack in _KINDS]
    found = t.points[LEAD * ACTIONS + np.array([unlike, alike])].astype(np.int64) // 10
    return np.ascontiguousarray(found)


def _without(one: int, other: int) -> int:
    """Returns the bits of all pairs but those that exchanging two kinds makes superfluous."""
    bits = 0
    for block in _KINDS:
        for attack in _KINDS:
            if block != other and (attack != other or block == one):
                bits |= 1 << 8 * block + attack
    return bits
