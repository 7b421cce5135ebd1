"""Reads ``[OPTIONS]COMMAND`` and sets the limit on a program's memory."""

from __future__ import annotations

import re
import shlex
import shutil
from typing import Any, Final

from agents.base import AgentError

_SIZE: Final = re.compile(r"([1-9]\d{0,14})([KMG]?)")
_UNITS: Final = {"": 1, "K": 1 << 10, "M": 1 << 20, "G": 1 << 30}

_LIMIT: Final = 'ulimit -c 0; ulimit -v "$0" && exec "$@"'
"""For ``sh``. A function between fork and exec instead would be unsafe beside other threads."""


def parse_memory(text: str) -> int:
    """Returns the bytes that a text stands for: "2G", "512M", "64K" or plain bytes.

    Raises:
        AgentError: if it is no such size.
    """
    match = _SIZE.fullmatch(text)
    if match is None:
        raise AgentError(f"expected a size as 2G, 512M, 64K or in bytes, got {text!r}")
    return int(match[1]) * _UNITS[match[2]]


def split_options(text: str) -> tuple[str, dict[str, Any]]:
    """Returns the command of "[ms=200,start_ms=5000,mem=2G,shell=on]COMMAND", and the options.

    Raises:
        AgentError: if an option is none.
    """
    options: dict[str, Any] = {}
    given, bracket, command = text[1:].partition("]") if text[:1] == "[" else ("", "]", text)
    if not bracket:
        raise AgentError(f"expected exec:[OPTIONS]COMMAND, got no closing bracket in {text!r}")
    for part in given.split(",") if given.strip() else []:
        key, _, value = (piece.strip() for piece in part.partition("="))
        name = "memory" if key == "mem" else key
        if key in ("ms", "start_ms") and value.isdecimal() and name not in options:
            options[name] = int(value)
        elif key == "mem" and _SIZE.fullmatch(value) and name not in options:
            options[name] = parse_memory(value)
        elif key == "shell" and value in ("on", "off") and name not in options:
            options[name] = value == "on"
        else:
            raise AgentError(
                "expected options ms=1000, start_ms=10000 (whole milliseconds), mem=2G (also M, K "
                f"or bytes) and shell=off, each once; got {part!r} in {text!r}"
            )
    return command.strip(), options


def split_command(command: str) -> list[str]:
    """Returns a command's words, after a look whether there is such a program.

    Raises:
        AgentError: if there is none.
    """
    try:
        words = shlex.split(command)
    except ValueError as error:
        raise AgentError(f"expected a command, got {command!r}: {error}") from error
    if not words or shutil.which(words[0]) is None:
        raise AgentError(f"expected a program that can be started, got {command!r}")
    return words


def limited(words: list[str], memory: int) -> list[str]:
    """Returns the words that start a program under a limit, without core files.

    Args:
        words: the program and its arguments.
        memory: bytes of address space that each of its processes may take (RLIMIT_AS).
    """
    import resource  # POSIX alone

    hard = resource.getrlimit(resource.RLIMIT_AS)[1]
    if hard != resource.RLIM_INFINITY:
        memory = min(memory, hard)  # nobody may raise it
    return ["/bin/sh", "-c", _LIMIT, str(max(memory >> 10, 1)), *words]
