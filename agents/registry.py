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

``agents.entries`` lists the names. No bot imports this module: a bot that needs another is given
the object.
"""

from __future__ import annotations

import difflib
import inspect
import os
import re
from collections.abc import Callable, Iterable, Iterator
from functools import partial
from hashlib import sha256
from importlib import import_module
from pathlib import Path
from typing import Any, Final, Literal, get_args, get_origin, get_type_hints

from agents.base import Agent, AgentError, StatefulAgent, plays
from agents.entries import AGENTS, DOTTED, FUNCTION_HINTS, Entry, function_entry, load_function
from goita_env.information import PLAIN, Information

_WORDS: Final = {"on": True, "true": True, "yes": True, "off": False, "false": False, "no": False}

_RENAMED: Final = {
    "ms": "budget now, in playouts (1 ms was 75), of solver in searched positions (1 ms was 7000)",
    "caution": "min_z now, in standard errors",
    "sure": "skip_above now, a probability",
    "questions": "max_policy_queries now",
    "unseen": "max_unseen_tiles now",
    "drop": "allocation now, half is halving and behind is elimination",
}
"""Options that agents had under another name: what to write instead."""

_SHORT: Final = re.compile(r"([\w.-]+)=(.*)", re.DOTALL)
"""NAME=SPEC: no colon before the first "="."""

_OWN: Final = re.compile(rf"({DOTTED}):({DOTTED})(?::(.*))?", re.DOTALL)
"""MODULE:CLASS or MODULE:CLASS:OPTIONS."""

_INNER: Final = re.compile(r"=\(*[\w.]+:")
"""Where an option's value begins that is an agent with options of its own."""

# Bounds beyond which a text is no agent's.
MAX_TEXT: Final = 1 << 16
MAX_DEPTH: Final = 32  # brackets in brackets, and agents that are options


def names() -> list[str]:
    """Returns the known agents as they are written: ``greedy``, ``file:PATH``, ``MODULE:CLASS``."""
    known = [f"{name}:{e.argument}" if e.argument else name for name, e in AGENTS.items()]
    return [*known, "MODULE:CLASS"]


def short_name(spec: str) -> str:
    """Returns an agent's name in results: NAME of "NAME=SPEC", else the text."""
    match = _SHORT.fullmatch(spec)
    return match[1] if match else spec


def check_names(specs: Iterable[str]) -> None:
    """Checks that no two agents have the same name; raises an AgentError."""
    found: dict[str, str] = {}
    for spec in specs:
        if (other := found.setdefault(short_name(spec), spec)) != spec:
            raise AgentError(f"expected another name for each agent, got {other!r} and {spec!r}")


