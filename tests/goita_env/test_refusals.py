"""What is refused: our own error says what was expected and what came, and nothing has changed."""

import copy
import pickle
import re
from dataclasses import dataclass
from functools import partial
from typing import Any

import gymnasium
import numpy as np
import pytest

from deals import complete, kinds, uniform_hands
from goita_env import (
    Game,
    GoitaVectorEnv,
    SeatEnv,
    SeatVectorEnv,
    actions,
    errors,
    goita_v0,
    uke_shogi_v0,
    views,
)
from goita_env.views.observation import OBSERVATION_SIZE
from playing import after_reset, frozen, played
from raising import refuses
from seat_playing import same

HANDS = complete("88223344", "", "", "")
"""Seat 0 holds both kings; nobody holds five pawns."""

FIVE = complete("11111234", "", "", "")
OVER = errors.EpisodeOverError

ENVIRONMENTS = {name: getattr(goita_v0, name) for name in goita_v0.__all__}
BATCHES = {"GoitaVectorEnv": partial(GoitaVectorEnv, 4), "SeatVectorEnv": SeatVectorEnv}
MAKERS = ENVIRONMENTS | BATCHES | {"Game": Game, "SeatEnv": SeatEnv}
SEATS = ["SeatEnv", "SeatVectorEnv"]


def refused(error, *parts):
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


SETTINGS = [
    ("rules", MAKERS, ["chess", "JGA", "", None, 3, ["jga"]], "jga.*nine.*pagat"),
    ("episode", MAKERS, ["game", "", None, 1], "episode.*'round', 'match'"),
    ("reward", MAKERS.keys() - {"Game"}, ["money", "", None, 1], "reward.*'points', 'win'"),
    ("observation", [*ENVIRONMENTS, *SEATS], ["box", "", None, 1], "observation.*'flat', 'dict'"),
    ("render_mode", [*ENVIRONMENTS, "SeatEnv"], ["rgb", "", 1], "render_mode.*'ansi', 'human'"),
    ("render_mode", ["SeatVectorEnv"], ["ansi"], "no render_mode"),
    ("seed", ["Game", "GoitaVectorEnv"], [-1, 1 << 64, 1.5, "1", True], "seed from 0 to"),
    ("seat", SEATS, [4, -1, "north", True], "a seat"),
    ("partner", SEATS, [7], "act"),
    ("opponents", SEATS, [("random",)], "a pair"),
    ("keys", SEATS, [("a", "a"), ("a",)], "two keys"),
    ("autoreset_mode", ["SeatVectorEnv"], ["Later"], "autoreset_mode"),
    ("reward_scale", SEATS, [0, -1.0, np.inf, np.nan, None, True], "finite reward_scale"),
    ("num_envs", ["SeatVectorEnv"], [0, 2.0, True], "game"),
]


@pytest.mark.parametrize(("setting", "makers", "values", "part"), SETTINGS)
def test_an_unknown_setting_is_refused(setting, makers, values, part):
    for maker in makers:
        for value in values:
            came = ".*" if setting == "rules" else re.escape(repr(value))
            with refused(errors.SettingError, part, f"got {came}"):
                MAKERS[maker](**{setting: value})


def batch_of_three():
    return uniform_hands(np.random.default_rng(0), 3)


def changed(place, value):
    hands = batch_of_three()
    hands[place] = value
    return hands


BAD_HANDS = [
    (HANDS[:3], "4 strings"),
    ("".join(HANDS), "4 strings"),
    ([*HANDS[:3], HANDS[3][:7]], "8 digits for seat 3"),
    ([HANDS[0] + "1", *HANDS[1:]], "8 digits for seat 0"),
    ([HANDS[0], 12345678, *HANDS[2:]], "8 digits for seat 1"),
    ([HANDS[0], "12345670", *HANDS[2:]], "digits 1 to 9 for seat 1.*'0'"),
    ([*HANDS[:2], "１2345678", HANDS[3]], "digits 1 to 9 for seat 2"),
    ([HANDS[0], HANDS[0], *HANDS[2:]], r"\(10, 4, 4, 4, 4, 2, 2, 2\) tiles"),
    ([HANDS[0], "9" + HANDS[1][1:], *HANDS[2:]], r"10, 4, 4, 4, 4, 2, 2, 2\)"),
]
BAD_DEALERS = [4, -1, 1.0, "1", True, [0, 0], [[0]]]
BAD_SCORES = [[0], [0, 0, 0], [5, 0], [150, 0], [0, 160], [-10, 0], [0.0, 10.0], "ab", 7, [[0], 0]]
BAD_DEALS = [("hands", hands, part) for hands, part in BAD_HANDS]
BAD_DEALS += [("dealer", one, r"0\.\.3") for one in BAD_DEALERS]
BAD_DEALS += [("scores", one, "points") for one in BAD_SCORES]


