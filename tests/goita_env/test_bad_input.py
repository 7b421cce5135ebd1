"""Bad input: our own error says what was expected and what came, and nothing has changed."""

import pickle
from dataclasses import dataclass
from typing import Any

import numpy as np
import pytest
from deals import complete, digits, kinds, uniform_hands
from playing import frozen

from goita_env import Game, GoitaVectorEnv, actions, goita_v0, views
from goita_env.engine.match import Match
from goita_env.errors import (
    ActionError,
    EpisodeOverError,
    HandsError,
    IllegalActionError,
    ObservationError,
    SettingError,
    StaleTurnError,
)
from goita_env.views.observation import OBSERVATION_SIZE

HANDS = complete("88223344", "", "", "")
"""Seat 0 holds both kings; nobody holds five pawns."""

FIVE = complete("11111234", "", "", "")

ENVIRONMENTS = {
    "raw_env": goita_v0.raw_env,
    "env": goita_v0.env,
    "parallel_env": goita_v0.parallel_env,
}
MAKERS = ENVIRONMENTS | {"Game": Game, "GoitaVectorEnv": lambda **given: GoitaVectorEnv(4, **given)}


def refuses(error, *parts):
    """Expects an error whose message says what was expected, what came, and these parts."""
    pattern = r"(?s)^(?=.*expected )(?=.*got )"
    pattern += "".join(f"(?=.*{part})" for part in parts)
    return pytest.raises(error, match=pattern)


def state_of(thing: Any):
    return (thing if isinstance(thing, GoitaVectorEnv) else thing.unwrapped)._match.state


@dataclass
class Unchanged:
    """Checks at the end of a block that a game, environment or batch is as it was, to the byte."""

    thing: Any

    def __enter__(self):
        state = self.thing._state if isinstance(self.thing, Game) else state_of(self.thing)
        self.before = pickle.dumps(self.thing), frozen(state)

    def __exit__(self, *_):
        state = self.thing._state if isinstance(self.thing, Game) else state_of(self.thing)
        assert (pickle.dumps(self.thing), frozen(state)) == self.before


# ------------------------------------------------------------------------------------ settings


@pytest.mark.parametrize("maker", MAKERS)
@pytest.mark.parametrize("rules", ["chess", "JGA", "", None, 3, ["jga"]])
def test_an_unknown_rule_set_is_refused(maker, rules):
    with refuses(SettingError, "jga.*nine.*pagat", "got .*"):
        MAKERS[maker](rules=rules)


@pytest.mark.parametrize("maker", MAKERS)
@pytest.mark.parametrize("episode", ["game", "", None, 1])
def test_an_unknown_episode_is_refused(maker, episode):
    with refuses(SettingError, "episode", "'round', 'match'", f"got {episode!r}"):
        MAKERS[maker](episode=episode)


@pytest.mark.parametrize("maker", sorted(MAKERS.keys() - {"Game"}))
@pytest.mark.parametrize("reward", ["money", "", None, 1])
def test_an_unknown_reward_is_refused(maker, reward):
    with refuses(SettingError, "reward", "'points', 'win'", f"got {reward!r}"):
        MAKERS[maker](reward=reward)


@pytest.mark.parametrize("maker", ENVIRONMENTS)
@pytest.mark.parametrize("mode", ["rgb", "", 1])
def test_an_unknown_render_mode_is_refused(maker, mode):
    with refuses(SettingError, "render_mode", "'ansi', 'human'", f"got {mode!r}"):
        MAKERS[maker](render_mode=mode)


@pytest.mark.parametrize("make", [GoitaVectorEnv, Match])
@pytest.mark.parametrize("num_games", [0, -1, 2.0, "4", None, True])
def test_a_batch_without_games_is_refused(make, num_games):
    with refuses(SettingError, "game", f"got {num_games!r}"):
        make(num_games)


BAD_SEEDS = [-1, 1 << 64, 1.5, "1", True]


@pytest.mark.parametrize("seed", BAD_SEEDS)
def test_a_seed_that_is_no_whole_number_of_64_bits_is_refused(seed):
    with refuses(SettingError, "seed from 0 to", f"got {seed!r}"):
        GoitaVectorEnv(2, seed=seed)
    with refuses(SettingError, "seed from 0 to", f"got {seed!r}"):
        Game(seed=seed)


