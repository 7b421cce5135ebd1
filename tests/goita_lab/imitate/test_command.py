"""``goita imitate``: what it writes, prints and refuses."""

import json

import numpy as np
import pytest

from goita_agents.bots.network_file import write_network
from goita_agents.registry import load_agent
from goita_lab.commands import evaluate
from goita_lab.commands import imitate as command
from goita_lab.imitate import learn
from network_files import INFO, tensors
from programs import refusal


@pytest.fixture(scope="module")
def folder(tmp_path_factory):
    """Holds games of greedy, and a small network to begin with."""
    place = tmp_path_factory.mktemp("imitate")
    options = ["--deals", "20", "--save-games", str(place / "games")]
    assert evaluate.main(["--agents", "greedy", "random", *options]) == 0
    small = {name: (0.1 * one).astype(np.float32) for name, one in tensors((24, 16)).items()}
    (place / "small.safetensors").write_bytes(write_network(INFO, small))
    return place


def arguments(folder, tmp_path, *more):
    return [
        *(str(folder / "games"), "--player", "greedy", "-o", str(tmp_path / "model.safetensors")),
        *("--init", f"file:{folder / 'small.safetensors'}", *more),
    ]


def test_the_file_is_an_agent_and_the_tables_are_in_the_json(folder, tmp_path, capsys):
    out = tmp_path / "numbers.json"
    assert command.main(arguments(folder, tmp_path, "--json", str(out))) == 0
    shown, found = capsys.readouterr().out, json.loads(out.read_text())
    agent = load_agent(f"file:{tmp_path / 'model.safetensors'},temperature=1")
    assert agent.info.decisions == found["decisions"]["train"]
    names = [one["name"] for one in found["scores"]]
    assert names == ["model", f"file:{folder / 'small.safetensors'}", "heuristic", "uniform"]
    for one in found["scores"]:
        assert one["log_likelihood"]["low"] <= one["log_likelihood"]["mean"] <= 0
        assert f"{one['accuracy']['mean']:.3f}" in shown
    model, start, _, uniform = found["scores"]
    assert model["log_likelihood"]["mean"] > start["log_likelihood"]["mean"]
    assert start["log_likelihood"]["mean"] > uniform["log_likelihood"]["mean"] - 0.1
    assert sum(one["decisions"] for one in found["calibration"]) == found["decisions"]["test"]
    assert found["tried"][0]["weight"] is None
    assert found["weight"] in [one["weight"] for one in found["tried"]]
    before = (tmp_path / "model.safetensors").read_bytes()
    assert command.main(arguments(folder, tmp_path)) == 0
    assert (tmp_path / "model.safetensors").read_bytes() == before


def test_wrong_input_is_an_error_line_and_writes_nothing(folder, tmp_path, capsys):
    for option, message in {
        "--player=nobody": "expected a player of the games, such as",
        "--init=greedy": "expected a network to begin with, such as champion or file:PATH, got",
        "--output=missing/x": "there is no folder",
        f"--json={tmp_path / 'model.safetensors'}": "expected another file for each output",
    }.items():
        assert message in refusal(capsys, command.main, arguments(folder, tmp_path, option))
        assert list(tmp_path.iterdir()) == []


def test_ctrl_c_leaves_no_half_file(folder, tmp_path, monkeypatch, capsys):
    def stop(*_, progress, **__):
        progress(0.5)
        raise KeyboardInterrupt

    monkeypatch.setattr(learn, "imitate", stop)
    assert command.main(arguments(folder, tmp_path)) == 130
    assert "nothing was written" in capsys.readouterr().err
    assert list(tmp_path.iterdir()) == []
