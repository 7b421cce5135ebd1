"""Grades play against perfect play: what each decision lost, had all hands been known.

Perfect play sees all hands, so even the best play without them loses something. Compare one player
with another, or one phase of a round with the next.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import Final, Literal

from goita_agents.solver.cores import on_all_cores
from goita_agents.solver.position import Position
from goita_agents.solver.solver import Solver
from goita_env import actions
from goita_env.errors import SettingError
from goita_env.records import DealRecord, Record
from goita_env.tiles import NUM_SEATS

Phase = Literal["first", "middle", "last"]

PHASES: Final[dict[Phase, range]] = {
    "first": range(7),
    "middle": range(7, 15),
    "last": range(15, 33),
}
"""Phases of a round by the tiles played before a decision: up to three plays, up to seven, more."""


@dataclass(frozen=True)
class Grade:
    """The grade of one decision, in points for the mover's team."""

    deal: int
    """Number of the deal in its record, from 1."""
    move: int
    """Number of the move in the deal, from 1, passes counted."""
    seat: int
    action: int
    best: int
    """Points of the best action, with perfect play of all from there on."""
    value: int
    """Points of the action chosen."""
    choices: int
    """Legal actions that it had; 1: it was forced, and lost nothing."""
    tiles: int
    """Tiles played before, 0 to 24."""

    @property
    def loss(self) -> int:
        return self.best - self.value

    @property
    def phase(self) -> Phase:
        return phase_of(self.tiles)


def phase_of(tiles: int) -> Phase:
    """Returns the phase of a round after so many tiles have been played."""
    return next(name for name, played in PHASES.items() if tiles in played)


def grade(record: Record | DealRecord, *, workers: int | None = None) -> list[Grade]:
    """Grades each decision of a record against perfect play.

    Pre-play decisions are left out: whether a call is right depends on deals to come. A deal
    that breaks off is graded as far as it goes.

    Args:
        record: of a match, or of one deal.
        workers: threads; None: one a core.

    Returns:
        A grade for every play and pass, forced ones included, in order.

    Raises:
        RecordError: if a move is illegal, naming deal and move.
        SettingError: if it is no record, or the number of workers is not above 0.
    """
    if not isinstance(record, Record | DealRecord):
        raise SettingError(f"expected a record, got {record!r}")
    deals = (record,) if isinstance(record, DealRecord) else record.deals
    return [one for deal in on_all_cores(grade_deal, deals, workers) for one in deal]


def grade_deal(solver: Solver, deal: DealRecord) -> list[Grade]:
    """Grades the plays and passes of one deal with a given solver."""
    found: list[Grade] = []
    place = Position.set_up(deal.hands, deal.dealer, rules=deal.rules)
    replay = deal.replay()
    for number, ((seat, action), game) in enumerate(zip(deal.moves, replay, strict=False), 1):
        if action >= actions.CALL:
            continue
        choices = len(solver.legal_actions(place))
        best, value = solver.compare(place, action)
        tiles = NUM_SEATS * deal.rules.hand_size - place.tiles
        found.append(Grade(deal.number, number, seat, action, best, value, choices, tiles))
        if not game.done:
            place = Position.from_game(game)
    return found
