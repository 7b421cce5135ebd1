"""The vector environment: what a step returns, auto-reset, rewards, and uniform sampling."""

import numpy as np
import pytest
from gymnasium.spaces import Box, Discrete

from deals import RULE_SETS, complete, digits, kinds, special_hands
from goita_env import GoitaVectorEnv, StepResult, actions, goita_v0
from goita_env.actions import CALL, CONTINUE, PASS, REDEAL, SILENT
from goita_env.views import View
from playing import after_reset, legal_mask, pick
from samples import rotating

FIELDS = ("observation", "action_mask", "seat", "reward", "done", "points", "winner")


def random_turns(env, steps=200, seed=0):
    """Yields turns of random play, the first one from a reset, with the actions that led on.

    No step writes into the actions that it is given.
    """
    rng = np.random.default_rng(seed)
    turn = env.reset()
    for _ in range(steps):
        chosen = env.sample_legal(rng)
        kept = chosen.copy()
        after = env.step(chosen)
        assert np.array_equal(chosen, kept)
        yield turn, chosen, after
        turn = after


def test_a_turn_hands_out_arrays_of_the_promised_shapes_and_types():
    env = GoitaVectorEnv(7, seed=1)
    assert env.single_observation_space == Box(0, 1, (512,), np.uint8)
    assert env.single_action_space == Discrete(69)
    turn = env.reset()
    for nothing in (turn.reward, turn.done, turn.points):
        assert not nothing.any()
    assert (turn.winner == -1).all()
    for _ in range(3):
        assert isinstance(turn, StepResult)
        promised = {
            "observation": (np.uint8, (7, 512)),
            "action_mask": (bool, (7, 69)),
            "seat": (np.int8, (7,)),
            "reward": (np.float32, (7, 4)),
            "done": (bool, (7,)),
            "points": (np.int16, (7,)),
            "winner": (np.int8, (7,)),
        }
        for name, (dtype, shape) in promised.items():
            array = getattr(turn, name)
            assert (array.dtype, array.shape) == (dtype, shape), name
        assert isinstance(turn.view, View)
        assert len(turn.view) == 7
        assert env.observation_space.contains(turn.observation)
        chosen = turn.action_mask.argmax(axis=1)
        assert env.action_space.contains(chosen)
        turn = env.step(chosen)


@pytest.mark.parametrize("observe", [True, False])
def test_the_arrays_of_a_turn_are_never_written_again(observe):
    env = GoitaVectorEnv(64, episode="match", seed=1, observe=observe)
    names = FIELDS if observe else FIELDS[1:]
    kept = [
        (turn, {name: getattr(turn, name).copy() for name in names})
        for turn, _, _ in random_turns(env, 100)
    ]
    for turn, copies in kept:
        assert all(np.array_equal(getattr(turn, name), copies[name]) for name in names)


def test_writing_into_a_turn_does_not_reach_the_environment():
    one, other = GoitaVectorEnv(64, seed=1), GoitaVectorEnv(64, seed=1)
    for (turn, _, _), (same, _, _) in zip(random_turns(one), random_turns(other), strict=True):
        for name in FIELDS:
            assert np.array_equal(getattr(turn, name), getattr(same, name))
        for name in FIELDS:
            getattr(turn, name)[:] = 1


PAID = [("round", "points"), ("round", "win"), ("match", "points"), ("match", "win")]


@pytest.mark.parametrize(("paid", "rules"), rotating(PAID, RULE_SETS))
def test_rewards_follow_points_winner_and_done(rules, paid):
    episode, reward = paid
    env = GoitaVectorEnv(128, rules, episode, reward, seed=2)
    rounds = 0
    for _, _, turn in random_turns(env, 300):
        scored = turn.points > 0
        assert np.array_equal(scored, turn.winner >= 0)
        assert (turn.points % 10 == 0).all()
        assert not turn.done[~scored].any()
        if episode == "round":
            assert np.array_equal(turn.done, scored)
        gain = turn.points if reward == "points" else turn.done
        sign = np.where(turn.winner[:, None] % 2 == np.arange(4) % 2, 1, -1)
        assert np.array_equal(turn.reward, np.where(scored, gain, 0)[:, None] * sign)
        rounds += scored.sum()
    assert rounds > 300


def test_views_can_be_built_late_but_not_too_late():
    eager, lazy = GoitaVectorEnv(32, seed=6), GoitaVectorEnv(32, seed=6, observe=False)
    pairs = zip(random_turns(eager), random_turns(lazy), strict=True)
    for n, ((_, _, turn), (_, _, same)) in enumerate(pairs):
        if n % 3 == 0:
            assert np.array_equal(turn.view.words, same.view.words)
            assert np.array_equal(turn.observation, same.observation)
            assert same.view is same.view
        assert np.array_equal(turn.action_mask, same.action_mask)


def all_of(env):
    """Hands, dealers and scores of every game."""
    state = env._match.state
    return state.hand_counts().tolist(), state.dealer.tolist(), state.scores.T.tolist()


def test_hands_are_taken_as_strings_of_digits_and_as_kinds():
    rng = np.random.default_rng(0)
    dealt = special_hands(rng, 5)
    strings = [digits(hands) for hands in dealt]
    strings[0] = [hand.replace("88", "98") for hand in strings[0]]
    dealer, scores = rng.integers(0, 4, 5), 10 * rng.integers(0, 15, (5, 2))
    found = []
    for hands in (dealt, dealt.tolist(), strings, np.array(strings), tuple(map(tuple, strings))):
        env = GoitaVectorEnv(5, episode="match", seed=7)
        env.reset(hands=hands, dealer=dealer, scores=scores)
        found.append(all_of(env))
    assert found[0][1:] == (dealer.tolist(), scores.tolist())
    assert all(one == found[0] for one in found)


