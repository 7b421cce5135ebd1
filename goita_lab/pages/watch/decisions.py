"""Defines what an analysis says of a decision: plain values (``docs/reference/analysis.md``).

Points are those of the mover's team in the round.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import Annotated, Final, Literal

from msgspec import Meta

from goita_agents.search.typed_search import Deciding, Seat

PlayPhase = Literal["first", "middle", "last"]

Phase = Literal["before play", PlayPhase]
"""The questions before the first lead, and ``PHASES``."""

PHASES: Final[dict[PlayPhase, range]] = {
    "first": range(7),
    "middle": range(7, 15),
    "last": range(15, 33),
}
"""Phases of a round by the tiles played before a decision: up to three plays, up to seven, more."""


def phase_of(tiles: int) -> PlayPhase:
    """Returns the phase of a round after so many tiles have been played."""
    return next(name for name, played in PHASES.items() if tiles in played)


Code = Annotated[str, Meta(pattern="^[a-z0-9]*$")]
"""An action as records write it: two digits, "p" for a pass, the word of an answer."""


@dataclass(frozen=True)
class ActionGrade:
    """The grade of a legal action."""

    action: Code
    probability: float
    """With which the policy chooses it."""
    points: float
    """By search, under the posterior over types."""
    error: float
    """Standard error of the points, by sampling alone."""
    worlds: int
    """In which it was played out, of all types."""
    open: int | None
    """With perfect play from there on, all hands open; None before play."""


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
    rival: Code
    """The action that was played; where nothing is better, the next best one; empty where the move
    was forced."""
    deciding: tuple[Deciding, ...]
    """The tiles on which the choice between ``best`` and ``rival`` hangs most, the first most."""
    principle: str
    """Key of the principle that speaks for ``best``, or against the chosen one; empty: none."""
    value: float | None
    """What the policy's network expects its team to gain; None: it does not predict points."""
    open_value: int | None
    """Points with perfect play of all, all hands open; None before play."""
    open_loss: int
    """How much of them the chosen action gave away; 0 before play."""

    @property
    def expected(self) -> float | None:
        """Points of the best action by search, None where there was no choice."""
        return next((one.points for one in self.options if one.action == self.best), None)
