"""The command line: help that nobody reads to its end."""

import os
import subprocess
import sys
from importlib.util import find_spec
from pathlib import Path

import pytest

ROOT = Path(__file__).parents[2]
COMMANDS = ["evaluate.py", "-m agents.watch", "-m agents.external", "-m agents.signals"]
COMMANDS += ["train.py"] if find_spec("torch") else []


@pytest.mark.parametrize("command", COMMANDS)
def test_a_help_whose_reader_went_away_ends_quietly(command):
    reader, writer = os.pipe()
    os.close(reader)
    words = [sys.executable, *command.split(), "--help"]
    done = subprocess.run(
        words, stdout=writer, stderr=subprocess.PIPE, text=True, cwd=ROOT, check=False, timeout=120
    )
    os.close(writer)
    assert done.stderr == ""
    assert done.returncode == 0
