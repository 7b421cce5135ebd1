"""Draws the report's matrices: every agent against every other, and as partners."""

from __future__ import annotations

from collections.abc import Callable
from typing import Final

from agents.report.data import Estimate, Tournament, interval, signed
from agents.report.marks import figure, name, sure, text
from agents.report.style import STEPS, heat_class, step

ROOMY: Final = 8
"""Most agents whose matrix has room for the intervals."""

NAMED: Final = 5
"""Most agents whose matrix has their names, not their numbers, over its columns."""


def matrix(tournament: Tournament) -> str:
    """Returns the heat map of the pairings: row against column."""
    if not tournament.cells:
        return ""
    note = "Points per round of the row against the column, the strongest first."
    if len(tournament.agents) > ROOMY:
        note += " Intervals: hover over a cell, or see the table of all pairs."
    table = _heat(
        tournament.agents, tournament.cells, lambda row, column: f"{row} against {column}"
    )
    return f"<p class='note'>{note}</p>{table}{_legend()}"


def cross_play(tournament: Tournament) -> str:
    """Returns the cross-play matrix: row and column as partners."""
    cross = tournament.cross
    if cross is None:
        return ""
    against = f" against {name(cross.opponents)}" if cross.opponents else ""
    note = f"Points per round of row and column as partners{against}; on the diagonal, an agent"
    order = [agent for agent in tournament.agents if agent in cross.agents]
    agents = tuple(dict.fromkeys([*order, *cross.agents]))
    table = _heat(agents, cross.cells, lambda row, column: f"{row} with {column}", full=True)
    return f"<p class='note'>{note} with itself.</p>{table}{_legend()}"


def _heat(
    agents: tuple[str, ...],
    cells: dict[tuple[str, str], Estimate],
    said: Callable[[str, str], str],
    *,
    full: bool = False,
) -> str:
    """Returns a matrix of coloured cells with an agent to each row and column.

    Args:
        agents: rows and columns.
        cells: what is known, by row and column.
        said: what a cell is about.
        full: whether it shows its intervals at any size, as no table repeats them.
    """
    roomy, named = full or len(agents) <= ROOMY, len(agents) <= NAMED
    classes = "matrix" + " roomy" * roomy + " named" * named + " full" * full
    heads = "".join(
        f"<th scope='col' title='{text(agent)}'><div>{name(agent) if named else number}</div></th>"
        for number, agent in enumerate(agents, 1)
    )
    rows = "\n".join(
        f"<tr><th scope='row'><div>{'' if named else f'<i>{number}</i>'}{name(row)}</div></th>"
        + "".join(
            _cell(cells.get((row, column)), said(row, column), same=row == column, roomy=roomy)
            for column in agents
        )
        + "</tr>"
        for number, row in enumerate(agents, 1)
    )
    return (
        "<div class='scroll' tabindex='0' role='region' aria-label='matrix'>"
        f"<table class='{classes}'><thead><tr><td class='self'></td>"
        f"{heads}</tr></thead>\n<tbody>{rows}</tbody></table></div>"
    )


def _legend() -> str:
    """Returns the colours with the points per round from which each counts."""
    labels = {0: "0"}
    for number, bound in enumerate(STEPS, 1):
        labels[number], labels[-number] = f"+{bound:g}", f"−{bound:g}"
    swatches = "".join(
        f"<li class='{heat_class(number)}'>{labels[number]}</li>" for number in sorted(labels)
    )
    return (
        f"<div class='legend'><ol>{swatches}</ol><span>points per round at which a colour begins; "
        "<i>italic</i>: the 95 % interval includes 0</span></div>"
    )


def _cell(found: Estimate | None, said: str, *, same: bool, roomy: bool) -> str:
    """Returns a matrix cell, coloured by its points per round.

    Args:
        found: its points per round; None: nothing was played.
        said: what the cell is about, shown in front of the numbers on hover.
        same: whether row and column are one agent.
        roomy: whether there is room for the interval.
    """
    if found is None:
        return "<td class='self'>" + ("·" if same else "") + "</td>"
    classes = heat_class(step(found.mean)) + (" unsure" if found.open else "")
    deals = "" if found.deals is None else f", {found.deals:,} deals"
    title = f"{text(said)}: {sure(found)} points per round{deals}"
    shown = f"<b>{figure(signed(found.mean, 2 if roomy else 1))}</b>"
    if roomy and (bounds := interval(found)):
        shown += f"<small>{figure(bounds)}</small>"
    return f"<td class='{classes}' title='{title}'>{shown}</td>"
