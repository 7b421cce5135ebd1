"""Offers checks to run on agents of your own.

``check_agent`` raises an ``AssertionError`` with what was expected and what came, and returns
nothing. ``find_inconsistency`` returns what is wrong as a sentence.
"""

from __future__ import annotations

import inspect
from collections.abc import Callable, Iterator
from functools import cache
from typing import Any, Final

import numpy as np
import numpy.typing as npt

from goita_env.actions import NUM_ACTIONS, name
from goita_env.agent import Agent, StatefulAgent
from goita_env.arrays import Bool, Int
from goita_env.checks import check_num_games
from goita_env.engine.episodes import Episode
from goita_env.envs.bots import Bots
from goita_env.envs.vector import GoitaVectorEnv
from goita_env.errors import SettingError
from goita_env.rounds import Rounds
from goita_env.rounds.telling import tell
from goita_env.rules import Rules, get_rules
from goita_env.views import View

FIXED_VIEWS: Final = 256
"""Views on which ``find_inconsistency`` compares an agent with itself."""

ALONE: Final = 64
"""So many of them are asked about one by one, too, which costs most of the time."""

TOLERANCE: Final = 1e-4
"""By how much probabilities of one view may differ: a network's sums depend on the batch."""

_METHODS: Final = {
    "act": ("view", "legal", "rng"),
    "probabilities": ("view", "legal"),
    "begin": ("games", "seats", "view"),
    "redeal": ("games", "view"),
    "end": ("games", "results", "hands"),
}
"""The methods of an agent and their arguments; only ``act`` must be there."""


def check_agent(
    agent: Agent, rules: str | Rules = "jga", num_games: int = 64, steps: int = 200
) -> None:
    """Plays an agent in all seats of many games: legal actions of the right shape, reproducible.

    An agent with a memory (``begin`` and ``end``) is told of deals, redeals and ends of rounds, and
    is asked once, where it has a choice, for it may remember that it was asked. Others are asked
    everywhere, and twice, and their answers must depend on nothing but the view
    (``find_inconsistency``). Some of the masks are narrower than the rules: an agent plays within
    the mask that it is given.

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
            action, probabilities are no distribution over the legal actions, or an answer depends
            on other rows, on ``view.game`` or on hidden state.
    """
    check_num_games(num_games)
    if steps < 1:
        raise SettingError(f"expected steps of 1 or more, got {steps!r}")
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
    for called, arguments in _METHODS.items():
        if (method := getattr(agent, called, None)) is not None:
            try:
                signature = inspect.signature(method)
                signature.bind(*arguments)
            except ValueError:
                continue  # the signature is not known, as of functions in C
            except TypeError as error:
                wanted = f"{called}({', '.join(arguments)})"
                raise AssertionError(
                    f"expected a method {wanted}, got {method!r}: {error}"
                ) from error


def find_inconsistency(agent: Agent, rules: str | Rules = "jga") -> str | None:
    """Asks an agent about 256 fixed views in several ways, and says where its answers differ.

    The views are of all phases of a round. Asked are all at once, all again, all with other numbers
    of games, all in another order, and every fourth alone. Probabilities may differ by 1e-4.
    Actions must be the same unless the agent draws random numbers, in which case they are not
    compared.

    Args:
        agent: without a memory of its own, for it is told of no deals.
        rules: a rule set or its name.

    Returns:
        One sentence, or None if the answer for a view depends on that view alone and probabilities
        are distributions over the legal actions.
    """
    view, legal = fixed_views(get_rules(rules))
    probabilities: Any = getattr(agent, "probabilities", None)
    draws = False

    def likely(rows: View, mask: Bool) -> npt.NDArray[Any]:
        return np.asarray(probabilities(rows, mask.copy()))

    def act(rows: View, mask: Bool) -> npt.NDArray[Any]:
        nonlocal draws
        rng = np.random.default_rng(0)
        before = rng.bit_generator.state
        actions = np.asarray(agent.act(rows, mask.copy(), rng))
        draws |= rng.bit_generator.state != before
        return actions

    if probabilities is not None:
        first = likely(view, legal)
        wrong = _distribution_fault(first, legal)
        wrong = wrong or _difference(likely, "probabilities", view, legal, first)
        if wrong is not None:
            return wrong
    first = act(view, legal)
    if first.shape != (len(view),):
        return f"expected actions of shape ({len(view)},), got {first.shape}"
    wrong = None if draws else _difference(act, "actions", view, legal, first)
    return None if draws else wrong


