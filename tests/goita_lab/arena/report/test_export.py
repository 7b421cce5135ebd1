"""Tables of a report as CSV and LaTeX: a number in each cell, and nothing that LaTeX would read."""

import csv
import io
from pathlib import Path

from goita_env.errors import SettingError
from goita_lab.arena.report.export import check_table_path, to_csv, to_latex, write_table
from goita_lab.arena.report.tables import Table
from raising import refuses

TABLE = Table(
    "Points & 50 %",
    ("", "agent", "points", "rounds won", "ms"),
    (
        ("1", "a_b", "-1,021.30 [-2.1, +3.0]?", "80.0 % [71.7, 86.3]", "0.1 : 0.2"),
        ("2", "c", "", "6.0 % [2.8, 12.2]?", "1 : 2"),
    ),
    ("agent",),
)


def test_means_and_bounds_are_columns_of_numbers():
    head, first, second = csv.reader(io.StringIO(to_csv(TABLE)))
    row = dict(zip(head, first, strict=True))
    bounds = (row["points"], row["points, low"], row["points, high"], row["rounds won, high"])
    assert [*map(float, bounds)] == [-1021.3, -2.1, 3.0, 86.3]
    assert (row["rank"], row["agent"], row["ms"]) == ("1", "a_b", "0.1 : 0.2")
    assert dict(zip(head, second, strict=True))["points"] == ""


def test_a_latex_table_escapes_what_latex_would_read():
    text = to_latex(TABLE)
    assert r"\caption{Points \& 50 \%}" in text
    assert r"\begin{tabular}{rlrrr}" in text
    assert r"1 & a\_b & $-$1,021.30 [$-$2.1, +3.0]? & 80.0 \% [71.7, 86.3] & 0.1 : 0.2 \\" in text


def test_the_ending_chooses_the_form(tmp_path):
    for suffix, begin in ((".csv", "rank,agent"), (".tex", r"\begin{table}")):
        path = tmp_path / f"table{suffix}"
        check_table_path(path)
        write_table(TABLE, path)
        assert path.read_text().startswith(begin)
    refuses(SettingError, "expected a name in .csv or .tex", check_table_path, Path("t.txt"))
