"""Public names move only on purpose: the stored list is the code's."""

import json
import sys
from pathlib import Path

import pytest

ROOT = Path(__file__).resolve().parents[2]
ACCEPT = """public names have changed ("-" is gone, "+" is new):

{}

Users build on these names. If the change is meant, give each name that moved a row (before, now)
and each new name a line in CHANGELOG.md, then run: python tools/public_names.py"""


@pytest.fixture
def tool(monkeypatch):
    monkeypatch.syspath_prepend(ROOT / "tools")
    import public_names

    yield public_names
    del sys.modules["public_names"]


@pytest.fixture(scope="module")
def stored():
    return json.loads((ROOT / "tests/project/public_names.json").read_bytes())


def test_the_stored_public_names_are_those_of_the_code(tool, stored):
    for needed in ("torch", "sb3_contrib", "pyarrow", "sklearn"):
        pytest.importorskip(needed)
    changes = tool.difference(stored, tool.public_names())
    assert not changes, ACCEPT.format("\n".join(changes))


def test_a_renamed_parameter_and_a_lost_option_are_differences(tool):
    def before(view, legal): ...
    def now(view, mask): ...

    stored = {"python": [tool.signature("act", before)], "commands": ["goita check --seed"]}
    names = {"python": [tool.signature("act", now)], "commands": []}
    assert tool.difference(stored, names) == [
        "- commands: goita check --seed",
        "- python: act(view, legal)",
        "+ python: act(view, mask)",
    ]
    assert tool.difference(stored, stored) == []
