"""Bad input: our own error says what was expected and what came, and nothing has changed."""

import pickle
import re
from dataclasses import dataclass
from functools import partial
from typing import Any

import numpy as np
import pytest

from deals import complete, kinds, uniform_hands
from goita_env import Game, GoitaVectorEnv, actions, errors, goita_v0, uke_shogi_v0, views
from goita_env.views.observation import OBSERVATION_SIZE
from playing import after_reset, frozen, played

HANDS = complete("88223344", "", "", "")
"""Seat 0 holds both kings; nobody holds five pawns."""

FIVE = complete("11111234", "", "", "")
OVER = errors.EpisodeOverError

ENVIRONMENTS = {name: getattr(goita_v0, name) for name in goita_v0.__all__}
MAKERS = ENVIRONMENTS | {"Game": Game, "GoitaVectorEnv": lambda **given: GoitaVectorEnv(4, **given)}


def refuses(error, *parts):
    """Expects an error whose message says what was expected, what came, and these parts."""
    pattern = r"(?s)^(?=.*expected )(?=.*got )"
    pattern += "".join(f"(?=.*{part})" for part in parts)
    return pytest.raises(error, match=pattern)


@dataclass
class Unchanged:
    """Checks at the end of a block that a game, environment or batch is as it was, to the byte."""

    thing: Any

    def now(self):
        kept = self.thing if isinstance(self.thing, Game | GoitaVectorEnv) else self.thing.unwrapped
        return pickle.dumps(self.thing), frozen(kept._match.state)

    def __enter__(self):
        self.before = self.now()

    def __exit__(self, *_):
        assert self.now() == self.before


SETTINGS = {
    "rules": (MAKERS, ["chess", "JGA", "", None, 3, ["jga"]], "jga.*nine.*pagat"),
    "episode": (MAKERS, ["game", "", None, 1], "episode.*'round', 'match'"),
    "reward": (MAKERS.keys() - {"Game"}, ["money", "", None, 1], "reward.*'points', 'win'"),
    "observation": (ENVIRONMENTS, ["box", "", None, 1], "observation.*'flat', 'dict'"),
    "render_mode": (ENVIRONMENTS, ["rgb", "", 1], "render_mode.*'ansi', 'human'"),
}


@pytest.mark.parametrize("setting", SETTINGS)
def test_an_unknown_setting_is_refused(setting):
    makers, values, part = SETTINGS[setting]
    for maker in makers:
        for value in values:
            came = ".*" if setting == "rules" else re.escape(repr(value))
            with refuses(errors.SettingError, part, f"got {came}"):
                MAKERS[maker](**{setting: value})


BAD_SEEDS = [-1, 1 << 64, 1.5, "1", True]


@pytest.mark.parametrize("seed", BAD_SEEDS)
def test_a_seed_that_is_no_whole_number_of_64_bits_is_refused_and_changes_nothing(seed):
    for make in (Game, partial(GoitaVectorEnv, 2)):
        with refuses(errors.SettingError, "seed from 0 to", f"got {seed!r}"):
            make(seed=seed)
    env = after_reset(goita_v0.env(), seed=1)
    with Unchanged(env), refuses(errors.SettingError, "seed from 0 to", f"got {seed!r}"):
        env.reset(seed=seed)


@pytest.mark.parametrize("num_games", [0, 2.0, True])
def test_a_batch_without_games_is_refused(num_games):
    with refuses(errors.SettingError, "game", f"got {num_games!r}"):
        GoitaVectorEnv(num_games)


BAD_HANDS = {
    "three hands": (HANDS[:3], "4 strings"),
    "one string": ("".join(HANDS), "4 strings"),
    "seven tiles": ([*HANDS[:3], HANDS[3][:7]], "8 digits for seat 3"),
    "nine tiles": ([HANDS[0] + "1", *HANDS[1:]], "8 digits for seat 0"),
    "no string": ([HANDS[0], 12345678, *HANDS[2:]], "8 digits for seat 1"),
    "a zero": ([HANDS[0], "12345670", *HANDS[2:]], "digits 1 to 9 for seat 1.*'0'"),
    "a full-width digit": ([*HANDS[:2], "１2345678", HANDS[3]], "digits 1 to 9 for seat 2"),
    "other tiles": ([HANDS[0], HANDS[0], *HANDS[2:]], r"\(10, 4, 4, 4, 4, 2, 2, 2\) tiles"),
    "a third king": ([HANDS[0], "9" + HANDS[1][1:], *HANDS[2:]], r"10, 4, 4, 4, 4, 2, 2, 2\)"),
}


