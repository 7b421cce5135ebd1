"""Builds agents from text: ``load_agent("name:option=value,option2=value")``.

============================== ==================================================================
``greedy``                     an agent by its name
``name:worlds=64,search=on``   with options: keyword arguments of its class, by their annotations
``name:base=(other:a=1,b=2)``  an option that is an agent itself; brackets where it has options
``name:types=(a;b:c=1)``       an option that is a list of agents, ``()`` for none
``masked:base=a,hide=(b;c)``   an option that is a list of names
``population:selfplay-3``      a member of the population, with options after a comma
``file:PATH,transform=M:F``    an option that is a function of your own, MODULE:FUNCTION
``file:PATH,temperature=1``    what stands before the options is one argument
``MODULE:CLASS:option=value``  a class of your own; the working directory is searched first
``mine=greedy``                any of these under a short name, which results show
============================== ==================================================================

Entry points list the names (``goita_agents.registry.entries``). No bot imports this package: a bot
that needs another is given the object.
"""

from __future__ import annotations

import inspect
import os
import re
import traceback
from collections.abc import Callable, Iterable, Iterator
from dataclasses import dataclass
from functools import partial
from typing import Any, Final, Literal, get_args, get_origin, get_type_hints

from goita_agents.base import Agent, AgentError
from goita_agents.registry.entries import (
    ARGUMENTS,
    DOTTED,
    FUNCTION_HINTS,
    agent_names,
    built_in,
    check_clear,
    function_name,
    load_function,
    load_own,
    points,
)
from goita_agents.registry.options import check_size, did_you_mean, split, unbracketed
from goita_env.errors import install

_WORDS: Final = {"on": True, "true": True, "yes": True, "off": False, "false": False, "no": False}

SHORT: Final = re.compile(r"([\w.-]+)=(.*)", re.DOTALL)
"""NAME=SPEC: no colon before the first "="."""

_OWN: Final = re.compile(rf"({DOTTED}):({DOTTED})(?::(.*))?", re.DOTALL)
"""MODULE:CLASS or MODULE:CLASS:OPTIONS."""


@dataclass(frozen=True)
class Entry:
    """A name of agents, with the function that builds them.

    An entry point names an instance, or a function of one text.
    """

    factory: Callable[..., Any]
    """Returns an agent; its keyword arguments are the options, by their annotations."""
    argument: str = ""
    """What the text behind the colon is, to which options may be added; empty: options alone."""
    options: bool = True  #: Options may follow the argument, after a comma.
    is_outside: bool = False  #: The argument names a file or a command, of anybody.
    digest: Callable[..., str] | None = None
    """Returns the SHA-256 of the network that it is without options, given the argument if any."""
    expand: Callable[[str], tuple[str, ...] | None] | None = None
    """Returns the texts of the agents that an argument stands for; None: for one agent."""

    def __call__(self, text: str = "") -> Any:
        """Builds the agent of the text that stands behind the name; an AgentError if it is none."""
        return build(self, text, text)()


@dataclass(frozen=True)
class Named:
    """An agent's text, without an import of what it stands for.

    Attributes:
        name: of the entry point, or MODULE:CLASS.
        text: argument and options behind it.
        is_own: it is not of this distribution.
    """

    name: str
    text: str
    is_own: bool

    def load(self) -> Entry:
        """Imports what the name stands for.

        Raises:
            ImportError: if a module or something that it needs is not installed.
            AgentError: if it is no class or function.
        """
        point = points().get(self.name)
        found = load_own(self.name) if point is None else point.load()
        if isinstance(found, Entry):
            return found
        if point is not None:
            return Entry(found, argument="TEXT", options=False)
        return Entry(found)


def short_name(spec: str) -> str:
    """Returns an agent's name in results: NAME of "NAME=SPEC", else the text."""
    match = SHORT.fullmatch(spec)
    return match[1] if match else spec


