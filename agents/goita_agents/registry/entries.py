"""Finds the code behind the names of agents: entry points of installed packages, and MODULE:CLASS.

An agent's name is that of an entry point of the group ``goita.agents``, which any package may have.
What it names is imported when the agent is named, so a heavy one costs nothing until then. It is an
``Entry``, or any function of one text, what stands behind the first colon, that returns an agent. A
class or function of the user's is named as MODULE:NAME; the working directory is searched first.
"""

from __future__ import annotations

import os
import pkgutil
import re
import sys
from collections.abc import Callable
from dataclasses import dataclass
from functools import cache
from importlib import import_module
from importlib.metadata import EntryPoint, entry_points
from typing import Any, Final

import numpy.typing as npt

from goita_agents.base import AgentError
from goita_env.agent import is_built_in
from goita_env.views.observation import Observation

GROUP: Final = "goita.agents"
ARGUMENTS: Final = {"file": "PATH", "population": "METHOD-SEED", "exec": "COMMAND"}
"""What stands behind a built-in name, where that is more than options."""

DOTTED: Final = r"[^\W\d]\w*(?:\.[^\W\d]\w*)*"


@cache
def points() -> dict[str, EntryPoint]:
    """Returns the entry points of agents by name, the built-in ones first.

    Of two other packages with one name the first counts; ``check_clear`` tells who asks for it.
    """
    found: dict[str, EntryPoint] = {}
    for one in sorted(entry_points(group=GROUP), key=lambda one: not is_built_in(one)):
        found.setdefault(one.name, one)
    return found


@cache
def check_clear(name: str) -> None:
    """Raises an AgentError if two packages of others have an agent of one name."""
    every = [one for one in entry_points(group=GROUP, name=name) if not is_built_in(one)]
    values = sorted({one.value for one in every})
    if len(values) > 1 and not built_in(name):
        raise AgentError(
            f"expected agents of different names in installed packages, got {name!r} as "
            f"{' and as '.join(values)}"
        )


def built_in(name: str) -> bool:
    """Tells whether a name is of this distribution."""
    return name in points() and is_built_in(points()[name])


def agent_names() -> list[str]:
    """Returns the known agents as they are written: ``greedy``, ``file:PATH``, ``MODULE:CLASS``."""
    found = points()
    if not any(is_built_in(one) for one in found.values()):
        raise AgentError(
            f"expected entry points {GROUP!r} of goita-env, got none: install it again, in a "
            "checkout by pip install -e ."
        )
    shown = [f"{name}:{ARGUMENTS[name]}" if name in ARGUMENTS else name for name in found]
    return [*shown, "MODULE:CLASS"]


def load_own(text: str) -> Callable[..., Any]:
    """Imports a class or function, MODULE:NAME; the working directory is searched first.

    Raises:
        ImportError: if the module or something that it needs is not installed.
        AgentError: if the module has no such class or function.
    """
    if os.getcwd() not in sys.path:
        sys.path.insert(0, os.getcwd())  # python -m puts it there, a script's own folder is
    module, _, name = text.partition(":")
    import_module(module)
    try:
        found: Callable[..., Any] = pkgutil.resolve_name(text)
    except AttributeError as error:
        raise AgentError(f"expected a class or function of {module}, but: {error}") from error
    if not callable(found):
        raise AgentError(f"expected a class or function {name} of {module}, got {found!r}")
    return found


@dataclass(frozen=True)
class ObservationFunction:
    """A function of observations, "MODULE:FUNCTION", that the user had imported.

    It gets zeros and ones, uint8 [N, 512], and returns as many rows of the same kind; they
    show messages, if there are any, but no shown tiles. A row's answer may depend on that row
    alone, and the input may be changed in place.
    """

    name: str
    call: Callable[[Observation], npt.NDArray[Any]]


FUNCTION_HINTS: Final = (ObservationFunction, ObservationFunction | None)
"""Annotations of options that name code; a file may hold no value of one."""


def function_name(text: str) -> str:
    """Returns a text that is MODULE:FUNCTION; an AgentError if it is no such name."""
    if re.fullmatch(rf"{DOTTED}:{DOTTED}", text) is None:
        raise AgentError(f"expected MODULE:FUNCTION, got {text!r}")
    return text


def load_function(text: str) -> ObservationFunction:
    """Imports the function "MODULE:FUNCTION"; the working directory is searched first.

    Raises:
        AgentError: if there is no such module or function.
    """
    try:
        return ObservationFunction(text, load_own(function_name(text)))
    except (ImportError, OSError) as error:
        raise AgentError(f"expected to import {text!r}, but: {error}") from error
