"""Programs that are run from the root of the repository, and what they say."""

import resource
import subprocess
from pathlib import Path

import pytest

ROOT = Path(__file__).resolve().parents[2]


def run(words, check=False, **settings):
    """Runs a program to its end; keeps what it writes as text."""
    pipe = subprocess.PIPE
    given = {"cwd": ROOT, "stdout": pipe, "stderr": pipe, "text": True, "timeout": 120, **settings}
    return subprocess.run([*map(str, words)], check=check, **given)


def run_small(words, size, **settings):
    """Runs a program whose files may not grow beyond so many bytes, as on a full disk."""

    def limit():
        resource.setrlimit(resource.RLIMIT_FSIZE, (size, size))

    return run(words, preexec_fn=limit, **settings)


def refusal(capsys, command, *given):
    """Expects a command to end with exit code 2; returns what it says on standard error."""
    with pytest.raises(SystemExit) as ended:
        command(*given)
    assert ended.value.code == 2
    return capsys.readouterr().err
