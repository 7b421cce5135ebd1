"""Builds agents from text: ``load_agent("name:option=value,option2=value")``.

============================== ==================================================================
``greedy``                     an agent by its name
``name:worlds=64,search=on``   with options: keyword arguments of its class, by their annotations
``name:base=(other:a=1,b=2)``  an option that is an agent itself; brackets where it has options
``file:PATH,temperature=1``    what stands before the options is one argument
``MODULE:CLASS:option=value``  a class of one's own; the working directory is searched first
``mine=greedy``                any of these under a short name, by which results know it
============================== ==================================================================

An agent's module is imported when it is named, so a heavy one costs nothing until then. No bot
imports this file: one that needs another is handed the object.
"""

from __future__ import annotations

import inspect
import os
import pkgutil
import re
import sys
from collections.abc import Callable, Iterable, Iterator
from dataclasses import dataclass
from functools import partial
from hashlib import sha256
from importlib import import_module
from pathlib import Path
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
    options: bool = True
    """Options may follow, after an argument behind a comma."""
    is_own: bool = False
    """It is a class of the user's, named as MODULE:CLASS."""

    def load(self) -> Callable[..., Agent]:
        """Imports the module and returns the factory.

        Raises:
            ImportError: if the module or something that it needs is not installed.
            AgentError: if the module has no such class.
        """
        if self.is_own and os.getcwd() not in sys.path:
            sys.path.insert(0, os.getcwd())  # python -m puts it there, a script's own folder is
        import_module(self.module)
        try:
            factory: Callable[..., Agent] = pkgutil.resolve_name(f"{self.module}:{self.factory}")
        except AttributeError as error:
            raise AgentError(f"expected a class of {self.module}, but: {error}") from error
        if not callable(factory):
            raise AgentError(f"expected a class {self.factory} of {self.module}, got {factory!r}")
        return factory


AGENTS: Final = {
    "random": Entry("agents.bots.random", "RandomAgent"),
    "greedy": Entry("agents.bots.greedy", "GreedyAgent"),
    "file": Entry("agents.bots.network", "NetworkAgent.load", argument="PATH"),
    "heuristic": Entry("agents.bots.heuristic", "HeuristicAgent"),
    "champion": Entry("agents.champion", "load"),
    "rollout": Entry("agents.search.rollout", "RolloutAgent"),
    "solver": Entry("agents.search.solver_bot", "SolverAgent"),
    "exec": Entry("agents.external.agent", "ExternalAgent.parse", "COMMAND", options=False),
}
"""Every agent by the name before the colon."""

_WORDS: Final = {"on": True, "true": True, "yes": True, "off": False, "false": False, "no": False}

_SHORT: Final = re.compile(r"([\w.-]+)=(.*)", re.DOTALL)
"""NAME=SPEC: no colon before the first "="."""

_DOTTED: Final = r"[^\W\d]\w*(?:\.[^\W\d]\w*)*"
_OWN: Final = re.compile(rf"({_DOTTED}):({_DOTTED})(?::(.*))?", re.DOTALL)
"""MODULE:CLASS or MODULE:CLASS:OPTIONS."""


def names() -> list[str]:
    """Returns what ``load_agent`` knows, as it is written: ``greedy``, ``file:PATH``."""
    known = [f"{name}:{e.argument}" if e.argument else name for name, e in AGENTS.items()]
    return [*known, "MODULE:CLASS"]


def short_name(spec: str) -> str:
    """Returns the name by which results know an agent: NAME of "NAME=SPEC", else the text."""
    match = _SHORT.fullmatch(spec)
    return match[1] if match else spec


def check_names(specs: Iterable[str]) -> None:
    """Checks that no two agents have the same name.

    Raises:
        AgentError: if so.
    """
    found: dict[str, str] = {}
    for spec in specs:
        other = found.setdefault(short_name(spec), spec)
        if other != spec:
            raise AgentError(f"expected another name for each agent, got {other!r} and {spec!r}")


