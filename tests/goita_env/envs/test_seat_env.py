"""One learner among bots, many games at once: rewards, skipped deals, what is handed out."""

from itertools import pairwise

import numpy as np
import pytest
from gymnasium.vector import AutoresetMode

from deals import RULE_SETS
from goita_env import SeatVectorEnv
from goita_env.rounds import Rounds
from playing import habits
from samples import rotating
from seat_playing import MODES, Habits, decide, told


def plain(rules, episode, games, episodes):
    """Plays by habit in all seats, without a learner.

    Returns:
        Of each game, episode after episode: (points of seats 0 and 2, winner of the last round).
    """
    rounds = Rounds(games, rules=rules, episode=episode, seed=4, auto_reset=True)
    found, points = [[] for _ in range(games)], np.zeros(games, int)
    while min(map(len, found)) < episodes:
        decisions = rounds.decisions
        chosen = habits(decisions.view, decisions.legal) if len(decisions.rows) else []
        ended = rounds.step(chosen).ended
        if ended is not None:
            points[ended.rows] += ended.points * (1 - 2 * (ended.winner & 1))
            done = ended.rows[ended.done].tolist(), ended.winner[ended.done].tolist()
            for row, winner in zip(*done, strict=True):
                found[row].append((int(points[row]), winner))
                points[row] = 0
    return found


SEATS = [("round", 1), ("round", "team"), ("match", 2)]


@pytest.mark.parametrize(("rules", "sits"), rotating(RULE_SETS, SEATS))
def test_rewards_and_skipped_points_are_what_the_team_gets_in_plain_play(rules, sits):
    episode, seat = sits
    games, episodes = (40, 8) if episode == "round" else (10, 2)
    expected = plain(rules, episode, games, episodes)
    partner = None if seat == "team" else Habits()
    env = SeatVectorEnv(
        games, rules=rules, episode=episode, seat=seat, partner=partner, opponents=Habits()
    )
    observation, info = env.reset(seed=4)
    found, skipped, gained = [[] for _ in range(games)], np.zeros(games, int), np.zeros(games)
    gaps = 0
    while min(map(len, found)) < episodes:
        for game in np.flatnonzero(info["skipped"]).tolist():
            gaps += 1
            many, points = int(info["skipped"][game]), int(info["skipped_points"][game])
            start = len(found[game])
            missed = expected[game][start : start + many]
            sign = 1 - 2 * (seat & 1) if seat != "team" else None
            if len(missed) == many and sign is not None:
                assert sum(sign * one for one, _ in missed) == points
            found[game] += [None] * many
        skipped += info["skipped"]
        observation, reward, done, truncated, info = env.step(decide(env, observation, rules))
        assert not truncated.any()
        gained += reward
        for game in np.flatnonzero(done).tolist():
            last = info["final_info"]
            side = int(last["seat"][game]) & 1
            if len(found[game]) < len(expected[game]):
                points, winner = expected[game][len(found[game])]
                assert gained[game] == (points if side == 0 else -points)
                assert last["winner"][game] == winner
            assert reward[game] == last["rewards"][game, side]
            signs = 1 - 2 * ((np.arange(4) + side) % 2)
            assert (last["rewards"][game] == reward[game] * signs).all()
            found[game].append(float(gained[game]))
            gained[game] = 0
    assert gaps > 3 or seat != 1  # hardly any where a team sits, or a match is played
    assert sum(one is None for row in found for one in row) == skipped.sum()


def test_reward_win_is_plus_and_minus_one_at_the_end():
    for episode in ("round", "match"):
        envs = (SeatVectorEnv(20, seat=1, episode=episode, reward=pay) for pay in ("points", "win"))
        points, wins = ([*told(env, 40)][1:] for env in envs)
        ends = 0
        for (_, gain, done, _, info), (_, won, also, _, _) in zip(points, wins, strict=True):
            assert np.array_equal(done, also)
            assert np.array_equal(np.abs(won), done)
            if done.any():
                ends += done.sum()
                side = 1 - 2 * ((info["final_info"]["winner"][done] ^ 1) & 1)
                assert (won[done] == side).all()
                assert episode == "match" or (np.sign(gain[done]) == side).all()
        assert ends > 10


@pytest.mark.parametrize("mode", MODES)
@pytest.mark.parametrize("form", ["flat", "dict"])
def test_nothing_is_handed_out_twice_and_spaces_hold_it(mode, form):
    env = SeatVectorEnv(6, autoreset_mode=mode, observation=form, keys=("obs", "mask"))

    def arrays(thing):
        for value in thing.values() if isinstance(thing, dict) else thing:
            if isinstance(value, dict | tuple):
                yield from arrays(value)
            elif isinstance(value, np.ndarray):
                yield value

    results, rng = [env.reset(seed=1)], np.random.default_rng(0)
    for _ in range(12):
        results.append(env.step(env.sample_legal(rng)))
        if mode == AutoresetMode.DISABLED and results[-1][2].any():
            results.append(env.reset(options={"reset_mask": results[-1][2]}))
    for result in results:
        assert env.observation_space.contains(result[0])
        if form == "dict":
            assert np.array_equal(result[0]["mask"], result[-1]["action_mask"])
    found = [array for result in results for array in arrays(result)]
    addresses = sorted((one.__array_interface__["data"][0], one.nbytes) for one in found)
    assert all(start + size <= after for (start, size), (after, _) in pairwise(addresses))


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


def test_a_factor_scales_every_reward_and_no_points():
    plain, scaled = (SeatVectorEnv(24, reward_scale=factor) for factor in (1, 0.02))
    for one, two in zip(told(plain, 30), told(scaled, 30), strict=True):
        assert np.array_equal(one[-1]["skipped_points"], two[-1]["skipped_points"])
        if len(one) == 5:
            assert np.allclose(two[1], 0.02 * one[1])
            if one[2].any():
                last, other = one[-1]["final_info"], two[-1]["final_info"]
                assert np.allclose(other["rewards"], 0.02 * last["rewards"])
                assert np.array_equal(other["points"], last["points"])
