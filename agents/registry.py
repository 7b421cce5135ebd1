"""Builds agents from text: ``load_agent("name:option=value,option2=value")``.

============================== ==================================================================
``greedy``                     an agent by its name
``name:worlds=64,search=on``   with options: keyword arguments of its class, by their annotations
``name:base=(other:a=1,b=2)``  an option that is an agent itself; brackets where it has options
``file:PATH``                  everything after the first colon is one argument
============================== ==================================================================

An agent's module is imported when it is named, so a heavy one costs nothing until then. No bot
imports this file: one that needs another is handed the object.
"""

from __future__ import annotations

import inspect
from collections.abc import Callable
from dataclasses import dataclass
from importlib import import_module
from typing import Any, Final, Literal, get_args, get_origin, get_type_hints

from agents.base import Agent, AgentError


@dataclass(frozen=True)
class Entry:
    """Says where an agent comes from."""

    module: str
    """The module that is imported when the agent is named."""
    factory: str
    """A class of it, or "Class.method"."""
    argument: str = ""
    """What the text after the colon is; empty: options of the factory."""

    def load(self) -> Callable[..., Agent]:
        """Imports the module and returns the factory.

        Raises:
            ImportError: if the module or something that it needs is not installed.
        """
        found: Any = import_module(self.module)
        for name in self.factory.split("."):
            found = getattr(found, name)
        factory: Callable[..., Agent] = found
        return factory


AGENTS: Final = {
    "random": Entry("agents.bots.random", "RandomAgent"),
    "greedy": Entry("agents.bots.greedy", "GreedyAgent"),
    "file": Entry("agents.bots.network", "NetworkAgent.load", argument="PATH"),
    "heuristic": Entry("agents.bots.heuristic", "HeuristicAgent"),
    "rollout": Entry("agents.search.rollout", "RolloutAgent"),
    "solver": Entry("agents.search.solver_bot", "SolverAgent"),
    "exec": Entry("agents.external.agent", "ExternalAgent.parse", argument="COMMAND"),
}
"""Every agent by the name before the colon."""

_WORDS: Final = {"on": True, "true": True, "yes": True, "off": False, "false": False, "no": False}


def names() -> list[str]:
    """Returns what ``load_agent`` knows, as it is written: "greedy", "file:PATH"."""
    return [f"{name}:{e.argument}" if e.argument else name for name, e in AGENTS.items()]


def load_agent(spec: str | Agent) -> Agent:
    """Returns the agent that a text describes; an agent is handed back as it is.

    Args:
        spec: "name", "name:option=value,...", "file:PATH", or an object with ``act`` and ``name``.

    Raises:
        AgentError: if there is no such agent or option, a value is of another type, or something
            that it needs is missing; the text lists what there is.
    """
    if not isinstance(spec, str):
        if callable(getattr(spec, "act", None)) and isinstance(getattr(spec, "name", None), str):
            return spec
        raise AgentError(f"expected a text or an object with act() and a name, got {spec!r}")
    name, colon, rest = spec.partition(":")
    entry = AGENTS.get(name)
    if entry is None:
        raise AgentError(f"expected an agent of {', '.join(names())}; got {spec!r}")
    if entry.argument and not rest:
        raise AgentError(f"expected {name}:{entry.argument}, got {spec!r}")
    if colon and not rest:
        raise AgentError(f"expected options after the colon, got {spec!r}")
    try:
        factory = entry.load()
        agent = factory(rest) if entry.argument else factory(**_options(factory, spec, rest))
    except (ImportError, OSError) as error:
        raise AgentError(f"expected to build {spec!r}, but: {error}") from error
    agent.name = spec
    return agent


def _options(factory: Callable[..., Agent], spec: str, text: str) -> dict[str, Any]:
    """Returns the keyword arguments that "option=value,..." stands for.

    Raises:
        AgentError: if an option does not exist, comes twice, is missing, or its value is of
            another type.
    """
    parameters = inspect.signature(factory).parameters
    hints = get_type_hints(factory.__init__ if inspect.isclass(factory) else factory)
    required = [p.name for p in parameters.values() if p.default is p.empty]
    shown = [
        f"{p.name}={'...' if p.name in required else getattr(p.default, 'name', p.default)}"
        for p in parameters.values()
    ]
    known = ", ".join(shown) or "none, it takes no options"
    options: dict[str, Any] = {}
    for part in _split(text):
        key, equals, value = (piece.strip() for piece in part.partition("="))
        if key not in parameters or not equals:
            raise AgentError(f"expected options ({known}), got {part!r} in {spec!r}")
        if key in options:
            raise AgentError(f"expected each option once, got {key!r} twice in {spec!r}")
        try:
            options[key] = _value(hints.get(key, str), value)
        except (KeyError, ValueError) as error:
            hint = hints.get(key)
            wanted = " or ".join(get_args(hint)) or getattr(hint, "__name__", hint)
            raise AgentError(
                f"expected {key}={wanted}, got {value!r} in {spec!r}"
                + (f": {error}" if isinstance(error, AgentError) else "")
            ) from error
    missing = [name for name in required if name not in options]
    if missing:
        raise AgentError(f"expected options ({known}), got none for {missing} in {spec!r}")
    return options


def _split(text: str) -> list[str]:
    """Splits at the commas outside brackets; nothing gives no parts."""
    parts, depth = [""], 0
    for character in text:
        depth += {"(": 1, ")": -1}.get(character, 0)
        if character == "," and depth == 0:
            parts.append("")
        else:
            parts[-1] += character
    return parts if text else []


def _value(hint: Any, text: str) -> Any:
    """Returns an option's text as a value of its annotation.

    Raises:
        KeyError, ValueError: if it is none.
    """
    if hint is bool:
        return _WORDS[text.lower()]
    if hint in (int, float, str):
        return hint(text)
    if hint is Agent:
        bracketed = text.startswith("(") and text.endswith(")")
        return load_agent(text[1:-1] if bracketed else text)
    if get_origin(hint) is Literal and text in get_args(hint):
        return text
    if get_origin(hint) is Literal:
        raise ValueError("none of its choices")
    raise ValueError(f"options of type {hint!r} cannot be given as text")
