"""The command line: help that nobody reads to its end."""

import os
import re
import sys
from contextlib import suppress
from importlib import import_module
from importlib.util import find_spec

import pytest

from programs import ROOT, run

COMMANDS = ["evaluate.py", "-m goita_lab watch", "-m goita_lab bot", "-m goita_lab signals"]
COMMANDS += ["-m goita_lab play", *(["train.py"] if find_spec("torch") else [])]


MODULES = [
    "evaluate",
    "train",
    *sorted(
        ".".join(file.relative_to(ROOT).with_suffix("").parts)
        for file in ROOT.glob("agents/**/*.py")
        if re.search(r"def main\(.*cli\.parse\(", file.read_text(), re.DOTALL)
    ),
]


@pytest.mark.parametrize("module", MODULES)
def test_no_help_shows_marks_of_docstrings_or_of_formats(monkeypatch, capsys, module):
    if module == "train" or ".learning." in module:
        pytest.importorskip("torch")
    monkeypatch.setenv("COLUMNS", "200")
    found = import_module(module)
    for words in ([], *([name] for name in getattr(found, "COMMANDS", ()))):
        with suppress(SystemExit):
            found.main([*words, "--help"])
        told = capsys.readouterr().out
        assert len(told) > 100
        for mark in ("::", "``", "%%", "\n\n\n\n"):
            assert mark not in told


@pytest.mark.parametrize("command", COMMANDS)
def test_a_help_whose_reader_went_away_ends_quietly(command):
    reader, writer = os.pipe()
    os.close(reader)
    done = run([sys.executable, *command.split(), "--help"], stdout=writer)
    os.close(writer)
    assert (done.returncode, done.stderr) == (0, "")
