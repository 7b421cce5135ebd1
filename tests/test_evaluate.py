"""The command evaluate.py: table, JSON and errors; and command lines made of dataclasses."""

import json
import signal
import subprocess
import sys
from dataclasses import dataclass
from pathlib import Path
from typing import Literal

import pytest

import evaluate
from agents import arena, cli
from goita_env import __version__

ROOT = Path(__file__).resolve().parents[1]


def run(*arguments):
    command = [sys.executable, "evaluate.py", *map(str, arguments)]
    return subprocess.run(command, cwd=ROOT, capture_output=True, text=True, check=False)


def test_the_command_plays_prints_a_table_and_writes_json(tmp_path):
    file = tmp_path / "out.json"
    done = run("--agents", "greedy", "random", "--deals", 200, "--seed", 1, "--json", file)
    assert (done.returncode, done.stderr) == (0, "")
    head, _, row = done.stdout.splitlines()
    assert head.split()[:4] == ["pair", "deals", "points", "per"]

    results = json.loads(file.read_text())
    assert results["agents"] == ["greedy", "random"]
    assert (results["deals"], results["seed"], results["rules"]) == (200, 1, "jga")
    assert results["versions"]["goita_env"] == __version__
    assert results["command"].startswith("python evaluate.py --agents greedy random --deals 200")
    (pair,) = results["pairs"]
    assert (pair["a"], pair["b"], pair["deals"]) == ("greedy", "random", 200)
    low, high = pair["ci95"]
    assert 10 < low < pair["points_per_round"] < high
    assert 0.5 < pair["round_win_rate"] < 1
    assert set(pair["ms_per_decision"]) == {"greedy", "random"}
    assert pair["rounds_per_second"] > 0
    assert row.split()[:5] == ["greedy", ":", "random", "200", f"{pair['points_per_round']:+.2f}"]


def test_every_pair_of_three_agents_plays_and_repeats_to_the_last_digit(tmp_path, capsys):
    found = []
    for name in ("one", "two"):
        file = tmp_path / name
        agents = ["greedy", "random", "greedy"]
        assert evaluate.main(["--agents", *agents, "--deals", "50", "--json", str(file)]) == 0
        pairs = json.loads(file.read_text())["pairs"]
        found.append([(p["a"], p["b"], p["points_per_round"], p["ci95"]) for p in pairs])
    assert found[0] == found[1]
    assert [pair[:2] for pair in found[0]] == [
        ("greedy", "random"),
        ("greedy", "greedy"),
        ("random", "greedy"),
    ]
    assert found[0][1][2:] == (0, [0, 0])
    lines = capsys.readouterr().out.splitlines()
    assert len({len(line) for line in lines[:5]}) == 1  # columns are aligned


@pytest.mark.parametrize(
    ("arguments", "words"),
    [
        (["--agents", "greedy"], "two agents or more"),
        ([], "--agents"),
        (["--agents", "greedy", "gredy"], "random, greedy, file:PATH"),
        (["--agents", "greedy", "random:depth=3"], "takes no options"),
        (["--agents", "greedy", "file:no/such/file"], "no/such/file"),
        (["--agents", "greedy", "random", "--deals", "0"], "number of deals"),
        (["--agents", "greedy", "random", "--deals", "many"], "invalid int value"),
        (["--agents", "greedy", "random", "--seed", "-1"], "seed"),
        (["--agents", "greedy", "random", "--rules", "chess"], "jga"),
        (["--agents", "greedy", "random", "--json", "no/such/folder.json"], "no folder 'no/such'"),
        (["--agents", "greedy", "random", "--json", "."], "it is a folder"),
        (["--agents", "greedy", "random", "--workers", "2"], "--workers"),
    ],
)
def test_wrong_input_ends_with_code_2_before_anything_is_played(
    arguments, words, capsys, monkeypatch
):
    monkeypatch.setattr(arena, "play_block", lambda *_: pytest.fail("played"))
    with pytest.raises(SystemExit) as ended:
        evaluate.main(arguments)
    assert ended.value.code == 2
    out, err = capsys.readouterr()
    assert out == ""
    assert words in err.splitlines()[-1]