def load_agent(spec: str | Agent) -> Agent:
    """Builds the agent that a text describes; an agent is returned as it is.

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
    """Returns a function that builds the agent of a text; agents among its options are built now.

    It raises an AgentError as ``load_agent`` does.
    """
    entry, text = _parse(spec)
    try:
        factory = entry.load()
    except (ImportError, OSError) as error:
        missing = error.name if isinstance(error, ModuleNotFoundError) else None
        if entry.is_own and missing and f"{entry.module}.".startswith(f"{missing}."):
            raise AgentError(
                f"expected an agent of {', '.join(names())}; got {spec!r}, and no module "
                f"{missing!r} in {os.getcwd()!r} or installed{did_you_mean(missing, AGENTS)}"
            ) from error
        raise AgentError(f"expected to build {spec!r}, but: {error}") from error
    if not entry.argument:
        return partial(factory, **_options(factory, spec, text))
    argument, options = _split_argument(entry, factory, text)
    return partial(factory, argument, **_options(factory, spec, options, given=1))


def check_plays(agent: Agent, spec: str, information: Information) -> None:
    """Raises an AgentError if an agent does not play games with these options.

    Args:
        agent: the agent.
        spec: its text.
        information: the options.
    """
    if plays(agent, information):
        return
    game = "the plain game" if information == PLAIN else f"a game with {information!r}"
    instead = (
        f": {plain_text(spec)} plays there by what it would know in the plain game, and "
        "muted:base=AGENT is for one that does play there but shall say nothing"
    )
    raise AgentError(
        f"expected agents that play {game}, got {spec!r}{instead if plays(agent, PLAIN) else ''}"
    )


def plain_text(spec: str) -> str:
    """Returns the text of an agent that plays any game as this one plays the plain game."""
    inner, named = _body(spec), _SHORT.fullmatch(spec)
    base = f"({inner})" if ":" in inner else inner
    return f"{named[1]}=plain:base={base}" if named else f"plain:base={base}"


def split_agents(text: str) -> tuple[str, ...]:
    """Returns the texts of the agents in a list, "(A;B;C)"; brackets nest."""
    return tuple(_agents_in(tuple[Agent, ...], text))


def expand(specs: Iterable[str]) -> tuple[str, ...]:
    """Returns texts with the population's sets among them replaced by the agents of the sets.

    Where a set stands (``agents.population``), no text is listed twice.
    """
    texts = tuple(specs)
    if not any(text.startswith("population:") for text in texts):
        return texts
    found: tuple[str, ...] = import_module("agents.population").expand(texts)
    return found


def may_share(agent: Agent, spec: str) -> bool:
    """Returns whether one instance may play several seats of a game, or several games of a deal.

    True for agents of this repository without a memory. A user's class or a program could remember
    its partner's hand, so it gets an instance for each seat.
    """
    return not isinstance(agent, StatefulAgent) and not is_own(spec)


def check_shipped(spec: str, where: str) -> str:
    """Checks that an agent's text names no code or file, and returns it.

    Texts in files may come from somebody else. They may name agents of this repository with their
    options; a path, a command or a user's class must be given on the command line.

    Raises:
        AgentError: if it names anything else, also inside an option; ``where`` names the file.
    """
    name, _, text = _body(spec).partition(":")
    entry = AGENTS.get(name)
    if entry is None or entry.is_outside:
        known = ", ".join(name for name, entry in AGENTS.items() if not entry.is_outside)
        raise AgentError(
            f"expected one of the agents {known} in {where}, got {spec!r}: a file may not name "
            "paths, commands or classes; give the agent on the command line"
        )
    for part, hint, value in _typed_options(entry, text):
        for inner in _agents_in(hint, value):
            check_shipped(inner, where)
        if hint in FUNCTION_HINTS:
            raise AgentError(
                f"expected no function in {where}, got {part!r}: a file may not name code; give "
                "the agent on the command line"
            )
        if hint in (str, None):
            raise AgentError(f"expected options that an agent has in {where}, got {part!r}")
    return spec


def is_own(spec: str) -> bool:
    """Returns whether an agent, or one among its options, is of a user's class or function.

    Nothing of the user's is imported to find out, because that would run its code in this process.
    """
    return any(entry.is_own for entry, _ in _all_in(spec))


def content_hash(spec: str) -> str | None:
    """Returns a SHA-256 of a user's code and of the networks that an agent is made of.

    Agents among its options count, too; None if there are none.
    """
    sources: set[str] = set()
    digests: list[str] = []
    for entry, text in _all_in(spec):
        if entry.is_own and (source := inspect.getsourcefile(entry.load())):
            sources.add(source)
        digests += _digests(entry, text).values()
    code = b"".join(Path(file).read_bytes() for file in sorted(sources))
    hashes = [sha256(code).hexdigest()] * bool(sources) + digests
    return sha256(" ".join(hashes).encode()).hexdigest() if len(hashes) > 1 else (*hashes, None)[0]


def weights(specs: Iterable[str]) -> dict[str, str]:
    """Returns the SHA-256 of each network in the agents' texts, by the text that names it alone.

    A user's class is left out: ``content_hash`` has it, which imports it.

    Raises:
        AgentError: if there is no such agent or file.
    """
    found: dict[str, str] = {}
    for spec in specs:
        if not is_own(spec):
            for entry, text in _all_in(spec):
                found |= _digests(entry, text)
    return found


def _digests(entry: Entry, text: str) -> dict[str, str]:
    """Returns the digest of an entry's own network by the text that names it; {} if it has none."""
    if not entry.is_network and entry is not AGENTS["file"]:
        return {}
    name = next(name for name, known in AGENTS.items() if known is entry)
    if not entry.argument:
        return {name: entry.load()().digest}
    argument = _split_argument(entry, entry.load(), text)[0]
    if entry.is_network:
        return {f"{name}:{argument}": entry.load()(argument).digest}
    # A network of the user's may need a function of theirs to be built.
    return {f"{name}:{argument}": import_module(entry.module).file_digest(argument)}


def did_you_mean(word: str, known: Iterable[str]) -> str:
    """Returns the end of an error, which names the known word that is most like this one."""
    close = difflib.get_close_matches(word, list(known), n=1)
    return f"; did you mean {close[0]!r}?" if close else ""


def _body(spec: str) -> str:
    _check_size(spec)
    match = _SHORT.fullmatch(spec)
    return match[2] if match else spec


