"""Builds agents from text: ``load_agent("name:option=value,option2=value")``.

============================== ==================================================================
``greedy``                     an agent by its name
``name:worlds=64,search=on``   with options: keyword arguments of its class, by their annotations,
                               and the fields of one that is a dataclass
``name:base=(other:a=1,b=2)``  an option that is an agent itself; brackets where it has options
``name:types=(a;b:c=1)``       an option that is a list of agents, ``()`` for none
``masked:base=a,hide=(b;c)``   an option that is a list of names
``population:selfplay-3``      a member of the population, with options after a comma
``file:PATH,temperature=1``    the text before the options is one argument
``runs/NAME``                  the policy of a training's folder; options after a comma
``MODULE:CLASS:option=value``  a class of your own; the working directory is searched first
``mine=greedy``                any of these under a short name, which results show
============================== ==================================================================

A name is that of an entry point of the group ``goita.agents``, which any package may have. The
object of the entry point is imported when the agent is named, so a heavy agent costs nothing until
then. The object is an ``Entry``, or a function that returns an agent, given the text behind the
first colon. Bots import only ``Entry`` from this module: a bot that needs another is given the
object.

All rules of these texts are in this one file, since building and checking read them alike.
"""

from __future__ import annotations

import inspect
import os
import pkgutil
import re
import sys
from collections.abc import Callable, Iterable, Iterator, Set
from dataclasses import dataclass, fields, is_dataclass, replace
from functools import cache
from importlib import import_module
from importlib.metadata import EntryPoint, entry_points
from inspect import Parameter
from typing import Any, Final, Literal, get_args, get_origin, get_type_hints

from goita_agents.base import (
    Agent,
    AgentError,
    HasTemperature,
    PlaysInformed,
    Policy,
    RedealObserver,
    StatefulAgent,
    is_stateless,
    plays,
    raised,
)
from goita_env.agent import is_built_in
from goita_env.errors import naming_extras
from goita_env.information import PLAIN, InformationStructure

GROUP: Final = "goita.agents"
PROGRAM: Final = "exec"
"""The name of agents that are external programs."""

ARGUMENTS: Final = {"file": "PATH", "population": "METHOD-SEED", PROGRAM: "COMMAND"}
"""The argument behind a built-in name, where there is one."""

RUN_POLICY: Final = "policy.safetensors"
"""The file of the policy in a training's folder."""

MAX_TEXT: Final = 2_000
"""Most characters of an agent's text, so that agents as options are not nested too deep."""

_SWITCHES: Final = {
    "on": True,
    "true": True,
    "yes": True,
    "off": False,
    "false": False,
    "no": False,
}

_SHORT: Final = re.compile(r"([\w.-]+)=(.*)", re.DOTALL)
"""NAME=SPEC: no colon before the first "="."""

_DOTTED: Final = r"[^\W\d]\w*(?:\.[^\W\d]\w*)*"
_OWN: Final = re.compile(rf"({_DOTTED}:{_DOTTED})(?::(.*))?", re.DOTALL)
"""MODULE:CLASS or MODULE:CLASS:OPTIONS."""


@dataclass(frozen=True)
class Entry:
    """A name of agents, with the function that builds them."""

    factory: Callable[..., Any]
    """Returns an agent; its keyword arguments are the options, by their annotations."""
    argument: str = ""
    """Describes the text behind the colon, before the options; empty: there are only options."""
    options: bool = True  #: Options may follow the argument, after a comma.
    is_outside: bool = False  #: The argument names a file or a command, which may be anybody's.
    digest: Callable[..., str] | None = None
    """Returns the SHA-256 of the agent's network, given the argument if there is one."""
    expand: Callable[[str], tuple[str, ...] | None] | None = None
    """Returns the texts of the agents that an argument stands for; None: for one agent."""


@cache
def entry_points_by_name() -> dict[str, EntryPoint]:
    """Returns the entry points of agents by name, the built-in ones first.

    Of two other packages with the same name the first counts.
    """
    point_by_name: dict[str, EntryPoint] = {}
    for point in sorted(entry_points(group=GROUP), key=lambda point: not is_built_in(point)):
        point_by_name.setdefault(point.name, point)
    return point_by_name


def agent_names() -> list[str]:
    """Returns the known agents as they are written: ``greedy``, ``file:PATH``, ``MODULE:CLASS``."""
    names = [
        f"{name}:{ARGUMENTS[name]}" if name in ARGUMENTS else name
        for name in entry_points_by_name()
    ]
    return [*names, "MODULE:CLASS"]


