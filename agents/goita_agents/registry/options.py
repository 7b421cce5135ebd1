"""Splits the options of an agent's text: commas and semicolons outside brackets."""

from __future__ import annotations

import difflib
import re
from collections.abc import Iterable
from typing import Final

from goita_agents.base import AgentError

# Bounds beyond which a text is no agent's.
MAX_TEXT: Final = 1 << 16
MAX_DEPTH: Final = 32  # brackets in brackets, and agents that are options

_INNER: Final = re.compile(r"=\(*[\w.]+:")
"""Where an option's value begins that is an agent with options of its own."""


def split(text: str, at: str = ",") -> list[str]:
    """Splits at the commas, or so, outside brackets."""
    check_size(text)
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


def check_size(text: str) -> None:
    """Raises an AgentError for a text that is too long or too deep to be an agent's."""
    if len(text) > MAX_TEXT:
        raise AgentError(
            f"expected at most {MAX_TEXT} characters of an agent's text, got {len(text)}: "
            f"{text[:60]!r}..."
        )
    if len(_INNER.findall(text)) > MAX_DEPTH:
        raise AgentError(f"expected at most {MAX_DEPTH} agents in {text[:60]!r}..., got more")


def unbracketed(text: str) -> str:
    """Returns a text without the brackets around it."""
    return text[1:-1] if text.startswith("(") and text.endswith(")") else text


def did_you_mean(word: str, known: Iterable[str]) -> str:
    """Returns the end of an error, which names the known word that is most like this one."""
    close = difflib.get_close_matches(word, list(known), n=1)
    return f"; did you mean {close[0]!r}?" if close else ""