@pytest.mark.parametrize(("option", "value", "part"), BAD_DEALS)
def test_a_first_deal_that_there_is_not_is_refused(option, value, part):
    error = errors.HandsError if option == "hands" else errors.SettingError
    given = {option: value}
    with refused(error, part):
        Game(**given)
    for make in ENVIRONMENTS.values():
        env = after_reset(make(), seed=1)
        for seed in (None, 5):
            with Unchanged(env), refused(error, part):
                env.reset(seed=seed, options={"hands": HANDS, **given})
    seats = after_reset(SeatVectorEnv(3), seed=0)
    twin = copy.deepcopy(seats)
    with refused(error, part):
        seats.reset(options=given)
    assert same(seats.reset(), twin.reset())


BAD_BATCHES = [
    ("hands", batch_of_three()[:2], r"shape \(3, 4, 8\)"),
    ("hands", batch_of_three()[:, :, :7], r"shape \(3, 4, 8\)"),
    ("hands", [HANDS, HANDS[:3], HANDS], "4 strings.*game 1"),
    ("hands", [HANDS, HANDS, ["1234567x", *HANDS[1:]]], "seat 0.*game 2"),
    ("hands", [HANDS, kinds(*HANDS), HANDS], "4 strings.*game 1"),
    ("hands", batch_of_three() * 1.0, "whole numbers.*float64"),
    ("hands", [[[0] * 8] * 4, [[0] * 7] * 4, [[0] * 8] * 4], "shape"),
    ("hands", changed((1, 2, 3), 8), "kinds 0..7.*game 1"),
    ("hands", changed((2, 0, 0), -1), "kinds 0..7.*game 2"),
    ("hands", changed((2, 0), 0), "tiles of the kinds.*game 2"),
    *(("dealer", one, r"0\.\.3") for one in ([0, 1], [0, 1, 4], [0.0] * 3, "012", [0, [1], 2])),
    *(("scores", one, "points") for one in ([0, 0, 0], [[0, 0]] * 2, [[0, 0]] * 2 + [[5, 0]])),
    ("seed", -1, "seed from 0 to"),
]


@pytest.mark.parametrize(("option", "value", "part"), BAD_BATCHES)
@pytest.mark.parametrize("begun", [False, True])
def test_a_batch_refuses_first_deals_that_there_are_not(option, value, part, begun):
    error = errors.HandsError if option == "hands" else errors.SettingError
    env = GoitaVectorEnv(3, seed=1)
    if begun:
        env.step(env.reset().action_mask.argmax(axis=1))
    with Unchanged(env), refused(error, part):
        env.reset(**{"hands": batch_of_three(), option: value})


RESETS = ENVIRONMENTS | {
    "uke_shogi": uke_shogi_v0.env,
    "make": partial(gymnasium.make, "goita/Seat-v0"),
    "make_vec": partial(gymnasium.make_vec, "goita/Seat-v0", num_envs=3),
}


def seen(env, result):
    """Returns what a reset shows, whatever the library."""
    if result is not None:
        return pickle.dumps(result)
    return env.agent_selection, pickle.dumps([env.observe(agent) for agent in env.agents])


@pytest.mark.parametrize("name", RESETS)
def test_options_that_are_no_dict_or_unknown_are_refused_and_those_of_none_are_not_given(name):
    env, twin = (RESETS[name]() for _ in range(2))
    told = env.reset(seed=np.uint64(1), options={"hands": None, "dealer": None})
    assert seen(env, told) == seen(twin, twin.reset(seed=1))
    for options in ([1], 0, {"dealer": 1, "seed": 2}):
        for seed in (None, 5):
            with pytest.raises(errors.SettingError, match=r"expected options .*'dealer'.*got "):
                env.reset(seed=seed, options=options)
    for seed in (-1, 1 << 64, 1.5, "1", True):
        with refused(errors.SettingError, "seed from 0 to", f"got {seed!r}"):
            env.reset(seed=seed)
    assert seen(env, env.reset()) == seen(twin, twin.reset())