@pytest.mark.parametrize("make", ENVIRONMENTS.values(), ids=ENVIRONMENTS)
@pytest.mark.parametrize("seed", BAD_SEEDS)
def test_a_reset_with_a_bad_seed_changes_nothing(make, seed):
    env = make()
    env.reset(seed=1)
    with Unchanged(env), refuses(SettingError, "seed from 0 to", f"got {seed!r}"):
        env.reset(seed=seed)


# --------------------------------------------------------------------------------------- hands

BAD_HANDS = {
    "three hands": (HANDS[:3], "4 strings"),
    "five hands": ([*HANDS, ""], "4 strings"),
    "one string": ("".join(HANDS), "4 strings"),
    "no sequence": (7, "4 strings"),
    "seven tiles": ([*HANDS[:3], HANDS[3][:7]], "8 digits for seat 3"),
    "nine tiles": ([HANDS[0] + "1", *HANDS[1:]], "8 digits for seat 0"),
    "an empty hand": (["", *HANDS[1:]], "8 digits for seat 0"),
    "no string": ([HANDS[0], 12345678, *HANDS[2:]], "8 digits for seat 1"),
    "nothing": ([HANDS[0], None, *HANDS[2:]], "8 digits for seat 1"),
    "a letter": ([HANDS[0], "1234567x", *HANDS[2:]], "digits 1 to 9 for seat 1.*'x'"),
    "a zero": ([HANDS[0], "12345670", *HANDS[2:]], "digits 1 to 9 for seat 1.*'0'"),
    "a blank": ([*HANDS[:2], "1234567 ", HANDS[3]], "digits 1 to 9 for seat 2.*' '"),
    "a character": ([*HANDS[:2], "し234567し", HANDS[3]], "digits 1 to 9 for seat 2.*'し'"),
    "a full-width digit": ([*HANDS[:2], "１2345678", HANDS[3]], "digits 1 to 9 for seat 2"),
    "other tiles": ([HANDS[0], HANDS[0], *HANDS[2:]], r"\(10, 4, 4, 4, 4, 2, 2, 2\) tiles"),
    "four kings": (["88", "99", "", ""], "8 digits for seat 0"),
    "a third king": ([HANDS[0], "9" + HANDS[1][1:], *HANDS[2:]], r"10, 4, 4, 4, 4, 2, 2, 2\)"),
}


@pytest.mark.parametrize("wrong", BAD_HANDS)
def test_a_game_refuses_wrong_hands(wrong):
    hands, part = BAD_HANDS[wrong]
    with refuses(HandsError, part):
        Game(hands=hands)


@pytest.mark.parametrize("make", ENVIRONMENTS.values(), ids=ENVIRONMENTS)
@pytest.mark.parametrize("wrong", BAD_HANDS)
@pytest.mark.parametrize("seed", [None, 5])
def test_a_reset_with_wrong_hands_changes_nothing(make, wrong, seed):
    hands, part = BAD_HANDS[wrong]
    env = make()
    env.reset(seed=1)
    with Unchanged(env), refuses(HandsError, part):
        env.reset(seed=seed, options={"hands": hands, "dealer": 2})


def batch_of_three():
    return uniform_hands(np.random.default_rng(0), 3)


def changed(hands, place, value):
    hands = hands.copy()
    hands[place] = value
    return hands