@dataclass(frozen=True)
class Named:
    """An agent's text, taken apart without importing the agent.

    Attributes:
        spec: the whole text, for errors.
        name: of the entry point, or MODULE:CLASS.
        text: argument and options behind the name.
        is_own: the agent is not of this distribution.
    """

    spec: str
    name: str
    text: str
    is_own: bool

    def load(self) -> Entry:
        """Imports the entry of the name; an AgentError if it is not a class or a function."""
        point = entry_points_by_name().get(self.name)
        entry = _load_own(self.name) if point is None else point.load()
        if isinstance(entry, Entry):
            return entry
        if point is not None:
            return Entry(entry, argument="TEXT", options=False)
        return Entry(entry)

    def split(self) -> tuple[tuple[str, ...], str]:
        """Returns the argument, if there is one, and the options; a path may contain commas."""
        entry = self.load()
        if not entry.argument:
            return (), self.text
        if not entry.options:
            return (self.text,), ""
        parts, parameters = self.text.split(","), inspect.signature(entry.factory).parameters
        # Options are the last parts that begin like a parameter, unless such a file exists.
        end = len(parts)
        while parts[end - 1].partition("=")[0].strip() in parameters and end > 1:
            if os.path.exists(",".join(parts[:end])):
                break
            end -= 1
        return (",".join(parts[:end]),), ",".join(parts[end:])

    def options(self) -> Iterator[tuple[str, Any, str]]:
        """Yields each option's text, its annotation (None: no such option) and its value."""
        text = self.split()[1] if self.text else ""
        options = options_of(self.load().factory) if text else {}
        for part in split_text(text):
            key, _, value = (piece.strip() for piece in part.partition("="))
            yield part, options[key].hint if key in options else None, value

    def agents(self) -> Iterator[str]:
        """Yields the texts of the agents among the options."""
        for _, hint, value in self.options():
            yield from _agents_in(hint, value)


_LOADED: Final[dict[str, Set[str]]] = {}
"""By the name of a user's module, the modules that its first import loaded."""


def loaded_with(module: str) -> Set[str]:
    """Returns the names of the modules that importing a user's module loaded."""
    return _LOADED.get(module, frozenset())


def _load_own(text: str) -> Callable[..., Any]:
    """Imports a class or function, MODULE:NAME; the working directory is searched first."""
    if os.getcwd() not in sys.path:
        sys.path.insert(0, os.getcwd())  # as python -m does; a script has only its own folder there
    module, _, name = text.partition(":")
    before = set(sys.modules)
    import_module(module)
    if module not in before:
        _LOADED[module] = sys.modules.keys() - before
    try:
        factory: Callable[..., Any] = pkgutil.resolve_name(text)
    except AttributeError as error:
        raise AgentError(f"expected a class or function of {module}, but: {error}") from error
    if not callable(factory):
        raise AgentError(f"expected a class or function {name} of {module}, got {factory!r}")
    return factory


# ------------------------------------------------------------------------------------ reading texts


def short_name(spec: str) -> str:
    """Returns an agent's name in results: NAME of "NAME=SPEC", else the text."""
    match = _SHORT.fullmatch(spec)
    return match[1] if match else spec


def unnamed(spec: str) -> str:
    """Returns an agent's text without its name: SPEC of "NAME=SPEC"."""
    match = _SHORT.fullmatch(spec)
    return match[2] if match else spec


def parse_spec(spec: str) -> Named:
    """Returns the name in a text, and the argument and options behind it; imports nothing."""
    if len(spec) > MAX_TEXT:
        raise AgentError(
            f"expected at most {MAX_TEXT} characters of an agent's text, got {len(spec)}"
        )
    whole = unnamed(spec)
    name, colon, text = whole.partition(":")
    if name in entry_points_by_name():
        is_foreign = not is_built_in(entry_points_by_name()[name])
        named = Named(spec, name, text, is_own=is_foreign)
    elif policy := _policy_of_run(whole):
        named = Named(spec, "file", policy, is_own=False)
    elif own := _OWN.fullmatch(whole):
        colon, text = ("", "") if own[2] is None else (":", own[2])
        named = Named(spec, own[1], text, is_own=True)
    else:
        hint = f"; a policy's file is file:{spec}" if os.path.isfile(spec) else ""
        if os.path.isdir(spec):
            hint = f"; a training's folder needs {RUN_POLICY}"
        raise AgentError(f"expected an agent of {', '.join(agent_names())}; got {spec!r}{hint}")
    if name in ARGUMENTS and not text:
        raise AgentError(f"expected {name}:{ARGUMENTS[name]}, got {spec!r}")
    if colon and not text:
        raise AgentError(f"expected options after the colon, got {spec!r}")
    return named