@pytest.mark.parametrize("name", ["player0", 0, ["player_0"]])
@pytest.mark.parametrize(
    "make", [*ENVIRONMENTS.values(), uke_shogi_v0.env, uke_shogi_v0.parallel_env]
)
def test_a_name_that_no_agent_has_is_refused_wherever_one_is_taken(make, name):
    env = after_reset(make(), seed=1)
    takers = ("observation_space", "action_space", *["observe"] * hasattr(env, "observe"))
    for taker in takers:
        with refused(errors.SettingError, "an agent of .*'player_0'", re.escape(repr(name))):
            getattr(env, taker)(name)


@pytest.mark.parametrize("make", [goita_v0.parallel_env, uke_shogi_v0.parallel_env])
def test_a_parallel_environment_wants_the_action_of_the_asked_agent(make):
    with pytest.raises(OVER, match="expected a reset before the first step"):
        make().step({"player_0": 0})
    env = after_reset(make(), seed=1)
    asked = env.aec_env.agent_selection
    for wrong in ({}, {"player0": 1}, {name: 0 for name in env.agents if name != asked}):
        with refused(errors.ActionError, f"an action of {asked!r}", re.escape(repr([*wrong]))):
            env.step(wrong)
    mask = env.aec_env.observe(asked)["action_mask"]
    assert env.step({asked: int(mask.argmax())})


@pytest.mark.parametrize("action", [69, -1, 1 << 40, 1.0, None, True, [0]])
def test_what_is_no_action_is_refused(action):
    game = Game(hands=HANDS, dealer=0)
    with Unchanged(game), refused(errors.ActionError, "action"):
        game.play(action)
    for make in (goita_v0.raw_env, goita_v0.env):
        env = after_reset(make(), seed=1, options={"hands": HANDS, "dealer": 0})
        with Unchanged(env), refused(errors.ActionError, "action"):
            env.step(action)
        assert not any(env.terminations.values())
    with refused(errors.ActionError, "action"):
        after_reset(SeatEnv(), seed=0).step(action)


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
    with Unchanged(game), refused(errors.IllegalActionError, seat, name):
        game.play(action)
    with Unchanged(env), refused(errors.IllegalActionError, f"from {env.agent_selection}", name):
        env.step(action)
    chosen = turn.action_mask.argmax(axis=1)
    chosen[2] = action
    with Unchanged(batch), refused(errors.IllegalActionError, seat, name, "in game 2"):
        batch.step(chosen)


BAD_ROWS = [
    ([0, 0], "3 actions"),
    (0, "3 actions"),
    ([0.0, 0.0, 0.0], "3 actions.*float64"),
    ([True, False, True], "3 actions.*bool"),
    ([[0], [0, 1], 2], "3 actions.*different lengths"),
    ([1, 69, 1], r"0\.\.68.*got 69 .*in game 1"),
    ([-64, 1, 1], r"0\.\.68.*got -64 .*in game 0"),
    (np.array([(1 << 64) - 60] * 3, np.uint64), r"0\.\.68.*in game 0"),
    (np.array([128] * 3, np.uint8), r"0\.\.68.*got 128 .*in game 0"),
]


@pytest.mark.parametrize(("given", "part"), BAD_ROWS)
def test_a_batch_refuses_actions_of_the_wrong_length_type_or_range(given, part):
    env = GoitaVectorEnv(3, seed=1)
    env.reset(hands=np.array([kinds(*complete("1123", "", "", ""))] * 3), dealer=[0, 0, 0])
    with Unchanged(env), refused(errors.ActionError, part.replace(" .*in", " in")):
        env.step(given)
    seats = after_reset(SeatVectorEnv(3), seed=0)
    twin = copy.deepcopy(seats)
    with refused(errors.ActionError, part.replace("got 69 ", "").replace("got -64 ", "")):
        seats.step(given)
    legal = seats.sample_legal(np.random.default_rng(0))
    assert same(seats.step(legal), twin.step(legal))


def good_observation():
    return GoitaVectorEnv(3, seed=1).reset().observation


NO_SUCH = [
    *((read, (one,), "0..68") for read in (actions.decode, actions.name) for one in (69, -1, "p")),
    *((actions.encode, pair, "kinds 0..7") for pair in ((8, 0), (0, -1), (1.5, 0), ("1", 0))),
    *((actions.parse, (text,), "two digits") for text in ("", "123", "01", "１２", "Call", 12)),
]
NO_SUCH += [
    (views.from_observation, (array,), part)
    for array, part in (
        (good_observation()[:, 1:], str(OBSERVATION_SIZE)),
        (np.zeros((2, OBSERVATION_SIZE + 1)), str(OBSERVATION_SIZE)),
        (good_observation() * 2, "zeros and ones"),
        (np.full((1, OBSERVATION_SIZE), np.nan), "zeros and ones"),
        (np.ones((1, OBSERVATION_SIZE)), "between the slices"),
    )
]


