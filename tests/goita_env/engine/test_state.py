"""How a game lies in memory: the table of fields, statuses decoded, games that wait."""

import numpy as np
import pytest

from goita_env.engine.deals import Prepared
from goita_env.engine.state import FIELDS, PREPARED, SEATS, State
from goita_env.engine.tables import (
    NUM_ATTACK_STATUSES,
    attack_of,
    attack_status,
    king_up_of,
    passes_of,
)


def test_a_status_of_an_attack_is_read_back():
    seen = set()
    for attack in range(8):
        for passes in range(4):
            for king_up in (False, True):
                status = attack_status(attack, passes, king_up)
                read = (attack_of(status), passes_of(status), king_up_of(status))
                assert read == (attack, passes, king_up)
                seen.add(status)
    assert seen == set(range(1, NUM_ATTACK_STATUSES + 1))
    many = np.arange(1, NUM_ATTACK_STATUSES + 1)
    assert (attack_status(attack_of(many), passes_of(many), king_up_of(many)) == many).all()


def test_every_field_is_a_part_of_the_block():
    state = State.empty(3, "jga")
    for number, (name, field) in enumerate(FIELDS.items()):
        part = getattr(state, name)
        assert np.shares_memory(part, state.data)
        assert part.size == 3 * field.rows
        part[:] = number
    rows = [number for number, field in enumerate(FIELDS.values()) for _ in range(field.rows)]
    assert (state.data == np.array(rows)[:, None]).all()


def test_a_prepared_deal_names_its_rows_in_the_order_of_the_fields():
    rows = sum(FIELDS[name].rows for name in PREPARED)
    assert rows == Prepared.ROWS
    dealt = Prepared(np.arange(rows)[:, None])
    places = np.concatenate([getattr(dealt, name).reshape(-1) for name in PREPARED])
    assert places.tolist() == list(range(rows))


@pytest.mark.parametrize("by", [0, 1, 2, 3])
def test_turning_the_seats_of_a_game_moves_all_that_is_theirs_and_nothing_else(by):
    rng = np.random.default_rng(0)
    state = State.empty(5, "jga")
    state.data[:] = rng.integers(0, 99, state.data.shape)
    state.offset[:] = rng.integers(0, 4, 5)
    before = state.copy()
    rows = np.array([1, 4])
    state.turn(rows, np.full(2, by), SEATS)
    others = np.array([0, 2, 3])
    assert (state.data[:, others] == before.data[:, others]).all()
    for seat in range(4):
        now, then = state.slot_of(seat)[rows], before.slot_of(seat)[rows]
        assert (now == (then + by) % 4).all()
        assert (state.by_slot[:, now, rows] == before.by_slot[:, then, rows]).all()