def load_agent(spec: str | Agent | type) -> Agent:
    """Builds the agent that a text describes; an agent is returned as it is.

    Args:
        spec: "name", "name:option=value,...", "file:PATH", "MODULE:CLASS", each also as
            "NAME=...", an object with ``act``, or its class, which is built without arguments. One
            without a ``name`` gets that of its class.

    Raises:
        AgentError: if there is no such agent or option, a value is of another type, something
            that it needs is missing, or its code raises; the text lists what there is.
    """
    if not isinstance(spec, str) and not callable(getattr(spec, "act", None)):
        raise AgentError(f"expected a text or an object with act(), got {spec!r}")
    if not isinstance(spec, str | type):
        return _with_name(spec, type(spec).__name__)
    try:
        agent = prepare(spec)() if isinstance(spec, str) else spec()
    except (ImportError, OSError) as error:
        raise AgentError(f"expected to build {spec!r}, but: {error}") from error
    except AgentError:
        raise
    except (Exception, SystemExit) as error:  # whatever code of somebody else does
        last = traceback.extract_tb(error.__traceback__)[-1]
        raise AgentError(
            f"expected to build {spec!r}, but it raised {type(error).__name__}: {error} "
            f"({os.path.basename(last.filename)}, line {last.lineno})"
        ) from error
    if not callable(getattr(agent, "act", None)):
        raise AgentError(f"expected an agent, with act() (see check_agent), got {spec!r}")
    if isinstance(spec, type):
        return _with_name(agent, spec.__name__)
    agent.name = short_name(spec)
    if is_own(spec):
        agent.by_seat = True  # type: ignore[union-attr]  # optional in goita_env.agent.Agent
    return agent


def _with_name(agent: Agent, name: str) -> Agent:
    if not isinstance(getattr(agent, "name", None), str):
        agent.name = name
    return agent


def prepare(spec: str) -> Callable[[], Agent]:
    """Returns a function that builds the agent of a text; agents among its options are built now.

    It raises an AgentError as ``load_agent`` does.
    """
    named = parse(spec)
    try:
        entry = named.load()
    except (ImportError, OSError) as error:
        missing = error.name if isinstance(error, ModuleNotFoundError) else None
        if named.is_own and missing and f"{named.name}.".startswith((f"{missing}.", f"{missing}:")):
            raise AgentError(
                f"expected an agent of {', '.join(agent_names())}; got {spec!r}, and no module "
                f"{missing!r} in {os.getcwd()!r} or installed{did_you_mean(missing, points())}"
            ) from error
        hint = f"; {install('agents')}" if missing and not named.is_own else ""
        raise AgentError(f"expected to build {spec!r}, but: {error}{hint}") from error
    return build(entry, named.text, spec)


def build(entry: Entry, text: str, spec: str) -> Callable[[], Agent]:
    """Returns a function that builds an entry's agent; ``spec``: the whole text, for errors."""
    if not entry.argument:
        return partial(entry.factory, **_options(entry.factory, spec, text))
    argument, options = split_argument(entry, text)
    return partial(entry.factory, argument, **_options(entry.factory, spec, options, given=1))


def expand(specs: Iterable[str]) -> tuple[str, ...]:
    """Returns texts with the sets among them replaced by the agents of the sets.

    Where a set stands (``population:train``), no text is listed twice.
    """
    texts = tuple(specs)
    members = {text: _members(text) for text in texts}
    if not any(members.values()):
        return texts
    return tuple(dict.fromkeys(one for text in texts for one in members[text] or (text,)))


def _members(text: str) -> tuple[str, ...] | None:
    name, _, argument = text.partition(":")
    if name not in ARGUMENTS:
        return None
    several = Named(name, argument, False).load().expand
    return None if several is None else several(argument)


def unnamed(spec: str) -> str:
    """Returns an agent's text without its name: SPEC of "NAME=SPEC"."""
    check_size(spec)
    match = SHORT.fullmatch(spec)
    return match[2] if match else spec


def parse(spec: str) -> Named:
    """Returns the name in a text, and the argument and options behind it; imports nothing.

    Raises:
        AgentError: if the text is that of no agent; it lists what there is.
    """
    whole = unnamed(spec)
    name, colon, text = whole.partition(":")
    own = _OWN.fullmatch(whole)
    if name in points():
        check_clear(name)
        found = Named(name, text, not built_in(name))
    elif own is not None:
        colon, text = ("", "") if own[3] is None else (":", own[3])
        found = Named(f"{own[1]}:{own[2]}", text, True)
    else:
        is_file = os.path.isfile(spec)  # no pathlib: it raises for a name that is too long
        hint = f"; a policy's file is file:{spec}" if is_file else did_you_mean(name, points())
        raise AgentError(f"expected an agent of {', '.join(agent_names())}; got {spec!r}{hint}")
    if name in ARGUMENTS and not text:
        raise AgentError(f"expected {name}:{ARGUMENTS[name]}, got {spec!r}")
    if colon and not text:
        raise AgentError(f"expected options after the colon, got {spec!r}")
    return found


def every_part(spec: str) -> Iterator[Named | str]:
    """Yields an agent, and agents and functions (MODULE:FUNCTION) among its options.

    A user's class is imported when the next one is requested, not before.
    """
    named = parse(spec)
    yield named
    for _, hint, value in typed_options(named):
        for inner in agents_in(hint, value):
            yield from every_part(inner)
        if hint in FUNCTION_HINTS:
            yield function_name(value)


