"""Agents whose files change while a command runs: every command marks its results."""

import json
import sys
from pathlib import Path
from types import SimpleNamespace

import numpy as np
import pytest

from goita_env.errors import SettingError
from goita_lab.commands import exact, exam, signals, watch
from goita_lab.exact import entries
from goita_lab.exam.questions import Questions
from raising import refuses
from record_samples import LINE

SHIFTING = """
import numpy as np
from goita_agents import LogitAgent

class Shifting(LogitAgent):
    def __init__(self, path, temperature: float = 1.0):
        super().__init__(temperature=temperature, files=(path,))
        self.path = path

    def logits(self, view):
        with open(self.path, "a") as file:
            file.write("x")
        return np.zeros((len(view), 69), np.float32)
"""
AGENT = "mine=shifting_bot:Shifting:path=weights.txt"


@pytest.fixture
def place(tmp_path, monkeypatch):
    monkeypatch.chdir(tmp_path)
    monkeypatch.syspath_prepend(tmp_path)
    (tmp_path / "shifting_bot.py").write_text(SHIFTING)
    (tmp_path / "weights.txt").write_text("x")
    (tmp_path / "record.txt").write_text(LINE)
    Questions.load().select(np.arange(3)).save(tmp_path / "exam.npz", {})
    yield tmp_path
    sys.modules.pop("shifting_bot", None)


COMMANDS = {
    "exact": (exact, ["mini_3", "--agents", AGENT]),
    "exam": (exam, ["take", AGENT, "--exam", "exam.npz", "--html", "page.html"]),
    "signals": (signals, ["worth", AGENT, "--deals", "2", "--results", "kept.db"]),
    "watch": (watch, ["record.txt", "--analyse", AGENT, "--worlds", "8", "-o", "page.html"]),
}


@pytest.mark.parametrize("name", COMMANDS)
def test_results_of_an_agent_that_changed_are_marked(name, place, capsys):
    module, words = COMMANDS[name]
    assert module.main([*words, "--json", "out.json"]) == 1
    assert "changed while it played: mine" in capsys.readouterr().out
    result = json.loads(Path("out.json").read_text())
    assert result["changed"] == [AGENT]
    assert AGENT in result["digests"]
    if name == "exam":
        assert "changed while it played" in Path("page.html").read_text()


def test_an_agent_that_changed_is_not_entered(tmp_path):
    results = SimpleNamespace(origin={"changed": ["mine=file:x"]}, rows=())
    path = tmp_path / "board.json"
    refuses(SettingError, "changed while it played: mine", entries.enter, path, results)
    assert not path.exists()
