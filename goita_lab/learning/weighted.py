"""Reads lists of partners and opponents with weights: ``self 3*greedy population:train``."""

from __future__ import annotations

import re
from collections.abc import Sequence
from dataclasses import dataclass
from typing import Final

from goita_agents.registry import expand
from goita_env.errors import SettingError

SELF: Final = "self"
"""The policy that learns, among the names of players."""

_WEIGHTED: Final = re.compile(r"(\d+(?:\.\d+)?)\*(.+)", re.DOTALL)


@dataclass(frozen=True)
class Weighted:
    """A player that may be drawn, and how often beside the others."""

    name: str
    weight: float = 1.0


def read_weighted(texts: Sequence[str]) -> tuple[Weighted, ...]:
    """Returns the players that texts stand for, each once.

    ``3*greedy`` weighs three times as much as ``greedy``. A set of the population weighs as much as
    one agent, which its members share. A name that occurs twice has the sum of its weights.

    Raises:
        SettingError: if a weight is 0.
    """
    found: dict[str, float] = {}
    for text in texts:
        name, weight = split_weight(text)
        if not weight > 0:
            raise SettingError(f"expected a weight above 0, got {text!r}")
        names = expand([name])
        for one in names:
            found[one] = found.get(one, 0.0) + weight / len(names)
    return tuple(Weighted(name, weight) for name, weight in found.items())


def players_of(*lists: Sequence[str]) -> tuple[str, ...]:
    """Returns the players in lists of weighted texts, each once, the policy itself left out."""
    names = (one.name for texts in lists for one in read_weighted(texts))
    return tuple(dict.fromkeys(name for name in names if name != SELF))


def split_weight(text: str) -> tuple[str, float]:
    """Returns the name in a text and its weight, 1 if it has none."""
    match = _WEIGHTED.fullmatch(text)
    return (match[2], float(match[1])) if match else (text, 1.0)


def named_agents(texts: Sequence[str]) -> tuple[str, ...]:
    """Returns the agents among texts, without weights; the policy itself and sets are left out."""
    names = [split_weight(text)[0] for text in texts]
    return tuple(name for name in names if name != SELF and expand([name]) == (name,))
