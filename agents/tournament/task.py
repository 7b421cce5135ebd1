"""Names the unit of work and of randomness, a block of duplicate deals, and what comes of it."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Final

import numpy as np
import numpy.typing as npt

from agents.base import Bool, Int
from agents.faults import Fault
from agents.tournament.games import SavedDeal
from goita_env.errors import SettingError
from goita_env.rounds import Episode
from goita_env.rules import Rules

Seating = tuple[int, int, int, int]

PAIR_SEATINGS: Final[tuple[Seating, ...]] = ((0, 1, 0, 1), (1, 0, 1, 0))
"""Who sits where when each agent is both partners of its team."""

MIXED_SEATINGS: Final[tuple[Seating, ...]] = (
    (0, 2, 1, 2),
    (2, 0, 2, 1),
    (1, 2, 0, 2),
    (2, 1, 2, 0),
)
"""Players 0 and 1 as partners against 2 and 2: at seats 0 and 2, at 1 and 3, and exchanged."""


LEAST_MEMORY: Final = 256 << 20
"""Bytes of address space in which a class of the user's can be hosted."""


@dataclass(frozen=True)
class Isolation:
    """Says how classes of the user's are hosted in processes of their own."""

    ms: int = 1000
    """Milliseconds for a decision."""
    memory: int = 2 << 30
    """Bytes of memory that a process may take."""

    def __post_init__(self) -> None:
        """Checks the limits.

        Raises:
            SettingError: if one is impossible.
        """
        if self.ms < 1:
            raise SettingError(f"expected at least 1 ms for a decision, got {self.ms!r}")
        if self.memory < LEAST_MEMORY:
            raise SettingError(
                f"expected at least {LEAST_MEMORY >> 20}M, which Python and numpy take, "
                f"got {self.memory:,} bytes"
            )


@dataclass(frozen=True)
class Task:
    """Names a block of deals to be played; all that its result depends on."""

    agents: tuple[str, ...]
    """Texts of the players, as ``load_agent`` takes them."""
    seed: int
    """Seed of the deals; what bots draw from is derived from it, too (``goita_env.seeds``)."""
    block: int
    """Number of the block, from 0."""
    first: int
    """Number of its first deal."""
    deals: int
    """How many deals."""
    rules: Rules
    episode: Episode = "round"
    seatings: tuple[Seating, ...] = PAIR_SEATINGS
    """[S] Players at seats 0 to 3 in each game of a deal; the first team sits at seats 0 and 2 in
    the first, third, ... of them, at 1 and 3 in the others."""
    isolation: Isolation | None = None
    """Classes of the user's are hosted in processes of their own; None: in that of the block."""


@dataclass(frozen=True)
class BlockResult:
    """Holds what came out of a block; S seatings, D deals, P players."""

    task: Task
    points: npt.NDArray[np.int32]
    """[S, D] Points of the first team minus those of the other."""
    rounds: npt.NDArray[np.int32]
    """[S, D] Rounds that were scored: 1 unless whole matches are played."""
    rounds_won: npt.NDArray[np.int32]
    """[S, D] Rounds that the first team won."""
    won: Bool
    """[S, D] The first team won the episode."""
    decisions: Int
    """[P] Decisions with a choice that each player made."""
    thinking: npt.NDArray[np.float64]
    """[P] Seconds that each player took for them."""
    seconds: float
    """Seconds that the block took."""
    faults: tuple[tuple[int, Fault], ...] = ()
    """Players and the faults that they made in this block, for agents that keep count."""
    forfeited: tuple[int, ...] = ()
    """Players that were out by the end: from some point on their decisions are random ones."""
    games: tuple[SavedDeal, ...] = ()
    """Every deal of the games that are saved, by deal, seating and number."""