def load_agent(spec: str | Agent) -> Agent:
    """Returns the agent that a text describes; an agent is handed back as it is.

    Args:
        spec: "name", "name:option=value,...", "file:PATH", "MODULE:CLASS", each also as
            "NAME=...", or an object with ``act`` and ``name``.

    Raises:
        AgentError: if there is no such agent or option, a value is of another type, or something
            that it needs is missing; the text lists what there is.
    """
    if not isinstance(spec, str):
        if callable(getattr(spec, "act", None)) and isinstance(getattr(spec, "name", None), str):
            return spec
        raise AgentError(f"expected a text or an object with act() and a name, got {spec!r}")
    build = prepare(spec)
    try:
        agent = build()
    except (ImportError, OSError) as error:
        raise AgentError(f"expected to build {spec!r}, but: {error}") from error
    if not callable(getattr(agent, "act", None)):
        raise AgentError(f"expected an agent, with act() (see check_agent), got {spec!r}")
    agent.name = short_name(spec)
    return agent


def prepare(spec: str) -> Callable[[], Agent]:
    """Returns what builds the agent that a text describes; agents in its options are built.

    Raises:
        AgentError: if there is no such agent or option, or a value is of another type.
    """
    entry, text = _parse(spec)
    try:
        factory = entry.load()
    except (ImportError, OSError) as error:
        missing = error.name if isinstance(error, ModuleNotFoundError) else None
        if entry.is_own and missing and f"{entry.module}.".startswith(f"{missing}."):
            raise AgentError(
                f"expected an agent of {', '.join(names())}; got {spec!r}, and no module "
                f"{missing!r} in {os.getcwd()!r} or installed"
            ) from error
        raise AgentError(f"expected to build {spec!r}, but: {error}") from error
    if not entry.argument:
        return partial(factory, **_options(factory, spec, text))
    argument, options = _split_argument(entry, factory, text)
    return partial(factory, argument, **_options(factory, spec, options, given=1))


def check_shipped(spec: str, where: str) -> str:
    """Returns an agent's text that a file holds, after checking that it names no code or file.

    A file may come from somebody else. What it may name are the agents of this repository, by
    their names and options; a path, a command or a class of one's own must be given by the user.

    Args:
        spec: the text.
        where: the file and the place in it, for the error.

    Raises:
        AgentError: if it names anything else, also inside an option.
    """
    match = _SHORT.fullmatch(spec)
    body = match[2] if match else spec
    name, _, text = body.partition(":")
    entry = AGENTS.get(name)
    if entry is None or entry.argument:
        known = ", ".join(name for name, entry in AGENTS.items() if not entry.argument)
        raise AgentError(
            f"expected one of the agents {known} in {where}, got {spec!r}: a file may not name "
            "paths, commands or classes; give the agent on the command line"
        )
    hints = _hints(entry.load()) if text else {}
    for part in _split(text):
        key, _, value = (piece.strip() for piece in part.partition("="))
        if hints.get(key) is Agent:
            check_shipped(_unbracketed(value), where)
        elif hints.get(key) is str or key not in hints:
            raise AgentError(f"expected options that an agent has in {where}, got {part!r}")
    return spec


def is_own(spec: str) -> bool:
    """Tells whether an agent is of a class of one's own, or one in its options is.

    No such class is imported to find out: it would run here what may belong in another process.

    Raises:
        AgentError, ImportError: if the text names no agent, or one that is not installed.
    """
    return any(entry.is_own for entry, _ in _all_in(spec))


def source_hash(spec: str) -> str | None:
    """Returns the SHA-256 of the file with the class that an agent is of, if it is one's own.

    Agents that are options of it count, too; None if none of them is.

    Raises:
        AgentError, ImportError: if one cannot be found.
    """
    files = {inspect.getsourcefile(entry.load()) for entry in _own_in(spec)}
    data = [Path(file).read_bytes() for file in sorted(filter(None, files))]
    return sha256(b"".join(data)).hexdigest() if data else None


