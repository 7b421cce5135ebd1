"""Writes a tournament as Markdown."""

from __future__ import annotations

import re
from typing import Final

from tabulate import tabulate

from agents.report.figures import clean, line, times
from agents.report.standings import facts, kind, last_words, setting
from agents.report.tables import (
    Table,
    cross_play_table,
    matrix_table,
    pairs_table,
    ratings_table,
)
from agents.tournament.summary import FaultCount, Summary

ROOMY: Final = 8
"""Most agents whose matrix has intervals."""


def markdown(summary: Summary) -> str:
    """Returns the report as Markdown: the tables, the faults, and what it takes to repeat it."""
    tables = [
        ratings_table(summary),
        matrix_table(summary, bounds=len(summary.agents) <= ROOMY),
        cross_play_table(summary),
        pairs_table(summary.pairs),
    ]
    parts = ["# Goita tournament"]
    for table in tables:
        if table is not None:
            against = f"Against {_code(table.against)}." if table.against else ""
            parts += [f"## {table.title}", against, piped(table)]
    parts += ["## Faults"] if summary.faults else []
    for fault in summary.faults:
        parts += [_fault(fault), _fenced(last_words(fault))]
    parts += ["## To repeat it", _fenced(summary.command)]
    parts += ["\n".join(f"- {title}: {_code(told)}" for title, told in facts(summary).items())]
    return "\n\n".join(part for part in parts if part) + "\n"


def ratings(summary: Summary) -> str:
    """Returns what a README shows, in Markdown without a heading: the ratings."""
    table = ratings_table(summary)
    return piped(table) if table else ""


def benchmark(summary: Summary) -> str:
    """Returns what a page on strength shows, in Markdown without headings: ratings and matrix."""
    tables = [ratings_table(summary), matrix_table(summary, bounds=True)]
    return "\n\n".join(piped(table) for table in tables if table is not None)


def piped(table: Table) -> str:
    """Returns a table as Markdown."""
    rows = [
        [
            _code(told).replace("|", "\\|") if number in table.agents else told
            for number, told in enumerate(row)
        ]
        for row in table.rows
    ]
    words = {*table.agents, *table.notes}
    sides = ["left" if n in words else "right" for n in range(len(table.columns))]
    return tabulate(rows, table.columns, "pipe", colalign=sides, disable_numparse=True)


def _fault(fault: FaultCount) -> str:
    """Returns who did what wrong, where and how often."""
    where = "".join(f" {word} {_code(name)}" for word, name in setting(fault))
    lost = "; it forfeited the pairing" if fault.forfeited else ""
    return f"{_code(fault.agent)}{where}: {kind(fault)}, {times(fault.count)}{lost}"


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
