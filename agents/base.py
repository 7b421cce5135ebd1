"""Says what an agent is: shown views and legal actions, it chooses an action in each row.

``N`` is the number of rows, 69 the number of actions; rows are independent positions, as a rule of
different games. At least one action is legal in each; tournaments, tables and searches ask only
where there is a choice. The answer for a row may depend on nothing but that row's view, mask and
random numbers (and on what the agent remembers of the same game).
"""

from __future__ import annotations

from collections.abc import Iterable
from typing import Protocol, runtime_checkable

import numpy as np
import numpy.typing as npt

from goita_env import View
from goita_env.actions import NUM_ACTIONS
from goita_env.envs.bots import Results, sample_at
from goita_env.errors import GoitaError

__all__ = [
    "Agent",
    "AgentError",
    "Memory",
    "Policy",
    "Results",
    "Tempered",
    "ToldOfRedeals",
    "certain",
    "close",
    "sample",
    "sample_at",
]

Bool = npt.NDArray[np.bool_]
Int = npt.NDArray[np.int64]
Float = npt.NDArray[np.float64]


class AgentError(GoitaError):
    """Reports an agent that does not exist, cannot be built, or answers what it may not."""


class Agent(Protocol):
    """Plays. Every agent has this much.

    Attributes:
        name: by which results know the agent; the text that ``load_agent`` built it from.
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


@runtime_checkable
class Policy(Agent, Protocol):
    """Plays by a known policy."""

    def probabilities(self, view: View, legal: Bool) -> Float:
        """Returns the probability of each action: float64 [N, 69], zero where illegal.

        Args:
            view: N positions.
            legal: bool [N, 69], True where legal.
        """
        ...


@runtime_checkable
class Tempered(Policy, Protocol):
    """Plays by a known policy that can be made sharper or flatter: a network does."""

    temperature: float

    def at(self, temperature: float) -> Policy:
        """Returns the same policy at another temperature."""
        ...


@runtime_checkable
class Memory(Agent, Protocol):
    """Plays with a memory of its own, told where rounds begin and end.

    What was public in a round is all in its view, so most agents need none. ``view.game`` numbers a
    game *and* a seat in it: the two partners, though the same agent plays them, have two memories.
    """

    def begin(self, games: Int, seats: Int, view: View) -> None:
        """Takes notice of new deals, a redeal in a round under way among them.

        Args:
            games: [n] their numbers, as ``view.game`` will show them.
            seats: [n] the seat at the table, 0 to 3.
            view: [n] the deal as the seat sees it, nothing played yet.
        """
        ...

    def end(self, games: Int, results: Results, hands: Int) -> None:
        """Takes notice of rounds that were scored.

        Args:
            games: [n] their numbers.
            results: how they ended.
            hands: [n, 4, 8] tiles of each kind that each seat was dealt.
        """
        ...


@runtime_checkable
class ToldOfRedeals(Memory, Protocol):
    """Plays with a memory, and wants to know how a deal went that ended in a redeal."""

    def redeal(self, games: Int, view: View) -> None:
        """Takes notice of deals that ended in a redeal; ``begin`` tells of the next ones.

        Args:
            games: [n] their numbers.
            view: [n] the table after the last choice, as each seat sees it.
        """
        ...


def sample(probabilities: Float, rng: np.random.Generator) -> Int:
    """Draws an action in each row: int64 [N].

    One double a row, in order, so what is drawn does not depend on how rows are put into batches.

    Args:
        probabilities: [N, 69] at least 0, a positive sum in every row (not needed to be 1).
        rng: consumed.
    """
    return sample_at(probabilities, rng.random(len(probabilities)))


def close(agents: Iterable[Agent]) -> None:
    """Ends what agents run beside them: those that have a ``close``."""
    for agent in agents:
        end = getattr(agent, "close", None)
        if callable(end):
            end()


def certain(chosen: Int) -> Float:
    """Returns the probabilities of a policy that is sure of its actions: float64 [N, 69]."""
    probabilities = np.zeros((len(chosen), NUM_ACTIONS))
    probabilities[np.arange(len(chosen)), chosen] = 1.0
    return probabilities
