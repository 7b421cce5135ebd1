"""Defines a block of duplicate deals, the unit of work and of randomness, and its result."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Final

import numpy as np
import numpy.typing as npt

from goita_agents.base import Bool, Int
from goita_agents.faults import Fault
from goita_env.information import PLAIN, InformationStructure
from goita_env.rounds import Episode
from goita_env.rules import Rules
from goita_lab.arena.tournament.saved_games import SavedDeal

Seating = tuple[int, int, int, int]

PAIR_SEATINGS: Final[tuple[Seating, ...]] = ((0, 1, 0, 1), (1, 0, 1, 0))
"""The player at each seat, game by game of a deal, when each agent is both partners of a team."""

MIXED_SEATINGS: Final[tuple[Seating, ...]] = (
    (0, 2, 1, 2),
    (2, 0, 2, 1),
    (1, 2, 0, 2),
    (2, 1, 2, 0),
)
"""Players 0 and 1 as partners against two of player 2, at every seat."""

GAME_FIGURES: Final = ("points", "rounds", "rounds_won", "won")
"""The figures of one game: arrays of ``BlockResult``."""


def seatings_of(agents: tuple[str, ...]) -> tuple[Seating, ...]:
    """Returns the seatings of (a, b), or of partners a and b against c in (a, b, c)."""
    if len(agents) == 2:
        return PAIR_SEATINGS
    # With one agent as both partners the other two seatings would repeat these.
    return MIXED_SEATINGS[: 2 if agents[0] == agents[1] else 4]


@dataclass(frozen=True)
class Task:
    """A block of deals; its result depends on nothing else."""

    agents: tuple[str, ...]  #: Texts of the players, as ``load_agent`` takes them.
    seed: int
    """Seed of the deals and, through ``goita_env.seeds``, of the players' random numbers."""
    block: int
    first: int  #: Number of its first deal.
    deals: int
    rules: Rules
    episode: Episode = "round"
    seatings: tuple[Seating, ...] = PAIR_SEATINGS
    """[S] The player at each seat in each game of a deal. The first team sits at seats 0 and 2 in
    the first, third, ... game, at 1 and 3 in the others."""
    information: InformationStructure = PLAIN  #: Who knows and tells what.


@dataclass(frozen=True)
class BlockFigures:
    """What came of a block, as files of results keep it: S seatings, D deals, P players."""

    points: npt.NDArray[np.int32]
    """[S, D] Points of the first team minus those of the other, after what messages cost."""
    rounds: npt.NDArray[np.int32]  #: [S, D] Scored rounds: 1 unless whole matches are played.
    rounds_won: npt.NDArray[np.int32]  #: [S, D] Rounds won by the first team.
    won: Bool  #: [S, D] The first team won the episode.
    decisions: Int  #: [P] Decisions with a choice that each player made.
    thinking: npt.NDArray[np.float64]  #: [P] Seconds that each player took for them.
    seconds: float
    faults: tuple[tuple[int, Fault], ...] = ()  #: The faults in this block, each with its player.
    forfeited: tuple[int, ...] = ()
    """Players that were out by the end; from some point on their decisions are random."""


@dataclass(frozen=True, kw_only=True)
class BlockResult(BlockFigures):
    """The result of a block."""

    task: Task
    games: tuple[SavedDeal, ...] = ()
    """Every deal of the saved games, by deal, seating and number."""
