"""Defines what an agent is, and checks the answers of agents.

An agent receives views and legal actions, and chooses an action in each row.

``N`` is the number of rows, 69 the number of actions; rows are independent positions, usually of
different games. At least one action is legal in each. The answer for a row may depend only on that
row's view, mask and random numbers, and on what the agent remembers of the same game.
"""

from __future__ import annotations

import re
import sys
from collections.abc import Iterable
from dataclasses import dataclass
from functools import cache
from importlib.metadata import EntryPoint
from typing import Any, Final, Protocol, runtime_checkable

import numpy as np

from goita_env.actions import NUM_ACTIONS
from goita_env.actions import name as action_name
from goita_env.arrays import Bool, Float, Int
from goita_env.checks import are_legal, describe, illegal_action
from goita_env.errors import ActionError, AnswerError
from goita_env.information import PLAIN, InformationStructure
from goita_env.views import View


class Agent(Protocol):
    """The interface of every agent: a name and the method ``act``.

    Two more attributes are optional. If ``by_seat`` is true, as it is for agents of a user's class,
    and the agent was named by a text, then each seat gets an agent of its own, which sees one hand
    of a deal. If ``trusted_class`` is the agent's class, and the class is part of this
    distribution, then tests have checked its answers, and they are not checked again during play.

    Attributes:
        name: the agent's name in results. The seat environments need none.
    """

    name: str

    def act(self, view: View, legal: Bool, rng: np.random.Generator) -> Int:
        """Returns a legal action in each row: int64 [N].

        Args:
            view: N positions, each as its acting seat sees it.
            legal: bool [N, 69], True where legal, one at least in every row; [1, 69] for a
                single position.
            rng: the only source of randomness.
        """
        ...


def is_built_in(point: EntryPoint) -> bool:
    """Returns whether an entry point is part of this distribution; others are not used."""
    return point.dist is not None and point.dist.name.replace("_", "-") == "goita-env"


@runtime_checkable
class Policy(Agent, Protocol):
    """An agent with a known policy."""

    def probabilities(self, view: View, legal: Bool) -> Float:
        """Returns the probability of each action: float64 [N, 69], zero where illegal."""
        ...


@runtime_checkable
class HasTemperature(Policy, Protocol):
    """An agent with a known policy that can be made sharper or flatter, such as a network."""

    temperature: float

    def at(self, temperature: float) -> Policy:
        """Returns the same policy at another temperature."""
        ...


@runtime_checkable
class PlaysInformed(Protocol):
    """An agent that plays games beyond the base game, and declares which ones.

    There the masks are bool [N, 77] if messages are sent, and views may show hands.
    """

    def plays(self, information: InformationStructure) -> bool:
        """Returns whether the agent plays games with these options."""
        ...


def plays(agent: object, information: InformationStructure) -> bool:
    """Returns whether an agent plays games with these options."""
    if isinstance(agent, PlaysInformed):
        return agent.plays(information)
    return information == PLAIN


@dataclass(frozen=True)
class Results:
    """The results of some rounds, for ``n`` seats."""

    winner: Int
    """[n] Seat that ended the round, 0 to 3 as in ``begin``."""
    points: Int
    """[n] Points of the round, to the winner's team."""
    view: View
    """[n] The end of the round, as each seat sees it."""


@runtime_checkable
class StatefulAgent(Protocol):
    """An agent with a memory: it is also notified when rounds begin and end.

    A view holds everything public in its round, so most agents need no memory. ``view.game``
    numbers a game *and* a seat in it: two partners have two memories, even in the same agent.
    """

    def begin(self, games: Int, seats: Int, view: View) -> None:
        """Takes note of new deals, a redeal in a round under way among them.

        Args:
            games: [n] their numbers, as ``view.game`` will show them.
            seats: [n] the agent's seat, 0 to 3.
            view: [n] the deal as the seat sees it, nothing played yet.
        """
        ...

    def end(self, games: Int, results: Results, hands: Int) -> None:
        """Takes note of rounds that were scored.

        Args:
            games: [n] their numbers.
            results: how they ended.
            hands: [n, 4, 8] tiles of each kind that each seat was dealt.
        """
        ...


