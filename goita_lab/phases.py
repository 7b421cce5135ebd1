"""Divides a round into phases, by the tiles played before a decision."""

from __future__ import annotations

from typing import Final, Literal, get_args

import numpy as np

from goita_agents.base import Int
from goita_env import View

PlayPhase = Literal["first", "middle", "last"]

Phase = Literal["before play", PlayPhase]
"""The questions before the first lead, then the phases of play."""

PLAY_PHASES: Final[tuple[PlayPhase, ...]] = get_args(PlayPhase)
PHASES: Final[tuple[Phase, ...]] = ("before play", *PLAY_PHASES)
PHASE_STARTS: Final = (0, 7, 15)
"""Tiles played from which each phase of play lasts: up to three plays, up to seven, more."""


def phase_of(tiles: int) -> PlayPhase:
    """Returns the phase of play after so many tiles have been played."""
    return PLAY_PHASES[int(np.digitize(tiles, PHASE_STARTS)) - 1]


def phases_of(view: View) -> Int:
    """Returns the phase of each position: int64 [N], an index of ``PHASES``."""
    tiles = 2 * view.num_plays.astype(np.int64)
    return np.where(view.asked_call | view.asked_choice, 0, np.digitize(tiles, PHASE_STARTS))