def test_the_command_itself_ends_with_code_2_and_one_line_about_the_error():
    done = run("--agents", "greedy", "gredy")
    assert (done.returncode, done.stdout) == (2, "")
    assert done.stderr.startswith("evaluate.py: error: expected an agent of random, greedy")
    assert done.stderr.count("\n") == 1


def test_an_interrupt_ends_cleanly_with_the_pairs_that_were_finished(capsys, monkeypatch, tmp_path):
    play_block, played = arena.play_block, []

    def interrupted(*arguments):
        played.append(arguments)
        if len(played) == 2:
            signal.raise_signal(signal.SIGINT)
        return play_block(*arguments)

    monkeypatch.setattr(arena, "play_block", interrupted)
    file = tmp_path / "out.json"
    agents = ["--agents", "greedy", "random", "greedy"]
    assert evaluate.main([*agents, "--deals", "50", "--json", str(file)]) == 130
    out, err = capsys.readouterr()
    assert "stopped after 1 finished pair" in err
    assert "greedy : random" in out
    assert not file.exists()


def test_progress_is_shown_on_a_terminal_alone(capsys, monkeypatch):
    arguments = ["--agents", "greedy", "random", "--deals", "600"]
    evaluate.main(arguments)
    assert capsys.readouterr().err == ""
    monkeypatch.setattr(sys.stderr, "isatty", lambda: True, raising=False)
    evaluate.main(arguments)
    err = capsys.readouterr().err
    assert "greedy against random: 256 of 600 deals" in err
    assert "rounds/s" in err
    assert err.endswith("\x1b[K")  # the finished line is wiped out


# ------------------------------------------------------------------- command lines of dataclasses


@dataclass(frozen=True)
class Options:
    """Options of every kind."""

    names: tuple[str, ...]
    """names, 100 % of
    them"""
    level: Literal["low", "high"] = "low"
    """a choice"""
    learning_rate: float = 1e-3
    """a number"""
    sizes: tuple[int, ...] = (256, 256)
    """some numbers"""
    fast: bool = False
    """a switch"""
    file: Path | None = None
    """a file"""
    untold: int = 3

    def __post_init__(self):
        if self.untold < 0:
            raise ValueError("expected untold >= 0")


def test_a_command_line_fills_a_dataclass_by_its_types():
    plain = cli.parse(Options, ["--names", "a", "b"])
    assert plain == Options(("a", "b"))
    text = "--names a --level high --learning-rate 0.1 --sizes 8 9 --fast --file x --untold 4"
    full = cli.parse(Options, text.split())
    assert full == Options(("a",), "high", 0.1, (8, 9), True, Path("x"), 4)
    assert not cli.parse(Options, ["--names", "a", "--no-fast"]).fast


def test_the_help_is_the_text_under_each_field(capsys):
    with pytest.raises(SystemExit) as ended:
        cli.parse(Options, ["--help"], description="What it does, 100 %.")
    assert ended.value.code == 0
    text = " ".join(capsys.readouterr().out.split())
    assert "What it does, 100 %." in text
    assert "names, 100 % of them" in text
    assert "a number (default: 0.001)" in text
    assert "some numbers (default: 256 256)" in text
    assert "{low,high}" in text


def test_what_a_dataclass_refuses_is_an_error_of_the_command_line(capsys):
    for arguments in (["--untold", "-1"], ["--names"], ["--level", "middle"], ["--nam", "a"]):
        with pytest.raises(SystemExit) as ended:
            cli.parse(
                Options, [*arguments, *(["--names", "a"] if "--names" not in arguments else [])]
            )
        assert ended.value.code == 2
    assert "expected untold >= 0" in capsys.readouterr().err
