"""Answers the questions about special hands."""

from __future__ import annotations

import numpy as np

from agents.base import Bool, Int
from agents.bots.heuristic.board import Board
from goita_env.actions import CALL, CONTINUE, REDEAL
from goita_env.tiles import KING


def answers(board: Board, legal: Bool, chosen: Int) -> Int:
    """Returns the choices with the questions about special hands answered: int64 [N].

    It calls whatever it may. As a caller's partner it takes the new deal, five pawns being weak,
    unless it holds both kings.
    """
    stays = board.hand[:, KING] == 2
    chosen = np.where(legal[:, CALL], CALL, chosen)
    return np.where(legal[:, REDEAL], np.where(stays, CONTINUE, REDEAL), chosen)
