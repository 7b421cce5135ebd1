"""The phases of a round, by which analyses and exams group decisions."""

from __future__ import annotations

from typing import Final, Literal, get_args

import numpy as np
import numpy.typing as npt

Phase = Literal["before play", "first", "middle", "last"]

PHASES: Final[tuple[Phase, ...]] = get_args(Phase)
"""The questions before the first lead, then play: up to three plays made, up to seven, more."""


def phase_of(tiles: npt.ArrayLike) -> npt.NDArray[np.intp]:
    """Returns the phase of play after so many tiles have been played: an index of ``PHASES``."""
    return np.asarray(1 + np.digitize(np.asarray(tiles), (7, 15)))
