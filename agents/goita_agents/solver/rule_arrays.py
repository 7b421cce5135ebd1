"""The arrays of a rule set that the compiled search reads."""

from __future__ import annotations

from functools import cache

import numpy as np

from goita_agents.solver.kernel import ACTIONS, LEAD, Int, RuleArrays
from goita_env import actions
from goita_env.arrays import U64
from goita_env.engine.solver_api import (
    KING_PERMIT,
    NUM_CODES,
    RADIX,
    SearchRules,
    attack_status,
    search_rules,
)
from goita_env.rules import Rules
from goita_env.tiles import KING, NUM_KINDS, POINTS

_KINDS = range(NUM_KINDS)


@cache
def rule_arrays(rules: Rules) -> RuleArrays:
    """Returns the arrays of a rule set, built on first use and kept."""
    tables = search_rules(rules)
    stops = _stops(tables)
    # [256, 8, 1] Which blocks each set of kinds holds; with ``stops`` [8, 8] the attacks are on the
    # last axis, and become bits again.
    is_held = (np.arange(256)[:, None, None] >> np.arange(NUM_KINDS)[:, None]) & 1
    stopped = ((is_held & stops).any(axis=1) << np.arange(NUM_KINDS)).sum(axis=1)
    # Neighbours of the same points have the same effect, unless a king blocks only one of the two.
    twins = [
        (kind, kind + 1, int(stops[KING, kind] != stops[KING, kind + 1]))
        for kind in _KINDS[:-1]
        if POINTS[kind] == POINTS[kind + 1]
    ]
    return RuleArrays(
        pairs=tables.pairs,
        blocks=tables.blocks,
        after=tables.after,
        points=tables.points // 10,
        attack=tables.attack,
        passes=tables.passes,
        king_up=tables.king_up,
        finish=_finish(tables),
        stopped=stopped.astype(np.int64),
        twins=np.array(twins, np.int64),
        twin_pairs=np.array([_without_twin(lower, upper) for lower, upper, _ in twins], U64),
        radix=np.array([*RADIX, NUM_CODES], np.int64),
        permit=np.array([KING_PERMIT], np.int64),
    )


def _stops(tables: SearchRules) -> Int:
    """Returns which block (row) stops which attack (column): int64 [8, 8] of zeros and ones."""
    statuses = [attack_status(attack, 0, False) for attack in _KINDS]
    allowed = tables.blocks[statuses] >> (8 * np.arange(NUM_KINDS, dtype=U64))[:, None]
    return (allowed & U64(1)).astype(np.int64)


def _finish(tables: SearchRules) -> Int:
    """Returns tens of points of a led last pair, unlike and alike, by its attack: [2, 8]."""
    unlike = [actions.encode((attack + 1) % NUM_KINDS, attack) for attack in _KINDS]
    alike = [actions.encode(attack, attack) for attack in _KINDS]
    return np.asarray(tables.points[LEAD * ACTIONS + np.array([unlike, alike])] // 10)


def _without_twin(lower: int, upper: int) -> int:
    """Returns the bits of all pairs except those that exchanging two kinds makes superfluous.

    Of two pairs that become each other the one with the lower kind as block, or as attack, stays.
    """
    bits = 0
    for block in _KINDS:
        for attack in _KINDS:
            if block != upper and (attack != upper or block == lower):
                bits |= 1 << (8 * block + attack)
    return bits
