"""A seat earns for the plays that a training prefers, and its partner and the others do not."""

import numpy as np
import pytest
import torch as th

import training
from goita_env import actions
from goita_env.errors import SettingError
from goita_lab.learning.symmetries import read_preferences
from research.population.methods import preferences


def test_texts_name_passes_plays_and_kinds_and_add_up():
    earned = read_preferences(["p:1", "5x:-2", "x8:0.5", "58:4"])
    assert earned[actions.PASS] == 1
    assert earned[actions.encode(4, 0)] == -2
    assert earned[actions.encode(0, 7)] == 0.5
    assert earned[actions.encode(4, 7)] == 2.5
    assert not earned[actions.CALL :].any()


@pytest.mark.parametrize("text", ["p", "q:1", "9x:1", "p:nan", "555:1", ":1"])
def test_other_texts_are_refused(text):
    with pytest.raises(SettingError, match=r"expected PLAYS:POINTS such as p:1"):
        read_preferences([text])


def test_decisions_earn_what_is_preferred_beside_the_points():
    plain, preferring = (
        training.make_model(training.make_env(64, seed=1), seed=1, **more)
        for more in ({}, {"prefer": ("p:10",)})
    )
    stored = []
    for model in (plain, preferring):
        model._setup_learn(10**6)
        model.rollout_buffer.reset()
        th.manual_seed(0)
        for _ in range(8):
            model._step(model.env, model.rollout_buffer)
        buffer = model.rollout_buffer
        stored.append(buffer._store[: buffer.pos].copy())
    passed = stored[0]["action"] == actions.PASS
    assert 0 < passed.sum() < len(passed)
    np.testing.assert_array_equal(stored[0]["action"], stored[1]["action"])
    earned = stored[1]["reward"] - stored[0]["reward"]
    np.testing.assert_allclose(earned, np.where(passed, 0.2, 0), atol=1e-6)  # 10 points at 0.02


def test_the_preferences_of_a_run_follow_from_its_seed():
    assert preferences(3) == preferences(3) != preferences(4)
    assert len(read_preferences(preferences(3))) == actions.MAX_ACTIONS
