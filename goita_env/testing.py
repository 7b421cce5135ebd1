"""Offers checks to run on agents of your own.

``check_agent`` raises an ``AssertionError`` with what was expected and what came, and returns
nothing. ``find_inconsistency`` returns what is wrong as a sentence.
"""

from __future__ import annotations

import inspect
from typing import Any, Final

import numpy as np
import numpy.typing as npt

from goita_env.agent import Agent, StatefulAgent, copied, read_actions, read_probabilities
from goita_env.arrays import Bool, Int
from goita_env.checks import check_count
from goita_env.consistency import find_inconsistency, fixed_views
from goita_env.envs.bots import Bots
from goita_env.envs.vector import GoitaVectorEnv
from goita_env.errors import AnswerError
from goita_env.rounds import Rounds
from goita_env.rounds.telling import notify_agents
from goita_env.rules import Rules, get_rules
from goita_env.views import View

__all__ = ["check_agent", "find_inconsistency", "fixed_views", "narrowed"]

_METHODS: Final = {
    "act": ("view", "legal", "rng"),
    "probabilities": ("view", "legal"),
    "begin": ("games", "seats", "view"),
    "redeal": ("games", "view"),
    "end": ("games", "results", "hands"),
}
"""The methods of an agent and their arguments; only ``act`` must be there."""


def check_agent(
    agent: Any, rules: str | Rules = "jga", num_games: int = 64, steps: int = 200
) -> None:
    """Plays an agent in all seats of many games: legal actions of the right shape, reproducible.

    An agent with a memory (``begin`` and ``end``) is notified of deals, redeals and ends of rounds,
    and acts once in each position with a choice, for it may remember that it acted. Other agents
    act twice in every position, and their answers must depend only on the view
    (``find_inconsistency``). Some masks are narrower than the rules: an agent plays within the mask
    that it is given.

    Args:
        agent: anything with ``act(view, legal, rng)``; ``probabilities(view, legal)`` is checked
            too where it exists, and ``begin``, ``end`` and ``redeal`` are called.
        rules: a rule set or its name.
        num_games: games at once.
        steps: decisions in each game.

    Raises:
        SettingError: if there are no games or no steps, in which nothing would be checked.
        AssertionError: if the agent is a class or lacks ``act``, a method takes other arguments, an
            action is illegal, a shape is wrong, the same view and random numbers give another
            action, probabilities are not a distribution over the legal actions, or an answer
            depends on other rows, on ``view.game`` or on hidden state.
    """
    check_count(num_games, "games")
    check_count(steps, "steps")
    _check_methods(agent)
    if isinstance(agent, StatefulAgent):
        _check_memory(agent, rules, num_games, steps)
        return
    env = GoitaVectorEnv(num_games, rules, seed=0)
    turn, games = env.reset(), np.arange(num_games)
    for step in range(steps):
        actions = _ask(agent, turn.view, turn.action_mask, step, games, turn.seat)
        again = _ask(agent, turn.view, turn.action_mask, step, games, turn.seat)
        _expect(np.array_equal(actions, again), "the same actions for the same input", "others")
        turn = env.step(actions)
    view, legal = fixed_views(get_rules(rules))
    _ask(agent, view, narrowed(legal, 0), 0)
    if (wrong := find_inconsistency(agent, rules)) is not None:
        raise AssertionError(wrong)


def _check_methods(agent: object) -> None:
    """Raises an AssertionError for a class instead of an agent, and for wrong arguments."""
    _expect(not isinstance(agent, type), "an agent, an instance of its class", f"{agent!r}")
    _expect(callable(getattr(agent, "act", None)), "an agent with act()", f"{agent!r}")
    for name, arguments in _METHODS.items():
        if (method := getattr(agent, name, None)) is not None:
            try:
                signature = inspect.signature(method)
                signature.bind(*arguments)
            except ValueError:
                continue  # the signature is not known, as of functions in C
            except TypeError as error:
                call = f"{name}({', '.join(arguments)})"
                raise AssertionError(
                    f"expected a method {call}, got {method!r}: {error}"
                ) from error


def _check_memory(agent: Any, rules: str | Rules, num_games: int, steps: int) -> None:
    bots = Bots(num_games, rules, agent, agent)
    bots.lineup[:] = 0  # the agent, bot 0, sits in every seat
    rounds = Rounds(num_games, rules=rules, auto_reset=True)
    for step in range(steps):
        now = rounds.decisions
        notify_agents(now, bots.remembering)
        legal = narrowed(now.legal, step, least=2) if step % 2 else now.legal
        rounds.step(
            _ask(agent, now.view, legal, step, now.rows, now.seats) if len(now.rows) else []
        )


def narrowed(legal: Bool, seed: int, least: int = 1) -> Bool:
    """Returns masks that are narrower by chance, ``least`` actions or more legal: bool [N, 69]."""
    # Illegal actions get the number 1, above all others, so the first columns of a sorted row are
    # legal actions. Those up to the bound stay, and all below a half.
    numbers = np.where(legal, np.random.default_rng(seed).random(legal.shape), 1)
    bound = np.sort(numbers, axis=1)[:, least - 1, None]
    return np.asarray(legal & (numbers <= np.maximum(bound, 0.5)))


def _ask(
    agent: Agent,
    view: View,
    legal: Bool,
    seed: int,
    games: Int | None = None,
    seats: Int | None = None,
) -> npt.NDArray[np.integer[Any]]:
    """Returns an agent's actions [N], after a check of them and of its probabilities.

    Errors name ``games`` and ``seats``, [N]; None: the views are of no game.
    """
    answer = agent.act(*copied(view, legal), np.random.default_rng(seed))
    try:
        actions, wrong = read_actions(answer, legal, "")
        for row, error in wrong.items():
            game = f"view {row}" if games is None else f"game {games[row]}"
            seat = "" if seats is None else f", seat {seats[row]}"
            raise AssertionError(
                f"{error} in {game}{seat} (a mask may be narrower than the rules)"
            ) from error
        if (probabilities := getattr(agent, "probabilities", None)) is not None:
            read_probabilities(probabilities(*copied(view, legal)), legal, "")
    except AnswerError as error:
        raise AssertionError(str(error)) from error
    return actions


def _expect(condition: bool, expected: str, came: object) -> None:
    if not condition:
        raise AssertionError(f"expected {expected}, got {came}")