@pytest.mark.parametrize(("call", "given", "part"), NO_SUCH)
def test_what_stands_for_no_action_and_no_observation_is_refused(call, given, part):
    with refused((errors.ActionError, errors.ObservationError), part):
        call(*given)


def test_after_the_end_actions_are_refused():
    hands = complete("1111118", "2", "", "")
    game = played(Game(hands=hands, dealer=0), "call")
    for action in (0, None):
        with Unchanged(game), refused(OVER, "after the end", f"got {action!r}"):
            game.play(action)
    env = after_reset(goita_v0.env(), options={"hands": hands, "dealer": 0})
    env.step(actions.CALL)
    for agent in env.possible_agents:
        assert env.agent_selection == agent
        with Unchanged(env), refused(OVER, f"None from {agent}", "got 0"):
            env.step(0)
        env.step(None)
    for action in (0, None):
        with Unchanged(env), refused(OVER, "reset", "after the end"):
            env.step(action)
    seat = after_reset(SeatEnv(), seed=0)
    while not seat.step(int(seat.action_masks().argmax()))[2]:
        pass
    refuses(OVER, "expected a reset with the episode over, got a step", seat.step, 0)


def test_nothing_is_shown_or_done_before_the_first_reset():
    for make in (goita_v0.raw_env, goita_v0.env):
        env = make()
        observe = partial(env.observe, "player_0")
        for ask in (observe, env.state, env.last, partial(env.step, 0), partial(env.step, None)):
            with Unchanged(env), pytest.raises(OVER, match=r"reset.* before the first"):
                ask()
    batch = GoitaVectorEnv(2)
    for ask in (lambda: batch.step([0, 0]), batch.state, batch.packed_state, batch.save):
        with Unchanged(batch), pytest.raises(OVER, match="expected a reset"):
            ask()
    for env, action in ((SeatEnv(), 0), (SeatVectorEnv(2), [0, 0])):
        refuses(OVER, "reset", env.step, action)


def test_a_view_asked_for_too_late_is_refused():
    words = r"expected .* before the next step.*observe=True"
    env = GoitaVectorEnv(2, seed=1, observe=False)
    turn = env.reset()
    env.step(turn.action_mask.argmax(axis=1))
    for name in ("view", "observation", "words"):
        with pytest.raises(errors.StaleTurnError, match=words):
            getattr(turn, name)


def test_who_plays_no_seat_is_refused_and_nothing_has_changed():
    env = after_reset(SeatVectorEnv(3), seed=0)
    twin = copy.deepcopy(env)
    refuses(errors.SettingError, "act", env.set_opponents, "random", partner=3)
    team = SeatVectorEnv(2, seat="team")
    refuses(errors.SettingError, "no partner", team.set_opponents, partner="random")
    refuses(errors.SettingError, "no partner", SeatVectorEnv, seat="team", partner="random")
    assert same(env.reset(), twin.reset())


class Wrong:
    """Answers as it is told."""

    def __init__(self):
        self.answer = self.first

    def __repr__(self):
        return "Wrong()"

    def act(self, view, legal, rng):
        return self.answer(legal)

    def first(self, legal):
        return legal.argmax(axis=1)


def test_a_bot_that_plays_wrongly_is_named_and_a_reset_goes_on():
    bot = Wrong()
    env = after_reset(SeatVectorEnv(6, opponents=bot), seed=0)
    for answer, error, words in (
        (lambda legal: (~legal).argmax(axis=1), errors.IllegalActionError, r"from Wrong\(\)"),
        (lambda legal: np.full(len(legal), 69), errors.ActionError, "69"),
        (lambda legal: np.zeros(len(legal)), errors.AnswerError, "whole numbers"),
    ):
        bot.answer = answer
        refuses(error, words, env.step, env.sample_legal(np.random.default_rng(0)))
        bot.answer = bot.first
        refuses(OVER, "got a step after a bot's error", env.step, np.zeros(6, int))
        options = {"reset_mask": np.arange(6) == 0}
        refuses(OVER, "all 6 games, got one of 1 after a bot's", env.reset, options=options)
        env.reset()
        env.step(env.sample_legal(np.random.default_rng(0)))
