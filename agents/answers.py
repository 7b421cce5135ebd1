"""Checks what an agent answers: the one place where ``agents`` does."""

from __future__ import annotations

import numpy as np

from agents.base import AgentError, Bool, Int
from goita_env import actions
from goita_env.checks import came


class AnswerError(AgentError):
    """Reports an answer that holds no action for each row."""


def read_actions(answer: object, legal: Bool, name: str) -> tuple[Int, dict[int, str]]:
    """Reads an agent's answer.

    Args:
        answer: what ``act`` returned. It is made an array once: it may be an object of anybody's.
        legal: bool [N, 69].
        name: of the agent, for the error.

    Returns:
        actions: int64 [N], 0 in rows that are wrong.
        wrong: the rows whose action is illegal or not a number (NaN), with what was expected and
            what came.

    Raises:
        AnswerError: if the answer has another shape than [N], or another type than whole numbers.
    """
    wanted = f"expected {len(legal)} actions as whole numbers, got"
    try:
        chosen = np.array(answer)
    except ValueError as error:
        raise AnswerError(f"{wanted} rows of different lengths from {name!r}") from error
    missing = np.isnan(chosen) if chosen.dtype.kind == "f" else np.zeros(chosen.shape, bool)
    if chosen.shape != (len(legal),) or not (chosen.dtype.kind in "iu" or missing.any()):
        raise AnswerError(f"{wanted} {came(chosen)} from {name!r}")
    inside = (chosen >= 0) & (chosen < legal.shape[1]) & (chosen % 1 == 0)
    numbers: Int = np.where(inside, chosen, 0).astype(np.int64)
    fine = inside & legal[np.arange(len(legal)), numbers]
    wrong = {
        row: _illegal(chosen[row].item(), legal[row], name)
        for row in np.flatnonzero(~fine).tolist()
    }
    return numbers, wrong


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
    chosen, wrong = read_actions(answer, legal, name)
    for row, text in wrong.items():
        raise AgentError(f"{text} in game {int(games[row])}")
    return chosen


def _illegal(one: float, legal: Bool, name: str) -> str:
    """Returns what was expected and what came; ``legal``: [69]."""
    names = " ".join(actions.name(action) for action in np.flatnonzero(legal).tolist())
    known = isinstance(one, int) and 0 <= one < actions.NUM_ACTIONS
    return (
        f"expected one of {names}, got {actions.name(int(one)) if known else one!r} from {name!r}"
    )
