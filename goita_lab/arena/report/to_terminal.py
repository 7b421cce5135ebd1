"""Draws tables for the terminal, with ``rich``; in a narrow terminal row by row."""

from __future__ import annotations

import shutil
import sys
import textwrap
from collections.abc import Iterable, Mapping
from io import StringIO
from typing import Final

from rich.box import SIMPLE_HEAD
from rich.cells import cell_len
from rich.console import Console
from rich.table import Table as RichTable
from rich.text import Text

from goita_lab.arena.report import tables
from goita_lab.arena.report.figures import ROUGH_INTERVAL_NOTE, line
from goita_lab.arena.report.runs import opponents_runs_tables
from goita_lab.arena.report.tables import Table
from goita_lab.arena.tournament.summary import FaultCount, Summary

MAX_MATRIX_AGENTS: Final = 12
"""Most agents whose matrix the terminal shows."""

DEFAULT_WIDTH: Final = 100
"""Columns where there is no terminal."""
_NARROWEST: Final = 24
"""Columns that are used at least, because a figure needs them; a narrower terminal wraps them."""
_NAME: Final = 16
"""Least width of a column of names; longer names fold."""
_HEADING: Final = 8
"""Characters up to which the heading of a figure stays on one line."""


def terminal(summary: Summary) -> str:
    """Returns the report as aligned columns, as wide as COLUMNS or the terminal.

    Without both it has ``DEFAULT_WIDTH`` characters a line. It has colours if standard output is a
    terminal.
    """
    shows_matrix = 2 < len(summary.agents) <= MAX_MATRIX_AGENTS
    matrix = tables.matrix_table(summary, bounds=False) if shows_matrix else None
    all_tables = [*tables.tables(summary, matrix), *opponents_runs_tables(summary)]
    return text(all_tables, summary.faults, summary.command, tables.facts(summary))


def text(
    tables_shown: Iterable[Table],
    faults: Iterable[FaultCount],
    command: str,
    facts: Mapping[str, str],
    note: str = "",
) -> str:
    """Returns a report: tables, faults, a note, the command, and the facts that repeat the run."""
    parts = [draw(table) for table in tables_shown]
    footer = [command, *(f"{title}: {fact}" for title, fact in facts.items() if fact)]
    if any("]?" in part for part in parts):
        footer.append(ROUGH_INTERVAL_NOTE)
    parts += [*tables.fault_texts(faults), note, "\n".join(filter(None, map(line, footer)))]
    return "\n\n".join(filter(None, parts))


def draw(table: Table) -> str:
    """Returns a table as ``rich`` draws it, or row by row where the terminal is too narrow.

    Only names and headings are folded, never a figure.
    """
    styled = sys.stdout.isatty()
    console = Console(
        file=StringIO(),
        force_terminal=styled,
        no_color=None if styled else True,
        highlight=False,
        width=max(_NARROWEST, shutil.get_terminal_size((DEFAULT_WIDTH, 24)).columns),
    )
    drawn = RichTable(box=SIMPLE_HEAD, show_edge=False, pad_edge=False, collapse_padding=True)
    for column, *cells in zip(table.columns, *table.rows, strict=True):
        longest = max(cell_len(line(cell)) for cell in cells)
        if column in table.agents:
            drawn.add_column(column, style="cyan", overflow="fold", min_width=min(_NAME, longest))
        elif column in table.notes:
            drawn.add_column(column, min_width=min(_NAME, longest))
        else:
            heading = column.replace(" ", "\n") if len(column) > _HEADING else column
            drawn.add_column(heading, justify="right", no_wrap=True, min_width=longest)
    for row in table.rows:
        drawn.add_row(*(Text(line(cell)) for cell in row))
    against = f", against {line(table.against)}" if table.against else ""
    console.print(Text(table.title + against, "bold"), "", sep="\n")
    # Measured on a wide console: the width that the table needs without breaking a figure.
    if console.measure(drawn, options=console.options.update(width=1000)).minimum > console.width:
        console.print(*_folded(table, console.width), sep="\n")
    else:
        console.print(drawn)
    output = console.file.getvalue() if isinstance(console.file, StringIO) else ""
    return "\n".join(text_line.rstrip() for text_line in output.splitlines()).rstrip()


def _folded(table: Table, width: int) -> list[Text]:
    """Returns a table row by row: the names, and under them each figure after its heading."""
    lines, places = [], [table.columns.index(name) for name in table.agents]
    for row in table.rows:
        # Columns before the names have the rank, if any; columns after them have figures.
        rank = [cell for cell in row[: min(places)] if cell]
        names = " against ".join(line(row[place]) for place in places)
        lines.append(Text(" ".join([*rank, names]), "cyan"))
        after = slice(max(places) + 1, None)
        # A no-break space keeps a heading and its figure on one line.
        figures = [
            f"{column}: {line(cell)}".replace(" ", "\N{NO-BREAK SPACE}")
            for column, cell in zip(table.columns[after], row[after], strict=True)
            if cell
        ]
        wrapped = textwrap.wrap("   ".join(figures), width - 4)
        lines += [Text("    " + part.replace("\N{NO-BREAK SPACE}", " ")) for part in wrapped]
    return lines
