"""The README tells the truth: its Python runs, its links lead somewhere."""

import re
from pathlib import Path

import pytest

ROOT = Path(__file__).parents[2]
README = (ROOT / "README.md").read_text(encoding="utf-8")
PAGES = ["README.md", *(f"docs/{page.name}" for page in sorted((ROOT / "docs").glob("*.md")))]
BLOCKS = re.findall(r"```python\n(.*?)```", README, re.DOTALL)


def test_there_are_python_blocks():
    assert len(BLOCKS) == 2


@pytest.mark.parametrize("number", range(len(BLOCKS)))
def test_the_python_of_the_readme_runs(number, capsys):
    exec(compile(BLOCKS[number], f"README block {number}", "exec"), {"__name__": "readme"})
    if number == 0:
        assert re.fullmatch(r"[+-]\d+\.\d points per round\n", capsys.readouterr().out)


def test_the_python_of_the_drawings_page_runs():
    text = (ROOT / "docs" / "drawings.md").read_text(encoding="utf-8")
    names: dict[str, object] = {"__name__": "page"}
    for block in re.findall(r"```python\n(.*?)```", text, re.DOTALL):
        exec(compile(block, "docs/drawings.md", "exec"), names)
    assert names["frame"].shape == (600, 600, 3)
    assert names["gif"].startswith(b"GIF")


def test_the_python_of_the_search_page_runs(capsys):
    text = (ROOT / "docs" / "search.md").read_text(encoding="utf-8")
    names: dict[str, object] = {"__name__": "page"}
    for block in re.findall(r"```python\n(.*?)```", text, re.DOTALL):
        exec(compile(block, "docs/search.md", "exec"), names)
    assert capsys.readouterr().out.startswith("60\n{")
    assert len(names["positions"]) == names["rounds"].num_games == 64


@pytest.mark.parametrize("page", PAGES)
def test_links_lead_to_files_of_the_project(page):
    text = (ROOT / page).read_text(encoding="utf-8")
    for link in re.findall(r"\]\(([^)#]+)\)", text):
        if "://" not in link:
            assert ((ROOT / page).parent / link).exists(), link