@pytest.mark.parametrize("wrong", BAD_HANDS)
def test_wrong_hands_are_refused_and_change_nothing(wrong):
    hands, part = BAD_HANDS[wrong]
    with refuses(errors.HandsError, part):
        Game(hands=hands)
    for make in ENVIRONMENTS.values():
        env = after_reset(make(), seed=1)
        for seed in (None, 5):
            with Unchanged(env), refuses(errors.HandsError, part):
                env.reset(seed=seed, options={"hands": hands, "dealer": 2})


def batch_of_three():
    return uniform_hands(np.random.default_rng(0), 3)


def changed(hands, place, value):
    hands = hands.copy()
    hands[place] = value
    return hands


BAD_BATCHES = {
    "too few games": (batch_of_three()[:2], r"shape \(3, 4, 8\)"),
    "seven tiles": (batch_of_three()[:, :, :7], r"shape \(3, 4, 8\)"),
    "three strings in one game": ([HANDS, HANDS[:3], HANDS], "4 strings.*game 1"),
    "a letter in one game": ([HANDS, HANDS, ["1234567x", *HANDS[1:]]], "seat 0.*game 2"),
    "strings beside kinds": ([HANDS, kinds(*HANDS), HANDS], "4 strings.*game 1"),
    "fractions": (batch_of_three() * 1.0, "whole numbers.*float64"),
    "hands of different lengths": ([[[0] * 8] * 4, [[0] * 7] * 4, [[0] * 8] * 4], "shape"),
    "kind 8": (changed(batch_of_three(), (1, 2, 3), 8), "kinds 0..7.*game 1"),
    "kind -1": (changed(batch_of_three(), (2, 0, 0), -1), "kinds 0..7.*game 2"),
    "other tiles": (changed(batch_of_three(), (2, 0), 0), "tiles of the kinds.*game 2"),
}


@pytest.mark.parametrize("wrong", BAD_BATCHES)
@pytest.mark.parametrize("begun", [False, True])
def test_a_batch_refuses_wrong_hands(wrong, begun):
    hands, part = BAD_BATCHES[wrong]
    env = GoitaVectorEnv(3, seed=1)
    if begun:
        env.step(env.reset().action_mask.argmax(axis=1))
    with Unchanged(env), refuses(errors.HandsError, part):
        env.reset(hands=hands)


@pytest.mark.parametrize("name", ["player0", 0, ["player_0"]])
@pytest.mark.parametrize(
    "make", [*ENVIRONMENTS.values(), uke_shogi_v0.env, uke_shogi_v0.parallel_env]
)
def test_a_name_that_no_agent_has_is_refused_wherever_one_is_taken(make, name):
    env = after_reset(make(), seed=1)
    takers = ("observation_space", "action_space", *["observe"] * hasattr(env, "observe"))
    for taker in takers:
        with refuses(errors.SettingError, "an agent of .*'player_0'", re.escape(repr(name))):
            getattr(env, taker)(name)


@pytest.mark.parametrize("make", [goita_v0.parallel_env, uke_shogi_v0.parallel_env])
def test_a_parallel_environment_wants_the_action_of_the_asked_agent(make):
    with pytest.raises(OVER, match="expected a reset before the first step"):
        make().step({"player_0": 0})
    env = after_reset(make(), seed=1)
    asked = env.aec_env.agent_selection
    before = env.state()
    for wrong in ({}, {"player0": 1}, {name: 0 for name in env.agents if name != asked}):
        with refuses(errors.ActionError, f"an action of {asked!r}", re.escape(repr([*wrong]))):
            env.step(wrong)
    assert np.array_equal(env.state(), before)
    mask = env.aec_env.observe(asked)["action_mask"]
    assert env.step({asked: int(mask.argmax())})


def test_an_illegal_action_is_named_as_it_came():
    game = Game(hands=complete("66223344", "", "", ""), dealer=0)
    for came, number in (("99", 64), ("98", 64), ("79", 56), ("p", 0)):
        with Unchanged(game), refuses(errors.IllegalActionError, rf"got '{came}' \({number}\)"):
            game.play(came)
    with refuses(errors.IllegalActionError, r"got '78' \(56\)"):
        game.play(56)


BAD_DEALERS = [4, -1, 1.0, "1", True, [0, 0], [[0]]]
BAD_SCORES = [[0], [0, 0, 0], [5, 0], [150, 0], [0, 160], [-10, 0], [0.0, 10.0], "ab", 7, [[0], 0]]
WRONG = [({"dealer": one}, r"0\.\.3") for one in BAD_DEALERS]
WRONG += [({"scores": one}, "points") for one in BAD_SCORES]


