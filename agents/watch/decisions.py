"""Holds what an analysis says of a deal: plain values, which JSON keeps (``docs/analysis.md``)."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Final

from agents.solver.limits import check_search

WORLDS: Final = 1024
"""Worlds that a decision is searched in: a quarter of them for every action, all of them for the
one that was played and the two or more that did best."""

BEFORE_PLAY: Final = "before play"
"""The phase of the questions that come before the first lead."""

Pair = tuple[float, float]
"""Before the move, and after it."""

Kinds = tuple[tuple[float, ...], tuple[float, ...]]
"""[2][8] Of each kind of tile, before the move and after it."""


@dataclass(frozen=True)
class Settings:
    """Says how deals are analysed; what comes out depends on these and on the deal alone.

    Raises:
        AgentError: if the worlds are not a whole number above 0.
    """

    agent: str
    """The agent, as ``load_agent`` takes it; its probabilities must be known."""
    worlds: int = WORLDS
    """Most worlds that a decision is searched in."""
    seed: int = 0
    """Seed of all worlds and playouts."""
    tremble: float = 0.5
    """How often the mover is supposed to slip, for a partner who listens: people play unlike any
    bot. Of the agent's own games less is right, such as 0.02."""

    def __post_init__(self) -> None:
        """Checks the numbers."""
        check_search(self.worlds, 1.0)


@dataclass(frozen=True)
class Option:
    """Holds a legal action; points are those of the mover's team in the round."""

    action: str
    """As records write it: two digits, "p" for a pass, the word of an answer."""
    probability: float
    """With which the policy chooses it."""
    points: float
    """By search: the average over the worlds in which it was played out."""
    error: float
    """Standard error of that."""
    worlds: int
    """How many worlds those are."""
    open: int | None
    """With perfect play from there on, all hands open; None before play."""


@dataclass(frozen=True)
class Heard:
    """Says what the mover's partner could know of the mover's hand, before the move and after."""

    told: float
    """What the move told, nats: the divergence of the belief after it from the one before."""
    entropy: Pair
    """Of the belief, nats."""
    log_probability: Pair
    """Of the hand that the mover was really dealt, nats."""
    expected: Kinds
    """Tiles that the mover is expected to have been dealt."""
    at_least_one: Kinds
    """Probability that it was dealt one or more."""


@dataclass(frozen=True)
class Decision:
    """Holds a decision of a record; points are those of the mover's team in the round."""

    move: int
    """Number of the move in the deal, from 1, passes and recorded answers counted."""
    seat: int
    """Who decided."""
    action: str
    """What it chose."""
    phase: str
    """"before play", "first", "middle" or "last": see ``agents.grading``."""
    options: tuple[Option, ...]
    """The legal actions; empty where the decision was forced, which is not searched nor judged."""
    best: str
    """The action that did best by search; the chosen one where it did, or was forced."""
    loss: float
    """By how many points the best did better than the chosen one, in the same worlds."""
    loss_error: float
    """Standard error of that."""
    value: float | None
    """What the policy's network expects its team to gain; None: it knows no points."""
    open_value: int | None
    """Points with perfect play of all, all hands open; None before play."""
    open_loss: int
    """How much of them the chosen action gave away; 0 before play."""
    heard: Heard | None
    """What its partner could know of it; None before play."""

    @property
    def expected(self) -> float | None:
        """Returns the points of the best action by search, None where there was no choice."""
        return next((one.points for one in self.options if one.action == self.best), None)
