"""Defines the exceptions of the package, a small tree below ``GoitaError``, a ``ValueError``.

Each says what was expected, what came and where, and is raised before anything has changed.
"""

from __future__ import annotations

from collections.abc import Iterator
from contextlib import contextmanager
from importlib.util import find_spec
from pathlib import Path
from typing import Final


class GoitaError(ValueError):
    """The base class of all errors that this package raises on purpose."""


class SettingError(GoitaError):
    """A setting has an invalid value: a rule set, a mode, a number, a seed or a dealer."""


class HandsError(GoitaError):
    """The hands are not a deal of the 32 tiles."""


class ActionError(GoitaError):
    """The actions have the wrong length, type or range."""


class IllegalActionError(ActionError):
    """The rules forbid the action in the position."""


class EpisodeOverError(GoitaError):
    """A step was made when no seat acts: after the end, or before the first reset."""


class StaleTurnError(GoitaError):
    """The view of a turn was first read after the next step, without observations."""


class AgentError(GoitaError):
    """An agent does not exist, cannot be built, or gives an invalid answer."""


class AnswerError(AgentError):
    """The answer of an agent is invalid: not an array of actions, or not probabilities.

    Attributes:
        row: index of the first position with a wrong answer; None: the answer as a whole is wrong.
    """

    def __init__(self, text: str, row: int | None = None) -> None:
        super().__init__(text)
        self.row = row


class ObservationError(GoitaError):
    """The vector is not an observation of this layout version."""


class RecordError(GoitaError):
    """A record is malformed or contains an illegal move; the text names deal and move."""


EXTRAS: Final = {
    "yaml": "records",
    **dict.fromkeys(("PIL", "resvg_py"), "render"),
    **dict.fromkeys(("msgspec", "numba", "safetensors"), "agents"),
    **dict.fromkeys(("docstring_parser", "jinja2", "loky", "markupsafe", "rich"), "play"),
    **dict.fromkeys(("starlette", "threadpoolctl", "tyro", "uvicorn"), "play"),
    **dict.fromkeys(("choix", "matplotlib", "scipy"), "lab"),
    **dict.fromkeys(("pyarrow", "sklearn"), "signals"),
    **dict.fromkeys(("sb3_contrib", "stable_baselines3", "tensorboard", "torch", "tqdm"), "train"),
    "pyspiel": "openspiel",
    "ray": "ray",
}
"""The extra that installs each module which the packages import beyond numpy and PettingZoo."""


def install(extra: str) -> str:
    """Returns the command that installs an extra, in a checkout or from the package index."""
    in_checkout = (Path(__file__).parents[1] / "pyproject.toml").is_file()
    return f"pip install -e '.[{extra}]'" if in_checkout else f"pip install 'goita-env[{extra}]'"


def needs_extra(module: str) -> str:
    """Returns which extra brings a module that is not installed, and how to install it."""
    name = module.partition(".")[0]
    if name not in EXTRAS:
        return f"No module named {module!r}"
    extra = EXTRAS[name]
    return f"No module named {module!r}, which needs the extra [{extra}]: {install(extra)}"


def check_extra(extra: str) -> None:
    """Raises a ModuleNotFoundError, as ``needs_extra`` says it, if an extra is not installed."""
    for module, needed in EXTRAS.items():
        if needed == extra and find_spec(module) is None:
            raise ModuleNotFoundError(needs_extra(module), name=module)


@contextmanager
def naming_extras() -> Iterator[None]:
    """Lets the imports of a ``with`` block fail with the name of the extra that is missing.

    Raises:
        ModuleNotFoundError: as ``needs_extra`` says it.
    """
    try:
        yield
    except ModuleNotFoundError as error:
        if error.name is None or "needs the extra" in str(error):
            raise
        raise ModuleNotFoundError(needs_extra(error.name), name=error.name) from error
