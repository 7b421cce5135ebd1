"""One learner among bots: a factor on its rewards, gymnasium's wrappers, and a word on speed."""

import gymnasium
import numpy as np
import pytest

from goita_env import SeatEnv, SeatVectorEnv
from goita_env.errors import SettingError
from samples import rotating
from seat_playing import MODES, Habits


def played(env, plain, steps=30):
    """Yields what two environments tell, step by step; every third game forfeits now and then."""
    rng = np.random.default_rng(0)
    env.reset(seed=0)
    plain.reset(seed=0)
    for step in range(steps):
        actions, masks = plain.sample_legal(rng), plain.action_masks()
        bad = (np.arange(plain.num_envs) % 3 == 0) & (step % 5 == 4) & ~masks.all(axis=1)
        actions[bad] = (~masks[bad]).argmax(axis=1)
        result = env.step(actions), plain.step(actions)
        yield result
        if plain.autoreset_mode.value == "Disabled" and result[1][2].any():
            for one in (env, plain):
                one.reset(options={"reset_mask": result[1][2].copy()})


@pytest.mark.parametrize(("mode", "reward"), rotating(MODES, ["points", "win"]))
def test_a_factor_scales_every_reward_and_no_points(mode, reward):
    settings = {"num_envs": 24, "reward": reward, "autoreset_mode": mode}
    scaled = gymnasium.make_vec("goita/Seat-v0", reward_scale=0.02, **settings)
    seen, lost = 0.0, -2.0 if reward == "points" else -0.02
    forfeits = 0
    for result in played(scaled, SeatVectorEnv(**settings)):
        (_, rewards, _, _, info), (_, plain, done, _, infos) = result
        assert rewards.dtype == np.float32
        assert np.allclose(rewards, 0.02 * plain)
        forfeits += (np.abs(rewards - lost) < 1e-6).sum()
        seen += np.abs(plain).sum()
        assert np.array_equal(info["skipped_points"], infos["skipped_points"])
        if done.any():
            last, other = info.get("final_info", info), infos.get("final_info", infos)
            assert np.allclose(last["rewards"], 0.02 * other["rewards"])
            assert np.array_equal(last["points"], other["points"])
    assert seen > 0
    assert forfeits > 5


def test_a_single_game_has_the_factor_too():
    env, plain = gymnasium.make("goita/Seat-v0", reward_scale=0.5), SeatEnv()
    for illegal in (False, True):
        done = False
        env.reset(seed=3)
        plain.reset(seed=3)
        while not done:
            masks = plain.action_masks()
            action = int((~masks if illegal else masks).argmax())
            _, reward, done, _, _ = env.step(action)
            _, points, *_ = plain.step(action)
            assert reward == 0.5 * points
        assert illegal == (points == -100.0)


@pytest.mark.parametrize("scale", [0, -1.0, np.inf, np.nan, None, True])
def test_what_is_no_factor_is_refused(scale):
    for make in (SeatEnv, SeatVectorEnv):
        with pytest.raises(SettingError, match="finite reward_scale greater than 0, got"):
            make(reward_scale=scale)


@pytest.fixture
def untold(monkeypatch):
    monkeypatch.setattr(SeatEnv, "_advised", False)


def test_a_single_game_among_bots_that_look_tells_once_that_many_are_faster(untold, recwarn):
    SeatEnv()
    gymnasium.make("goita/Seat-v0", opponents=("random", "random"))
    SeatVectorEnv(2, opponents=Habits())
    assert not recwarn.list
    env = SeatEnv()
    with pytest.warns(UserWarning, match="gymnasium.make_vec.* faster"):
        env.set_opponents(Habits())
    SeatEnv(partner=Habits())
    assert not recwarn.list


def test_the_word_on_speed_follows_gymnasiums_level_of_messages(untold, monkeypatch, recwarn):
    monkeypatch.setattr(gymnasium.logger, "min_level", gymnasium.logger.ERROR)
    SeatEnv(partner=Habits())
    assert not recwarn.list
