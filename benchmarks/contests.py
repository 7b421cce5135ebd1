"""Defines what is timed: this project's environments, OpenSpiel's and PettingZoo's own games.

A contest is a generator that plays random legal games for ever and yields, every few milliseconds,
how many decisions it has just played. All that play needs lies between two yields and so inside
the clock: sampling, dealing, masks, observations and resets.
"""

from __future__ import annotations

import random
from collections.abc import Callable, Iterator
from dataclasses import dataclass
from functools import partial
from importlib import import_module
from typing import Any, Final

import numpy as np
from numpy.typing import NDArray

STEPS_PER_YIELD: Final = 1_000
"""Least decisions between two readings of the clock, so that reading it costs nothing."""

VECTOR_SIZES: Final = (64, 256, 1_024, 4_096, 16_384)

OPENSPIEL_GAMES: Final = {
    "spades": "spades",
    "euchre": "euchre",
    "hearts": "hearts",
    # By default OpenSpiel's bridge ends with the auction and scores it with a double-dummy solver,
    # which is all that would be measured (40 steps/s); here the 52 cards are played.
    "bridge": "bridge(use_double_dummy_result=false)",
}
"""Four-player card games: name in the table, and what is loaded."""

PETTINGZOO_GAMES: Final = {
    "hanabi_v5": "pettingzoo.classic.hanabi_v5",
    "leduc_holdem_v4": "pettingzoo.classic.leduc_holdem_v4",
    "connect_four_v3": "pettingzoo.classic.connect_four_v3",
}


@dataclass(frozen=True)
class Contest:
    """One measurement, and how it is started."""

    group: str
    """Group by which ``--only`` chooses it."""

    name: str
    """Name in the table."""

    start: Callable[[], Iterator[int]]
    """Imports what it needs and returns a generator of decisions played."""


def draw(mask: NDArray[np.int8], uniform: Callable[[], float]) -> int:
    """Draws a legal action uniformly from a mask; the same code for every AEC environment.

    Args:
        mask: int8 [A], non-zero means legal.
        uniform: draws a number from [0, 1).
    """
    legal = mask.nonzero()[0]
    return int(legal[int(uniform() * legal.size)])


def play_vector(num_games: int, observe: bool) -> Iterator[int]:
    """Plays a ``GoitaVectorEnv`` by ``sample_legal``; a step is one decision in one game."""
    goita_env = import_module("goita_env")
    env = goita_env.GoitaVectorEnv(
        num_games=num_games,
        rules="jga",
        episode="round",
        reward="points",
        seed=0,
        observe=observe,
    )
    rng = np.random.default_rng(0)
    turn = env.reset()
    turns = max(8, STEPS_PER_YIELD // num_games)
    while True:
        for _ in range(turns):
            turn = env.step(env.sample_legal(rng))
            # Touched, so that an array built when first used would be paid for.
            _ = turn.action_mask, turn.reward, turn.done
            if observe:
                _ = turn.observation
        yield num_games * turns


def play_aec(env: Any) -> Iterator[int]:
    """Plays any AEC environment whose observations hold an ``action_mask``.

    Steps of agents that are done (``step(None)``) are made and timed, not counted.
    """
    uniform = random.Random(0).random
    env.reset(seed=0)
    decisions = 0
    while True:
        env.reset()
        for _ in env.agent_iter():
            observation, _, terminated, truncated, _ = env.last()
            if terminated or truncated:
                env.step(None)
            else:
                env.step(draw(observation["action_mask"], uniform))
                decisions += 1
        if decisions >= STEPS_PER_YIELD // 10:  # these are the slow ones
            yield decisions
            decisions = 0


def play_openspiel(load: str) -> Iterator[int]:
    """Plays an OpenSpiel game in the fastest way from Python; a step is one player's decision.

    Both chance and players draw from ``legal_actions()``, three times faster than drawing from the
    mask, which OpenSpiel hands over as a list. Chance is uniform at every node of these games.
    """
    pyspiel = import_module("pyspiel")
    observers = import_module("open_spiel.python.observation")
    uniform = random.Random(0).random
    game = pyspiel.load_game(load)
    kind = None if game.get_type().provides_observation_tensor else observers.INFO_STATE_OBS_TYPE
    observer = observers.make_observation(game, kind)
    terminal = int(pyspiel.PlayerId.TERMINAL)
    decisions = 0
    while True:
        state = game.new_initial_state()
        while (player := state.current_player()) != terminal:
            if player >= 0:
                observer.set_from(state, player)
                state.legal_actions_mask(player)
                decisions += 1
            legal = state.legal_actions()
            state.apply_action(legal[int(uniform() * len(legal))])
        if decisions >= STEPS_PER_YIELD:
            yield decisions
            decisions = 0


def start_goita_aec(maker: str) -> Iterator[int]:
    """Starts ``goita_v0.env()`` or ``goita_v0.raw_env()``."""
    return play_aec(getattr(import_module("goita_env.goita_v0"), maker)())


def start_pettingzoo(module: str) -> Iterator[int]:
    """Starts one of PettingZoo's own games with its standard wrappers."""
    return play_aec(import_module(module).env())


def list_contests() -> list[Contest]:
    """Lists all contests in the order of the table."""
    contests = [
        Contest("vector", vector_name(num_games, observe), partial(play_vector, num_games, observe))
        for observe in (True, False)
        for num_games in VECTOR_SIZES
    ]
    contests += [
        Contest("aec", f"goita_v0.{maker}()", partial(start_goita_aec, maker))
        for maker in ("env", "raw_env")
    ]
    contests += [
        Contest("openspiel", f"OpenSpiel {name}", partial(play_openspiel, load))
        for name, load in OPENSPIEL_GAMES.items()
    ]
    contests += [
        Contest("pettingzoo", f"PettingZoo {name}", partial(start_pettingzoo, module))
        for name, module in PETTINGZOO_GAMES.items()
    ]
    return contests


def vector_name(num_games: int, observe: bool) -> str:
    """Names a vector contest in the table."""
    return f"GoitaVectorEnv N={num_games:,} {'mask + observation' if observe else 'mask alone'}"
