"""The environments: PettingZoo's own tests, rewards, seeds, what is hidden, illegal actions."""

import copy
import pickle
from functools import partial

import numpy as np
import pettingzoo
import pytest

from conformance import check_aec, check_parallel, check_render, needs_registry, random_play
from goita_env import errors, uke_shogi_v0
from goita_env.uke_shogi import MURRAY, UkeShogiGame
from goita_env.uke_shogi.view import UkeShogiView, layout
from playing import after_reset
from raising import refuses
from samples import rotating
from uke_shogi_playing import FEW, HANDS, kinds_of, random_game, redrawn_hands, short

MAKERS = [uke_shogi_v0.env, uke_shogi_v0.raw_env]

each_rules = pytest.mark.parametrize("rules", FEW, ids=short)


@pytest.mark.parametrize(("rules", "make"), rotating(FEW, MAKERS))
def test_pettingzoos_tests_pass(make, rules, capsys):
    check_aec(partial(make, rules, deals=2), capsys, cycles=60)


@pytest.mark.parametrize("rules", FEW[::2], ids=short)
def test_pettingzoos_tests_of_parallel_environments_pass(rules, capsys):
    check_parallel(partial(uke_shogi_v0.parallel_env, rules), capsys, cycles=60)


@pytest.mark.parametrize("make", MAKERS)
def test_pettingzoos_test_of_drawings_passes(make, capsys):
    check_render(make, capsys)


@needs_registry
def test_the_registry_makes_the_environments():
    env = pettingzoo.make("aec", "goita/uke_shogi-v0", rules=MURRAY)  # goita_env is imported
    assert isinstance(env.unwrapped, uke_shogi_v0.raw_env)
    assert env.possible_agents == ["player_0", "player_1"]
    parallel = pettingzoo.make("parallel", "goita/uke_shogi-v0")
    assert len(parallel.reset(seed=1)[0]) == 4


@each_rules
def test_only_the_asked_seat_has_a_mask_and_it_is_what_the_game_allows(rules):
    env = after_reset(uke_shogi_v0.raw_env(rules), seed=2)
    for agent, (observation, _, terminated, truncated, _) in random_play(env):
        assert not truncated
        assert env.observation_space(agent).contains(observation)
        legal = [] if terminated else env._game.legal_actions()
        assert np.flatnonzero(observation["action_mask"]).tolist() == legal
        for other in env.agents:
            if other != agent:
                assert not env.observe(other)["action_mask"].any()


@each_rules
def test_a_pickled_or_copied_environment_goes_on_identically(rules):
    env = after_reset(uke_shogi_v0.env(rules), seed=3)
    for _ in range(5):
        env.step(int(env.last()[0]["action_mask"].argmax()))
    copies = env, pickle.loads(pickle.dumps(env)), copy.deepcopy(env)
    one, two, three = ([str(last) for last in random_play(each, 1)] for each in copies)
    assert one == two == three


def same_moves(rules, hands, game):
    """Makes the moves of a game in an environment with other hands."""
    env = uke_shogi_v0.raw_env(rules)
    env.reset(seed=0, options={"hands": hands, "dealer": game.dealer})
    for _, action in game.moves:
        env.step(action)
    return env


def redraws(rules, seed, games=8):
    """Yields (viewer, environment, environment with what the viewer cannot know dealt anew)."""
    rng = np.random.default_rng(seed)
    for _ in range(games):
        game = random_game(rules, rng, decisions=int(rng.integers(2 * rules.hand_size)))
        dealt = [kinds_of(hand) for hand in game.dealt]
        for viewer in range(rules.players):
            others = redrawn_hands(game, viewer, rng)
            yield viewer, same_moves(rules, dealt, game), same_moves(rules, others, game)


@each_rules
def test_no_seat_sees_what_it_cannot_know(rules):
    changed = total = 0
    for viewer, env, other in redraws(rules, seed=1):
        if env._game.winner is not None:
            continue  # the payments tell what was left
        agent = f"player_{viewer}"
        one, two = env.observe(agent), other.observe(agent)
        assert np.array_equal(one["observation"], two["observation"])
        assert np.array_equal(one["action_mask"], two["action_mask"])
        assert env.infos == other.infos
        assert env.agent_selection == other.agent_selection
        total += 1
        changed += env._game.hands != other._game.hands
    assert changed >= 0.5 * total >= 5


@each_rules
def test_a_planted_leak_is_caught(monkeypatch, rules):
    honest = UkeShogiGame.view

    def leaky(game, seat):
        view = honest(game, seat)
        view.played[1][0] = game.hands[(seat + 1) % rules.players][0]
        return view

    monkeypatch.setattr(UkeShogiGame, "view", leaky)
    with pytest.raises(AssertionError):
        test_no_seat_sees_what_it_cannot_know(rules)


@each_rules
def test_a_view_and_its_observation_carry_the_same(rules):
    env = after_reset(uke_shogi_v0.raw_env(rules), seed=8)
    for agent, (observation, *_) in random_play(env):
        view = UkeShogiView.from_observation(rules, observation["observation"])
        own = env._game.view(env.possible_agents.index(agent))
        for name in (*layout(rules), "rules"):
            assert np.array_equal(getattr(view, name), getattr(own, name)), name
        assert view.legal_actions() == np.flatnonzero(observation["action_mask"]).tolist()
        hidden = np.array(rules.counts) - np.sum(env._game.played, axis=0)
        assert np.array_equal(view.unseen() + view.hand, hidden)


def test_an_illegal_action_is_paid_for_and_ends_the_episode():
    env = after_reset(uke_shogi_v0.env(deals=3), options={"hands": HANDS, "dealer": 1})
    env.step(0)
    assert env.rewards == {"player_1": -1} | {f"player_{seat}": 1 / 3 for seat in (0, 2, 3)}
    assert all(env.terminations.values())
    assert not any(env.truncations.values())
    for agent in env.possible_agents:
        assert not env.observe(agent)["action_mask"].any()
    seen = {agent: gained for agent, (_, gained, *_) in random_play(env)}
    assert seen == pytest.approx({"player_1": -1} | {f"player_{s}": 1 / 3 for s in (0, 2, 3)})


def test_raw_env_raises_and_changes_nothing():
    env = after_reset(uke_shogi_v0.raw_env(), options={"hands": HANDS, "dealer": 1})
    before = str((env._game, env.last(), env.rewards))
    refuses(errors.IllegalActionError, r"one of 1 .* 7 from seat 1, got '8'", env.step, 8)
    for action in (9, -1, None, "p", 1.0):
        with pytest.raises(errors.ActionError):
            env.step(action)
    for options in ({"hands": HANDS[:3]}, {"hands": 7}, {"dealer": 4}, {"dealer": "2"}):
        with pytest.raises((errors.HandsError, errors.SettingError)):
            env.reset(options=options)
    with pytest.raises(errors.SettingError):
        env.reset(seed=-1)
    assert str((env._game, env.last(), env.rewards)) == before