def typed_options(named: Named) -> Iterator[tuple[str, Any, str]]:
    """Yields each option's text, its annotation (None: no such option) and its value."""
    if not named.text:
        return
    entry, text = named.load(), named.text
    if not entry.options:
        return
    if entry.argument:
        text = split_argument(entry, text)[1]
    hints = _hints(entry.factory) if text else {}
    for part in split(text):
        key, _, value = (piece.strip() for piece in part.partition("="))
        yield part, hints.get(key), value


def split_argument(entry: Entry, text: str) -> tuple[str, str]:
    """Splits "PATH,option=value" after the path, which may contain commas."""
    if not entry.options:
        return text, ""
    parts, known = text.split(","), inspect.signature(entry.factory).parameters
    end = len(parts)
    while parts[end - 1].partition("=")[0].strip() in known and end > 1:
        if os.path.exists(",".join(parts[:end])):
            break
        end -= 1
    return ",".join(parts[:end]), ",".join(parts[end:])


def _options(factory: Callable[..., Agent], spec: str, text: str, given: int = 0) -> dict[str, Any]:
    """Returns the keyword arguments of a factory that "option=value,..." stands for.

    ``spec`` is the whole text, for errors; the first ``given`` arguments come otherwise.
    """
    every = list(inspect.signature(factory).parameters.values())[given:]
    parameters = {p.name: p for p in every if p.kind not in (p.VAR_POSITIONAL, p.VAR_KEYWORD)}
    hints = _hints(factory) if text else {}
    required = [p.name for p in parameters.values() if p.default is p.empty]
    shown = [
        f"{p.name}={'...' if p.name in required else _shown(p.default)}"
        for p in parameters.values()
    ]
    known = ", ".join(shown) or "none, it takes no options"
    options: dict[str, Any] = {}
    for part in split(text):
        key, equals, value = (piece.strip() for piece in part.partition("="))
        if key not in parameters or not equals:
            near = "" if key in parameters else did_you_mean(key, parameters)
            raise AgentError(f"expected options ({known}), got {part!r} in {spec!r}{near}")
        if key in options:
            raise AgentError(f"expected each option once, got {key!r} twice in {spec!r}")
        try:
            options[key] = _value(hints.get(key, str), value)
        except (KeyError, ValueError) as error:
            hint = hints.get(key)
            wanted = " or ".join(get_args(hint)) if get_origin(hint) is Literal else _kind(hint)
            raise AgentError(
                f"expected {key}={wanted}, got {value!r} in {spec!r}"
                + (f": {error}" if isinstance(error, AgentError) else "")
            ) from error
    if missing := [name for name in required if name not in options]:
        raise AgentError(f"expected options ({known}), got none for {missing} in {spec!r}")
    return options


def _shown(default: Any) -> str:
    if isinstance(default, tuple):
        return f"({';'.join(map(_shown, default))})"
    return str(getattr(default, "name", default))


def _hints(factory: Callable[..., Agent]) -> dict[str, Any]:
    return get_type_hints(factory.__init__ if inspect.isclass(factory) else factory)


def _kind(hint: Any) -> str:
    """Returns what the value of an option is, in a word."""
    if hint in FUNCTION_HINTS:
        return "MODULE:FUNCTION"
    return "(A;B;...)" if get_origin(hint) is tuple else str(getattr(hint, "__name__", hint))


def agents_in(hint: Any, value: str) -> list[str]:
    """Returns the texts of the agents that an option names; none for one of another kind."""
    if hint is Agent:
        return [unbracketed(value)]
    if hint == tuple[Agent, ...]:
        return list(expand(unbracketed(one.strip()) for one in split(unbracketed(value), ";")))
    return []


def _value(hint: Any, text: str) -> Any:
    """Converts an option's text by its annotation; raises a KeyError or ValueError if it cannot."""
    if hint is bool:
        return _WORDS[text.lower()]
    if hint in (int, float, str):
        return hint(text)
    if hint == tuple[Agent, ...]:
        return tuple(map(load_agent, agents_in(hint, text)))
    if hint is Agent:
        return load_agent(unbracketed(text))
    if hint == tuple[str, ...]:
        return tuple(part.strip() for part in split(unbracketed(text), ";"))
    if hint in FUNCTION_HINTS:
        return load_function(unbracketed(text))
    if get_origin(hint) is Literal and text in get_args(hint):
        return text
    raise ValueError(f"expected a text for {hint!r}, got {text!r}")


def is_own(spec: str) -> bool:
    """Returns whether an agent, or one among its options, is of a user's class or function.

    Nothing of the user's is imported to find out, because that would run its code in this process.
    """
    return any(isinstance(part, str) or part.is_own for part in every_part(spec))
