"""The list of tests that ``make check`` runs: each exists, and each package has some."""

from pathlib import Path

ROOT = Path(__file__).resolve().parents[2]
QUICK = [
    line
    for line in (ROOT / "tests" / "quick.txt").read_text(encoding="utf-8").splitlines()
    if not line.startswith("#")
]


def test_every_quick_test_exists():
    for one in QUICK:
        path, _, name = one.partition("::")
        assert (ROOT / path).exists(), one
        assert not name or f"def {name}(" in (ROOT / path).read_text(encoding="utf-8"), one


def test_every_package_has_quick_tests():
    folders = [
        folder.relative_to(ROOT).as_posix()
        for top in ("agents", "goita_env")
        for folder in (ROOT / "tests" / top).iterdir()
        if any(folder.glob("test_*.py"))
    ]
    assert len(folders) > 15
    assert [name for name in folders if not any(one.startswith(name) for one in QUICK)] == []
