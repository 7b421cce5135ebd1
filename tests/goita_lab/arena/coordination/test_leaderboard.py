"""Entries of a leaderboard are what was played, and a cell that was not is found."""

import json

import pytest

from goita_env.errors import SettingError
from goita_lab.arena.coordination import benchmark, leaderboard, responses
from goita_lab.arena.coordination import task as tasks
from goita_lab.arena.coordination.responses import Response
from goita_lab.arena.coordination.task import CoordinationTask, Partner
from goita_lab.commands import coordination as command

OTHERS = ("population:offbelief-6",)
PARTNER = Partner("population:beside-heuristic-0")


@pytest.fixture(autouse=True)
def small(monkeypatch):
    """A validation task of one partner, with eight deals a cell."""
    task = CoordinationTask((PARTNER,), OTHERS, "validation")
    for module in (tasks, leaderboard, command, benchmark):
        monkeypatch.setattr(module, "VALIDATION", task)
    sizes = {key: benchmark.Sizes(8, 4) for key in benchmark.SIZES}
    for module in (benchmark, command):
        monkeypatch.setattr(module, "SIZES", sizes)
    points = dict.fromkeys(task.against(PARTNER), (7.0, 6.0, 8.0))
    found = {PARTNER.spec: Response(points, 2, 0, "it", {}, "")}
    monkeypatch.setattr(responses, "shipped", lambda: found)


def test_an_entry_is_played_again_and_another_cell_is_found(tmp_path, capsys):
    board = tmp_path / "board.json"
    assert command.main(["champion", "greedy", "--enter", str(board)]) == 0
    entered = json.loads(board.read_bytes())["entries"]
    assert [one["name"] for one in entered] == ["champion", "greedy"]  # by regret
    assert set(entered[0]["cells"]) == {PARTNER.spec}
    mean = sum(entered[0]["cells"][PARTNER.spec].values()) / 2
    assert entered[0]["regret"][0] == pytest.approx(7 - mean, abs=1e-3)
    capsys.readouterr()
    assert command.main(["--check", str(board), "--cells", "9"]) == 0
    assert capsys.readouterr().out.count("entered") == 4
    # A second entry of the name takes the place of the first.
    assert command.main(["greedy", "--enter", str(board)]) == 0
    told = json.loads(board.read_bytes())
    assert len(told["entries"]) == 2
    told["entries"][1]["cells"][PARTNER.spec][OTHERS[0]] += 0.1
    board.write_text(json.dumps(told))
    capsys.readouterr()
    assert command.main(["--check", str(board), "--cells", "9"]) == 1
    lines = capsys.readouterr().out.splitlines()
    assert [line.endswith(": another") for line in lines].count(True) == 1


def test_only_unmarked_results_are_entered(tmp_path, capsys):
    board = tmp_path / "board.json"
    assert command.main(["greedy", "--seed", "3", "--enter", str(board)]) == 1
    assert "expected an entry without marks, got greedy: seed given" in capsys.readouterr().err
    assert not board.exists()


def test_a_leaderboard_from_somebody_else_is_data(tmp_path, capsys):
    board = tmp_path / "board.json"
    assert command.main(["greedy", "--enter", str(board)]) == 0
    told = json.loads(board.read_bytes())
    told["entries"][0]["agent"] = "exec:touch here"
    board.write_text(json.dumps(told))
    capsys.readouterr()
    with pytest.raises(SystemExit):
        command.main(["--check", str(board)])
    assert "expected one of the agents" in capsys.readouterr().err
    # The command line may name it.
    assert command.main(["greedy", "--check", str(board)]) == 0
    board.write_text(json.dumps(told | {"format": "another"}))
    with pytest.raises(SettingError, match="expected a leaderboard of goita-leaderboard-1"):
        leaderboard.read(board)
