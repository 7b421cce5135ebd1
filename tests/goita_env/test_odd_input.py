"""Odd input: each a clear error before anything has changed, or what one would expect."""

import pickle

import gymnasium
import numpy as np
import pytest

from goita_env import GoitaVectorEnv, SeatEnv, SeatVectorEnv, goita_v0, uke_shogi_v0, views
from goita_env.checks import MAX_GAMES
from goita_env.errors import ActionError, HandsError, ObservationError, SettingError
from goita_env.rounds import Rounds
from raising import refuses


def single():
    return gymnasium.make("goita/Seat-v0")


def batch():
    return gymnasium.make_vec("goita/Seat-v0", num_envs=3)


ENVIRONMENTS = {name: getattr(goita_v0, name) for name in goita_v0.__all__}
ENVIRONMENTS |= {"uke_shogi": uke_shogi_v0.env, "make": single, "make_vec": batch}
ENVIRONMENTS |= {"SeatEnv": SeatEnv, "SeatVectorEnv": SeatVectorEnv}


def seen(env, result):
    """Returns what a reset shows, whatever the library."""
    if result is not None:
        return pickle.dumps(result)
    return env.agent_selection, pickle.dumps([env.observe(agent) for agent in env.agents])


@pytest.mark.parametrize("name", ENVIRONMENTS)
@pytest.mark.parametrize("options", [[1], 0, {"dealer": 1, "seed": 2}])
def test_options_that_are_no_dict_or_unknown_are_refused_and_nothing_has_changed(name, options):
    env, twin = (ENVIRONMENTS[name]() for _ in range(2))
    for one in (env, twin):
        one.reset(seed=1)
    for seed in (None, 5):
        with pytest.raises(SettingError, match=r"expected options .*'hands', 'dealer'.*got "):
            env.reset(seed=seed, options=options)
    assert seen(env, env.reset()) == seen(twin, twin.reset())


@pytest.mark.parametrize("name", ENVIRONMENTS)
def test_a_seed_of_numpy_is_the_seed_and_options_of_none_are_not_given(name):
    env, twin = (ENVIRONMENTS[name]() for _ in range(2))
    told = env.reset(seed=np.uint64(3), options={"hands": None, "dealer": None})
    assert seen(env, told) == seen(twin, twin.reset(seed=3))


@pytest.mark.parametrize("make", [GoitaVectorEnv, SeatVectorEnv, Rounds])
@pytest.mark.parametrize("num_games", [MAX_GAMES + 1, 10**20])
def test_more_games_than_any_memory_holds_are_refused(make, num_games):
    refuses(SettingError, f"at most {MAX_GAMES} games .*got {num_games}", make, num_games)


class Tensor:
    """Refuses to be read, as torch's tensors with gradients do."""

    def __init__(self, *shape):
        self.shape = shape

    def __array__(self, dtype=None, copy=None):
        raise RuntimeError("Can't call numpy() on Tensor that requires grad.")


def test_tensors_with_gradients_are_refused_with_what_they_say():
    env, seats, rounds, three = GoitaVectorEnv(3), SeatVectorEnv(3), Rounds(3), Tensor(3)
    first = env.reset()
    seats.reset(seed=0)
    for act in (env.step, seats.step, rounds.step):
        refuses(ActionError, r"got a Tensor .*requires grad", act, three)
    for error, message, call in (
        (HandsError, "requires grad", lambda: env.reset(hands=three)),
        (SettingError, "dealer", lambda: env.reset(dealer=three)),
        (SettingError, "points of two teams", lambda: env.reset(scores=three)),
        (SettingError, "reset_mask", lambda: seats.reset(options={"reset_mask": three})),
        (ObservationError, "requires grad", lambda: views.from_observation(Tensor(512))),
    ):
        refuses(error, message, call)
    assert (env.sample_legal(np.random.default_rng(0)).shape) == first.seat.shape
    for single in (goita_v0.env(), SeatEnv()):
        single.reset(seed=0)
        refuses(ActionError, "whole number", single.step, Tensor())


def test_a_bot_that_answers_a_tensor_with_gradients_is_named():
    class Torch:
        def __repr__(self):
            return "Torch()"

        def act(self, view, legal, rng):
            return Tensor(len(legal))

    env = SeatVectorEnv(40, opponents=Torch())
    with pytest.raises(ActionError, match=r"from Torch\(\), got a Tensor .*requires grad"):
        env.reset(seed=0)  # somewhere an opponent leads
