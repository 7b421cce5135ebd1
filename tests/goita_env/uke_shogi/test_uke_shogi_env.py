"""The environments: PettingZoo's own tests, rewards, seeds, what is hidden, illegal actions."""

from functools import partial

import numpy as np
import pettingzoo
import pytest

from conformance import check_aec, check_parallel, check_render, needs_registry
from goita_env import errors, uke_shogi_v0
from goita_env.uke_shogi import MURRAY, UkeShogiGame
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
