"""The examples of frameworks that can't be installed beside the others: ``make test-frameworks``.

Not collected by the default run. In the environment of one framework the others' are skipped.
"""

import importlib.util
import os
import re
import subprocess
import sys
from pathlib import Path

import pytest

EXAMPLES = Path(__file__).resolve().parents[2] / "examples"
QUIET = {
    "RAY_AUTH_MODE": "disabled",
    "RAY_USAGE_STATS_ENABLED": "0",
    "RAY_raylet_start_wait_time_s": "300",
}


@pytest.mark.parametrize(
    ("framework", "words", "told", "saves"),
    [
        ("ray", "rllib_one_seat.py --steps 1500 --batch 512", r"points a round", True),
        ("ray", "rllib_teams.py --steps 300 --batch 128", r"points a round", True),
        ("torchrl", "torchrl_one_seat.py --steps 2048 --batch 1024", r"in \d+ rounds", False),
        ("torchrl", "torchrl_teams.py --steps 256 --batch 128", r"decisions, seats", True),
    ],
)
def test_an_example_runs(framework, words, told, saves, tmp_path):
    if importlib.util.find_spec(framework) is None:
        pytest.skip(f"needs {framework}, in an environment of its own")
    name, *options = words.split()
    file = tmp_path / "policy.pt"
    save = ["--save", str(file)] if saves else []
    command = [sys.executable, str(EXAMPLES / name), *options, *save]
    done = subprocess.run(
        command, capture_output=True, text=True, check=False, timeout=900, env=os.environ | QUIET
    )
    assert done.returncode == 0, done.stderr
    assert len(re.findall(told, done.stdout)) >= 2
    assert file.exists() == saves
