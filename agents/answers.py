"""Checks what an agent answers: the one place where ``agents`` does."""

from __future__ import annotations

import numpy as np

from agents.base import AgentError, Bool, Int
from goita_env import actions
from goita_env.checks import came


def read_actions(answer: object, legal: Bool, name: str) -> tuple[Int, Bool]:
    """Reads an agent's answer.

    Args:
        answer: what ``act`` returned.
        legal: bool [N, 69].
        name: of the agent, for the error.

    Returns:
        chosen: int64 [N].
        fine: bool [N], False where the action is illegal or not a number (NaN).

    Raises:
        AgentError: if the answer has another shape than [N], or another type than whole numbers.
    """
    wanted = f"expected {len(legal)} actions as whole numbers, got"
    try:
        chosen = np.asarray(answer)
    except ValueError as error:
        raise AgentError(f"{wanted} rows of different lengths from {name!r}") from error
    except Exception as error:  # whatever the object raises when it is made an array
        raise AgentError(f"{wanted} {type(answer).__name__} from {name!r}: {error}") from error
    missing = np.isnan(chosen) if chosen.dtype.kind == "f" else np.zeros(chosen.shape, bool)
    if chosen.shape != (len(legal),) or not (chosen.dtype.kind in "iu" or missing.any()):
        raise AgentError(f"{wanted} {came(chosen)} from {name!r}")
    inside = (chosen >= 0) & (chosen < legal.shape[1]) & (chosen % 1 == 0)
    numbers: Int = np.where(inside, chosen, 0).astype(np.int64)
    return numbers, inside & legal[np.arange(len(legal)), numbers]


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
    chosen, fine = read_actions(answer, legal, name)
    if not fine.all():
        row = int(fine.argmin())
        raise AgentError(f"{illegal(answer, row, legal, name)} in game {int(games[row])}")
    return chosen


def illegal(answer: object, row: int, legal: Bool, name: str) -> str:
    """Returns what was expected and what came in a row of an answer."""
    names = " ".join(actions.name(action) for action in np.flatnonzero(legal[row]).tolist())
    one = np.asarray(answer)[row].item()
    known = isinstance(one, int) and 0 <= one < actions.NUM_ACTIONS
    return f"expected one of {names}, got {actions.name(one) if known else one!r} from {name!r}"
