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
    given = search_rules(rules)
    stops = _stops(given)
    held = (np.arange(256)[:, None, None] >> np.arange(NUM_KINDS)[:, None]) & 1
    stopped = ((held & stops).any(axis=1) << np.arange(NUM_KINDS)).sum(axis=1)
    # Neighbours of the same points do the same, but where a king blocks one of the two only.
    twins = [
        (one, one + 1, int(stops[KING, one] != stops[KING, one + 1]))
        for one in _KINDS[:-1]
        if POINTS[one] == POINTS[one + 1]
    ]
    return RuleArrays(
        pairs=given.pairs,
        blocks=given.blocks,
        after=given.after,
        points=given.points // 10,
        attack=given.attack,
        passes=given.passes,
        king_up=given.king_up,
        finish=_finish(given),
        stopped=stopped.astype(np.int64),
        twins=np.array(twins, np.int64),
        twin_pairs=np.array([_without(one, other) for one, other, _ in twins], U64),
        radix=np.array([*RADIX, NUM_CODES], np.int64),
        permit=np.array([KING_PERMIT], np.int64),
    )


def _stops(given: SearchRules) -> Int:
    """Returns which block (row) stops which attack (column): int64 [8, 8] of zeros and ones."""
    statuses = [attack_status(attack, 0, False) for attack in _KINDS]
    allowed = given.blocks[statuses] >> (8 * np.arange(NUM_KINDS, dtype=U64))[:, None]
    return (allowed & U64(1)).astype(np.int64)


def _finish(given: SearchRules) -> Int:
    """Returns tens of points of a last pair that is led, not alike and alike: int64 [2, 8]."""
    unlike = [actions.encode((attack + 1) % NUM_KINDS, attack) for attack in _KINDS]
    alike = [actions.encode(attack, attack) for attack in _KINDS]
    return np.asarray(given.points[LEAD * ACTIONS + np.array([unlike, alike])] // 10)


def _without(one: int, other: int) -> int:
    """Returns the bits of all pairs but those that exchanging two kinds makes superfluous."""
    bits = 0
    for block in _KINDS:
        for attack in _KINDS:
            if block != other and (attack != other or block == one):
                bits |= 1 << (8 * block + attack)
    return bits