@pytest.mark.parametrize(("given", "part"), WRONG)
def test_a_wrong_dealer_and_wrong_scores_are_refused(given, part):
    with refuses(errors.SettingError, part):
        Game(**given)
    for make in ENVIRONMENTS.values():
        env = after_reset(make(), seed=1)
        for seed in (None, 5):
            with Unchanged(env), refuses(errors.SettingError, part):
                env.reset(seed=seed, options={**given, "hands": HANDS})


BATCH_DEALERS = [[0, 1], [0, 1, 4], [0, -1, 2], [0.0, 1.0, 2.0], 4, "012", [[0, 1, 2]], [0, [1], 2]]
BATCH_SCORES = [[0, 0, 0], [[0, 0]] * 2, [[0, 0]] * 2 + [[5, 0]], [150, 0], "ab"]
BATCH_WRONG = [({"dealer": one}, r"0\.\.3") for one in BATCH_DEALERS]
BATCH_WRONG += [({"scores": one}, "points") for one in BATCH_SCORES]


@pytest.mark.parametrize(("given", "part"), BATCH_WRONG)
def test_a_batch_refuses_wrong_dealers_and_scores(given, part):
    env = after_reset(GoitaVectorEnv(3, seed=1))
    for seed in (None, 5):
        with Unchanged(env), refuses(errors.SettingError, part):
            env.reset(seed=seed, hands=batch_of_three(), **given)


def test_a_subset_of_the_options_and_options_of_other_environments_are_taken():
    # PettingZoo's own tests hand over options that no environment knows.
    env = after_reset(goita_v0.raw_env(), seed=1, options={"options": 1})
    env.reset(seed=1, options={"dealer": 3})
    assert env.agent_selection == "player_3"
    env.reset(seed=1, options={})


NOT_ACTIONS = [69, -1, 1 << 40, 1.0, None, True, [0]]


@pytest.mark.parametrize("action", NOT_ACTIONS)
def test_what_is_no_action_is_refused(action):
    game = Game(hands=HANDS, dealer=0)
    with Unchanged(game), refuses(errors.ActionError, "action"):
        game.play(action)
    for make in (goita_v0.raw_env, goita_v0.env):
        env = after_reset(make(), seed=1, options={"hands": HANDS, "dealer": 0})
        with Unchanged(env), refuses(errors.ActionError, "action"):
            env.step(action)
        assert not any(env.terminations.values())


ILLEGAL = {
    "a pass of the dealer": (HANDS, [], 0),
    "a tile not held": (HANDS, [], actions.encode(0, 5)),
    "the same tile twice": (complete("12345678", "", "", ""), [], actions.encode(0, 0)),
    "a king before its time": (complete("12345678", "", "", ""), [], actions.encode(0, 7)),
    "a block that doesn't receive": (HANDS, ["23"], actions.encode(0, 1)),
    "a call without a question": (HANDS, [], actions.CALL),
    "a play in place of an answer": (FIVE, [], actions.encode(0, 0)),
    "a pass in place of an answer": (FIVE, [], 0),
    "a choice in place of a call": (FIVE, [], actions.REDEAL),
    "silence in place of a choice": (FIVE, ["call"], actions.SILENT),
}


@pytest.mark.parametrize("wrong", ILLEGAL)
def test_an_illegal_action_is_refused_with_the_seat_and_changes_nothing(wrong):
    hands, before, action = ILLEGAL[wrong]
    game, env, batch = Game(hands=hands, dealer=0), goita_v0.raw_env(), GoitaVectorEnv(3, seed=1)
    env.reset(seed=1, options={"hands": hands, "dealer": 0})
    turn = batch.reset(hands=np.array([kinds(*hands)] * 3), dealer=[0, 0, 0])
    for name in before:
        game.play(actions.parse(name))
        env.step(actions.parse(name))
        turn = batch.step([actions.parse(name)] * 3)
    seat, name = f"from seat {game.seat}", repr(actions.name(action))
    with Unchanged(game), refuses(errors.IllegalActionError, seat, name):
        game.play(action)
    with Unchanged(env), refuses(errors.IllegalActionError, f"from {env.agent_selection}", name):
        env.step(action)
    chosen = turn.action_mask.argmax(axis=1)
    chosen[2] = action
    with Unchanged(batch), refuses(errors.IllegalActionError, seat, name, "in game 2"):
        batch.step(chosen)


