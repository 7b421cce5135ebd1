"""The solver under rule sets of one's own, against plain minimax on the core; and what it reads."""

from functools import cache
from itertools import product

import numpy as np
import pytest

from deals import TILES
from goita_agents import solver
from goita_agents.solver.position import Position
from goita_env import actions
from goita_env.engine import core
from goita_env.engine.core import unpack_legal
from goita_env.engine.dealing import lay_deals, prepare_deals
from goita_env.engine.state import State
from goita_env.engine.tables import RADIX
from goita_env.rules import Rules
from goita_env.worlds import Positions

KING_FIELDS = ("last_king", "second_king_after_own_face_down", "kings_are_alike")
VARIANTS = [
    Rules(name="mine", **dict(zip(KING_FIELDS, chosen, strict=True)))
    for chosen in product((False, True), repeat=3)
]


STATES = 5


@cache
def late_states(rules: Rules, count: int, seed: int) -> list[State]:
    """Returns positions with six to ten tiles left, kings shown late and often in one hand."""
    rng, found = np.random.default_rng(seed), []
    while len(found) < count:
        tiles = rng.permutation(TILES)
        if rng.random() < 0.67:
            kings = np.flatnonzero(tiles == 7)
            other = kings[0] // 8 * 8 + (kings[0] + 1) % 8
            tiles[[other, kings[1]]] = tiles[[kings[1], other]]
        codes = np.array(RADIX)[tiles].reshape(1, 4, 8).sum(axis=2)
        state, stop = State.empty(1, rules), int(rng.integers(6, 11))
        lay_deals(
            state,
            np.zeros(1, int),
            prepare_deals(rules, codes, rng.integers(4, size=1), questions=False),
        )
        while state.winner[0] < 0 and state.hand_counts().sum() > stop:
            legal = legal_of(state)
            leads = legal[0] != actions.PASS
            spared = [a for a in legal if a == 0 or 7 not in divmod(a - 1, 8)]
            hidden = [a for a in legal if leads and (a - 1) // 8 == 7 and (a - 1) % 8 != 7]
            likely = hidden if hidden and rng.random() < 0.3 else spared
            core.step(state, np.array([rng.choice(likely or legal)]))
        if state.winner[0] < 0:
            found.append(state)
    return found


def legal_of(state: State) -> list[int]:
    return np.flatnonzero(unpack_legal(*core.legal_actions(state))[0]).tolist()


def minimax(state: State, action: int, known: dict) -> int:
    """Returns the points of seats 0 and 2 after an action, by trying everything."""
    after = state.copy()
    core.step(after, np.array([action]))
    if after.winner[0] >= 0:
        return int(after.points[0]) * (1 - 2 * int(after.winner[0] & 1))
    key = (after.hand.tobytes(), int(after.status[0]), after.clock)
    if key not in known:
        values = [minimax(after, one, known) for one in legal_of(after)]
        known[key] = min(values) if after.seat[0] & 1 else max(values)
    return known[key]


@pytest.mark.parametrize(
    "rules", VARIANTS, ids=lambda rules: str([getattr(rules, f) for f in KING_FIELDS])
)
def test_rules_of_ones_own_give_the_values_of_minimax_on_the_core(rules):
    for state in late_states(rules, STATES, seed=1):
        sign, known = 1 - 2 * int(state.seat[0] & 1), {}
        values = {one: sign * minimax(state, one, known) for one in legal_of(state)}
        position = Positions(state)
        assert solver.solve(position).values == values, Position.from_positions(position)


def test_the_rules_differ_on_these_positions():
    found = {
        str([solver.solve(Positions(state)).values for state in late_states(rules, STATES, seed=1)])
        for rules in VARIANTS
    }
    assert len(found) >= 4
