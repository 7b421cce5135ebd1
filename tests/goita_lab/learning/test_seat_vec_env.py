"""Stock algorithms on one seat among bots: stable-baselines3's contract, learning, resuming."""

import gymnasium
import numpy as np
import pytest
from gymnasium.wrappers.vector import TransformReward
from sb3_contrib import MaskablePPO
from sb3_contrib.common.maskable.utils import get_action_masks, is_masking_supported
from stable_baselines3.common.callbacks import BaseCallback
from stable_baselines3.common.env_checker import check_env
from stable_baselines3.common.vec_env import VecMonitor

import training
from goita_env import SeatVectorEnv
from goita_env.errors import SettingError
from goita_lab.learning import SeatVecEnv
from raising import refuses


def make_env(games=32, seed=0, **settings):
    return SeatVecEnv(SeatVectorEnv(games, **settings), seed)


@pytest.mark.parametrize("form", ["flat", "dict"])
def test_a_slot_is_a_game_of_the_batch(form):
    check_env(gymnasium.make("goita/Seat-v0", observation=form))
    env, batch = make_env(seed=3, observation=form), SeatVectorEnv(32, observation=form)
    monitored = VecMonitor(env)
    seen = monitored.reset()
    expected, info = batch.reset(seed=3)
    rng, ended, skipped = np.random.default_rng(0), 0, 0
    assert is_masking_supported(monitored)
    for _ in range(40):
        for key in ("observation", "action_mask") if form == "dict" else (...,):
            assert np.array_equal(seen[key], expected[key])
        assert np.array_equal(get_action_masks(monitored), batch.action_masks())
        chosen = batch.sample_legal(rng)
        seen, rewards, dones, infos = monitored.step(chosen)
        expected, reward, done, _, info = batch.step(chosen)
        assert np.array_equal(rewards, reward)
        assert np.array_equal(dones, done)
        for game, one in enumerate(infos):
            assert one.get("skipped", 0) == info["skipped"][game]
            assert one.get("skipped_points", 0) == info["skipped_points"][game]
            assert ("terminal_observation" in one) == done[game]
            if done[game]:
                last, final = one["terminal_observation"], info["final_obs"]
                if form == "dict":
                    last, final = last["observation"], final["observation"]
                assert np.array_equal(last, final[game])
                assert one["episode"]["r"] == reward[game]
                for key in ("points", "winner"):
                    assert one[key] == info["final_info"][key][game]
                ended += 1
            skipped += one.get("skipped", 0)
    assert ended > 50
    assert skipped > 0
    monitored.close()


@pytest.mark.parametrize(
    ("env", "size", "settable"),
    [(training.make_env(5), "num_games", "reward"), (make_env(5), "num_envs", "spec")],
)
def test_vec_envs_answer_for_some_or_all_games(env, size, settable):
    assert is_masking_supported(env)
    assert not env.has_attr("nothing_of_this_name")
    env.reset()
    rows = env.action_masks()[[3, 1]]
    assert [row.tolist() for row in env.env_method("action_masks", indices=[3, 1])] == rows.tolist()
    assert env.get_attr(size, indices=2) == [5]
    assert env.get_attr("render_mode") == [None] * 5
    assert env.env_is_wrapped(object) == [False] * 5
    env.set_attr(settable, "win")
    assert getattr(env.games, settable) == "win"
    refuses(ValueError, "all games", env.set_attr, settable, None, indices=[0])
    refuses(AttributeError, "dance", env.env_method, "dance")


def settings(env):
    found = {"policy": "MlpPolicy", "env": env, "policy_kwargs": {"net_arch": [64]}}
    found |= {"n_steps": 16, "batch_size": 512, "n_epochs": 2, "learning_rate": 2e-3}
    return found | {"gamma": 1.0, "seed": 3, "device": "cpu"}


class Seen(BaseCallback):
    """Keeps the observations of the first step."""

    first = None

    def _on_step(self):
        if self.first is None:
            self.first = self.locals["obs_tensor"].numpy().copy()
        return True


def first_deals(model):
    seen = Seen()
    model.learn(512, callback=seen, reset_num_timesteps=False)
    return seen.first


def test_a_resumed_model_does_not_replay_its_first_deals(tmp_path):
    env = make_env(seed=None)
    model = MaskablePPO(**settings(env))
    begun = first_deals(model)
    model.save(tmp_path / "model")
    for again in (env, make_env(seed=None)):
        resumed = MaskablePPO.load(tmp_path / "model", env=again, device="cpu")
        assert resumed.num_timesteps == 512
        assert not np.array_equal(first_deals(resumed), begun)
    one, other = (MaskablePPO(**settings(make_env(seed=5))) for _ in range(2))
    assert np.array_equal(first_deals(one), first_deals(other))


def test_gymnasiums_wrappers_may_lie_around_the_batch():
    games = gymnasium.make_vec("goita/Seat-v0", num_envs=32)
    env = SeatVecEnv(TransformReward(games, lambda rewards: 0.02 * rewards), seed=0)
    plain, rng, seen = make_env(32), np.random.default_rng(0), 0.0
    assert np.array_equal(env.reset(), plain.reset())
    for _ in range(10):
        actions = plain.games.sample_legal(rng)
        assert np.array_equal(env.action_masks(), plain.action_masks())
        observation, rewards, dones, _ = env.step(actions)
        expected, points, over, _ = plain.step(actions)
        assert np.array_equal(observation, expected)
        assert np.allclose(rewards, 0.02 * points)
        assert np.array_equal(dones, over)
        seen += np.abs(rewards).sum()
    assert seen > 0
    env.env_method("set_opponents", "greedy")
    model = MaskablePPO(**settings(env))
    model.learn(512)
    assert model.num_timesteps == 512
    env.close()
    with pytest.raises(SettingError, match="expected a SeatVectorEnv"):
        SeatVecEnv(gymnasium.make_vec("CartPole-v1", num_envs=2))