def _policy_of_run(text: str) -> str:
    """Returns the policy's file of a training's folder, and the options behind the folder.

    The text is empty if there is no such folder or no such file in it.
    """
    folder, comma, options = text.partition(",")
    policy = os.path.join(folder, RUN_POLICY)
    return f"{policy}{comma}{options}" if folder and os.path.isfile(policy) else ""


def every_part(spec: str) -> Iterator[Named]:
    """Yields an agent, and the agents among its options.

    A user's class is imported only when the next agent is requested.
    """
    named = parse_spec(spec)
    yield named
    for inner in named.agents():
        yield from every_part(inner)


def is_own(spec: str) -> bool:
    """Returns whether an agent, or an agent among its options, is of a user's class or function.

    No module of the user is imported for it, because that would run its code in this process.
    """
    return any(part.is_own for part in every_part(spec))


def expand(specs: Iterable[str]) -> tuple[str, ...]:
    """Returns texts with the sets among them replaced by the agents of the sets.

    If there is a set (``population:train``), no text is listed twice.
    """
    texts = tuple(specs)
    members = {text: _members(text) for text in texts}
    if not any(members.values()):
        return texts
    return tuple(dict.fromkeys(member for text in texts for member in members[text] or (text,)))


def _members(text: str) -> tuple[str, ...] | None:
    name, _, argument = text.partition(":")
    if name not in ARGUMENTS:
        return None
    expand_argument = Named(text, name, argument, is_own=False).load().expand
    return None if expand_argument is None else expand_argument(argument)


def split_text(text: str, separator: str = ",") -> list[str]:
    """Splits at the separators outside brackets."""
    parts, depth, start = [], 0, 0
    for place, character in enumerate(text):
        if character == separator and depth == 0:
            parts.append(text[start:place])
            start = place + 1
        elif character in "()":
            depth += 1 if character == "(" else -1
    return [*parts, text[start:]] if text else []


def _unbracketed(text: str) -> str:
    """Returns a text without the brackets around it."""
    return text[1:-1] if text.startswith("(") and text.endswith(")") else text


# ----------------------------------------------------------------------------------------- building


def load_agent(spec: str | Agent | type) -> Agent:
    """Builds the agent that a text describes; an agent is returned as it is.

    Args:
        spec: "name", "name:option=value,...", "file:PATH", "MODULE:CLASS", each also as
            "NAME=...", an object with ``act``, or its class, which is built without arguments. An
            object without a ``name`` gets that of its class.

    Raises:
        AgentError: if there is no such agent or option, a value is of another type, a file or
            package that it needs is missing, or its code raises; the text lists the alternatives.
    """
    if not isinstance(spec, str) and not callable(getattr(spec, "act", None)):
        raise AgentError(f"expected a text or an object with act(), got {spec!r}")
    if not isinstance(spec, str | type):
        return _with_name(spec, type(spec).__name__)
    try:
        agent = _build(spec) if isinstance(spec, str) else spec()
        _look_at(agent)
        if callable(getattr(agent, "act", None)):
            _label(agent, spec)
    except (ImportError, OSError) as error:
        raise AgentError(f"expected to build {spec!r}, but: {error}") from error
    except (AgentError, KeyboardInterrupt):
        raise
    except BaseException as error:  # whatever code of somebody else does
        raise AgentError(f"expected to build {spec!r}, but it raised {raised(error)}") from error
    if not callable(getattr(agent, "act", None)):
        raise AgentError(f"expected an agent, with act() (see check_agent), got {spec!r}")
    return agent


def _label(agent: Agent, spec: str | type) -> None:
    """Sets an agent's name, whether it plays only one seat, and whether it is trusted."""
    if isinstance(spec, type):
        _with_name(agent, spec.__name__)
        return
    agent.name = short_name(spec)
    is_shipped = not any(part.is_own or part.name == PROGRAM for part in every_part(spec))
    # Both attributes are optional in goita_env.agent.Agent.
    agent.by_seat = is_own(spec)  # type: ignore[attr-defined]
    # A user's function may return an object of a class of ours that it has changed.
    agent.trusted_class = type(agent) if is_shipped else None  # type: ignore[attr-defined]


