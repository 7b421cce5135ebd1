"""Reads ``[OPTIONS]COMMAND`` and sets the limit on a program's memory."""

from __future__ import annotations

import re
import shlex
import shutil
from collections.abc import Callable
from typing import Any, Final

from goita_agents.base import AgentError

_SIZE: Final = re.compile(r"([1-9]\d{0,14})([KMG]?)")
_UNITS: Final = {"": 1, "K": 1 << 10, "M": 1 << 20, "G": 1 << 30}

_LIMIT: Final = 'ulimit -c 0; ulimit -v "$0" && exec "$@"'
"""For ``sh``. A function between fork and exec instead would be unsafe beside other threads."""


def parse_memory(text: str) -> int:
    """Returns a size in bytes: "2G", "512M", "64K" or plain bytes; else raises an AgentError."""
    if (match := _SIZE.fullmatch(text)) is None:
        raise AgentError(f"expected a size as 2G, 512M, 64K or in bytes, got {text!r}")
    return int(match[1]) * _UNITS[match[2]]


_OPTIONS: Final[dict[str, tuple[re.Pattern[str], Callable[[str], Any]]]] = {
    "ms": (re.compile(r"\d+"), int),
    "start_ms": (re.compile(r"\d+"), int),
    "mem": (_SIZE, parse_memory),
    "shell": (re.compile("on|off"), lambda value: value == "on"),
}
"""Options before a command: the form of a value, and its meaning."""


def split_options(text: str) -> tuple[str, dict[str, Any]]:
    """Splits "[ms=200,start_ms=5000,mem=2G,shell=on]COMMAND"; raises an AgentError if it cannot."""
    options: dict[str, Any] = {}
    given, bracket, command = text[1:].partition("]") if text[:1] == "[" else ("", "]", text)
    if not bracket:
        raise AgentError(f"expected exec:[OPTIONS]COMMAND, got no closing bracket in {text!r}")
    for part in given.split(",") if given.strip() else []:
        key, _, value = (piece.strip() for piece in part.partition("="))
        name = "memory" if key == "mem" else key
        known = _OPTIONS.get(key)
        if known is not None and known[0].fullmatch(value) and name not in options:
            options[name] = known[1](value)
        else:
            raise AgentError(
                "expected options ms=1000, start_ms=10000 (whole milliseconds), mem=2G (also M, K "
                f"or bytes) and shell=off, each once; got {part!r} in {text!r}"
            )
    return command.strip(), options


def split_command(command: str) -> list[str]:
    """Returns a command's words; raises an AgentError if there is no such program."""
    try:
        words = shlex.split(command)
    except ValueError as error:
        raise AgentError(f"expected a command, got {command!r}: {error}") from error
    if not words or shutil.which(words[0]) is None:
        raise AgentError(f"expected a program that can be started, got {command!r}")
    return words


def limited(words: list[str], memory: int) -> list[str]:
    """Returns a command that runs another under a limit on memory, without core files.

    The limit holds for the address space (RLIMIT_AS) of each of its processes, in bytes.
    """
    import resource  # POSIX alone

    if (hard := resource.getrlimit(resource.RLIMIT_AS)[1]) != resource.RLIM_INFINITY:
        memory = min(memory, hard)  # a hard limit cannot be raised
    return ["/bin/sh", "-c", _LIMIT, str(max(memory >> 10, 1)), *words]
