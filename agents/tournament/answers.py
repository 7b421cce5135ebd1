"""Checks what an agent answers: the one place where a tournament does."""

from __future__ import annotations

import numpy as np

from agents.base import AgentError, Bool, Int
from goita_env.checks import came


def read_actions(answer: object, legal: Bool, name: str) -> tuple[Int, Bool]:
    """Reads an agent's answer.

    Args:
        answer: what ``act`` returned.
        legal: bool [N, 69].
        name: of the agent, for the error.

    Returns:
        actions: int64 [N].
        fine: bool [N], False where the action is illegal or not a number (NaN).

    Raises:
        AgentError: if the answer has another shape than [N], or another type than whole numbers.
    """
    wanted = f"expected {len(legal)} actions as whole numbers from {name!r}, got"
    try:
        chosen = np.asarray(answer)
    except Exception as error:  # whatever the object raises when it is made an array
        raise AgentError(f"{wanted} {type(answer).__name__}: {error}") from error
    missing = np.isnan(chosen) if chosen.dtype.kind == "f" else np.zeros(chosen.shape, bool)
    if chosen.shape != (len(legal),) or not (chosen.dtype.kind in "iu" or missing.any()):
        raise AgentError(f"{wanted} {came(chosen)}")
    inside = (chosen >= 0) & (chosen < legal.shape[1]) & (chosen % 1 == 0)
    actions: Int = np.where(inside, chosen, 0).astype(np.int64)
    return actions, inside & legal[np.arange(len(legal)), actions]


def check_actions(answer: object, legal: Bool, name: str, games: Int) -> Int:
    """Returns an agent's actions, int64 [N], after checking that each is legal.

    Args:
        answer: what ``act`` returned.
        legal: bool [N, 69].
        name: of the agent, for the error.
        games: [N] numbers of the games, for the error.

    Raises:
        AgentError: if one is not legal, or the answer is none.
    """
    actions, fine = read_actions(answer, legal, name)
    if not fine.all():
        row = int(fine.argmin())
        raise AgentError(f"{illegal(answer, row, legal, name)} in game {int(games[row])}")
    return actions


def illegal(answer: object, row: int, legal: Bool, name: str) -> str:
    """Returns what was expected and what came in a row of an answer."""
    came = np.asarray(answer)[row]
    return (
        f"expected one of the actions {np.flatnonzero(legal[row]).tolist()} from {name!r}, "
        f"got {came.item()!r}"
    )
