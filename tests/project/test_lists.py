"""Lists that people keep by hand name what the code has: small games, columns, pictures."""

import inspect
import re
from pathlib import Path

import pytest

from goita_env.rules import RULE_SETS
from goita_lab.commands import coordination, exact

ROOT = Path(__file__).parents[2]
PAGES = [ROOT / "README.md", *sorted((ROOT / "docs").rglob("*.md"))]
TEXTS = {
    page.relative_to(ROOT).as_posix(): page.read_text(encoding="utf-8")
    for page in PAGES
    if "_build" not in page.parts
}
SMALL = {name for name in RULE_SETS if name.startswith("mini_")}
MEASURED = {file.stem for file in (ROOT / "goita_lab/exact/players").glob("mini_?.npz")}
"""Small games with test players, in which coordination is exact."""
COLUMNS = [name for name, text in TEXTS.items() if "\n| column |" in text]


def option(command):
    """Returns what the help says of the rule set."""
    source = inspect.getsource(command.Args)
    return re.search(r'rules: .*?"""(.*?)"""', source, re.DOTALL)[1]


@pytest.mark.parametrize(
    ("where", "games"),
    [
        (option(exact), SMALL),
        (option(coordination), MEASURED),
        (TEXTS["docs/exact.md"], SMALL),
        (TEXTS["docs/rules.md"], SMALL),
        (TEXTS["docs/coordination.md"], MEASURED),
    ],
    ids=["exact --help", "coordination --help", "exact.md", "rules.md", "coordination.md"],
)
def test_a_list_of_small_games_has_all_of_them(where, games):
    assert set(re.findall(r"\bmini_\d+\b", where)) == games


@pytest.mark.parametrize("name", COLUMNS)
def test_a_table_of_columns_explains_headings_that_the_page_shows(name):
    shown = TEXTS[name]
    tables = re.findall(r"\| column \| meaning \|\n\|.*\n(?:\|.*\n)+", shown)
    assert tables
    for table in tables:
        shown = shown.replace(table, "")
    for row in [row for table in tables for row in table.splitlines()[2:]]:
        heading = row.split(" | ")[0].removeprefix("| ")
        for part in heading.replace(" NAME", "").split(", "):
            assert part in shown, heading


def test_every_tool_is_named_where_a_contributor_looks():
    places = ("docs/architecture.md", "CONTRIBUTING.md", "Makefile")
    written = "".join((ROOT / place).read_text(encoding="utf-8") for place in places)
    tools = {path.name: path.read_text() for path in sorted((ROOT / "tools").glob("*.py"))}
    commands = [name for name, text in tools.items() if "__main__" in text]
    assert [name for name in commands if name not in written] == []
