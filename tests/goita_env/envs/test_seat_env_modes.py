"""One learner among bots: the three autoreset modes, resets of some games, episodes' statistics."""

import gymnasium
import numpy as np
import pytest
from gymnasium.vector import AutoresetMode
from gymnasium.wrappers.vector import RecordEpisodeStatistics

from goita_env import SeatVectorEnv
from goita_env.errors import EpisodeOverError, SettingError
from raising import refuses
from seat_playing import MODES, Drawing, Habits, decide, told


def path(mode):
    """Plays by habit; returns of each game (observation, mask, reward, done) of every decision.

    The end of an episode is one more entry, what begins after it the next.
    """
    env = SeatVectorEnv(12, autoreset_mode=mode, opponents=Drawing(), partner=Habits())
    observation, info = env.reset(seed=4)
    found = [[(row.tobytes(), 0.0, False)] for row in observation]
    over = np.zeros(12, bool)
    for _ in range(35):
        if mode == AutoresetMode.DISABLED and over.any():
            observation, info = env.reset(options={"reset_mask": over})
            for game in np.flatnonzero(over).tolist():
                found[game].append((observation[game].tobytes(), 0.0, False))
        before = over
        observation, reward, done, _, info = env.step(decide(env, observation))
        for game in range(12):
            if mode == AutoresetMode.SAME_STEP and done[game]:
                found[game].append((info["final_obs"][game].tobytes(), float(reward[game]), True))
                found[game].append((observation[game].tobytes(), 0.0, False))
                assert info["final_info"]["action_mask"][game].all()
            else:
                entry = observation[game].tobytes(), float(reward[game]), bool(done[game])
                found[game].append(entry)
                assert mode != AutoresetMode.NEXT_STEP or not (before[game] and reward[game])
                assert not done[game] or info["action_mask"][game].all()
        over = done
    return found


def test_the_three_autoreset_modes_play_the_same_games():
    paths = [path(mode) for mode in MODES]
    for rows in zip(*paths, strict=True):
        shortest = min(map(len, rows))
        assert shortest > 28
        assert rows[0][:shortest] == rows[1][:shortest] == rows[2][:shortest]
        assert sum(done for _, _, done in rows[0][:shortest]) > 3


def test_without_autoreset_a_step_after_the_end_is_refused_and_a_mask_resets_some():
    env = SeatVectorEnv(8, autoreset_mode="Disabled")
    results = told(env, 50, lambda _: env.sample_legal(np.random.default_rng(0)))
    observation, *_, info = next(result for result in results if result[2:] and result[2].any())
    done = ~np.array([row.any() for row in (info["points"] == 0)[:, None]])
    refuses(EpisodeOverError, "reset_mask", env.step, np.zeros(8, int))
    options = {"reset_mask": done}
    after, info = env.reset(options=options)
    assert options.keys() == {"reset_mask"}
    assert np.array_equal(after[~done], observation[~done])
    assert not (after[done] == observation[done]).all(axis=1).any()
    assert info["_action_mask"].all()
    assert (info["action_mask"] == env.action_masks()).all()
    for wrong in (np.ones(7, bool), np.ones(8, int), np.zeros(8, bool)):
        refuses(SettingError, "reset_mask", env.reset, options={"reset_mask": wrong})
    refuses(SettingError, "no seed", env.reset, seed=1, options={"reset_mask": done})


@pytest.mark.parametrize("mode", MODES)
def test_gymnasiums_own_statistics_of_episodes_are_right(mode):
    env = SeatVectorEnv(12, autoreset_mode=mode, episode="match")
    if mode == AutoresetMode.SAME_STEP and gymnasium.__version__.startswith("1.2."):
        pytest.skip("gymnasium 1.2 counts one step too few in this mode")
    env = RecordEpisodeStatistics(env)
    observation, _ = env.reset(seed=0)
    gained, length = np.zeros(12), np.zeros(12, int)
    over, ends = np.zeros(12, bool), 0
    for _ in range(60):
        if mode == AutoresetMode.DISABLED and over.any():
            observation, _ = env.reset(options={"reset_mask": over})
        observation, reward, done, _, info = env.step(decide(env.unwrapped, observation))
        stepped = ~over if mode == AutoresetMode.NEXT_STEP else np.ones(12, bool)
        gained, length, over = gained + reward * stepped, length + stepped, done
        if done.any():
            ends += done.sum()
            assert np.allclose(info["episode"]["r"][done], gained[done])
            assert (info["episode"]["l"][done] == length[done]).all()
            gained[done], length[done] = 0, 0
    assert ends > 10