def _difference(
    ask: Callable[[View, Bool], npt.NDArray[Any]],
    what: str,
    view: View,
    legal: Bool,
    first: npt.NDArray[Any],
) -> str | None:
    def others() -> Iterator[tuple[str, npt.NDArray[Any], npt.NDArray[Any]]]:
        yield "a second time", ask(view, legal), first
        rng = np.random.default_rng(1)
        games = rng.integers(2**53, size=len(view))
        yield "in games of other numbers", ask(View(view.words, games, view.rules), legal), first
        order = rng.permutation(len(view))
        yield "in another order", ask(view[order], legal[order]), first[order]
        rows = np.arange(0, len(view), len(view) // ALONE)
        alone = [ask(view[row : row + 1], legal[row : row + 1]) for row in rows.tolist()]
        yield "one at a time", np.concatenate(alone), first[rows]

    for how, answers, wanted in others():
        if answers.shape != wanted.shape:
            return f"expected {what} of shape {wanted.shape}, asked {how}, got {answers.shape}"
        apart = np.abs(answers.astype(np.float64) - wanted).reshape(len(wanted), -1).max(axis=1)
        if many := int((~(apart <= TOLERANCE)).sum()):
            return (
                f"expected {what} that depend on the view alone, got others for {many} of "
                f"{len(wanted)} views when asked {how}"
            )
    return None


@cache
def fixed_views(rules: Rules) -> tuple[View, Bool]:
    """Returns the views that ``find_inconsistency`` asks about, and their legal actions."""
    episode: Episode = "round" if rules.is_small else "match"
    env = GoitaVectorEnv(32, rules, episode=episode, seed=256, observe=False)
    rng = np.random.default_rng(256)
    turn, words, legal = env.reset(), [], []
    for _ in range(64):
        choice = turn.action_mask.sum(axis=1) > 1
        words.append(turn.view.words[choice])
        legal.append(turn.action_mask[choice])
        turn = env.step(env.sample_legal(rng))
    view = View(np.concatenate(words), rules=rules)
    order = view.num_plays.argsort(kind="stable")
    chosen = order[np.linspace(0, len(order) - 1, FIXED_VIEWS).astype(np.int64)]
    return View(view.words[chosen], rules=rules), np.concatenate(legal)[chosen]


def _check_memory(agent: Agent, rules: str | Rules, num_games: int, steps: int) -> None:
    bots = Bots(num_games, rules, agent, agent)
    bots.lineup[:] = 0  # the one bot that there is sits in every seat
    rounds = Rounds(num_games, rules=rules, auto_reset=True)
    for step in range(steps):
        now = rounds.decisions
        tell(now, bots.remembering)
        legal = narrowed(now.legal, step, least=2) if step % 2 else now.legal
        rounds.step(
            _ask(agent, now.view, legal, step, now.rows, now.seats) if len(now.rows) else []
        )


def narrowed(legal: Bool, seed: int, least: int = 1) -> Bool:
    """Returns masks that are narrower by chance, ``least`` actions or more legal: bool [N, 69]."""
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

    ``games`` and ``seats`` [N] are told with what is wrong; None: the views are of no game.
    """
    answer = agent.act(view, legal.copy(), np.random.default_rng(seed))
    try:
        actions = np.asarray(answer)
    except ValueError as error:
        raise AssertionError(f"expected actions of shape ({len(view)},), got {error}") from error
    _expect(actions.shape == (len(view),), f"actions of shape ({len(view)},)", actions.shape)
    _expect(actions.dtype.kind in "iu", "whole numbers as actions", actions.dtype)
    inside = (actions >= 0) & (actions < NUM_ACTIONS)
    fine = inside & legal[np.arange(len(view)), np.where(inside, actions, 0)]
    for row in np.flatnonzero(~fine)[:1].tolist():
        game = f"view {row}" if games is None else f"game {games[row]}"
        seat = "" if seats is None else f", seat {seats[row]}"
        names = " ".join(name(one) for one in np.flatnonzero(legal[row]).tolist())
        wanted = "legal actions" if inside[row] else "actions 0..68"
        one = int(actions[row])
        raise AssertionError(
            f"expected {wanted}, got {name(one) if inside[row] else one!r} in {game}{seat}, where "
            f"legal is {names} (a mask may be narrower than the rules)"
        )
    if (probabilities := getattr(agent, "probabilities", None)) is not None:
        wrong = _distribution_fault(np.asarray(probabilities(view, legal.copy())), legal)
        if wrong is not None:
            raise AssertionError(wrong)
    return actions


def _distribution_fault(rows: npt.NDArray[Any], legal: Bool) -> str | None:
    if rows.shape != legal.shape:
        return f"expected probabilities {legal.shape}, got {rows.shape}"
    if rows.dtype.kind != "f" or not np.isfinite(rows).all():
        return "expected finite probabilities, got NaN, infinity or no floats"
    if rows[~legal].any():
        return f"expected zero probability for illegal actions, got {rows[~legal].max()!r}"
    if (rows < 0).any():
        return f"expected probabilities of at least 0, got {float(rows.min())!r}"
    sums = rows.sum(axis=1)
    if not np.allclose(sums, 1):
        wrong = sums[~np.isclose(sums, 1)]
        return f"expected probabilities that sum to 1, got {wrong[:4].tolist()}"
    return None


def _expect(condition: bool, expected: str, came: object) -> None:
    if not condition:
        raise AssertionError(f"expected {expected}, got {came}")
