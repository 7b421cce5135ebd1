"""The command line: help that nobody reads to its end."""

import os
import sys
from importlib.util import find_spec

import pytest
from programs import run

COMMANDS = ["evaluate.py", "-m agents.watch", "-m agents.external", "-m agents.signals"]
COMMANDS += ["-m agents.play", *(["train.py"] if find_spec("torch") else [])]


@pytest.mark.parametrize("command", COMMANDS)
def test_a_help_whose_reader_went_away_ends_quietly(command):
    reader, writer = os.pipe()
    os.close(reader)
    done = run([sys.executable, *command.split(), "--help"], stdout=writer)
    os.close(writer)
    assert (done.returncode, done.stderr) == (0, "")
