"""Defines what a search under several types of players says of a decision: plain values.

Points are those of the mover's team in the round.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import Annotated, Final

from msgspec import Meta

from goita_env.tiles import NAMES, NUM_SEATS

Seat = Annotated[int, Meta(ge=0, lt=NUM_SEATS)]

Kind = Annotated[int, Meta(ge=0, lt=len(NAMES))]

Code = Annotated[str, Meta(pattern="^[a-z0-9]*$")]
"""An action as records write it: two digits, "p" for a pass, the word of an answer."""

Range = tuple[float, float]
"""The lowest and the highest over the types that count."""

COUNTS: Final = 0.05
"""Probability above which a type of the others counts in a verdict."""


@dataclass(frozen=True)
class ActionGrade:
    """The grade of a legal action."""

    action: Code
    """As records write it: two digits, "p" for a pass, the word of an answer."""
    probability: float
    """With which the policy chooses it."""
    points: float
    """By search, under the posterior over types."""
    error: float
    """Standard error of the points, by sampling alone."""
    range: Range
    """Of the points, by type."""
    worlds: int
    """In which it was played out, of all types."""
    open: int | None
    """With perfect play from there on, all hands open; None before play."""


@dataclass(frozen=True)
class Deciding:
    """How much of a choice hangs on whether a seat holds a tile of a kind."""

    seat: Seat
    kind: Kind
    probability: float
    """That it does, by what the mover could know, under the posterior over types."""
    held: float
    """By how many points ``best`` leads ``rival`` where the seat holds one."""
    missing: float
    """The same where it does not."""


@dataclass(frozen=True)
class TypedPoints:
    """What a legal action is worth if the opponents are of one type."""

    action: Code
    points: float
    """The average over the worlds in which it was played out."""
    error: float
    """Standard error of the points."""
    worlds: int


@dataclass(frozen=True)
class TypeGrade:
    """The grades of the legal actions for opponents of one type."""

    name: str
    probability: float
    """Of the type, by what the seat had seen, earlier rounds of the match included."""
    options: tuple[TypedPoints, ...]
    """The legal actions, in the order of ``Decision.options``."""
    best: Code
    loss: float
    """By how many points the best did better than the chosen one, in the same worlds."""
    loss_error: float


def counted(types: tuple[TypeGrade, ...]) -> tuple[TypeGrade, ...]:
    """Returns the types that count in a verdict: the likeliest, and others above ``COUNTS``."""
    most = max((one.probability for one in types), default=0.0)
    return tuple(one for one in types if one.probability > COUNTS or one.probability == most)
