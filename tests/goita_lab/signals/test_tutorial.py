"""The tutorial runs."""

import re
from importlib.util import module_from_spec, spec_from_file_location

import pytest

from programs import ROOT


@pytest.fixture(autouse=True)
def pandas():
    pytest.importorskip("pyarrow")
    pytest.importorskip("pandas")


@pytest.mark.pages
def test_the_tutorial_goes_from_a_pass_to_points(capsys):
    spec = spec_from_file_location("tutorial", ROOT / "examples" / "what_a_pass_tells.py")
    tutorial = module_from_spec(spec)
    spec.loader.exec_module(tutorial)
    tutorial.main(2)
    told = capsys.readouterr().out
    assert "my partner passes" in told
    assert len(re.findall(r"If it plays as .*: \d\.\d\d nats", told)) == 2
    assert re.search(r"Listening to the partner: [+-]\d+\.\d\d points a round", told)
