"""How a game lies in memory: the table of fields, statuses decoded, games that wait."""

from itertools import product

import numpy as np
import pytest

from goita_env.engine.solver_api import search_rules
from goita_env.engine.state import BEFORE_PLAY, FIELDS, State
from goita_env.engine.tables import NUM_ATTACK_STATUSES, attack_status
from goita_env.rules import JGA


def test_a_status_of_an_attack_is_read_back_by_the_solver():
    read, seen = search_rules(JGA), set()
    for attack, passes, king_up in product(range(8), range(4), (False, True)):
        status = attack_status(attack, passes, king_up)
        assert read.attack[status] == (-1 if passes == 3 else attack)
        assert (read.passes[status], read.king_up[status]) == (passes, king_up)
        seen.add(status)
    assert seen == set(range(1, NUM_ATTACK_STATUSES + 1))


def test_every_field_is_a_part_of_the_block():
    state = State.empty(3, "jga")
    for number, (name, field) in enumerate(FIELDS.items()):
        part = getattr(state, name)
        assert np.shares_memory(part, state.data)
        assert part.size == 3 * field.rows
        part[:] = number
    rows = [number for number, field in enumerate(FIELDS.values()) for _ in range(field.rows)]
    assert (state.data == np.array(rows)[:, None]).all()


@pytest.mark.parametrize("by", [0, 1, 2, 3])
def test_turning_the_seats_of_a_game_moves_all_that_is_theirs_and_nothing_else(by):
    rng = np.random.default_rng(0)
    state = State.empty(5, "jga")
    rest = BEFORE_PLAY.ravel()  # all else is bare before play
    state.data[rest] = rng.integers(0, 99, (len(rest), 5))
    state.offset[:] = rng.integers(0, 4, 5)
    before = state.copy()
    rows = np.array([1, 4])
    state.turn(rows, np.full(2, by))
    others = np.array([0, 2, 3])
    assert (state.data[:, others] == before.data[:, others]).all()
    for seat in range(4):
        now, then = state.slot_of(seat)[rows], before.slot_of(seat)[rows]
        assert (now == (then + by) % 4).all()
        assert (state.by_slot[:, now, rows] == before.by_slot[:, then, rows]).all()
