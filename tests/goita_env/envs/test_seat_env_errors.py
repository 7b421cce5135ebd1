"""One learner among bots: what goes wrong is said, paid for, and changes nothing."""

import copy

import numpy as np
import pytest
from gymnasium.vector import AutoresetMode

from goita_env import SeatVectorEnv, errors
from goita_env.envs.seat_env import SeatEnv
from playing import after_reset
from raising import refuses
from seat_playing import MODES, same


def test_an_illegal_action_forfeits_the_episode():
    for reward, loss in (("points", 100), ("win", 1)):
        for mode in MODES:
            env = SeatVectorEnv(40, seat=3, reward=reward, autoreset_mode=mode)
            before, _ = env.reset(seed=0)
            actions = env.sample_legal(np.random.default_rng(0))
            bad = np.arange(40) % 3 == 0
            actions[bad] = (~env.action_masks()[bad]).argmax(axis=1)
            after, gain, done, _, info = env.step(actions)
            assert done[bad].all()
            assert (gain[bad] == -loss).all()
            last, seen = info, after
            if mode == AutoresetMode.SAME_STEP:
                last, seen = info["final_info"], info["final_obs"]
            assert np.array_equal(seen[bad], before[bad])
            assert (last["rewards"][bad] == loss * np.array([1, -1, 1, -1])).all()
            assert (last["winner"][bad] == -1).all()
            assert (last["points"][bad] == 0).all()
            if mode == AutoresetMode.DISABLED:
                env.reset(options={"reset_mask": done})
            env.step(env.sample_legal(np.random.default_rng(0)))


def test_a_single_game_that_is_over_asks_for_its_own_reset():
    env, rng = after_reset(SeatEnv(), seed=0), np.random.default_rng(0)
    for _ in range(200):
        _, _, done, _, _ = env.step(int(rng.choice(env.action_masks().nonzero()[0])))
        if done:
            break
    with pytest.raises(errors.EpisodeOverError) as error:
        env.step(0)
    assert str(error.value) == "expected a reset with the episode over, got a step"
    env.reset()
    env.step(int(env.action_masks().argmax()))


def test_where_illegal_actions_raise_nothing_has_changed():
    env = after_reset(SeatVectorEnv(5, illegal="raise"), seed=0)
    twin = copy.deepcopy(env)
    actions = env.sample_legal(np.random.default_rng(0))
    wrong = actions.copy()
    wrong[3] = int((~env.action_masks()[3]).argmax())
    refuses(errors.IllegalActionError, "in game 3", env.step, wrong)
    assert same(env.step(actions), twin.step(actions))


@pytest.mark.parametrize(
    "actions", [np.zeros(4, int), np.zeros((5, 1), int), np.zeros(5), [0, 0, 0, 0, 69], [-1] * 5]
)
def test_actions_that_are_none_are_refused_and_nothing_has_changed(actions):
    env = after_reset(SeatVectorEnv(5), seed=0)
    twin = copy.deepcopy(env)
    refuses(errors.ActionError, "expected", env.step, actions)
    legal = env.sample_legal(np.random.default_rng(0))
    assert same(env.step(legal), twin.step(legal))


@pytest.mark.parametrize(
    ("settings", "words"),
    [
        ({"seat": 4}, "seat"),
        ({"seat": "north"}, "seat"),
        ({"partner": 7}, "act"),
        ({"opponents": ("random",)}, "pair"),
        ({"seat": "team", "partner": "random"}, "no partner"),
        ({"observation": "picture"}, "observation"),
        ({"keys": ("a", "a")}, "two keys"),
        ({"illegal": "ignore"}, "illegal"),
        ({"autoreset_mode": "Later"}, "autoreset_mode"),
        ({"render_mode": "ansi"}, "no render_mode"),
    ],
)
def test_wrong_settings_are_refused(settings, words):
    refuses(errors.SettingError, words, SeatVectorEnv, **settings)


def test_wrong_options_are_refused_and_nothing_has_changed():
    env = SeatVectorEnv(3)
    refuses(errors.EpisodeOverError, "reset", env.step, np.zeros(3, int))
    env.reset(seed=0)
    twin = copy.deepcopy(env)
    with pytest.raises(errors.HandsError):
        env.reset(options={"hands": ["1", "2", "3", "4"]})
    refuses(errors.SettingError, "seed", env.reset, seed=-1)
    refuses(errors.SettingError, "act", env.set_opponents, "random", partner=3)
    with pytest.raises(errors.SettingError, match="no partner"):
        SeatVectorEnv(2, seat="team").set_opponents(partner="random")
    assert same(env.reset(), twin.reset())


def test_a_bot_that_plays_wrongly_is_named_and_a_reset_goes_on():
    class Wrong:
        def __init__(self):
            self.answer = first

        def __repr__(self):
            return "Wrong()"

        def act(self, view, legal, rng):
            return self.answer(legal)

    def first(legal):
        return legal.argmax(axis=1)

    bot = Wrong()
    env = after_reset(SeatVectorEnv(6, opponents=bot), seed=0)
    for answer, error, words in (
        (lambda legal: (~legal).argmax(axis=1), errors.IllegalActionError, r"from Wrong\(\)"),
        (lambda legal: np.full(len(legal), 69), errors.ActionError, "69"),
        (lambda legal: np.zeros(len(legal)), errors.ActionError, "whole numbers"),
    ):
        bot.answer = answer
        refuses(error, words, env.step, env.sample_legal(np.random.default_rng(0)))
        bot.answer = first
        with pytest.raises(errors.EpisodeOverError, match="got a step after a bot's error"):
            env.step(np.zeros(6, int))
        with pytest.raises(
            errors.EpisodeOverError, match="all 6 games, got one of 1 after a bot's"
        ):
            env.reset(options={"reset_mask": np.arange(6) == 0})
        env.reset()
        env.step(env.sample_legal(np.random.default_rng(0)))
