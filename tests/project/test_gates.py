"""A check that checked nothing has failed: runs of tests, pages, and tools."""

import os
import subprocess
import sys
import tomllib
from pathlib import Path

import pytest

ROOT = Path(__file__).resolve().parents[2]


def run(*words, cwd=ROOT, **variables):
    command = [sys.executable, *map(str, words)]
    env = os.environ | {name: str(value) for name, value in variables.items()}
    return subprocess.run(command, cwd=cwd, env=env, capture_output=True, text=True, check=False)


@pytest.mark.parametrize(("reason", "code"), [("'no browser'", 5), ("", 0)])
def test_a_run_in_which_every_test_was_skipped_fails(tmp_path, reason, code):
    skip = f"    pytest.skip({reason})\n" if reason else ""
    (tmp_path / "test_any.py").write_text(f"import pytest\ndef test_any():\n{skip}    pass\n")
    words = ("-m", "pytest", "-q", "-p", "conftest", "-p", "no:cacheprovider", "test_any.py")
    assert run(*words, cwd=tmp_path, PYTHONPATH=ROOT / "tests").returncode == code


def test_a_page_without_python_is_not_a_page_that_ran(tmp_path):
    page = tmp_path / "page.md"
    page.write_text("```text\n1\n```\n")
    ran = run("tests/helpers/pages.py", page)
    assert ran.returncode == 1
    assert "expected a block of Python" in ran.stderr


@pytest.mark.parametrize(
    "words",
    [
        ("tools/notebooks.py", "no_such_notebook"),
        ("tools/widen.py", "tests/project", "--bits", "511:512"),
        ("benchmarks/waiting.py", "--only", "no such line"),
        ("benchmarks/figures.py", "no_such_run"),
    ],
)
def test_a_tool_refuses_names_for_which_it_would_do_nothing(words):
    ran = run(*words)
    assert ran.returncode
    assert "expected" in ran.stderr


def test_mypy_reads_every_python_file_outside_the_tests():
    settings = tomllib.loads((ROOT / "pyproject.toml").read_text())["tool"]["mypy"]
    paths = [path for pattern in settings["files"] for path in ROOT.glob(pattern)]
    read = {file for path in paths for file in (path.rglob("*.py") if path.is_dir() else (path,))}
    listed = subprocess.run(
        ["git", "ls-files", "*.py"], cwd=ROOT, capture_output=True, text=True, check=True
    )
    names = [name for name in listed.stdout.splitlines() if not name.startswith("tests/")]
    assert "benchmarks/solver.py" in names
    assert not [name for name in names if ROOT / name not in read]