BAD_BATCHES = {
    "too few games": (batch_of_three()[:2], r"shape \(3, 4, 8\)"),
    "too many games": (np.tile(batch_of_three(), (2, 1, 1)), r"shape \(3, 4, 8\)"),
    "seven tiles": (batch_of_three()[:, :, :7], r"shape \(3, 4, 8\)"),
    "no array": ("hands", "4 strings"),
    "strings for two games": ([HANDS] * 2, r"shape \(3, 4, 8\)"),
    "three strings": (HANDS[:3], "4 strings"),
    "three strings in one game": ([HANDS, HANDS[:3], HANDS], "4 strings.*game 1"),
    "a letter in one game": ([HANDS, HANDS, ["1234567x", *HANDS[1:]]], "seat 0.*game 2"),
    "nothing in one game": ([HANDS, None, HANDS], "4 strings.*got None in game 1"),
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
    with Unchanged(env), refuses(HandsError, part):
        env.reset(hands=hands)


# -------------------------------------------------------------------------- dealer, scores, options


@pytest.mark.parametrize("dealer", [4, -1, 1.0, "1", True, [0, 0], [[0]]])
def test_a_wrong_dealer_is_refused(dealer):
    with refuses(SettingError, r"0\.\.3"):
        Game(dealer=dealer)
    for make in ENVIRONMENTS.values():
        env = make()
        env.reset(seed=1)
        for seed in (None, 5):
            with Unchanged(env), refuses(SettingError, r"0\.\.3"):
                env.reset(seed=seed, options={"dealer": dealer, "hands": HANDS})


@pytest.mark.parametrize(
    "dealer", [[0, 1], [0, 1, 4], [0, -1, 2], [0.0, 1.0, 2.0], 4, "012", [[0, 1, 2]], [0, [1], 2]]
)
def test_a_batch_refuses_wrong_dealers(dealer):
    env = GoitaVectorEnv(3, seed=1)
    env.reset()
    with Unchanged(env), refuses(SettingError, r"0\.\.3"):
        env.reset(hands=batch_of_three(), dealer=dealer)


@pytest.mark.parametrize(
    "scores", [[0, 0, 0], [[0, 0]] * 2, [[0, 0]] * 2 + [[5, 0]], [150, 0], "ab"]
)
def test_a_batch_refuses_wrong_scores(scores):
    env = GoitaVectorEnv(3, seed=1)
    env.reset()
    with Unchanged(env), refuses(SettingError, "points"):
        env.reset(hands=batch_of_three(), scores=scores)


BAD_SCORES = [[0], [0, 0, 0], [5, 0], [150, 0], [0, 160], [-10, 0], [0.0, 10.0], "ab", 7, [[0], 0]]


@pytest.mark.parametrize("scores", BAD_SCORES)
def test_wrong_scores_are_refused(scores):
    with refuses(SettingError, "points"):
        Game(scores=scores)
    for make in ENVIRONMENTS.values():
        env = make()
        env.reset(seed=1)
        for seed in (None, 5):
            with Unchanged(env), refuses(SettingError, "points"):
                env.reset(seed=seed, options={"scores": scores, "hands": HANDS})


def test_a_subset_of_the_options_and_options_of_other_environments_are_taken():
    # PettingZoo's own tests hand over options that no environment knows.
    env = goita_v0.raw_env()
    env.reset(seed=1, options={"options": 1})
    env.reset(seed=1, options={"dealer": 3})
    assert env.agent_selection == "player_3"
    env.reset(seed=1, options={})


# -------------------------------------------------------------------------------------- actions

NOT_ACTIONS = [69, -1, 1 << 40, 1.0, "p", None, True, [0], np.float64(0), np.array([0])]


@pytest.mark.parametrize("action", NOT_ACTIONS)
def test_a_game_refuses_what_is_no_action(action):
    game = Game(hands=HANDS, dealer=0)
    with Unchanged(game), refuses(ActionError, "action"):
        game.play(action)


@pytest.mark.parametrize("make", [goita_v0.raw_env, goita_v0.env])
@pytest.mark.parametrize("action", NOT_ACTIONS)
def test_an_environment_refuses_what_is_no_action(make, action):
    env = make()
    env.reset(seed=1, options={"hands": HANDS, "dealer": 0})
    with Unchanged(env), refuses(ActionError, "action"):
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
def test_a_game_refuses_an_illegal_action(wrong):
    hands, before, action = ILLEGAL[wrong]
    game = Game(hands=hands, dealer=0)
    for name in before:
        game.play(actions.parse(name))
    where = f"from seat {game.seat}"
    with Unchanged(game), refuses(IllegalActionError, where, repr(actions.name(action))):
        game.play(action)


@pytest.mark.parametrize("wrong", ILLEGAL)
def test_raw_env_refuses_an_illegal_action_and_changes_nothing(wrong):
    hands, before, action = ILLEGAL[wrong]
    env = goita_v0.raw_env()
    env.reset(seed=1, options={"hands": hands, "dealer": 0})
    for name in before:
        env.step(actions.parse(name))
    where = f"from {env.agent_selection}"
    with Unchanged(env), refuses(IllegalActionError, where, repr(actions.name(action))):
        env.step(action)


@pytest.mark.parametrize("wrong", ILLEGAL)
def test_a_batch_refuses_an_illegal_action_of_one_game(wrong):
    hands, before, action = ILLEGAL[wrong]
    env = GoitaVectorEnv(3, seed=1)
    turn = env.reset(hands=np.array([kinds(*hands)] * 3), dealer=[0, 0, 0])
    for name in before:
        turn = env.step([actions.parse(name)] * 3)
    legal = turn.action_mask.argmax(axis=1)
    legal[2] = action
    where = f"from seat {turn.seat[2]}"
    name = repr(actions.name(action))
    with Unchanged(env), refuses(IllegalActionError, where, name, "in game 2"):
        env.step(legal)


BAD_ROWS = {
    "too few": ([0, 0], "3 actions"),
    "too many": ([0, 0, 0, 0], "3 actions"),
    "one number": (0, "3 actions"),
    "a column": ([[0], [0], [0]], "3 actions"),
    "fractions": ([0.0, 0.0, 0.0], "3 actions.*float64"),
    "truth values": ([True, False, True], "3 actions.*bool"),
    "strings": (["p", "p", "p"], "3 actions"),
    "nothing": (None, "3 actions"),
    "rows of different lengths": ([[0], [0, 1], 2], "3 actions"),
    "69": ([1, 69, 1], r"0\.\.68.*got 69 in game 1"),
    "-1": ([-1, 1, 1], r"0\.\.68.*got -1 in game 0"),
    "-64": ([-64, 1, 1], r"0\.\.68.*got -64 in game 0"),
    "a huge number": (np.array([1 << 40] * 3), r"0\.\.68.*in game 0"),
    "a huge unsigned number": (np.array([(1 << 64) - 60] * 3, np.uint64), r"0\.\.68.*in game 0"),
    "128": (np.array([128] * 3, np.uint8), r"0\.\.68.*got 128 in game 0"),
}


@pytest.mark.parametrize("wrong", BAD_ROWS)
def test_a_batch_refuses_actions_of_the_wrong_length_type_or_range(wrong):
    given, part = BAD_ROWS[wrong]
    env = GoitaVectorEnv(3, seed=1)
    env.reset(hands=np.array([kinds(*complete("1123", "", "", ""))] * 3), dealer=[0, 0, 0])
    with Unchanged(env), refuses(ActionError, part):
        env.step(given)


@pytest.mark.parametrize("action", [69, -1, 1.5, "p", None])
def test_decoding_what_is_no_action_is_refused(action):
    for read in (actions.decode, actions.name):
        with refuses(ActionError, f"got {action!r}"):
            read(action)


@pytest.mark.parametrize("pair", [(8, 0), (0, 8), (-1, 0), (0, -1), (1.5, 0), ("1", 0), (None, 0)])
def test_encoding_what_is_no_pair_of_kinds_is_refused(pair):
    with refuses(ActionError, "kinds 0..7"):
        actions.encode(*pair)


@pytest.mark.parametrize("text", ["", "1", "123", "01", "1x", "pass", "１２", "Call"])
def test_parsing_what_names_no_action_is_refused(text):
    with refuses(ActionError, f"got {text!r}"):
        actions.parse(text)


# ------------------------------------------------------------------------- before and after the end


def finished_game():
    game = Game(hands=complete("1111118", "2", "", ""), dealer=0)
    game.play(actions.CALL)
    return game


@pytest.mark.parametrize("action", [0, 1, actions.CALL, None])
def test_a_game_refuses_an_action_after_its_end(action):
    game = finished_game()
    assert game.done
    with Unchanged(game), refuses(EpisodeOverError, "after the end", f"got {action!r}"):
        game.play(action)


@pytest.mark.parametrize("make", [goita_v0.raw_env, goita_v0.env])
def test_an_environment_refuses_an_action_after_its_end(make):
    env = make()
    env.reset(options={"hands": complete("1111118", "2", "", ""), "dealer": 0})
    env.step(actions.CALL)
    for agent in env.possible_agents:
        assert env.agent_selection == agent
        with Unchanged(env), refuses(EpisodeOverError, f"None from {agent}", "got 0"):
            env.step(0)
        env.step(None)
    with Unchanged(env), refuses(EpisodeOverError, "reset", "after the end"):
        env.step(0)
    with Unchanged(env), refuses(EpisodeOverError, "reset", "after the end"):
        env.step(None)


@pytest.mark.parametrize("make", [goita_v0.raw_env, goita_v0.env])
@pytest.mark.parametrize("action", [0, None])
def test_an_environment_refuses_a_step_before_its_first_reset(make, action):
    env = make()
    with Unchanged(env), refuses(EpisodeOverError, "reset", "before the first reset"):
        env.step(action)


@pytest.mark.parametrize("make", [goita_v0.raw_env, goita_v0.env])
def test_an_environment_shows_nothing_before_its_first_reset(make):
    env = make()
    with pytest.raises(EpisodeOverError, match="expected a reset"):
        env.observe("player_0")
    with pytest.raises(EpisodeOverError, match="expected a reset"):
        env.state()


def test_a_batch_refuses_a_step_and_a_state_before_its_first_reset():
    env = GoitaVectorEnv(2)
    for ask in (lambda: env.step([0, 0]), env.state, env.packed_state):
        with Unchanged(env), pytest.raises(EpisodeOverError, match="expected a reset"):
            ask()


def test_a_view_asked_for_too_late_is_refused():
    env = GoitaVectorEnv(2, seed=1, observe=False)
    turn = env.reset()
    env.step(turn.action_mask.argmax(axis=1))
    for name in ("view", "observation", "words"):
        with pytest.raises(StaleTurnError, match=r"expected .* before the next step.*observe=True"):
            getattr(turn, name)


# ---------------------------------------------------------------------------- views, observations


@pytest.mark.parametrize("seat", [4, -1, "0", None, 1.5])
def test_a_view_of_no_seat_is_refused(seat):
    game = Game(hands=HANDS, dealer=0)
    with Unchanged(game), refuses(SettingError, r"0\.\.3", f"got {seat!r}"):
        game.view(seat)


def good_observation():
    return GoitaVectorEnv(3, seed=1).reset().observation


BAD_OBSERVATIONS = {
    "too short": (good_observation()[:, 1:], str(OBSERVATION_SIZE)),
    "too long": (np.zeros((2, OBSERVATION_SIZE + 1)), str(OBSERVATION_SIZE)),
    "a cube": (good_observation()[None], str(OBSERVATION_SIZE)),
    "a number": (3, str(OBSERVATION_SIZE)),
    "a two": (good_observation() * 2, "zeros and ones"),
    "fractions": (good_observation() * 0.5, "zeros and ones"),
    "not numbers": (np.full((1, OBSERVATION_SIZE), np.nan), "zeros and ones"),
    "ones between the slices": (np.ones((1, OBSERVATION_SIZE)), "between the slices"),
    "rows of different lengths": ([[0], [0, 1]], "shape"),
    "strings": (np.full((1, OBSERVATION_SIZE), "1"), "zeros and ones"),
}


@pytest.mark.parametrize("wrong", BAD_OBSERVATIONS)
def test_what_is_no_observation_is_refused(wrong):
    array, part = BAD_OBSERVATIONS[wrong]
    with refuses(ObservationError, part):
        views.from_observation(array)


def test_views_of_an_unknown_rule_set_are_refused():
    with refuses(SettingError, "jga.*nine.*pagat"):
        views.from_observation(good_observation(), rules="chess")


def test_every_error_is_a_value_error():
    with pytest.raises(ValueError, match="expected"):
        Game(hands=digits(np.zeros((4, 8), int)))
