"""Defines what an analysis says of a decision: plain values that JSON holds (``docs/analysis.md``).

Points are those of the mover's team in the round.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import Annotated, Literal

from msgspec import Meta

from goita_env.tiles import NUM_SEATS

Seat = Annotated[int, Meta(ge=0, lt=NUM_SEATS)]

Phase = Literal["before play", "first", "middle", "last"]
"""The questions before the first lead, and the phases of ``agents.grading``."""

Pair = tuple[float, float]
"""Before the move, and after it."""

Kinds = tuple[float, float, float, float, float, float, float, float]
"""[8] Of each kind of tile."""


@dataclass(frozen=True)
class ActionGrade:
    """Grades a legal action."""

    action: str
    """As records write it: two digits, "p" for a pass, the word of an answer."""
    probability: float
    """With which the policy chooses it."""
    points: float
    """By search: the average over the worlds in which it was played out."""
    error: float
    """Standard error of the points."""
    worlds: int
    open: int | None
    """With perfect play from there on, all hands open; None before play."""


@dataclass(frozen=True)
class PartnerKnowledge:
    """Holds the belief of the mover's partner about the mover's hand, before and after the move."""

    information: float
    """Of the move, nats: the divergence of the belief after it from the one before."""
    entropy: Pair
    """Of the belief, nats."""
    log_probability: Pair
    """Of the hand that the mover was really dealt, nats."""
    expected: tuple[Kinds, Kinds]
    """Expected tiles of each kind, as dealt."""
    at_least_one: tuple[Kinds, Kinds]
    """Probability that the mover was dealt one or more."""


@dataclass(frozen=True)
class Decision:
    """Analyses a recorded decision."""

    move: int
    """Number of the move in the deal, from 1, passes and recorded answers counted."""
    seat: Seat
    action: str
    phase: Phase
    options: tuple[ActionGrade, ...]
    """The legal actions; empty where the move was forced: it is neither searched nor judged."""
    best: str
    """The action that did best by search; the chosen one where it did, or was forced."""
    loss: float
    """By how many points the best did better than the chosen one, in the same worlds."""
    loss_error: float
    """Standard error of the loss."""
    value: float | None
    """What the policy's network expects its team to gain; None: it does not predict points."""
    open_value: int | None
    """Points with perfect play of all, all hands open; None before play."""
    open_loss: int
    """How much of them the chosen action gave away; 0 before play."""
    partner_knowledge: PartnerKnowledge | None
    """None before play."""

    @property
    def expected(self) -> float | None:
        """Points of the best action by search, None where there was no choice."""
        return next((one.points for one in self.options if one.action == self.best), None)
