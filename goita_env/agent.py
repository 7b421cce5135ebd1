"""Defines what an agent is: shown views and legal actions, it chooses an action in each row.

``N`` is the number of rows, 69 the number of actions; rows are independent positions, as a rule of
different games. At least one action is legal in each. The answer for a row may depend on nothing
but that row's view, mask and random numbers, and on what the agent remembers of the same game.
"""

from __future__ import annotations

from collections.abc import Iterable
from dataclasses import dataclass
from importlib.metadata import EntryPoint
from typing import Protocol, runtime_checkable

import numpy as np

from goita_env.actions import NUM_ACTIONS
from goita_env.arrays import Bool, Float, Int
from goita_env.information import PLAIN, InformationStructure
from goita_env.views import View


class Agent(Protocol):
    """Plays. Every agent has this much.

    Attributes:
        name: by which results know the agent. The seat environments do without one. Where an
            agent that a text names has an attribute ``by_seat`` that is true, as those of a user's
            class have, it plays one seat alone, so that it sees one hand of a deal.
    """

    name: str

    def act(self, view: View, legal: Bool, rng: np.random.Generator) -> Int:
        """Returns a legal action in each row: int64 [N].

        Args:
            view: N positions, each as the seat that is asked there sees it.
            legal: bool [N, 69], True where legal, one at least in every row; [1, 69] for a
                single position.
            rng: consumed; the only source of randomness.
        """
        ...


def is_built_in(point: EntryPoint) -> bool:
    """Tells whether an entry point is of this distribution, so that no other can replace it."""
    return point.dist is not None and point.dist.name.replace("_", "-") == "goita-env"


@runtime_checkable
class Policy(Agent, Protocol):
    """An agent with a known policy."""

    def probabilities(self, view: View, legal: Bool) -> Float:
        """Returns the probability of each action: float64 [N, 69], zero where illegal."""
        ...


@runtime_checkable
class HasTemperature(Policy, Protocol):
    """An agent with a known policy that can be made sharper or flatter, as a network."""

    temperature: float

    def at(self, temperature: float) -> Policy:
        """Returns the same policy at another temperature."""
        ...


@runtime_checkable
class PlaysInformed(Protocol):
    """An agent that plays other games than the base one, and says which.

    In other games the masks are bool [N, 77] where a message is asked for, and views may show
    hands.
    """

    def plays(self, information: InformationStructure) -> bool:
        """Tells whether the agent plays games with these options."""
        ...


def plays(agent: object, information: InformationStructure) -> bool:
    """Says whether an agent plays games with these options."""
    if isinstance(agent, PlaysInformed):
        return agent.plays(information)
    return information == PLAIN


@dataclass(frozen=True)
class Results:
    """How some rounds ended; ``n`` seats."""

    winner: Int
    """[n] Seat that ended the round, 0 to 3 as in ``begin``."""
    points: Int
    """[n] Points of the round, to the winner's team."""
    view: View
    """[n] The end of the round, as each seat sees it."""


@runtime_checkable
class StatefulAgent(Protocol):
    """Is told where rounds begin and end, beside what an ``Agent`` does.

    What was public in a round is all in its view, so most agents need no memory. ``view.game``
    numbers a game *and* a seat in it: two partners have two memories, even of the same agent.
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
    """Is told how deals ended in a redeal, too."""

    def redeal(self, games: Int, view: View) -> None:
        """Takes note of deals that ended in a redeal; ``begin`` tells of the next ones.

        Args:
            games: [n] their numbers.
            view: [n] the position after the last choice, as each seat sees it.
        """
        ...


def uniform(legal: Bool, numbers: Float) -> Int:
    """Draws a legal action in each row, all equally likely: int64 [N].

    Args:
        legal: bool [N, 69], True where legal, one at least in every row.
        numbers: [N] from 0 to below 1, as ``rng.random(N)`` gives them.
    """
    summed = legal.cumsum(axis=1, dtype=np.uint8)
    rank = (numbers * summed[:, -1]).astype(np.uint8)
    return np.asarray((summed <= rank[:, None]).sum(axis=1))


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
    """Ends what agents run beside them: those that have a ``close``."""
    for agent in agents:
        end = getattr(agent, "close", None)
        if callable(end):
            end()


class RandomAgent:
    """An agent that plays legal actions with equal probability: the zero of every rating."""

    def __init__(self) -> None:
        self.name = "random"

    def act(self, view: View, legal: Bool, rng: np.random.Generator) -> Int:
        """Returns an action in each row, uniform over the legal ones: int64 [N]."""
        return uniform(legal, rng.random(len(legal)))

    def probabilities(self, view: View, legal: Bool) -> Float:
        """Returns the same probability for every legal action: float64 [N, 69]."""
        return legal / np.count_nonzero(legal, axis=1, keepdims=True)

    def plays(self, information: InformationStructure) -> bool:
        """Returns True: any game."""
        return True