def _look_at(agent: object) -> None:
    """Looks for all methods that an agent may have, which runs the code of its properties."""
    for kind in (Policy, HasTemperature, StatefulAgent, RedealObserver, PlaysInformed):
        isinstance(agent, kind)
    is_stateless(agent)


def _with_name(agent: Agent, name: str) -> Agent:
    if not isinstance(getattr(agent, "name", None), str):
        agent.name = name
    return agent


def _build(spec: str) -> Agent:
    named = parse_spec(spec)
    try:
        with naming_extras():
            factory = named.load().factory
            argument, options = named.split()
    except (ImportError, OSError) as error:
        hint = f", in {os.getcwd()!r} or installed" if named.is_own else ""
        raise AgentError(f"expected to build {spec!r}, but: {error}{hint}") from error
    built: Agent = factory(*argument, **_options(factory, spec, options, len(argument)))
    return built


def _options(
    factory: Callable[..., Agent], spec: str, text: str, num_positional: int
) -> dict[str, Any]:
    """Returns the keyword arguments of a factory for the text "option=value,...".

    ``spec`` is the whole text, for errors; the first ``num_positional`` arguments are no options.
    """
    options = options_of(factory, num_positional, hinted=bool(text))
    listed = ", ".join(_listed(*option) for option in options.items())
    listed = listed or "none, it takes no options"
    values: dict[str, Any] = {}
    for part in split_text(text):
        key, equals, value = (piece.strip() for piece in part.partition("="))
        if key not in options or not equals:
            raise AgentError(f"expected options ({listed}), got {part!r} in {spec!r}")
        if key in values:
            raise AgentError(f"expected each option once, got {key!r} twice in {spec!r}")
        values[key] = _checked_value(key, options[key].hint, value, spec)
    required = (name for name, option in options.items() if option.is_required)
    if missing := [name for name in required if name not in values]:
        raise AgentError(f"expected options ({listed}), got none for {missing} in {spec!r}")
    arguments: dict[str, Any] = {}
    for key, value in values.items():
        argument, whole = options[key].argument, options[key].whole
        if whole is None:
            arguments[argument] = value
        else:
            # Fields of a dataclass are collected in one argument.
            arguments[argument] = replace(arguments.get(argument, whole), **{key: value})
    return arguments


def _checked_value(key: str, hint: Any, text: str, spec: str) -> Any:
    """Returns an option's value; if it is not valid, an AgentError names the agent's text."""
    try:
        return _value(hint, text)
    except (KeyError, ValueError) as error:
        expected = getattr(hint, "__name__", str(hint))
        if get_origin(hint) is Literal:
            expected = " or ".join(get_args(hint))
        inner = f": {error}" if isinstance(error, AgentError) else ""
        raise AgentError(f"expected {key}={expected}, got {text!r} in {spec!r}{inner}") from error


def _listed(name: str, option: Option) -> str:
    return f"{name}={'...' if option.is_required else _shown(option.default)}"


def _shown(default: Any) -> str:
    if isinstance(default, tuple):
        return f"({';'.join(map(_shown, default))})"
    return str(getattr(default, "name", default))


@dataclass(frozen=True)
class Option:
    """An option of agents' texts."""

    hint: Any  #: Its annotation.
    default: Any  #: ``Parameter.empty``: it is required.
    argument: str  #: The factory's argument: the option, or a dataclass of which it is a field.
    whole: Any = None  #: The default of this dataclass.

    @property
    def is_required(self) -> bool:
        return self.default is Parameter.empty


def options_of(
    factory: Callable[..., Agent], num_positional: int = 0, *, hinted: bool = True
) -> dict[str, Option]:
    """Returns the options of a factory by name; a dataclass of options stands for its fields.

    The first ``num_positional`` arguments are left out. With ``hinted=False`` annotations are not
    read, since those of a user's class may name types that cannot be imported.
    """
    function = factory.__init__ if inspect.isclass(factory) else factory
    hints = get_type_hints(function) if hinted else {}
    options: dict[str, Option] = {}
    for name, parameter in list(inspect.signature(factory).parameters.items())[num_positional:]:
        hint, default = hints.get(name, str), parameter.default
        if parameter.kind in (Parameter.VAR_POSITIONAL, Parameter.VAR_KEYWORD):
            continue
        if not (isinstance(hint, type) and is_dataclass(hint) and isinstance(default, hint)):
            options[name] = Option(hint, default, name)
            continue
        kinds = get_type_hints(hint)
        for field in fields(default):
            value = getattr(default, field.name)
            options[field.name] = Option(kinds[field.name], value, name, default)
    return options


