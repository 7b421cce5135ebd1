"""One learner among bots: seeds, seats, who plays the others, what they are told."""

import copy
import pickle

import numpy as np
import pytest
from gymnasium.vector import AutoresetMode

from goita_env import SeatVectorEnv
from samples import rotating
from seat_playing import MODES, Drawing, Habits, Loose, Watching, decide, same, step_at_random, told


@pytest.mark.parametrize("seat", [None, "team"])
def test_game_i_is_the_same_in_a_batch_of_any_size(seat):
    partner = None if seat == "team" else Drawing()
    for opponents in ("random", (Drawing(), "random")):
        make = {"seat": seat, "partner": partner, "opponents": opponents}
        whole = [*told(SeatVectorEnv(9, **make), 20)]
        part = [*told(SeatVectorEnv(4, **make), 20)]
        for (*many, info), (*few, infos) in zip(whole, part, strict=True):
            for key in ("action_mask", "seat", "skipped", "skipped_points"):
                assert np.array_equal(info[key][:4], infos[key])
            for one, other in zip(many, few, strict=True):
                assert np.array_equal(one[:4], other)


@pytest.mark.parametrize("bot", ["random", Loose(), Drawing()])
def test_a_seed_gives_the_same_games_to_the_last_bit(bot):
    env = SeatVectorEnv(7, partner=bot, opponents=bot)
    one = [*told(env, 15)]
    assert same(tuple(one), tuple(told(env, 15)))
    assert same(tuple(one), tuple(told(SeatVectorEnv(7, partner=bot, opponents=bot), 15)))
    env.reset(seed=5)
    assert not same(one[0][0], env.reset(seed=5)[0])


def test_a_reset_without_a_seed_goes_on_to_the_next_episode():
    env = SeatVectorEnv(5)
    first, second = env.reset(seed=2)[0], env.reset()[0]
    assert not np.array_equal(first, second)
    assert np.array_equal(env.reset(seed=2)[0], first)
    assert np.array_equal(env.reset()[0], second)
    assert np.array_equal(SeatVectorEnv(5).reset()[0], SeatVectorEnv(5).reset(seed=0)[0])


def test_seats_are_drawn_alike_and_teams_too():
    env = SeatVectorEnv(4000)
    _, info = env.reset(seed=1)
    shares = np.bincount(info["seat"], minlength=4) / 4000
    assert (np.abs(shares - 0.25) < 4 * np.sqrt(0.25 * 0.75 / 4000)).all()
    for seat in range(4):
        _, info = SeatVectorEnv(20, seat=seat).reset(seed=1)
        assert (info["seat"] == seat).all()


COPIES = [lambda env: pickle.loads(pickle.dumps(env)), copy.deepcopy]


@pytest.mark.parametrize(("mode", "how"), rotating(MODES, COPIES))
def test_a_pickled_or_copied_environment_goes_on_identically(mode, how):
    env = SeatVectorEnv(12, partner=Drawing(), opponents=Loose(), autoreset_mode=mode)
    rng = np.random.default_rng(0)
    env.reset(seed=0)
    for number in range(30):
        result = env.step(env.sample_legal(rng))
        if mode == AutoresetMode.DISABLED and result[2].any():
            env.reset(options={"reset_mask": result[2]})
        if number % 10 == 9:
            twin, numbers = how(env), copy.deepcopy(rng)
            assert same(twin.step(twin.sample_legal(numbers)), env.step(env.sample_legal(rng)))
            env = twin
            if mode == AutoresetMode.DISABLED:
                env.reset()


def test_opponents_change_at_the_next_deal():
    old, new = Watching(), Watching()
    env = SeatVectorEnv(30, partner=Habits(), opponents=old, autoreset_mode="Disabled")
    observation, _ = env.reset(seed=0)
    env.set_opponents(new)
    env.set_opponents(partner=Habits())
    old.games.clear()
    observation, _, done, _, _ = env.step(decide(env, observation))
    assert old.games
    assert not new.games
    assert done.any()
    assert not done.all()
    env.reset(options={"reset_mask": done})
    assert new.games
    assert {game // 4 for game in new.games} <= set(env._games.bots.numbers[done].tolist())
    while not done.all():
        env.reset(options={"reset_mask": np.ones(30, bool)})
        done[:] = True
    old.games.clear()
    step_at_random(env, 1)
    assert not old.games
    env.set_opponents("random")
    assert len(env._games.bots._players) == 3  # who plays nowhere any more is gone


def test_partner_and_each_opponent_sit_where_they_should():
    partner, after, before = (Watching() for _ in range(3))
    env = SeatVectorEnv(50, seat=1, partner=partner, opponents=(after, before))
    env.reset(seed=4)
    step_at_random(env, 10)
    assert (partner.seats, after.seats, before.seats) == ({3}, {2}, {0})
