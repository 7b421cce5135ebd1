"""What messages tell and are worth: a known code, noise, and a trained policy."""

import json

import numpy as np
import pytest

from goita_env.errors import SettingError
from goita_lab.commands.signals import main
from goita_lab.signals.messages import message_uses
from programs import refusal
from raising import refuses

CODED = '''
import numpy as np

from goita_env.information import InformationStructure, MessageChannel


class Sender:
    """Plays the first legal action, and sends whether it holds lances, or noise."""

    deterministic = False

    def __init__(self, audience="partner", noise=False):
        self.name, self.noise = "sender", noise
        self.information = InformationStructure(channel=MessageChannel(bits=1, audience=audience))

    def plays(self, information):
        return information == self.information

    def probabilities(self, view, legal):
        found = np.zeros(legal.shape)
        found[np.arange(len(legal)), legal.argmax(axis=1)] = 1
        asked = legal[:, 69]
        says = 69 + (view.hand[:, 1] > 0)
        found[asked] = 0
        if self.noise:
            found[np.ix_(np.flatnonzero(asked), [69, 70])] = 0.5
        else:
            found[np.flatnonzero(asked), says[asked]] = 1
        return found

    def act(self, view, legal, rng):
        chances = self.probabilities(view, legal).cumsum(axis=1)
        return (chances <= rng.random((len(legal), 1))).sum(axis=1)
'''


@pytest.fixture
def coded(tmp_path, monkeypatch):
    (tmp_path / "coded_sender.py").write_text(CODED)
    monkeypatch.chdir(tmp_path)


def test_a_known_code_is_measured(coded):
    (found,) = message_uses(["coded_sender:Sender"], 200, 8)
    silent, sends = found.sent
    entropy = -sum(p * np.log(p) for p in (silent, sends))
    assert found.depends.mean == pytest.approx(entropy, abs=1e-6)
    first = found.kinds[0]
    assert first.kind == "lance"
    assert first.information == pytest.approx(entropy, abs=1e-6)
    assert first.shuffled < 0.01
    assert found.partner.low > 0.2
    assert found.opponents is None


def test_noise_tells_nothing(coded):
    (found,) = message_uses(["coded_sender:Sender:noise=on,audience=all"], 200, 2)
    assert found.depends.mean == pytest.approx(0, abs=1e-9)
    assert max(one.information for one in found.kinds) < 0.01
    assert found.partner.high < 0.01
    assert found.opponents.high < 0.01


@pytest.mark.slow
def test_a_trained_policy_tells_its_partner_something(tmp_path, capsys):
    file = tmp_path / "messages.json"
    agents = [f"population:token-private-{seed}" for seed in (0, 1)]
    assert main(["messages", *agents, "--deals", "12", "--heard", "2", "--json", str(file)]) == 0
    found = json.loads(file.read_bytes())
    assert found["weights"].keys() == {*agents}
    told = found["agents"]
    assert all(one["partner"]["mean"] > 0.2 and one["depends"]["mean"] > 0.3 for one in told)
    assert "mean of 2 runs" in capsys.readouterr().out


def test_others_are_refused(capsys):
    words = "expected a policy of a game with messages"
    refuses(SettingError, words, message_uses, ["greedy"], 10, 10)
    refuses(SettingError, "two deals or more", message_uses, ["population:token-private-0"], 1, 10)
    assert words in refusal(capsys, main, ["messages", "greedy"])
