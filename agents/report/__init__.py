"""Shows a tournament: on the terminal, as Markdown, and as one self-contained HTML page.

::

    print(report.terminal(summary))
    report.write(summary, Path("tournament.html"))  # or .md, .json

A summary is the dictionary that ``evaluate.py`` writes as JSON. Every part of it may be missing.
"""

from __future__ import annotations

import json
import re
import shutil
import sys
from collections.abc import Callable
from importlib.util import find_spec
from io import StringIO
from math import isfinite
from pathlib import Path
from typing import Any, Final
from unicodedata import east_asian_width

from agents.report.data import Fault, Summary, clean, line, read
from agents.report.page import page
from agents.report.tables import Table, cross_play, matrix, pairs, ratings
from goita_env.errors import SettingError

MATRIX: Final = 12
"""Most agents whose matrix the terminal shows."""

ROOMY: Final = 8
"""Most agents whose matrix has intervals in Markdown."""


def terminal(summary: Summary, *, styled: bool | None = None) -> str:
    """Returns the report as aligned columns.

    Args:
        summary: the tournament.
        styled: whether ``rich`` draws the tables, in colour and as wide as the terminal; None: if
            it is installed and standard output is a terminal.
    """
    if styled is None:
        styled = sys.stdout.isatty() and find_spec("rich") is not None
    tournament = read(summary)
    few = 2 < len(tournament.agents) <= MATRIX
    tables = [
        ratings(tournament),
        matrix(tournament, bounds=False) if few else None,
        cross_play(tournament),
        pairs(tournament),
    ]
    draw = _rich if styled else _aligned
    parts = [draw(table) for table in tables if table is not None]
    parts += [_fault(fault) for fault in tournament.faults]
    facts = [f"{line(title)}: {line(told)}" for title, told in tournament.facts.items()]
    parts.append("\n".join([line(tournament.command), *facts]).strip())
    return "\n\n".join(part for part in parts if part)


def markdown(summary: Summary) -> str:
    """Returns the report as Markdown: the tables, the faults, and what it takes to repeat it."""
    tournament = read(summary)
    bounds = len(tournament.agents) <= ROOMY
    tables = [
        ratings(tournament),
        matrix(tournament, bounds=bounds),
        cross_play(tournament),
        pairs(tournament),
    ]
    parts = ["# Goita tournament"]
    for table in tables:
        if table is not None:
            against = f"Against {_code(table.against)}." if table.against else ""
            parts += [f"## {table.title}", against, _piped(table)]
    parts += ["## Faults"] if tournament.faults else []
    for fault in tournament.faults:
        parts += [_said(fault, _code), _fenced("\n".join(fault.stderr))]
    parts += ["## To repeat it", _fenced(tournament.command)]
    parts += [
        "\n".join(f"- {_code(title)}: {_code(told)}" for title, told in tournament.facts.items())
    ]
    return "\n\n".join(part for part in parts if part) + "\n"


def benchmark(summary: Summary) -> str:
    """Returns what a README shows, in Markdown without headings: ratings and matrix."""
    tournament = read(summary)
    tables = [ratings(tournament), matrix(tournament, bounds=True)]
    return "\n\n".join(_piped(table) for table in tables if table is not None)


def html(summary: Summary) -> str:
    """Returns the report as an HTML page that needs no other file."""
    return page(read(summary))


def write(summary: Summary, path: str | Path) -> None:
    """Writes the report as what the file's suffix says: .md, .html or .json.

    Raises:
        SettingError: if it is another suffix; ``check_suffix`` says so before anything is played.
        OSError: if the file cannot be written.
    """
    check_suffix(path)
    text = _WRITERS[Path(path).suffix.lower()](summary)
    Path(path).write_text(text, encoding="utf-8", newline="\n")


def check_suffix(path: str | Path) -> None:
    """Checks that a report can be written as what the file's suffix says.

    Raises:
        SettingError: if there is no such report.
    """
    if Path(path).suffix.lower() not in _WRITERS:
        known = ", ".join(_WRITERS)
        raise SettingError(f"expected a report's file to end in one of {known}, got {str(path)!r}")


def refresh(readme_text: str, table: str, marker: str = "benchmark") -> str:
    """Returns the text with a new table between its two comments.

    They are ``<!-- benchmark:start -->`` and ``<!-- benchmark:end -->``, or another marker's.

    Raises:
        SettingError: if the two comments do not stand there once each, in this order, or the table
            has one of them in it.
    """
    start, end = f"<!-- {marker}:start -->", f"<!-- {marker}:end -->"
    if start in table or end in table:
        raise SettingError(f"expected a table without {start!r} and {end!r}, got one with it")
    found = [(readme_text.count(comment), readme_text.find(comment)) for comment in (start, end)]
    if [count for count, _ in found] != [1, 1] or found[0][1] > found[1][1]:
        raise SettingError(f"expected {start!r} once and {end!r} once after it, got {found!r}")
    before, rest = readme_text.split(start)
    return f"{before}{start}\n\n{table.strip()}\n\n{end}{rest.split(end)[1]}"


