"""Answers the questions about special hands."""

from __future__ import annotations

import numpy as np

from agents.base import Bool, Int
from agents.heuristic.board import Board
from goita_env.actions import CALL, CONTINUE, REDEAL, SILENT
from goita_env.tiles import KING


def answers(board: Board, legal: Bool, chosen: Int) -> Int:
    """Returns the choices with the questions about special hands answered: int64 [N]."""
    asked = legal[:, CALL]
    choice = legal[:, REDEAL]
    on = board.hand[:, KING] > 0
    chosen = np.where(asked, CALL, chosen)
    return np.where(choice, np.where(on, CONTINUE, REDEAL), chosen)
