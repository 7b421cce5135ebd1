"""Checks agents' texts, and names what an agent is made of."""

from __future__ import annotations

import inspect
from collections.abc import Iterable
from hashlib import sha256
from pathlib import Path

from goita_agents.base import Agent, AgentError, StatefulAgent, plays
from goita_agents.registry.building import (
    SHORT,
    Named,
    agents_in,
    every_part,
    is_own,
    short_name,
    split_argument,
    typed_options,
    unnamed,
)
from goita_agents.registry.entries import (
    FUNCTION_HINTS,
    load_own,
    points,
)
from goita_env.agent import is_built_in
from goita_env.information import PLAIN, InformationStructure


def check_names(specs: Iterable[str]) -> None:
    """Checks that no two agents have the same name; raises an AgentError."""
    found: dict[str, str] = {}
    for spec in specs:
        if (other := found.setdefault(short_name(spec), spec)) != spec:
            raise AgentError(f"expected another name for each agent, got {other!r} and {spec!r}")


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
        f": {plain_text(spec)} plays there by what it would know in the base game, and "
        "muted:base=AGENT is for one that does play there but shall say nothing"
    )
    raise AgentError(
        f"expected agents that play {game}, got {spec!r}{instead if plays(agent, PLAIN) else ''}"
    )


def plain_text(spec: str) -> str:
    """Returns the text of an agent that plays any game as this one plays the base game."""
    inner, named = unnamed(spec), SHORT.fullmatch(spec)
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

    Raises:
        AgentError: if it names anything else, also inside an option; ``where`` names the file.
    """
    name, _, text = unnamed(spec).partition(":")
    known = [name for name, point in points().items() if is_built_in(point)]
    named = Named(name, text, False)
    if name not in known or named.load().is_outside:
        shown = ", ".join(one for one in known if not Named(one, "", False).load().is_outside)
        raise AgentError(
            f"expected one of the agents {shown} in {where}, got {spec!r}: a file may not name "
            "paths, commands or classes; give the agent on the command line"
        )
    for part, hint, value in typed_options(named):
        for inner in agents_in(hint, value):
            check_shipped(inner, where)
        if hint in FUNCTION_HINTS:
            raise AgentError(
                f"expected no function in {where}, got {part!r}: a file may not name code; give "
                "the agent on the command line"
            )
        if hint in (str, None):
            raise AgentError(f"expected options that an agent has in {where}, got {part!r}")
    return spec


def content_hash(spec: str) -> str | None:
    """Returns a SHA-256 of a user's code and of the networks that an agent is made of.

    Agents among its options count, too; None if there are none.
    """
    sources: set[str] = set()
    digests: list[str] = []
    for part in every_part(spec):
        if isinstance(part, str) or part.is_own:
            code = load_own(part) if isinstance(part, str) else part.load().factory
            if source := inspect.getsourcefile(code):
                sources.add(source)
        else:
            digests += _digests(part).values()
    code_bytes = b"".join(Path(file).read_bytes() for file in sorted(sources))
    hashes = [sha256(code_bytes).hexdigest()] * bool(sources) + digests
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
            for part in every_part(spec):
                if isinstance(part, Named):
                    found |= _digests(part)
    return found


def _digests(named: Named) -> dict[str, str]:
    """Returns the digest of a name's own network by the text that names it; {} if it has none."""
    entry = named.load()
    if entry.digest is None:
        return {}
    if not entry.argument:
        return {named.name: entry.digest()}
    argument = split_argument(entry, named.text)[0]
    return {f"{named.name}:{argument}": entry.digest(argument)}