def _aligned(table: Table) -> str:
    """Returns a table as text: agents to the left, figures to the right of their columns."""
    rows = [table.columns, *([line(told) for told in row] for row in table.rows)]
    widths = [max(map(_width, column)) for column in zip(*rows, strict=True)]
    lines = []
    for row in rows:
        cells = []
        for number, (told, width) in enumerate(zip(row, widths, strict=True)):
            gap = " " * (width - _width(told))
            cells.append(told + gap if number in table.agents else gap + told)
        lines.append("  ".join(cells).rstrip())
    rule = "─" * (sum(widths) + 2 * (len(widths) - 1))
    return "\n".join([_headline(table), "", lines[0], rule, *lines[1:]])


def _headline(table: Table) -> str:
    """Returns what stands above a table on the terminal."""
    return table.title + (f", against {line(table.against)}" if table.against else "")


def _width(told: str) -> int:
    """Returns how many places of a terminal a text takes."""
    return sum(1 + (east_asian_width(character) in "WF") for character in told)


def _rich(table: Table) -> str:
    """Returns a table as ``rich`` draws it; as text if the terminal is too narrow for its figures.

    Only names are folded, long headings put one word under the other; a figure stays in one piece.
    """
    from rich.box import SIMPLE_HEAD
    from rich.console import Console
    from rich.table import Table as Drawn
    from rich.text import Text

    drawn = Drawn(box=SIMPLE_HEAD, show_edge=False)
    for number, column in enumerate(table.columns):
        longest = max(_width(line(row[number])) for row in table.rows)
        if number in table.agents:
            drawn.add_column(column, style="cyan", overflow="fold", min_width=min(16, longest))
        else:
            heading = column.replace(" ", "\n") if len(column) > 8 else column
            drawn.add_column(heading, justify="right", no_wrap=True, min_width=longest)
    for row in table.rows:
        drawn.add_row(*(Text(line(told)) for told in row))
    stream = StringIO()
    columns = shutil.get_terminal_size().columns
    console = Console(file=stream, force_terminal=True, width=columns)
    if console.measure(drawn, options=console.options.update(width=10_000)).minimum > columns:
        return _aligned(table)
    console.print(Text(_headline(table), "bold"), "", drawn, sep="\n")
    return stream.getvalue().rstrip()


def _fault(fault: Fault) -> str:
    """Returns a fault for the terminal, its standard error indented under it."""
    said = clean("\n".join(fault.stderr)).splitlines()
    return "\n".join(["fault: " + _said(fault, line), *(f"    {one}".rstrip() for one in said)])


def _said(fault: Fault, written: Callable[[str], str]) -> str:
    """Returns who did what wrong, where and how often, names written as the report does."""
    others = [agent for agent in fault.pair if agent != fault.agent]
    where = f" against {written(others[0])}" if others else ""
    kind = f": {written(fault.kind)}" if fault.kind else ""
    times = f"{fault.count:,} time{'' if fault.count == 1 else 's'}"
    lost = "; it forfeited the pairing" if fault.forfeited else ""
    return f"{written(fault.agent)}{where}{kind}, {times}{lost}"


def _piped(table: Table) -> str:
    """Returns a table as Markdown."""
    rows = [
        "| "
        + " | ".join(
            _code(told).replace("|", "\\|") if number in table.agents else told
            for number, told in enumerate(row)
        )
        + " |"
        for row in table.rows
    ]
    ruler = "|".join("---" if n in table.agents else "--:" for n in range(len(table.columns)))
    return "\n".join(["| " + " | ".join(table.columns) + " |", f"|{ruler}|", *rows])


def _code(told: str) -> str:
    """Returns anybody's text as Markdown code on one line, whatever backticks it has."""
    text = line(told)
    longest = max(map(len, re.findall("`+", text)), default=0)
    if longest == 0:
        return f"`{text}`"
    fence = "`" * (longest + 1)
    return f"{fence} {text} {fence}"


def _fenced(told: str) -> str:
    """Returns anybody's lines as a Markdown block that nothing in them ends; nothing for none."""
    if not told.strip():
        return ""
    fence = "`" * max(3, 1 + max(map(len, re.findall("`+", told)), default=0))
    return f"{fence}text\n{clean(told)}\n{fence}"


def _json(summary: Summary) -> str:
    """Returns the summary as JSON that every reader takes: no NaN, no infinity."""
    return json.dumps(_finite(summary), indent=1, allow_nan=False) + "\n"


def _finite(value: Any) -> Any:
    """Returns a value with null for each number that JSON does not have."""
    if isinstance(value, float):
        return value if isfinite(value) else None
    if isinstance(value, dict):
        return {key: _finite(item) for key, item in value.items()}
    if isinstance(value, list | tuple):
        return [_finite(item) for item in value]
    return value


_WRITERS: Final[dict[str, Callable[[Summary], str]]] = {
    ".md": markdown,
    ".html": html,
    ".json": _json,
}
"""What writes a file by its suffix."""
