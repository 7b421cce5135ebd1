"""What an agent is and how its answers are read, from ``goita_env.agent``."""

from __future__ import annotations

import os
import traceback
from numbers import Integral

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
from goita_env.agent import copied as copied
from goita_env.agent import is_trusted as is_trusted
from goita_env.agent import plays as plays
from goita_env.agent import read_actions as read_actions
from goita_env.agent import read_probabilities as read_probabilities
from goita_env.agent import sample as sample
from goita_env.agent import sample_at as sample_at
from goita_env.agent import uniform as uniform
from goita_env.arrays import Bool as Bool
from goita_env.arrays import Float as Float
from goita_env.arrays import Int as Int
from goita_env.errors import AgentError as AgentError
from goita_env.errors import AnswerError as AnswerError


def raised(error: BaseException, *, text: bool = True) -> str:
    """Returns an exception of somebody's code on one line: its type, its text if wanted, its place.

    Characters that cannot be printed or written as UTF-8 are replaced, since it may be any text.
    """
    frames = traceback.extract_tb(error.__traceback__)
    place = (
        f" ({os.path.basename(frames[-1].filename)}, line {frames[-1].lineno})" if frames else ""
    )
    try:
        message = f": {error}" if text and str(error) else ""
    except Exception:  # the exception is the user's object, too
        message = ": an exception that cannot be shown"
    line = " ".join(f"{type(error).__name__}{message}{place}".split())
    return "".join(character if character.isprintable() else "\ufffd" for character in line)


def is_whole(number: object) -> bool:
    return isinstance(number, Integral) and not isinstance(number, bool)


def check_temperature(temperature: float) -> float:
    """Returns a policy's temperature; an AgentError if it is not 0 or 0.001 to 1000.

    Outside this range powers of probabilities overflow, or become equal.
    """
    if temperature != 0 and not 1e-3 <= temperature <= 1e3:
        raise AgentError(f"expected a temperature of 0, or of 0.001 to 1000, got {temperature!r}")
    return temperature


def is_stateless(agent: object) -> bool:
    """Returns whether an agent plays from one view only: it has no memory and counts no faults."""
    return not isinstance(agent, StatefulAgent) and not hasattr(agent, "faults")
