"""Games saved as arrays: they go on identically, and what is none is refused."""

import numpy as np
import pytest

from goita_env import GoitaVectorEnv
from goita_env.errors import SettingError
from goita_env.rules import JGA, NINE, PAGAT, Rules
from raising import refuses
from samples import rotating, slow


def after(steps, num_games=64, seed=3, **settings):
    env, rng = GoitaVectorEnv(num_games, seed=seed, **settings), np.random.default_rng(seed)
    turn = env.reset()
    for _ in range(steps):
        turn = env.step(env.sample_legal(rng))
    return env, turn


MINE = Rules(name="mine", match_points=60)


@pytest.mark.parametrize(
    ("rules", "episode"), rotating([MINE, JGA, NINE, PAGAT], ["match", "round"]), ids=str
)
@pytest.mark.parametrize("steps", [0, 1, 2, 3, slow(30), 31, slow(200)])
def test_restored_games_continue_as_the_saved_ones_do(rules, episode, steps):
    env, turn = after(steps, rules=rules, episode=episode)
    other = GoitaVectorEnv(64, rules=rules, episode=episode, seed=99)
    again = other.restore(env.save())
    for name in ("seat", "action_mask", "observation"):
        assert np.array_equal(getattr(again, name), getattr(turn, name)), name
    rng = np.random.default_rng(steps)
    for _ in range(60):
        actions = env.sample_legal(rng)
        turn, again = env.step(actions), other.step(actions)
        for name in ("seat", "action_mask", "observation", "reward", "done", "points", "winner"):
            assert np.array_equal(getattr(again, name), getattr(turn, name)), name
    assert np.array_equal(env.state(), other.state())


def test_what_was_saved_stays_as_it_was():
    env, _ = after(10)
    saved = env.save()
    kept = {name: array.copy() for name, array in saved.items()}
    other = GoitaVectorEnv(64)
    other.restore(saved)
    rng = np.random.default_rng(0)
    for games in (env, other):
        for _ in range(30):
            games.step(games.sample_legal(rng))
    assert all(np.array_equal(saved[name], kept[name]) for name in kept)


@pytest.mark.parametrize(
    ("name", "change"),
    [
        ("state", lambda a: a[:, :-1]),
        ("state", lambda a: a[:-1]),
        ("state", lambda a: a.astype(np.int32)),
        ("keys", lambda a: a.astype(np.int64)),
        ("more", lambda a: np.zeros(1)),
    ],
)
def test_arrays_that_are_no_saved_games_are_refused_and_change_nothing(name, change):
    env, _ = after(10)
    saved = env.save()
    before = env.state()
    crafted = saved | {name: change(saved.get(name))}
    refuses(SettingError, "saved games", env.restore, crafted)
    assert np.array_equal(env.state(), before)
    del crafted[name], saved["keys"]
    refuses(SettingError, "saved games", env.restore, saved)