@runtime_checkable
class RedealObserver(StatefulAgent, Protocol):
    """An agent with a memory that is also notified of deals that ended in a redeal."""

    def redeal(self, games: Int, view: View) -> None:
        """Takes note of deals that ended in a redeal; ``begin`` follows with the next ones.

        Args:
            games: [n] their numbers.
            view: [n] the position after the last choice, as each seat sees it.
        """
        ...


PROJECT: Final = re.compile(r"goita_(?:env|agents|lab)\b")
"""Matches the beginning of the names of this distribution's modules."""

SUM_TOLERANCE: Final = 1e-6
"""The most by which the sum of an agent's probabilities may differ from 1."""


def is_trusted(agent: object) -> bool:
    """Tells whether an agent is part of this distribution, so that only tests check its answers.

    A copy of a trusted agent is trusted, too; an object of a class derived from its class is not.
    """
    kind: Any = type(agent)  # mypy takes no type for hashable
    return _is_shipped(kind) and getattr(agent, "trusted_class", None) is kind


@cache
def _is_shipped(kind: type) -> bool:
    """Tells whether a class is part of this distribution: its own ``__module__`` may be false."""
    module = sys.modules.get(kind.__module__)
    is_ours = PROJECT.match(kind.__module__) is not None
    return is_ours and getattr(module, kind.__qualname__, None) is kind


def copied(view: View, legal: Bool) -> tuple[View, Bool]:
    """Returns copies of views and masks, for an agent that may write into what it is shown."""
    return view[np.arange(len(view))], legal.copy()  # an index array copies, a slice would not


def read_actions(answer: object, legal: Bool, source: str) -> tuple[Int, dict[int, ActionError]]:
    """Reads the actions that an agent returned.

    Args:
        answer: what ``act`` returned, possibly a foreign object; it is made an array only once.
        legal: bool [N, 69], with messages [N, 77].
        source: the agent, for the errors: " from 'greedy'".

    Returns:
        The actions, int64 [N], 0 in wrong rows; and for each row with NaN, another number or an
        illegal action the error that says what was expected and what came.

    Raises:
        AnswerError: if the answer is not N whole numbers.
    """
    expected = f"expected {len(legal)} actions as whole numbers{source}, got"
    try:
        chosen = np.array(answer)
    except ValueError as error:
        raise AnswerError(f"{expected} rows of different lengths") from error
    # A float is an answer only as NaN: "I have no action here".
    missing = np.isnan(chosen) if chosen.dtype.kind == "f" else np.zeros(chosen.shape, bool)
    if chosen.shape != (len(legal),) or not (chosen.dtype.kind in "iu" or missing.any()):
        raise AnswerError(f"{expected} {describe(chosen)}")
    inside = (chosen >= 0) & (chosen < legal.shape[1]) & (chosen % 1 == 0)
    actions: Int = np.where(inside, chosen, 0).astype(np.int64)
    legitimate = inside & are_legal(actions, legal)
    wrong: dict[int, ActionError] = {}
    for row in np.flatnonzero(~legitimate).tolist():
        if inside[row]:
            wrong[row] = illegal_action(int(actions[row]), legal[row], source)
        else:
            expected = f"expected actions 0..{legal.shape[1] - 1}{source}"
            wrong[row] = ActionError(f"{expected}, got {chosen[row].item()!r}")
    return actions, wrong


