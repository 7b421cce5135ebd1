"""Detects agents whose answer for a view depends on anything but this view."""

from __future__ import annotations

from collections.abc import Callable, Iterator
from functools import cache
from typing import Any, Final

import numpy as np
import numpy.typing as npt

from goita_env.agent import Agent, copied, read_probabilities
from goita_env.arrays import Bool
from goita_env.engine.episodes import Episode
from goita_env.envs.vector import GoitaVectorEnv
from goita_env.errors import AnswerError
from goita_env.rules import Rules, get_rules
from goita_env.views import View

FIXED_VIEWS: Final = 256
"""Views on which ``find_inconsistency`` compares an agent with itself."""

SINGLE_VIEWS: Final = 64
"""How many of them it also shows in batches of one, which costs most of the time."""

PROBABILITY_TOLERANCE: Final = 1e-4
"""By how much probabilities of one view may differ: a network's sums depend on the batch."""


def find_inconsistency(agent: Agent, rules: str | Rules = "jga") -> str | None:
    """Queries an agent about 256 fixed views in several ways; returns where its answers differ.

    The views are of all phases of a round. The agent is shown all of them at once, all a second
    time, all with other numbers of games, all in another order, and every fourth in a batch of
    one. Probabilities may differ by 1e-4. Actions must be the same, unless the agent draws random
    numbers: then they are not compared.

    Args:
        agent: an agent without a memory, because it is not notified of deals.
        rules: a rule set or its name.

    Returns:
        One sentence about the first difference; None if the answer for a view depends on that view
        only, and the probabilities are distributions over the legal actions.
    """
    view, legal = fixed_views(get_rules(rules))
    probabilities: Any = getattr(agent, "probabilities", None)
    draws = False

    def chances(rows: View, mask: Bool) -> npt.NDArray[Any]:
        return np.asarray(probabilities(*copied(rows, mask)))

    def act(rows: View, mask: Bool) -> npt.NDArray[Any]:
        nonlocal draws
        rng = np.random.default_rng(0)
        before = rng.bit_generator.state
        actions = np.asarray(agent.act(*copied(rows, mask), rng))
        draws |= rng.bit_generator.state != before
        return actions

    if probabilities is not None:
        try:
            first = read_probabilities(chances(view, legal), legal, "")
        except AnswerError as error:
            return str(error)
        if (difference := _difference(chances, "probabilities", view, legal, first)) is not None:
            return difference
    first = act(view, legal)
    if first.shape != (len(view),):
        return f"expected actions of shape ({len(view)},), got {first.shape}"
    difference = None if draws else _difference(act, "actions", view, legal, first)
    # Asked again: a batch in another order may be the first in which the agent draws.
    return None if draws else difference


def _difference(
    answer: Callable[[View, Bool], npt.NDArray[Any]],
    what: str,
    view: View,
    legal: Bool,
    first: npt.NDArray[Any],
) -> str | None:
    """Returns how answers for the views differ from the first ones; None: they are the same."""

    def repetitions() -> Iterator[tuple[str, npt.NDArray[Any], npt.NDArray[Any]]]:
        """Yields how the agent was called, its answers, and the answers expected of it."""
        yield "a second time", answer(view, legal), first
        rng = np.random.default_rng(1)
        games = rng.integers(2**53, size=len(view))
        renumbered = View(view.words, games, view.rules)
        yield "in games of other numbers", answer(renumbered, legal), first
        order = rng.permutation(len(view))
        yield "in another order", answer(view[order], legal[order]), first[order]
        rows = np.arange(0, len(view), len(view) // SINGLE_VIEWS)
        singles = [answer(view[row : row + 1], legal[row : row + 1]) for row in rows.tolist()]
        yield "one at a time", np.concatenate(singles), first[rows]

    for how, answers, expected in repetitions():
        if answers.shape != expected.shape:
            return f"expected {what} of shape {expected.shape}, asked {how}, got {answers.shape}"
        # The largest difference in each row; NaN counts as different.
        apart = np.abs(answers.astype(np.float64) - expected).reshape(len(expected), -1).max(axis=1)
        if different := int((~(apart <= PROBABILITY_TOLERANCE)).sum()):
            return (
                f"expected {what} that depend only on the view, got others for {different} of "
                f"{len(expected)} views when asked {how}"
            )
    return None


@cache
def fixed_views(rules: Rules) -> tuple[View, Bool]:
    """Returns the views that ``find_inconsistency`` shows, and their legal actions."""
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
