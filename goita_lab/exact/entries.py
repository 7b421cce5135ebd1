"""Enters agents of the exact benchmark of unknown partners into its leaderboard, and checks them.

An entry has the points with every partner and its opponents, from which all its figures follow.
The benchmark is exact, so ``check`` can compute the points again.
"""

from __future__ import annotations

from collections.abc import Iterator
from pathlib import Path
from typing import Final

import numpy as np

from goita_agents.registry import check_shipped
from goita_env.errors import SettingError
from goita_lab.arena.coordination.leaderboard import ExactBoard, ExactEntry, add
from goita_lab.exact.teamwork import Benchmark, TeamworkResults
from goita_lab.provenance import marks

CHECK_TOLERANCE: Final = 0.001
"""Difference of points that ``check`` allows, because processors round a network's outputs
differently."""


def enter(path: Path, results: TeamworkResults) -> None:
    """Adds the agents; each replaces the entry with its name, game and split."""
    if results.origin["changed"]:
        raise SettingError(f"expected agents to enter that stay the same, {marks(results.origin)}")
    entries = [
        ExactEntry(
            name=row.name,
            agent=row.agent,
            rules=results.rules,
            split=results.split,
            points=dict(zip(results.partners, row.score.points.round(6).tolist(), strict=True)),
            strength=round(row.score.strength, 6),
            weights=row.weights,
            versions=results.origin["versions"],
        )
        for row in results.rows
        if row.agent
    ]
    add(path, ExactBoard(tuple(entries)))


def check(entry: ExactEntry, benchmark: Benchmark, agent: str | None = None) -> Iterator[str]:
    """Computes an entry again, and yields a sentence for each difference.

    Args:
        entry: the entry.
        benchmark: the benchmark of its game and split.
        agent: its text, if that names a file or code, which entries must not name.
    """
    spec = agent or entry.agent
    if agent is None and spec not in benchmark.players.names:
        check_shipped(spec, "a leaderboard")
    row = benchmark.agent_row(entry.name, spec)
    if row.weights != entry.weights:
        yield f"weights: {entry.weights!r} entered, {row.weights!r} here"
    partners = benchmark.players.names_of(entry.split)
    points = dict(zip(partners, row.score.points.tolist(), strict=True))
    if points.keys() != entry.points.keys():
        yield f"partners: {' '.join(entry.points)} entered, {' '.join(points)} here"
        return
    for partner, computed in points.items():
        if np.abs(np.subtract(computed, entry.points[partner])).max() > CHECK_TOLERANCE:
            yield f"{partner}: {entry.points[partner]} entered, {computed} found"
    if abs(row.score.strength - entry.strength) > CHECK_TOLERANCE:
        yield f"strength: {entry.strength} entered, {row.score.strength} found"