def _parse(spec: str) -> tuple[Entry, str]:
    """Returns the entry of a text, and the argument and options behind its name."""
    body = _body(spec)
    name, colon, text = body.partition(":")
    entry, own = AGENTS.get(name), _OWN.fullmatch(body)
    if entry is None and own is not None:
        entry = Entry(own[1], own[2], is_own=True)
        colon, text = ("", "") if own[3] is None else (":", own[3])
    if entry is None:
        is_file = os.path.isfile(spec)  # no pathlib: it raises for a name that is too long
        hint = f"; a policy's file is file:{spec}" if is_file else did_you_mean(name, AGENTS)
        raise AgentError(f"expected an agent of {', '.join(names())}; got {spec!r}{hint}")
    if entry.argument and not text:
        raise AgentError(f"expected {name}:{entry.argument}, got {spec!r}")
    if colon and not text:
        raise AgentError(f"expected options after the colon, got {spec!r}")
    return entry, text


def _all_in(spec: str) -> Iterator[tuple[Entry, str]]:
    """Yields entry and text of an agent, and of agents and functions among its options.

    A user's class is imported when the next one is requested, not before.
    """
    entry, text = _parse(spec)
    yield entry, text
    for _, hint, value in _typed_options(entry, text):
        for inner in _agents_in(hint, value):
            yield from _all_in(inner)
        if hint in FUNCTION_HINTS:
            yield function_entry(value), ""


def _typed_options(entry: Entry, text: str) -> Iterator[tuple[str, Any, str]]:
    """Yields each option's text, its annotation (None: no such option) and its value."""
    if not entry.options:
        return
    if entry.argument:
        text = _split_argument(entry, entry.load(), text)[1]
    hints = _hints(entry.load()) if text else {}
    for part in _split(text):
        key, _, value = (piece.strip() for piece in part.partition("="))
        yield part, hints.get(key), value


def _split_argument(entry: Entry, factory: Callable[..., Agent], text: str) -> tuple[str, str]:
    """Splits "PATH,option=value" after the path, which may contain commas."""
    if not entry.options:
        return text, ""
    parts, known = text.split(","), inspect.signature(factory).parameters
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
    for part in _split(text):
        key, equals, value = (piece.strip() for piece in part.partition("="))
        if key not in parameters or not equals:
            new = _RENAMED.get(key, "")
            now = f": {key} is {new}" if new.partition(" ")[0] in parameters else ""
            now = now or (did_you_mean(key, parameters) if key not in parameters else "")
            raise AgentError(f"expected options ({known}), got {part!r} in {spec!r}{now}")
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


def _split(text: str, at: str = ",") -> list[str]:
    """Splits at the commas, or so, outside brackets."""
    _check_size(text)
    parts, depth, start = [], 0, 0
    for place, character in enumerate(text):
        if character == at and depth == 0:
            parts.append(text[start:place])
            start = place + 1
        elif character in "()":
            depth += 1 if character == "(" else -1
            if depth > MAX_DEPTH:
                raise AgentError(
                    f"expected brackets at most {MAX_DEPTH} deep, got more in {text[:60]!r}..."
                )
    return [*parts, text[start:]] if text else []


def _check_size(text: str) -> None:
    if len(text) > MAX_TEXT:
        raise AgentError(
            f"expected at most {MAX_TEXT} characters of an agent's text, got {len(text)}: "
            f"{text[:60]!r}..."
        )
    if len(_INNER.findall(text)) > MAX_DEPTH:
        raise AgentError(f"expected at most {MAX_DEPTH} agents in {text[:60]!r}..., got more")


def _unbracketed(text: str) -> str:
    return text[1:-1] if text.startswith("(") and text.endswith(")") else text


def _kind(hint: Any) -> str:
    """Returns what the value of an option is, in a word."""
    if hint in FUNCTION_HINTS:
        return "MODULE:FUNCTION"
    return "(A;B;...)" if get_origin(hint) is tuple else str(getattr(hint, "__name__", hint))


def _agents_in(hint: Any, value: str) -> list[str]:
    """Returns the texts of the agents that an option names; none for one of another kind."""
    if hint is Agent:
        return [_unbracketed(value)]
    if hint == tuple[Agent, ...]:
        return list(expand(_unbracketed(one.strip()) for one in _split(_unbracketed(value), ";")))
    return []


def _value(hint: Any, text: str) -> Any:
    """Converts an option's text by its annotation; raises a KeyError or ValueError if it cannot."""
    if hint is bool:
        return _WORDS[text.lower()]
    if hint in (int, float, str):
        return hint(text)
    if hint == tuple[Agent, ...]:
        return tuple(map(load_agent, _agents_in(hint, text)))
    if hint is Agent:
        return load_agent(_unbracketed(text))
    if hint == tuple[str, ...]:
        return tuple(part.strip() for part in _split(_unbracketed(text), ";"))
    if hint in FUNCTION_HINTS:
        return load_function(_unbracketed(text))
    if get_origin(hint) is Literal and text in get_args(hint):
        return text
    raise ValueError(f"expected a text for {hint!r}, got {text!r}")
