"""Plays the bots of this project round robin; renews the tables of docs/strength.md.

python benchmarks/roster.py                      all bots that load, in a quarter of an hour
python benchmarks/roster.py --also file:PATH     with a trained network beside them

How many deals a slow bot plays is written below, not measured, so that the table is the same on
every machine.
"""

from __future__ import annotations

import shlex
import sys
from collections.abc import Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Final

from tabulate import tabulate

from goita_agents import AgentError, load_agent
from goita_agents.base import close
from goita_env.errors import SettingError
from goita_lab import cli
from goita_lab.arena.report import tables
from goita_lab.arena.report.tables import Table
from goita_lab.arena.tournament.summary import Summary
from goita_lab.commands import evaluate

ROOT: Final = Path(__file__).resolve().parents[1]

ROSTER: Final = {
    "random": None,
    "greedy": None,
    "heuristic": None,
    "solver": 256,
    "rollout": 512,
    "rollout:base=heuristic": 100,
    "champion": 5_000,
    "champion:search=on": 150,
}
"""Agents, and the most deals of their pairings; None: as many as any."""

START, END = "<!-- benchmark:start -->", "<!-- benchmark:end -->"


@dataclass(frozen=True)
class Args:
    """Options of the command line."""

    also: tuple[str, ...] | None = None
    """more agents"""
    deals: int = 20_000
    """deals a pair plays"""
    workers: int = 2
    """processes"""
    page: Path = ROOT / "docs" / "strength.md"
    """file with the ratings and the table of pairs"""


def main(argv: Sequence[str] | None = None) -> int:
    """Plays, writes the tables and returns the exit code."""
    args = cli.parse(Args, argv, __doc__)
    try:
        page = args.page.read_text(encoding="utf-8")
        if not (START in page and END in page):
            raise SettingError(f"expected {START!r} and {END!r} in {args.page}")
    except (OSError, SettingError) as error:
        cli.fail(error)
    agents = [name for name in ROSTER if loads(name)] + list(args.also or ())
    options = ["--agents", *agents, "--deals", str(args.deals), "--workers", str(args.workers)]
    slow = [f"{cap}:{name}" for name, cap in ROSTER.items() if cap and name in agents]
    slow = [cap for cap in slow if int(cap.partition(":")[0]) < args.deals]
    options += ["--fewer-deals", *slow] if slow else []
    command = shlex.join(["goita", "evaluate", *options])
    code, summary = evaluate.run(cli.parse(evaluate.Args, options), command)
    if code or summary is None:
        return code
    by = f"`{command}`, played by `make benchmark`"
    args.page.write_text(refresh(page, f"{benchmark(summary)}\n\n{by}"), encoding="utf-8")
    return 0


def loads(name: str) -> bool:
    """Tells whether an agent can be built here."""
    try:
        close([load_agent(name)])
    except AgentError as error:
        print(f"without {name}: {error}", file=sys.stderr)
        return False
    return True


def refresh(text: str, table: str) -> str:
    """Returns the text with a new table between its two comments."""
    before, _, after = text.partition(START)
    return f"{before}{START}\n\n{table.strip()}\n\n{END}{after.partition(END)[2]}"


def benchmark(summary: Summary) -> str:
    """Returns what the page shows, in Markdown without headings: ratings, and the matrix."""
    shown_tables = (tables.ratings_table(summary), tables.matrix_table(summary, bounds=True))
    return "\n\n".join(piped(table) for table in shown_tables if table is not None)


def piped(table: Table) -> str:
    """Returns a table of shipped agents as Markdown."""
    rows = [
        [
            f"`{cell}`" if column in table.agents else cell
            for column, cell in zip(table.columns, row, strict=True)
        ]
        for row in table.rows
    ]
    words = {*table.agents, *table.notes}
    sides = ["left" if column in words else "right" for column in table.columns]
    return tabulate(rows, table.columns, "pipe", colalign=sides, disable_numparse=True)


if __name__ == "__main__":
    cli.run(main)
