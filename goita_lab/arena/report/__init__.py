"""Shows a tournament: on the terminal, and as one self-contained HTML page.

::

    print(report.terminal(summary))
    Path("tournament.html").write_text(report.html(summary), encoding="utf-8")
"""

from __future__ import annotations

from collections.abc import Sequence

from goita_lab.arena.report.tables import fault_texts, pairs_table
from goita_lab.arena.report.to_html import html
from goita_lab.arena.report.to_terminal import draw, terminal
from goita_lab.arena.tournament.summary import PairResult

__all__ = ["fault_texts", "html", "pairs", "terminal"]


def pairs(results: Sequence[PairResult]) -> str:
    """Returns only the table of pairs, for the terminal."""
    table = pairs_table(results)
    return draw(table) if table else ""