def read_probabilities(answer: object, legal: Bool, source: str) -> Float:
    """Reads the probabilities that an agent returned: float64 [N, 69].

    Args:
        answer: what ``probabilities`` returned, possibly a foreign object.
        legal: bool [N, 69], with messages [N, 77].
        source: the agent, for the error: " from 'greedy'".

    Raises:
        AnswerError: if it is not N rows of finite floats, at least 0, 0 where illegal, with a sum
            of 1 within ``SUM_TOLERANCE``; its ``row`` is the first wrong one.
    """
    expected = f"expected probabilities of shape {legal.shape}{source}, got"
    try:
        rows = np.asarray(answer)
    except ValueError as error:
        raise AnswerError(f"{expected} rows of different lengths") from error
    if rows.shape != legal.shape or rows.dtype.kind != "f":
        raise AnswerError(f"{expected} {describe(rows)}")
    rows = rows.astype(np.float64)  # a copy: an agent may write its next answer into the same array
    with np.errstate(invalid="ignore", over="ignore"):
        total = rows.sum(axis=1)
    # One pass over all rows; they are searched for the error only if there is one.
    if (rows >= 0).all() and (abs(total - 1) <= SUM_TOLERANCE).all() and not rows[~legal].any():
        return rows
    for row, (chances, allowed) in enumerate(zip(rows, legal, strict=True)):
        if not np.isfinite(chances).all():
            wrong, came = "finite probabilities", "NaN or infinity"
        elif (chances < 0).any():
            action = int(chances.argmin())
            wrong, came = "probabilities of at least 0", _chance(chances, action)
        elif chances[~allowed].any():
            action = int(np.where(allowed, 0, chances).argmax())
            wrong, came = "probability 0 for illegal actions", _chance(chances, action)
        elif abs(total[row] - 1) > SUM_TOLERANCE:
            wrong, came = "probabilities that sum to 1", f"the sum {total[row]:.9g}"
        else:
            continue
        raise AnswerError(f"expected {wrong}{source}, got {came}", row)
    return rows


def _chance(chances: Float, action: int) -> str:
    return f"{chances[action]:.9g} for {action_name(action, len(chances))!r}"


def uniform(legal: Bool, numbers: Float) -> Int:
    """Draws a legal action in each row, all equally likely: int64 [N].

    Args:
        legal: bool [N, 69], True where legal, one at least in every row.
        numbers: [N] from 0 to below 1, as ``rng.random(N)`` gives them.
    """
    # The action of rank r is the first whose running count exceeds r: as many do not as precede it.
    count = legal.cumsum(axis=1, dtype=np.uint8)
    rank = (numbers * count[:, -1]).astype(np.uint8)
    return np.asarray((count <= rank[:, None]).sum(axis=1))


def sample_at(probabilities: Float, numbers: Float) -> Int:
    """Draws an action in each row by given numbers: int64 [N].

    Args:
        probabilities: [N, 69] at least 0, a positive sum in every row (not needed to be 1).
        numbers: [N] from 0 to below 1.
    """
    summed = probabilities.cumsum(axis=1)
    # A double below 1 times the sum stays below the sum, so no action of probability 0 is drawn.
    drawn = numbers * summed[:, -1]
    return np.asarray((summed <= drawn[:, None]).sum(axis=1))


def sample(probabilities: Float, rng: np.random.Generator) -> Int:
    """Draws an action in each row as ``sample_at`` does: int64 [N].

    ``rng`` gives one double a row, in order: how rows are put into batches changes nothing.
    """
    return sample_at(probabilities, rng.random(len(probabilities)))


def certain(chosen: Int, num_actions: int = NUM_ACTIONS) -> Float:
    """Returns the probabilities of a policy that always takes ``chosen``: float64 [N, 69]."""
    probabilities = np.zeros((len(chosen), num_actions))
    probabilities[np.arange(len(chosen)), chosen] = 1.0
    return probabilities


def close(agents: Iterable[object]) -> None:
    """Calls ``close`` of all agents that have this method, so that they end their processes."""
    for agent in agents:
        end = getattr(agent, "close", None)
        if callable(end):
            end()


class RandomAgent:
    """An agent that plays all legal actions with equal probability; its rating is 0."""

    def __init__(self) -> None:
        self.name, self.trusted_class = "random", RandomAgent

    def act(self, view: View, legal: Bool, rng: np.random.Generator) -> Int:
        """Returns an action in each row, uniform over the legal ones: int64 [N]."""
        return uniform(legal, rng.random(len(legal)))

    def probabilities(self, view: View, legal: Bool) -> Float:
        """Returns the same probability for every legal action: float64 [N, 69]."""
        return legal / np.count_nonzero(legal, axis=1, keepdims=True)

    def plays(self, information: InformationStructure) -> bool:
        """Returns True: any game."""
        return True