@pytest.mark.parametrize(("rules", "observe"), rotating(RULE_SETS, [True, False]))
def test_the_state_of_game_0_is_that_of_the_environment_with_the_same_seed(rules, observe):
    batch = GoitaVectorEnv(3, rules, "match", seed=17, observe=observe)
    single = goita_v0.raw_env(rules, "match")
    batch.reset()
    single.reset(seed=17)
    assert batch.state_space == single.state_space
    for step in range(120):
        states, words = batch.state(), batch.packed_state()
        assert (states.shape, states.dtype) == ((3, 704), np.uint8)
        assert (words.shape, words.dtype) == ((3, 11), np.uint64)
        bits = np.unpackbits(words.view(np.uint8), axis=1, bitorder="little")
        assert np.array_equal(states, bits)
        assert np.array_equal(states[0], single.state())
        states[:] = words[:] = 1  # handed out, the caller's to write
        chosen = pick(legal_mask(batch._match.state), np.arange(3) + step * 31)
        turn = batch.step(chosen)
        single.step(int(chosen[0]))
        if turn.done[0]:
            single.reset()


def played_alone(*pairs):
    """Lists plays that all others pass on."""
    return [name for pair in pairs for name in (pair, "p", "p", "p")]


POSITIONS = {
    "the dealer's first turn": ("jga", complete("12345678", "", "", ""), []),
    "a receiver with few choices": ("jga", complete("1245", "4458", "", ""), ["14"]),
    "a seat that can only pass": ("jga", complete("124", "555667", "", ""), ["14"]),
    "a last pair": ("jga", complete("11223345", "", "", ""), played_alone("11", "22", "33")),
    "both kings, a pair of them included": ("jga", complete("88223344", "", "", ""), []),
    "both kings against a silver": ("pagat", complete("1244", "88445566", "", ""), ["14"]),
    "two kings alone": ("jga", complete("88223344", "", "", ""), played_alone("22", "33", "44")),
    "call or silent": ("jga", complete("11111234", "", "", ""), []),
    "a duty to call": ("pagat", complete("11111234", "", "", ""), []),
    "redeal or continue": ("jga", complete("11111234", "", "", ""), ["call"]),
}
EXPECTED = {
    "a seat that can only pass": [PASS],
    "a last pair": [actions.encode(3, 4), actions.encode(4, 3)],
    "two kings alone": [actions.encode(7, 7)],
    "call or silent": [CALL, SILENT],
    "a duty to call": [CALL],
    "redeal or continue": [REDEAL, CONTINUE],
}
DRAWS, GAMES = 25, 4096


def critical(degrees):
    """Chi-square value that chance exceeds once in a million (Wilson and Hilferty 1931)."""
    if degrees == 0:
        return 1e-9
    part = 2 / (9 * degrees)
    return degrees * (1 - part + 4.753 * part**0.5) ** 3


@pytest.mark.parametrize("position", POSITIONS)
def test_sample_legal_is_uniform_over_the_legal_actions(position):
    rules, hands, before = POSITIONS[position]
    env = GoitaVectorEnv(GAMES, rules, seed=1, observe=False)
    turn = env.reset(hands=np.tile(kinds(*hands), (GAMES, 1, 1)), dealer=np.zeros(GAMES, int))
    for name in before:
        turn = env.step(np.full(GAMES, actions.parse(name)))
    legal = np.flatnonzero(turn.action_mask[0])
    assert legal.tolist() == EXPECTED.get(position, legal.tolist())
    rng = np.random.default_rng(2)
    drawn = np.concatenate([env.sample_legal(rng) for _ in range(DRAWS)])
    seen = np.bincount(drawn, minlength=69)
    assert set(np.flatnonzero(seen)) == set(legal.tolist())
    mean = DRAWS * GAMES / len(legal)
    assert ((seen[legal] - mean) ** 2 / mean).sum() <= critical(len(legal) - 1)


def test_sample_legal_takes_one_number_a_game_from_the_generator():
    env = after_reset(GoitaVectorEnv(33, seed=1))
    one, other = np.random.default_rng(5), np.random.default_rng(5)
    first = env.sample_legal(one)
    other.random(33)
    assert one.random() == other.random()
    assert np.array_equal(first, env.sample_legal(np.random.default_rng(5)))
    assert env.sample_legal(one).dtype == np.int64


class Constant:
    """Stands for a generator that always draws the same number."""

    def __init__(self, number):
        self.number = number

    def random(self, size):
        return np.full(size, self.number)


@pytest.mark.parametrize("position", POSITIONS)
def test_the_greatest_draw_gives_the_last_legal_action_and_zero_the_first(position):
    rules, hands, before = POSITIONS[position]
    env = GoitaVectorEnv(1, rules)
    turn = env.reset(hands=kinds(*hands)[None], dealer=[0])
    for name in before:
        turn = env.step([actions.parse(name)])
    legal = np.flatnonzero(turn.action_mask[0])
    assert env.sample_legal(Constant(np.nextafter(1.0, 0.0))) == legal[-1]
    assert env.sample_legal(Constant(0.0)) == legal[0]
