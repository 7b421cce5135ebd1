"""Writes a table of a report as CSV, with a column for each number, or as LaTeX."""

from __future__ import annotations

import csv
import io
import re
from pathlib import Path
from typing import Final

from goita_agents.files import is_stdout, write_whole
from goita_env.errors import SettingError
from goita_lab.arena.report.tables import Table

TABLE_SUFFIXES: Final = (".csv", ".tex")
NUMBER: Final = r"[+-]?[\d,]*\.?\d+"
BOUNDS: Final = rf"(?:\[({NUMBER}), ({NUMBER})\]\??)?"
CELL: Final = re.compile(rf"({NUMBER})?(?: %)? ?{BOUNDS} ?{BOUNDS}")
"""A figure of a table: a mean, and an interval or two, such as over deals and over partners."""

LATEX_SIGNS: Final = {
    **{sign: f"\\{sign}" for sign in "&%$#_{}"},
    "\\": r"\textbackslash{}",
    "^": r"\textasciicircum{}",
    "~": r"\textasciitilde{}",
}


def check_table_path(path: Path | None) -> None:
    """Raises a SettingError if a name ends in another way than ``TABLE_SUFFIXES``."""
    if path is not None and path.suffix not in TABLE_SUFFIXES and not is_stdout(path):
        raise SettingError(f"expected a name in {' or '.join(TABLE_SUFFIXES)}, got {path.name!r}")


def write_table(table: Table, path: Path) -> None:
    """Writes a table to a file, LaTeX if its name ends so, else CSV."""
    text = to_latex(table) if path.suffix == ".tex" else to_csv(table)
    write_whole(path, text)


def to_csv(table: Table) -> str:
    """Returns a table as CSV; a column of means with intervals becomes three columns."""
    columns: dict[str, list[str]] = {}
    for index, title in enumerate(table.columns):
        columns |= _split(title, [row[index] for row in table.rows])
    file = io.StringIO()
    writer = csv.writer(file, lineterminator="\n")
    writer.writerow(columns)
    writer.writerows(zip(*columns.values(), strict=True))
    return file.getvalue()


def _split(title: str, cells: list[str]) -> dict[str, list[str]]:
    """Returns the columns of one column: mean, low and high where its cells are such figures."""
    title = title or "rank"
    figures = [CELL.fullmatch(cell) for cell in cells]
    if not all(figures) or not any(cells):
        return {title: cells}
    parts = zip(*(match.groups("") for match in figures if match), strict=True)
    ends = ("", ", low", ", high", ", low of the second", ", high of the second")
    named = zip((f"{title}{end}" for end in ends), parts, strict=True)
    return {
        name: [part.replace(",", "") for part in numbers] for name, numbers in named if any(numbers)
    }


def to_latex(table: Table) -> str:
    """Returns a table as LaTeX, names to the left and figures to the right."""
    kinds = "".join(
        "l" if column in (*table.agents, *table.notes) else "r" for column in table.columns
    )
    lines = [" & ".join(map(_escaped, row)) + r" \\" for row in (table.columns, *table.rows)]
    return "\n".join(
        [
            r"\begin{table}",
            rf"\caption{{{_escaped(table.title)}}}",
            rf"\begin{{tabular}}{{{kinds}}}",
            r"\hline",
            lines[0],
            r"\hline",
            *lines[1:],
            r"\hline",
            r"\end{tabular}",
            r"\end{table}",
            "",
        ]
    )


def _escaped(text: str) -> str:
    """Returns a text with LaTeX's signs escaped, and a minus sign before numbers."""
    escaped = "".join(LATEX_SIGNS.get(sign, sign) for sign in text)
    return re.sub(r"(?<![\w-])-(?=\d)", "$-$", escaped)
