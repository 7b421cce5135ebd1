"""Shows a tournament: on the terminal, as Markdown, and as one self-contained HTML page.

::

    print(report.terminal(summary))
    Path("tournament.html").write_text(report.html(summary), encoding="utf-8")
"""

from __future__ import annotations

from collections.abc import Sequence

from goita_env.errors import SettingError
from goita_lab.arena.report.tables import pairs_table
from goita_lab.arena.report.to_html import html
from goita_lab.arena.report.to_markdown import benchmark, markdown, ratings
from goita_lab.arena.report.to_terminal import draw, faults, terminal
from goita_lab.arena.tournament.summary import PairResult

__all__ = ["benchmark", "faults", "html", "markdown", "pairs", "ratings", "refresh", "terminal"]


def pairs(results: Sequence[PairResult]) -> str:
    """Returns the table of some pairs alone, for the terminal."""
    table = pairs_table(results)
    return draw(table) if table else ""


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
