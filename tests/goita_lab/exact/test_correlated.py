"""The value for teams whose partners draw their plans together."""

import numpy as np
import pytest

from goita_env.errors import SettingError
from goita_lab.exact.correlated import Mixtures
from goita_lab.exact.values import reached


@pytest.fixture(scope="module")
def mixed(tiny):
    found = Mixtures(tiny)
    for _ in range(5):
        found.improve()
    return found


def test_the_value_stands_between_bounds_that_linear_programs_confirm(mixed):
    least, most = mixed.bounds
    assert least < mixed.value < most
    proven = mixed.prove()
    assert proven[0] <= least + 1e-6
    assert most - 1e-6 <= proven[1]


def test_a_round_adds_plans_that_are_new_and_mixes_them(tiny, mixed):
    first = Mixtures(tiny)
    assert [len(plans) for plans in first.plans] == [1, 1]
    first.improve()
    least, most = first.bounds
    for few, many in zip(first.plans, mixed.plans, strict=True):
        assert 1 < len(few) < len(many) == len(np.unique(many, axis=0))
    assert least <= mixed.bounds[0]
    assert mixed.bounds[1] <= most


def test_the_reach_of_both_mixtures_makes_their_value(tiny, mixed):
    ends = tiny.info < 0
    dealt = reached(tiny, np.ones(len(tiny.action)), 0)
    likely = (mixed.reach(0) * mixed.reach(1) / dealt)[ends]
    assert likely.sum() == pytest.approx(1)
    assert likely @ tiny.points[ends] == pytest.approx(mixed.value)


def test_saved_plans_are_mixed_again_and_belong_to_their_game(tree, tiny, mixed, tmp_path):
    path = tmp_path / "plans.npz"
    mixed.save(path)
    assert Mixtures.restore(tiny, path).value == pytest.approx(mixed.value)
    with pytest.raises(SettingError, match="expected"):
        Mixtures.restore(tree, path)