def _agents_in(hint: Any, value: str) -> list[str]:
    """Returns the texts of the agents that an option names; an option of another kind has none."""
    if hint is Agent:
        return [_unbracketed(value)]
    if hint == tuple[Agent, ...]:
        return list(
            expand(_unbracketed(part.strip()) for part in split_text(_unbracketed(value), ";"))
        )
    return []


def _value(hint: Any, text: str) -> Any:
    """Converts an option's text by its annotation; raises a KeyError or ValueError if it cannot."""
    if hint is bool:
        return _SWITCHES[text.lower()]
    if hint in (int, float, str):
        return hint(text)
    if hint == tuple[Agent, ...]:
        return tuple(map(load_agent, _agents_in(hint, text)))
    if hint is Agent:
        return load_agent(_unbracketed(text))
    if hint == tuple[str, ...]:
        return tuple(part.strip() for part in split_text(_unbracketed(text), ";"))
    if get_origin(hint) is Literal and text in get_args(hint):
        return text
    raise ValueError(f"expected a text for {hint!r}, got {text!r}")


# ----------------------------------------------------------------------------------------- checking


def check_names(specs: Iterable[str]) -> None:
    """Checks that no two agents have the same name; raises an AgentError."""
    spec_of: dict[str, str] = {}
    for spec in specs:
        if (namesake := spec_of.setdefault(short_name(spec), spec)) != spec:
            raise AgentError(f"expected another name for each agent, got {namesake!r} and {spec!r}")


def check_distinct(specs: Iterable[str]) -> None:
    """Checks that agents are listed once, under different names; raises an AgentError."""
    texts = list(specs)
    for text in texts:
        if texts.count(text) > 1:
            raise AgentError(f"expected each agent once, got {text!r} twice")
    check_names(texts)


def check_plays(agent: Agent, spec: str, information: InformationStructure) -> None:
    """Raises an AgentError if an agent does not play games with these options.

    Args:
        agent: the agent.
        spec: its text.
        information: the options.
    """
    if plays(agent, information):
        return
    game = "the base game" if information == PLAIN else f"a game with {information!r}"
    instead = (
        f": {plain_text(spec)} plays there by its view of the base game, and muted:base=AGENT is "
        "for an agent that plays there but shall send no messages"
    )
    advice = instead if plays(agent, PLAIN) else ""
    raise AgentError(f"expected agents that play {game}, got {spec!r}{advice}")


def plain_text(spec: str) -> str:
    """Returns the text of an agent that plays any game as the agent plays the base game."""
    inner, named = unnamed(spec), _SHORT.fullmatch(spec)
    base = f"({inner})" if ":" in inner else inner
    return f"{named[1]}=plain:base={base}" if named else f"plain:base={base}"


def may_share(agent: Agent, spec: str) -> bool:
    """Returns whether one instance may play several seats of a game, or several games of a deal.

    True for agents of this distribution without a memory. A user's class or a program could
    remember its partner's hand, so it gets an instance for each seat.
    """
    return not isinstance(agent, StatefulAgent) and not is_own(spec)


def check_shipped(spec: str, where: str) -> str:
    """Checks that an agent's text names no code or file, and returns it.

    Texts in files may come from somebody else. They may name agents of this distribution with their
    options; a path, a command, a user's class or another package's agent must be given on the
    command line.
    """
    try:
        named = parse_spec(spec)
    except AgentError as error:
        raise AgentError(f"expected an agent in {where}, but: {error}") from error
    if named.is_own or named.load().is_outside:
        raise AgentError(
            f"expected an agent of goita_agents in {where}, got {spec!r}: a file may not name "
            "paths, commands or classes; give the agent on the command line"
        )
    for part, hint, value in named.options():
        for inner in _agents_in(hint, value):
            check_shipped(inner, where)
        if hint in (str, None):
            raise AgentError(f"expected options that an agent has in {where}, got {part!r}")
    return spec
