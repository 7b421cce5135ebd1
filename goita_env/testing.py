"""Offers checks to run on agents and rule sets of your own.

Both raise ``AssertionError`` with what was expected and what came; they return nothing.
"""

from __future__ import annotations

from typing import Any, Protocol

import numpy as np
import numpy.typing as npt

from goita_env.actions import NUM_ACTIONS
from goita_env.engine.tables import ALL_TILES, CODE_MASK, code_counts, tables
from goita_env.envs.bots import Bots, Remembering
from goita_env.envs.vector import GoitaVectorEnv
from goita_env.rounds import Rounds
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

    An agent with a memory is told of deals, redeals and ends of rounds, and is asked once, where it
    has a choice, for it may remember that it was asked. Others are asked everywhere, and twice.

    Args:
        agent: anything with ``act(view, legal, rng)``; ``probabilities(view, legal)`` is checked
            too where it exists, and ``begin``, ``end`` and ``redeal`` are called.
        rules: a rule set or its name.
        num_games: games at once.
        steps: decisions in each game.

    Raises:
        AssertionError: if an action is illegal, a shape is wrong, the same view and random numbers
            give another action, or probabilities are no distribution over the legal actions.
    """
    if isinstance(agent, Remembering):
        _check_memory(agent, rules, num_games, steps)
        return
    env = GoitaVectorEnv(num_games, rules, seed=0)
    turn = env.reset()
    for step in range(steps):
        actions = _ask(agent, turn.view, turn.action_mask, step)
        again = _ask(agent, turn.view, turn.action_mask, step)
        _expect(np.array_equal(actions, again), "the same actions for the same input", "others")
        turn = env.step(actions)


def _check_memory(agent: ActingAgent, rules: str | Rules, num_games: int, steps: int) -> None:
    """Plays an agent with a memory, and tells it what it wants to know."""
    bots = Bots(num_games, rules, agent, agent)
    bots.lineup[:] = 0  # the one bot that there is sits in every seat
    rounds = Rounds(num_games, rules=rules, auto_reset=True)
    for step in range(steps):
        tick = rounds.tick
        if tick.redealt is not None:
            bots.tell_redealt(tick.redealt)
        if tick.ended is not None:
            bots.tell_ended(tick.ended)
        if tick.dealt is not None:
            rows = tick.dealt.rows
            bots.tell_dealt(rows, rounds.positions()._state.select(rows))
        rounds.step(_ask(agent, tick.view, tick.legal, step) if len(tick.rows) else [])


def _ask(
    agent: ActingAgent, view: View, legal: npt.NDArray[np.bool_], seed: int
) -> npt.NDArray[np.integer[Any]]:
    """Returns an agent's actions [N], after a check of them and of its probabilities."""
    actions = np.asarray(agent.act(view, legal.copy(), np.random.default_rng(seed)))
    _expect(actions.shape == (len(view),), f"actions of shape ({len(view)},)", actions.shape)
    _expect(actions.dtype.kind in "iu", "whole numbers as actions", actions.dtype)
    inside = (actions >= 0) & (actions < NUM_ACTIONS)
    _expect(bool(inside.all()), "actions 0..68", actions[~inside].tolist())
    allowed = legal[np.arange(len(view)), actions]
    _expect(bool(allowed.all()), "legal actions", actions[~allowed].tolist())
    probabilities = getattr(agent, "probabilities", None)
    if probabilities is not None:
        rows = np.asarray(probabilities(view, legal.copy()))
        _expect(rows.shape == legal.shape, f"probabilities {legal.shape}", rows.shape)
        _expect(not rows[~legal].any(), "zero probability for illegal actions", "more")
        sums = rows.sum(axis=1)
        _expect(np.allclose(sums, 1), "probabilities that sum to 1", sums[:4].tolist())
    return actions


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
