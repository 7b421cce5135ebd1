"""Writes a tournament as Markdown."""

from __future__ import annotations

import re
from typing import Final

from tabulate import tabulate

from goita_lab.arena.report import tables
from goita_lab.arena.report.figures import clean, line
from goita_lab.arena.report.tables import Table
from goita_lab.arena.tournament.summary import Summary

ROOMY: Final = 8
"""Most agents whose matrix has intervals."""


def markdown(summary: Summary) -> str:
    """Returns the report as Markdown: the tables, the faults, and what it takes to repeat it."""
    parts = ["# Goita tournament"]
    matrix = tables.matrix_table(summary, bounds=len(summary.agents) <= ROOMY)
    for table in tables.tables(summary, matrix):
        against = f"Against {code(table.against)}." if table.against else ""
        parts += [f"## {table.title}", against, piped(table)]
    parts += ["## Faults"] if summary.faults else []
    for fault in summary.faults:
        parts += [tables.headline(fault, code), fenced(tables.last_words(fault))]
    parts += ["## To repeat it", fenced(summary.command)]
    parts += [
        "\n".join(f"- {title}: {code(told)}" for title, told in tables.facts(summary).items())
    ]
    return "\n\n".join(part for part in parts if part) + "\n"


def ratings(summary: Summary) -> str:
    """Returns what a README shows, in Markdown without a heading: the ratings."""
    table = tables.ratings_table(summary)
    return piped(table) if table else ""


def benchmark(summary: Summary) -> str:
    """Returns what a page on strength shows, in Markdown without headings: ratings and matrix."""
    found = [tables.ratings_table(summary), tables.matrix_table(summary, bounds=True)]
    return "\n\n".join(piped(table) for table in found if table is not None)


def piped(table: Table) -> str:
    """Returns a table as Markdown."""
    rows = [
        [
            code(told).replace("|", "\\|") if number in table.agents else told
            for number, told in enumerate(row)
        ]
        for row in table.rows
    ]
    words = {*table.agents, *table.notes}
    sides = ["left" if n in words else "right" for n in range(len(table.columns))]
    return tabulate(rows, table.columns, "pipe", colalign=sides, disable_numparse=True)


def code(told: str) -> str:
    """Returns a foreign text as Markdown code on one line, whatever backticks it has."""
    text = line(told)
    longest = _most_backticks(text)
    if longest == 0:
        return f"`{text}`"
    fence = "`" * (longest + 1)
    return f"{fence} {text} {fence}"


def fenced(told: str) -> str:
    """Returns foreign lines as a Markdown block that nothing in them ends; nothing for none."""
    if not told.strip():
        return ""
    fence = "`" * max(3, 1 + _most_backticks(told))
    return f"{fence}text\n{clean(told)}\n{fence}"


def _most_backticks(text: str) -> int:
    return max(map(len, re.findall("`+", text)), default=0)