def content_hash(spec: str) -> str | None:
    """Returns a SHA-256 of all files of one's own that an agent is read from: classes, networks.

    Agents that are options of it count, too; None if it is of this repository alone.

    Raises:
        AgentError, ImportError, OSError: if one cannot be found.
    """
    networks = [
        sha256(Path(_split_argument(entry, entry.load(), text)[0]).read_bytes()).hexdigest()
        for entry, text in _all_in(spec)
        if entry is AGENTS["file"]
    ]
    found = [one for one in (source_hash(spec), *networks) if one is not None]
    return (
        sha256(" ".join(found).encode()).hexdigest() if len(found) > 1 else next(iter(found), None)
    )


def network_file(spec: str) -> str | None:
    """Returns the path of "file:PATH,...", None for other agents."""
    entry, text = _parse(spec)
    return _split_argument(entry, entry.load(), text)[0] if entry is AGENTS["file"] else None


def _parse(spec: str) -> tuple[Entry, str]:
    """Returns where an agent comes from, and the text behind it.

    Raises:
        AgentError: if the text names none, or an argument or options are missing.
    """
    match = _SHORT.fullmatch(spec)
    body = match[2] if match else spec
    name, colon, text = body.partition(":")
    entry, own = AGENTS.get(name), _OWN.fullmatch(body)
    if entry is None and own is not None:
        entry, colon, text = Entry(own[1], own[2], is_own=True), own[3] is not None, own[3] or ""
    if entry is None:
        hint = f"; a policy's file is file:{spec}" if Path(spec).is_file() else ""
        raise AgentError(f"expected an agent of {', '.join(names())}; got {spec!r}{hint}")
    if entry.argument and not text:
        raise AgentError(f"expected {name}:{entry.argument}, got {spec!r}")
    if colon and not text:
        raise AgentError(f"expected options after the colon, got {spec!r}")
    return entry, text


def _own_in(spec: str) -> Iterator[Entry]:
    """Yields the classes of one's own that an agent and those in its options are of."""
    yield from (entry for entry, _ in _all_in(spec) if entry.is_own)


def _all_in(spec: str) -> Iterator[tuple[Entry, str]]:
    """Yields where an agent and those in its options come from, and the text behind each.

    A class of one's own is imported once the next is asked for, not before.
    """
    entry, text = _parse(spec)
    yield entry, text
    if not entry.argument and text:
        hints = _hints(entry.load())
        for part in _split(text):
            key, _, value = (piece.strip() for piece in part.partition("="))
            if hints.get(key) is Agent:
                yield from _all_in(_unbracketed(value))


def _split_argument(entry: Entry, factory: Callable[..., Agent], text: str) -> tuple[str, str]:
    """Splits "PATH,option=value" behind the path, which may hold commas itself."""
    if not entry.options:
        return text, ""
    parts, known = text.split(","), inspect.signature(factory).parameters
    end = len(parts)
    while parts[end - 1].partition("=")[0].strip() in known and end > 1:
        if Path(",".join(parts[:end])).exists():
            break
        end -= 1
    return ",".join(parts[:end]), ",".join(parts[end:])


def _options(factory: Callable[..., Agent], spec: str, text: str, given: int = 0) -> dict[str, Any]:
    """Returns the keyword arguments that "option=value,..." stands for.

    Args:
        factory: what they are handed to.
        spec: the whole text, for errors.
        text: the options; empty for none.
        given: how many arguments come otherwise.

    Raises:
        AgentError: if an option does not exist, comes twice, is missing, or its value is of
            another type.
    """
    every = list(inspect.signature(factory).parameters.values())[given:]
    parameters = {p.name: p for p in every if p.kind not in (p.VAR_POSITIONAL, p.VAR_KEYWORD)}
    hints = _hints(factory) if text else {}
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


def _hints(factory: Callable[..., Agent]) -> dict[str, Any]:
    """Returns the annotations of what a factory takes."""
    return get_type_hints(factory.__init__ if inspect.isclass(factory) else factory)


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


def _unbracketed(text: str) -> str:
    """Returns the text of an agent among options without its brackets."""
    return text[1:-1] if text.startswith("(") and text.endswith(")") else text


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
        return load_agent(_unbracketed(text))
    if get_origin(hint) is Literal and text in get_args(hint):
        return text
    if get_origin(hint) is Literal:
        raise ValueError("none of its choices")
    raise ValueError(f"options of type {hint!r} cannot be given as text")
