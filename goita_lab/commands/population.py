"""Lists the population of trained players.

::

    goita population
    goita population | grep validation

Its members were trained by ``python research/population/train.py``.
"""

from __future__ import annotations

import sys
from collections.abc import Sequence
from dataclasses import dataclass
from typing import Final

from goita_agents.population.manifest import PREFIX, Member, Population
from goita_lab import cli

MEASURED_OPPONENT: Final = "heuristic"
"""Opponent of the members' measurement."""


@dataclass(frozen=True)
class Args:
    """Options of the command line: none."""


def main(argv: Sequence[str] | None = None) -> int:
    """Prints the members with their strength and returns the exit code."""
    cli.parse(Args, argv, __doc__)
    sys.stdout.write(table(Population()))
    return 0


def table(population: Population) -> str:
    """Returns the members as a table in Markdown."""
    names = [text.removeprefix(PREFIX) for text in population.names()]
    head = f"| member | split | decisions | points a round against `{MEASURED_OPPONENT}` |\n"
    rows = [f"{_line(population.members[name])}\n" for name in names]
    return f"{head}|---|---|--:|--:|\n{''.join(rows)}"


def _line(member: Member) -> str:
    points = "not measured"
    if (strength := member.strength) is not None:
        points = f"{strength.points:+.2f} [{strength.low:+.2f}, {strength.high:+.2f}]"
    return f"| `{member.agent}` | {member.split} | {member.decisions:,} | {points} |"
