"""Offers checks to run on agents and rule sets of your own.

Both raise ``AssertionError`` with what was expected and what came; they return nothing.
"""

from __future__ import annotations

from typing import Any, Protocol

import numpy as np
import numpy.typing as npt

from goita_env.actions import NUM_ACTIONS
from goita_env.engine.tables import ALL_TILES, CODE_MASK, code_counts, tables
from goita_env.envs.vector import GoitaVectorEnv
from goita_env.rules import Rules, get_rules
from goita_env.tiles import HAND_SIZE, MAX_PLAYS
from goita_env.views import View


class ActingAgent(Protocol):
    """Describes what ``check_agent`` needs of an agent."""

    def act(
        self, view: View, legal: npt.NDArray[np.bool_], rng: np.random.Generator
    ) -> npt.NDArray[np.integer[Any]]:
        """Returns an action for each position: int [N]."""


def check_agent(
    agent: ActingAgent, rules: str | Rules = "jga", num_games: int = 64, steps: int = 200
) -> None:
    """Plays an agent in all seats of many games: legal actions of the right shape, reproducible.

    Args:
        agent: anything with ``act(view, legal, rng)``; ``probabilities(view, legal)`` is checked
            too where it exists.
        rules: a rule set or its name.
        num_games: games at once.
        steps: decisions in each game.

    Raises:
        AssertionError: if an action is illegal, a shape is wrong, the same view and random numbers
            give another action, or probabilities are no distribution over the legal actions.
    """
    env = GoitaVectorEnv(num_games, rules, seed=0)
    turn = env.reset()
    probabilities = getattr(agent, "probabilities", None)
    for step in range(steps):
        legal = turn.action_mask
        actions = np.asarray(agent.act(turn.view, legal.copy(), np.random.default_rng(step)))
        _expect(actions.shape == (num_games,), f"actions of shape ({num_games},)", actions.shape)
        _expect(actions.dtype.kind in "iu", "whole numbers as actions", actions.dtype)
        inside = (actions >= 0) & (actions < NUM_ACTIONS)
        _expect(bool(inside.all()), "actions 0..68", actions[~inside].tolist())
        allowed = legal[np.arange(num_games), actions]
        _expect(bool(allowed.all()), "legal actions", actions[~allowed].tolist())
        again = np.asarray(agent.act(turn.view, legal.copy(), np.random.default_rng(step)))
        _expect(np.array_equal(actions, again), "the same actions for the same input", "others")
        if probabilities is not None:
            rows = np.asarray(probabilities(turn.view, legal.copy()))
            _expect(rows.shape == legal.shape, f"probabilities {legal.shape}", rows.shape)
            _expect(not rows[~legal].any(), "zero probability for illegal actions", "more")
            sums = rows.sum(axis=1)
            _expect(np.allclose(sums, 1), "probabilities that sum to 1", sums[:4].tolist())
        turn = env.step(actions)


def check_rules(rules: Rules, num_games: int = 256, steps: int = 400) -> None:
    """Checks that a rule set can be played: who must play can, tiles are kept, rounds end.

    Args:
        rules: a rule set of your own.
        num_games: random games at once.
        steps: decisions in each game.

    Raises:
        AssertionError: saying what is wrong.
    """
    rules = get_rules(rules)
    stuck = hands_without_a_lead(rules)
    _expect(len(stuck) == 0, "a legal lead for every hand", f"none for codes {stuck[:5].tolist()}")
    env = GoitaVectorEnv(num_games, rules, seed=0, observe=False)
    rng = np.random.default_rng(0)
    env.reset()
    for _ in range(steps):
        env.step(env.sample_legal(rng))
        state = env._match.state
        tiles = (state.hand & CODE_MASK).sum(axis=0) + state.down.sum(axis=0) + state.up
        _expect(bool((tiles == ALL_TILES).all()), "32 tiles in every game", "other tiles")
        plays = np.bitwise_count(state.event - 1)
        _expect(bool((plays <= MAX_PLAYS).all()), f"{MAX_PLAYS} plays at most", plays.max())


def hands_without_a_lead(rules: Rules) -> npt.NDArray[np.int64]:
    """Returns the codes of the hands of 2, 4, 6 or 8 tiles that could not lead: int64 [n]."""
    size = code_counts().sum(axis=1)
    hands = np.flatnonzero((size > 0) & (size <= HAND_SIZE) & (size % 2 == 0))
    stuck: npt.NDArray[np.int64] = hands[tables(rules).pairs[hands] == 0]
    return stuck


def _expect(condition: bool, expected: str, came: object) -> None:
    """Raises unless a condition holds."""
    if not condition:
        raise AssertionError(f"expected {expected}, got {came}")
