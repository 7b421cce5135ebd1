"""Lays out a tournament as tables of text, for the terminal and Markdown."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass

from agents.report.data import Estimate, Pair, Tournament, brief, interval, percent, signed


@dataclass(frozen=True)
class Table:
    """Holds a table of text."""

    title: str
    columns: tuple[str, ...]
    rows: tuple[tuple[str, ...], ...]
    agents: tuple[int, ...]
    """Which columns are names of agents, to be escaped; the others are figures."""
    against: str = ""
    """Against whom all of it was played, to be escaped too; empty where rows or columns say so."""


def ratings(tournament: Tournament) -> Table | None:
    """Returns the ratings, the best first; None where there are none."""
    rows = tuple(
        (str(rank), agent, signed(found.mean, 0), interval(found, 0))
        for rank, (agent, found) in enumerate(tournament.ratings, 1)
    )
    return Table("Ratings", ("", "agent", "Elo", "95 %"), rows, (1,)) if rows else None


def matrix(tournament: Tournament, *, bounds: bool) -> Table | None:
    """Returns points per round of row against column, both triangles; None without any."""
    title = "Points per round, row against column"
    return _square(title, tournament.agents, tournament.cells, bounds)


def cross_play(tournament: Tournament) -> Table | None:
    """Returns points per round of row and column as partners; None where none were played."""
    cross = tournament.cross
    if cross is None:
        return None
    order = [agent for agent in tournament.agents if agent in cross.agents]
    agents = tuple(dict.fromkeys([*order, *cross.agents]))
    title = "Cross-play: points per round, row and column as partners"
    return _square(title, agents, cross.cells, True, cross.opponents)


def pairs(tournament: Tournament) -> Table | None:
    """Returns all pairs, from the side of the first; columns that would be empty are left out."""
    found = tournament.pairs
    columns = {
        "agent": [pair.a for pair in found],
        "against": [pair.b for pair in found],
        "deals": [f"{pair.deals:,}" if pair.deals else "" for pair in found],
        "points per round": [signed(pair.points.mean) if pair.points else "" for pair in found],
        "95 %": [interval(pair.points) for pair in found],
        "rounds won": [" ".join(percent(pair.wins)).strip() for pair in found],
        "matches won": [" ".join(percent(pair.match_wins)).strip() for pair in found],
        "ms per decision": [milliseconds(pair) for pair in found],
        "variance removed": [removed(pair) for pair in found],
        "SPRT": [", ".join(filter(None, pair.sprt)) for pair in found],
        "rounds/s": [brief(pair.rounds_per_second) for pair in found],
        "faults": [counts(pair) for pair in found],
    }
    kept = {title: cells for title, cells in columns.items() if any(cells)}
    rows = tuple(zip(*kept.values(), strict=True))
    return Table("Pairs, from the side of the first", tuple(kept), rows, (0, 1)) if rows else None


def milliseconds(pair: Pair) -> str:
    """Returns the milliseconds that a decision took both agents; nothing if neither is known."""
    if pair.milliseconds == (None, None):
        return ""
    return " : ".join(brief(one) or "?" for one in pair.milliseconds)


def removed(pair: Pair) -> str:
    """Returns how much of the variance the pairing of the deals removed."""
    return "" if pair.variance_removed is None else f"{100 * pair.variance_removed:.0f} %"


def counts(pair: Pair) -> str:
    """Returns how many faults both agents have; nothing if neither has any."""
    return " : ".join(f"{one:,}" for one in pair.faults) if any(pair.faults) else ""


def _square(
    title: str,
    agents: tuple[str, ...],
    cells: Mapping[tuple[str, str], Estimate],
    bounds: bool,
    against: str = "",
) -> Table | None:
    """Returns a matrix whose columns carry the numbers of its rows; None without cells."""
    if not cells:
        return None

    def shown(found: Estimate | None) -> str:
        """Returns a cell."""
        if found is None:
            return ""
        if not bounds:
            return signed(found.mean, 1)
        return f"{signed(found.mean)} {interval(found)}".strip()

    rows = tuple(
        (str(number), row, *(shown(cells.get((row, column))) for column in agents))
        for number, row in enumerate(agents, 1)
    )
    heads = tuple(str(number) for number in range(1, len(agents) + 1))
    return Table(title, ("", "agent", *heads), rows, (1,), against)
