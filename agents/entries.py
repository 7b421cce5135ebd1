"""Locates the code behind the names of agents, and the functions that their options name.

A module is imported when its agent is named, so a heavy one costs nothing until then. A user's
class or function is named as MODULE:NAME; the working directory is searched first.
"""

from __future__ import annotations

import os
import pkgutil
import re
import sys
from collections.abc import Callable, Sequence
from dataclasses import dataclass
from importlib import import_module
from typing import Any, Final

from agents.base import AgentError
from agents.transforms import ObservationFunction, Transform, read_texts


@dataclass(frozen=True)
class Entry:
    """Locates the code that builds an agent, or a function among its options."""

    module: str  #: The module, imported when the agent is named.
    factory: str  #: Its "Class" or "Class.method".
    argument: str = ""
    """Name of the text after the colon; empty: the text is options of the factory."""
    options: bool = True  #: Options may follow the argument, after a comma.
    is_own: bool = False  #: It is a user's class, named as MODULE:CLASS.
    is_outside: bool = False  #: Its argument names a file or a command, of anybody.
    is_network: bool = False  #: Built without options it is a network.

    def load(self) -> Callable[..., Any]:
        """Imports the module and returns the factory.

        Raises:
            ImportError: if the module or something that it needs is not installed.
            AgentError: if the module has no such class or function.
        """
        if self.is_own and os.getcwd() not in sys.path:
            sys.path.insert(0, os.getcwd())  # python -m puts it there, a script's own folder is
        import_module(self.module)
        try:
            factory: Callable[..., Any] = pkgutil.resolve_name(f"{self.module}:{self.factory}")
        except AttributeError as error:
            raise AgentError(
                f"expected a class or function of {self.module}, but: {error}"
            ) from error
        if not callable(factory):
            raise AgentError(
                f"expected a class or function {self.factory} of {self.module}, got {factory!r}"
            )
        return factory


AGENTS: Final = {
    "random": Entry("goita_env.agent", "RandomAgent"),
    "greedy": Entry("agents.bots.greedy", "GreedyAgent"),
    "file": Entry("agents.bots.network", "NetworkAgent.load", "PATH", is_outside=True),
    "heuristic": Entry("agents.bots.heuristic", "HeuristicAgent"),
    "champion": Entry("agents.champion", "load", is_network=True),
    "people": Entry("agents.people", "load", is_network=True),
    "population": Entry("agents.population", "load", "METHOD-SEED", is_network=True),
    "rollout": Entry("agents.search.rollout", "RolloutAgent"),
    "solver": Entry("agents.search.solver_bot", "SolverAgent"),
    "best_response": Entry("agents.search.best_response", "BestResponseAgent"),
    "masked": Entry("agents.bots.masked", "mask"),
    "plain": Entry("agents.bots.silent", "PlainAgent.of"),
    "muted": Entry("agents.bots.silent", "MutedAgent.of"),
    "exec": Entry(
        "agents.external.agent", "ExternalAgent.parse", "COMMAND", options=False, is_outside=True
    ),
}
"""Every agent by the name before the colon."""

FUNCTION_HINTS: Final = (ObservationFunction, ObservationFunction | None)
"""Annotations of options that name code; a file may hold no value of one."""

DOTTED: Final = r"[^\W\d]\w*(?:\.[^\W\d]\w*)*"


def function_entry(text: str) -> Entry:
    """Locates the function "MODULE:FUNCTION"; an AgentError if the text is no such name."""
    match = re.fullmatch(rf"({DOTTED}):({DOTTED})", text)
    if match is None:
        raise AgentError(f"expected MODULE:FUNCTION, got {text!r}")
    return Entry(match[1], match[2], is_own=True)


def load_function(text: str) -> ObservationFunction:
    """Imports the function "MODULE:FUNCTION"; the working directory is searched first.

    Raises:
        AgentError: if there is no such module or function.
    """
    try:
        return ObservationFunction(text, function_entry(text).load())
    except (ImportError, OSError) as error:
        raise AgentError(f"expected to import {text!r}, but: {error}") from error


def load_transform(texts: Sequence[str], where: str) -> Transform:
    """Returns the transform of these names of slices and at most one MODULE:FUNCTION, the last.

    Raises:
        AgentError: if the texts, given in ``where``, are others, or there is no such function.
    """
    named = texts[-1:] if texts and ":" in texts[-1] else []
    return read_texts(texts, load_function(named[0]) if named else None, where)
