"""Writes a study as JSON: every number of the page, and those behind it."""

from __future__ import annotations

import json
from dataclasses import fields, is_dataclass
from math import isfinite
from typing import Any, Final

import numpy as np

from agents.base import Policy
from agents.signals.study import Study
from goita_env.rules import Rules

FORMAT: Final = "goita-signals-study-2"
"""Names the layout; grows when a field changes its meaning."""


def to_json(found: Study, command: str) -> str:
    """Returns a study as JSON: its dataclasses as objects by field, arrays as lists.

    An agent becomes its name. Pairs of names become one, "A | B"; a number that isn't finite
    becomes null.

    Args:
        found: the study.
        command: what was run.
    """
    written = {"format": FORMAT, "command": command, "study": _plain(found)}
    return json.dumps(written, indent=1, ensure_ascii=False, allow_nan=False) + "\n"


def _plain(value: Any) -> Any:
    """Returns a value as JSON can hold it."""
    if isinstance(value, Rules):
        return value.to_keys()
    if isinstance(value, Policy):
        return value.name
    if is_dataclass(value):
        return {field.name: _plain(getattr(value, field.name)) for field in fields(value)}
    if isinstance(value, dict):
        named = {k if isinstance(k, str) else " | ".join(map(str, k)): v for k, v in value.items()}
        return {key: _plain(item) for key, item in named.items()}
    if isinstance(value, np.ndarray | np.generic):
        return _plain(value.tolist())
    if isinstance(value, list | tuple):
        return [_plain(item) for item in value]
    if isinstance(value, float) and not isfinite(value):
        return None
    return value
