"""Writes results of measures: intervals and tables as text, everything as JSON."""

from __future__ import annotations

import json
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import fields, is_dataclass
from math import isfinite
from typing import Any

import numpy as np
from tabulate import tabulate

from goita_agents.base import Policy
from goita_env.information import InformationStructure
from goita_env.rules import Rules
from goita_lab.arena.statistics.intervals import Interval
from goita_lab.provenance import provenance


def bounds(found: Interval, sign: str = "", decimals: int = 2) -> str:
    """Returns a mean and its interval: "1.00 [-0.50, 2.50]"; what rounds to zero has no minus.

    "?" behind it: of few values, so it is a rough one.

    ``sign``: "+" for signs on all figures.
    """
    values = (f"{value:{sign}z.{decimals}f}" for value in (found.mean, found.low, found.high))
    mean, low, high = values
    return f"{mean} [{low}, {high}]{'?' * found.few}"


def table(heads: Sequence[str], rows: Sequence[Sequence[str]]) -> str:
    """Returns a table in Markdown, whose first column is text and whose others are figures."""
    sides = ("left", *("right" for _ in heads[1:]))
    return tabulate(rows, heads, "pipe", disable_numparse=True, colalign=sides)


def to_json(found: Mapping[str, Any], agents: Iterable[str]) -> str:
    """Returns results as JSON, with versions and the hashes of the agents' weights.

    Dataclasses become objects by field, arrays lists, an agent its name, a pair "A | B", a number
    that isn't finite null.
    """
    written = _plain({**provenance(agents), **found})
    return json.dumps(written, indent=1, ensure_ascii=False, allow_nan=False) + "\n"


def _plain(value: Any) -> Any:
    if isinstance(value, Rules):
        return value.to_keys()
    if isinstance(value, InformationStructure):
        return value.to_keys().get("information")
    if isinstance(value, Policy):
        return value.name
    if isinstance(value, np.ndarray | np.generic):
        return _plain(value.tolist())
    if is_dataclass(value):
        value = {field.name: getattr(value, field.name) for field in fields(value)}
    if isinstance(value, dict):
        return {k if isinstance(k, str) else " | ".join(k): _plain(v) for k, v in value.items()}
    if isinstance(value, list | tuple):
        return [_plain(item) for item in value]
    return None if isinstance(value, float) and not isfinite(value) else value
