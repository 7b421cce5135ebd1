"""What an agent is, from ``goita_env.agent``; and the one check of what it answers."""

from __future__ import annotations

import os
import traceback
from numbers import Integral

import numpy as np

from goita_env import actions
from goita_env.agent import Agent as Agent
from goita_env.agent import HasTemperature as HasTemperature
from goita_env.agent import PlaysInformed as PlaysInformed
from goita_env.agent import Policy as Policy
from goita_env.agent import RandomAgent as RandomAgent
from goita_env.agent import RedealObserver as RedealObserver
from goita_env.agent import Results as Results
from goita_env.agent import StatefulAgent as StatefulAgent
from goita_env.agent import certain as certain
from goita_env.agent import close as close
from goita_env.agent import plays as plays
from goita_env.agent import sample as sample
from goita_env.agent import sample_at as sample_at
from goita_env.agent import uniform as uniform
from goita_env.arrays import Bool as Bool
from goita_env.arrays import Float as Float
from goita_env.arrays import Int as Int
from goita_env.checks import describe
from goita_env.errors import GoitaError


class AgentError(GoitaError):
    """An agent that does not exist, cannot be built, or answers what it may not."""


class AnswerError(AgentError):
    """An answer that is no array of one action per row."""


def raised(error: BaseException, *, text: bool = True) -> str:
    """Returns the type of an exception of somebody's code, its text if wanted, and the place."""
    last = traceback.extract_tb(error.__traceback__)[-1]
    said = f": {error}" if text else ""
    return f"{type(error).__name__}{said} ({os.path.basename(last.filename)}, line {last.lineno})"


def read_actions(answer: object, legal: Bool, name: str) -> tuple[Int, dict[int, str]]:
    """Reads an agent's answer.

    Args:
        answer: what ``act`` returned, possibly a foreign object; it is made an array only once.
        legal: bool [N, 69], with messages [N, 77].
        name: of the agent, for the error.

    Returns:
        The actions, int64 [N], 0 in wrong rows; and for each row with an illegal action or NaN a
        text with what was expected and what came.

    Raises:
        AnswerError: if the answer is not N whole numbers.
    """
    wanted = f"expected {len(legal)} actions as whole numbers, got"
    try:
        chosen = np.array(answer)
    except ValueError as error:
        raise AnswerError(f"{wanted} rows of different lengths from {name!r}") from error
    missing = np.isnan(chosen) if chosen.dtype.kind == "f" else np.zeros(chosen.shape, bool)
    if chosen.shape != (len(legal),) or not (chosen.dtype.kind in "iu" or missing.any()):
        raise AnswerError(f"{wanted} {describe(chosen)} from {name!r}")
    inside = (chosen >= 0) & (chosen < legal.shape[1]) & (chosen % 1 == 0)
    numbers: Int = np.where(inside, chosen, 0).astype(np.int64)
    fine = inside & legal[np.arange(len(legal)), numbers]
    wrong = {
        row: _illegal(chosen[row].item(), legal[row], name)
        for row in np.flatnonzero(~fine).tolist()
    }
    return numbers, wrong


def check_actions(answer: object, legal: Bool, name: str, games: Int) -> Int:
    """Returns an agent's actions, int64 [N]; raises an AgentError if one is illegal.

    Args:
        answer: what ``act`` returned.
        legal: bool [N, 69], with messages [N, 77].
        name: of the agent, for the error.
        games: [N] numbers of the games, for the error.
    """
    chosen, wrong = read_actions(answer, legal, name)
    for row, text in wrong.items():
        raise AgentError(f"{text} in game {int(games[row])}")
    return chosen


def _illegal(one: float, legal: Bool, name: str) -> str:
    many = len(legal)
    names = " ".join(actions.name(action, many) for action in np.flatnonzero(legal).tolist())
    known = isinstance(one, int) and 0 <= one < many
    got = repr(actions.name(int(one), many) if known else one)
    return f"expected one of {names}, got {got} from {name!r}"


def is_whole(number: object) -> bool:
    return isinstance(number, Integral) and not isinstance(number, bool)


def check_temperature(temperature: float) -> float:
    """Returns a policy's temperature; an AgentError if it is not 0 or 0.001 to 1000.

    Beyond these powers of probabilities overflow, or nothing is left of the policy.
    """
    if temperature != 0 and not 1e-3 <= temperature <= 1e3:
        raise AgentError(f"expected a temperature of 0, or of 0.001 to 1000, got {temperature!r}")
    return temperature


def is_stateless(agent: object) -> bool:
    """Says whether an agent plays from one view only: it keeps no memory and counts no faults."""
    return not isinstance(agent, StatefulAgent) and not hasattr(agent, "faults")
