"""Defines what an analysis says of a decision: plain values (``docs/reference/analysis.md``).

Points are those of the mover's team in the round.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import Annotated, Final, Literal

from msgspec import Meta

from goita_env.tiles import NAMES, NUM_SEATS

Seat = Annotated[int, Meta(ge=0, lt=NUM_SEATS)]

Kind = Annotated[int, Meta(ge=0, lt=len(NAMES))]

Code = Annotated[str, Meta(pattern="^[a-z0-9]*$")]
"""An action as records write it: two digits, "p" for a pass, the word of an answer."""

PlayPhase = Literal["first", "middle", "last"]

Phase = Literal["before play", PlayPhase]
"""The questions before the first lead, and ``PHASES``."""

PHASES: Final[dict[PlayPhase, range]] = {
    "first": range(7),
    "middle": range(7, 15),
    "last": range(15, 33),
}
"""Phases of a round by the tiles played before a decision: up to three plays, up to seven, more."""

Pair = tuple[float, float]
"""Before the move, and after it."""

Range = tuple[float, float]
"""The lowest and the highest over the types that count."""

COUNTS: Final = 0.05
"""Probability above which a type of the others counts in a verdict."""

Kinds = tuple[float, float, float, float, float, float, float, float]
"""[8] Of each kind of tile."""


def phase_of(tiles: int) -> PlayPhase:
    """Returns the phase of a round after so many tiles have been played."""
    return next(name for name, played in PHASES.items() if tiles in played)


@dataclass(frozen=True)
class Step:
    """Which move is the commonest after those before it, in the worlds of a search."""

    seat: Seat
    move: Code
    """As the mover of the decision would see it: another seat's face-down block is "x"."""
    share: float
    """Of all worlds, how many went so up to here, under the posterior over types."""
    ends: bool
    """The deal ends with it."""


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
    continuation: tuple[Step, ...]
    """How play may go on (``watch.continuations``); empty where it was not followed."""


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


@dataclass(frozen=True)
class Knowledge:
    """The belief of another seat about the mover's hand, before and after the move."""

    seat: Seat
    """Whose belief it is."""
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
    """The analysis of a recorded decision."""

    move: int
    """Number of the move in the deal, from 1, passes and recorded answers counted."""
    seat: Seat
    action: Code
    phase: Phase
    options: tuple[ActionGrade, ...]
    """The legal actions; empty where the move was forced: it is neither searched nor judged."""
    best: Code
    """The action that did best by search; the chosen one where it did, or was forced."""
    loss: float
    """By how many points the best did better than the chosen one, in the same worlds, under the
    posterior over types."""
    loss_error: float
    """Standard error of the loss."""
    loss_range: Range
    """Of the losses by type, each against the best action under that type."""
    types: tuple[TypeGrade, ...]
    """The same for each type that is possible; empty where the move was forced."""
    rival: Code
    """The action that was played; where nothing is better, the next best one; empty where the move
    was forced."""
    deciding: tuple[Deciding, ...]
    """The tiles on which the choice between ``best`` and ``rival`` hangs most, the first most."""
    value: float | None
    """What the policy's network expects its team to gain; None: it does not predict points."""
    open_value: int | None
    """Points with perfect play of all, all hands open; None before play."""
    open_loss: int
    """How much of them the chosen action gave away; 0 before play."""
    knowledge: tuple[Knowledge, ...]
    """Of the next seat, the partner and the previous seat; empty before play."""

    @property
    def expected(self) -> float | None:
        """Points of the best action by search, None where there was no choice."""
        return next((one.points for one in self.options if one.action == self.best), None)

    @property
    def counted(self) -> tuple[TypeGrade, ...]:
        """The types that count in the verdict: the likeliest, and others above ``COUNTS``."""
        return counted(self.types)


def counted(types: tuple[TypeGrade, ...]) -> tuple[TypeGrade, ...]:
    """Returns the types that count in a verdict: the likeliest, and others above ``COUNTS``."""
    most = max((one.probability for one in types), default=0.0)
    return tuple(one for one in types if one.probability > COUNTS or one.probability == most)
