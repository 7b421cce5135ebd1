"""What is shown can never end a command that has worked, and files are written first."""

import json
import os
import subprocess
import sys

import pytest

from programs import ROOT

TOURNAMENT = ["evaluate.py", "--agents", "greedy", "greedy", "--deals", "4"]


def started(words, tmp_path, *, variables=None, shell="{}"):
    """Runs a command in a shell as ``shell`` says; returns its exit code, JSON and errors."""
    file = tmp_path / "result.json"
    command = " ".join([sys.executable, *words, "--json", str(file)])
    found = subprocess.run(
        ["bash", "-c", shell.format(command)],
        cwd=ROOT,
        env=os.environ | (variables or {}),
        capture_output=True,
        timeout=120,
        check=False,
    )
    content = json.loads(file.read_bytes()) if file.exists() else None
    return found.returncode, content, found.stderr.decode()


@pytest.mark.parametrize("shell", ["set -o pipefail; {} 2>&1 | true", "{} >&-"])
def test_a_reader_that_goes_away_loses_nothing(shell, tmp_path):
    code, content, errors = started(TOURNAMENT, tmp_path, shell=shell)
    assert code == 0, errors
    assert content
    assert "Traceback" not in errors
    assert "Exception ignored" not in errors


def test_a_terminal_that_lacks_signs_or_room_shows_what_it_can(tmp_path):
    variables = {"PYTHONIOENCODING": "ascii", "COLUMNS": "1"}
    code, content, errors = started(TOURNAMENT, tmp_path, variables=variables)
    assert (code, errors.count("Traceback")) == (0, 0), errors
    assert len(content["pairs"]) == 1


@pytest.mark.skipif(not os.path.exists("/dev/full"), reason="no device that is always full")
def test_output_that_is_lost_on_a_full_disk_is_told(tmp_path):
    code, content, errors = started(TOURNAMENT, tmp_path, shell="{} > /dev/full")
    assert code == 1
    assert content
    assert "expected to write all output: [Errno 28]" in errors
