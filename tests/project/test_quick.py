"""The list of tests that ``make check`` runs: each exists, and each package has some."""

import os
import shutil
import subprocess
from pathlib import Path

import pytest

ROOT = Path(__file__).resolve().parents[2]
QUICK = [
    line
    for line in (ROOT / "tests" / "quick.txt").read_text(encoding="utf-8").splitlines()
    if not line.startswith("#")
]


def test_every_quick_test_exists():
    for one in QUICK:
        path, _, name = one.partition("[")[0].partition("::")
        assert (ROOT / path).exists(), one
        assert not name or f"def {name}(" in (ROOT / path).read_text(encoding="utf-8"), one


def has_tests(package: str, tests: Path) -> bool:
    """Tells whether a package has tests, in a folder or in one file."""
    return any((tests / package).glob("test_*.py")) or (tests / f"test_{package}.py").exists()


PACKAGES = sorted(
    one.stem
    for top in ("agents", "goita_env")
    for one in (ROOT / top).iterdir()
    if has_tests(one.stem, ROOT / "tests" / top)
)


def check(part: str) -> subprocess.CompletedProcess[str]:
    """Returns what ``make check`` would run, and what it says."""
    env = {name: value for name, value in os.environ.items() if not name.startswith("MAKE")}
    command = ["make", "--dry-run", "check", f"PART={part}"]
    return subprocess.run(command, cwd=ROOT, env=env, capture_output=True, text=True, check=False)


def listed(part: str) -> list[str]:
    """Returns the tests that ``make check`` would run."""
    done = check(part)
    assert done.returncode == 0, done.stderr
    return [word for word in done.stdout.splitlines()[-1].split() if word.startswith("tests/")]


NEEDS_MAKE = pytest.mark.skipif(shutil.which("make") is None, reason="without make")


@NEEDS_MAKE
def test_without_a_part_all_are_run():
    assert listed("") == QUICK


@NEEDS_MAKE
@pytest.mark.parametrize("part", PACKAGES)
def test_a_part_runs_the_quick_tests_of_one_package(part):
    found = listed(part)
    assert found
    assert found == [one for one in QUICK if f"/{part}/" in f"{one}/" or f"/test_{part}.py" in one]


@NEEDS_MAKE
@pytest.mark.parametrize("part", ["nothing", "view", "signal", "model"])
def test_a_part_without_quick_tests_runs_nothing(part):
    done = check(part)
    assert done.returncode == 2
    assert done.stdout == ""
    assert f"expected PART=PACKAGE with tests in tests/quick.txt, got PART={part}." in done.stderr


def test_packages_in_folders_and_in_files_are_found():
    wanted = {"signals", "views", "models", "rounds", "champion", "registry", "store"}
    assert wanted <= set(PACKAGES)
