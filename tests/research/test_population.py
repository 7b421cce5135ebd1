"""A member is trained once, goes on where it stopped, and is what was measured."""

import json
from types import SimpleNamespace

import pytest

from goita_agents.population import Population
from goita_env.errors import SettingError
from goita_lab.commands import train as train_command
from research.population import methods
from research.population import train as training
from research.population.methods import METHODS
from research.population.train import train

TINY = (
    *("--layers", "8", "--decisions", "512", "--games", "8", "--steps", "16", "--batch", "64"),
    *("--threads", "1", "--measure-deals", "0", "--snapshot-every", "256", "--deals", "4"),
)


def here(words, **_):
    """Trains in this process, and not in one of its own."""
    assert words[1:4] == ["-m", "goita_lab", "train"]
    return SimpleNamespace(returncode=train_command.main(words[4:]))


def test_a_run_is_adopted_and_checked(tmp_path, monkeypatch, capsys):
    pytest.importorskip("torch")
    monkeypatch.setattr(methods, "COMMON", TINY)
    monkeypatch.setattr(training, "DEALS", 4)
    monkeypatch.setattr(training, "BLOCK", 2)
    monkeypatch.setattr(training, "subprocess", SimpleNamespace(run=here))
    monkeypatch.chdir(tmp_path)
    method = METHODS["token-private"]
    population = Population(tmp_path / "population")
    member = train(method, 3, tmp_path, population)
    assert "token-private-3: training" in capsys.readouterr().err
    assert (member.name, member.split, member.strength.deals) == ("token-private-3", "messages", 4)
    read = Population(tmp_path / "population")
    assert read.members == {"token-private-3": member}
    assert read.network("token-private-3").info.information == method.information
    # What is done is not done again; what was measured is repeated from the run alone.
    assert train(method, 3, tmp_path, read) == member
    assert train(method, 3, tmp_path, Population(tmp_path / "other")) == member
    assert not capsys.readouterr().err
    # A run with other options is refused.
    config = tmp_path / "runs" / "token-private-3" / "config.json"
    settings = json.loads(config.read_bytes())
    for change in ({"mute_share": 0.25}, {"seed": 4}, {"information": {}}, {"layers": [8, 8]}):
        config.write_text(json.dumps(settings | change))
        with pytest.raises(SettingError, match=r"expected .* in .*token-private-3, got"):
            train(method, 3, tmp_path, Population(tmp_path / "third"))
