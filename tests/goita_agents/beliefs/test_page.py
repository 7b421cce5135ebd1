"""The page on the listener and its example do what they show."""

import importlib.util
from pathlib import Path

import pytest

ROOT = Path(__file__).parents[3]


@pytest.mark.pages
def test_the_example_ends_surer_of_the_partners_hand_than_it_began(capsys):
    path = ROOT / "examples" / "partners_pass.py"
    spec = importlib.util.spec_from_file_location("partners_pass", path)
    example = importlib.util.module_from_spec(spec)
    spec.loader.exec_module(example)
    example.main()
    lines = [line for line in capsys.readouterr().out.splitlines() if line.startswith("seat ")]
    left = [float(line.split()[3]) for line in lines]
    assert left[-1] < 2
    assert left[0] > 5