BAD_ROWS = {
    "too few": ([0, 0], "3 actions"),
    "one number": (0, "3 actions"),
    "fractions": ([0.0, 0.0, 0.0], "3 actions.*float64"),
    "truth values": ([True, False, True], "3 actions.*bool"),
    "rows of different lengths": ([[0], [0, 1], 2], "3 actions"),
    "69": ([1, 69, 1], r"0\.\.68.*got 69 in game 1"),
    "-64": ([-64, 1, 1], r"0\.\.68.*got -64 in game 0"),
    "a huge unsigned number": (np.array([(1 << 64) - 60] * 3, np.uint64), r"0\.\.68.*in game 0"),
    "128": (np.array([128] * 3, np.uint8), r"0\.\.68.*got 128 in game 0"),
}


@pytest.mark.parametrize("wrong", BAD_ROWS)
def test_a_batch_refuses_actions_of_the_wrong_length_type_or_range(wrong):
    given, part = BAD_ROWS[wrong]
    env = GoitaVectorEnv(3, seed=1)
    env.reset(hands=np.array([kinds(*complete("1123", "", "", ""))] * 3), dealer=[0, 0, 0])
    with Unchanged(env), refuses(errors.ActionError, part):
        env.step(given)


NO_SUCH = [
    *((read, (one,), "0..68") for read in (actions.decode, actions.name) for one in (69, -1, "p")),
    *((actions.encode, pair, "kinds 0..7") for pair in ((8, 0), (0, -1), (1.5, 0), ("1", 0))),
    *((actions.parse, (text,), "two digits") for text in ("", "123", "01", "１２", "Call", 12)),
]


@pytest.mark.parametrize(("call", "given", "part"), NO_SUCH)
def test_what_stands_for_no_action_is_refused(call, given, part):
    with refuses(errors.ActionError, part):
        call(*given)


def test_after_the_end_actions_are_refused():
    hands = complete("1111118", "2", "", "")
    game = played(Game(hands=hands, dealer=0), "call")
    for action in (0, None):
        with Unchanged(game), refuses(OVER, "after the end", f"got {action!r}"):
            game.play(action)
    env = after_reset(goita_v0.env(), options={"hands": hands, "dealer": 0})
    env.step(actions.CALL)
    for agent in env.possible_agents:
        assert env.agent_selection == agent
        with Unchanged(env), refuses(OVER, f"None from {agent}", "got 0"):
            env.step(0)
        env.step(None)
    for action in (0, None):
        with Unchanged(env), refuses(OVER, "reset", "after the end"):
            env.step(action)


@pytest.mark.parametrize("make", [goita_v0.raw_env, goita_v0.env])
def test_an_environment_shows_and_does_nothing_before_its_first_reset(make):
    env = make()
    observe = partial(env.observe, "player_0")
    for ask in (observe, env.state, partial(env.step, 0), partial(env.step, None)):
        with Unchanged(env), pytest.raises(OVER, match=r"reset.* before the first"):
            ask()


def test_a_batch_refuses_a_step_and_a_state_before_its_first_reset():
    env = GoitaVectorEnv(2)
    for ask in (lambda: env.step([0, 0]), env.state, env.packed_state):
        with Unchanged(env), pytest.raises(OVER, match="expected a reset"):
            ask()


def test_a_view_asked_for_too_late_is_refused():
    words = r"expected .* before the next step.*observe=True"
    env = GoitaVectorEnv(2, seed=1, observe=False)
    turn = env.reset()
    env.step(turn.action_mask.argmax(axis=1))
    for name in ("view", "observation", "words"):
        with pytest.raises(errors.StaleTurnError, match=words):
            getattr(turn, name)


def good_observation():
    return GoitaVectorEnv(3, seed=1).reset().observation


BAD_OBSERVATIONS = {
    "too short": (good_observation()[:, 1:], str(OBSERVATION_SIZE)),
    "too long": (np.zeros((2, OBSERVATION_SIZE + 1)), str(OBSERVATION_SIZE)),
    "a two": (good_observation() * 2, "zeros and ones"),
    "not numbers": (np.full((1, OBSERVATION_SIZE), np.nan), "zeros and ones"),
    "ones between the slices": (np.ones((1, OBSERVATION_SIZE)), "between the slices"),
    "rows of different lengths": ([[0], [0, 1]], "shape"),
}


@pytest.mark.parametrize("wrong", BAD_OBSERVATIONS)
def test_what_is_no_observation_is_refused(wrong):
    array, part = BAD_OBSERVATIONS[wrong]
    with refuses(errors.ObservationError, part):
        views.from_observation(array)
