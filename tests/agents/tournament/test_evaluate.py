"""The command evaluate.py: table, JSON and errors; and command lines made of dataclasses."""

import json
import re
import signal
import sqlite3
import subprocess
import sys
import time
from dataclasses import dataclass
from pathlib import Path
from typing import Literal

import pytest

import evaluate
from agents import AgentError, cli
from agents.registry import AGENTS
from agents.tournament import children
from agents.tournament.results import read_arguments
from benchmarks import roster
from goita_env import Rules, __version__

ROOT = Path(__file__).resolve().parents[3]


def run(*arguments):
    command = [sys.executable, "evaluate.py", *map(str, arguments)]
    return subprocess.run(command, cwd=ROOT, capture_output=True, text=True, check=False)


def test_the_command_plays_prints_a_table_and_writes_json(tmp_path):
    file = tmp_path / "out.json"
    done = run("--agents", "greedy", "random", "--deals", 200, "--seed", 1, "--json", file)
    assert (done.returncode, done.stderr) == (0, "")
    assert "points per round" in done.stdout

    results = json.loads(file.read_text())
    assert results["agents"] == ["greedy", "random"]
    assert results["episode"] == "round"
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
    assert f"{pair['points_per_round']:+.2f}" in done.stdout
    assert (pair["sprt"], pair["faults"], pair["forfeited"]) == (None, {}, [])
    assert 0 < pair["variance_removed"] < 1
    assert "match_win_rate" not in pair
    assert [rating["agent"] for rating in results["ratings"]] == ["greedy", "random"]
    assert results["cross"] is None
    assert results["seconds"] > 0


def test_every_pair_plays_and_repeats_to_the_last_digit(tmp_path, capsys):
    found = []
    for name in ("one", "two"):
        file = tmp_path / name
        agents = ["greedy", "random", "greedy"]
        assert evaluate.main(["--agents", *agents, "--deals", "50", "--json", str(file)]) == 0
        pairs = json.loads(file.read_text())["pairs"]
        found.append([(p["a"], p["b"], p["points_per_round"], p["ci95"]) for p in pairs])
    assert found[0] == found[1]
    assert [pair[:2] for pair in found[0]] == [("greedy", "greedy"), ("greedy", "random")]
    assert found[0][0][2:] == (0, [0, 0])


def test_all_options_come_together_in_one_tournament(tmp_path, capsys):
    files = {kind: tmp_path / f"out.{kind}" for kind in ("json", "markdown", "html", "results")}
    outputs = [part for kind, file in files.items() for part in (f"--{kind}", str(file))]
    text = "--agents greedy random --cross --cross-opponent greedy --episode match --deals 40"
    text += " --block-deals 16 --fewer-deals 20:random --rules nine --seed 7"
    assert evaluate.main([*text.split(), *outputs]) == 0
    results = json.loads(files["json"].read_text())
    assert (results["episode"], results["rules"], results["seed"]) == ("match", "nine", 7)
    assert results["cross"]["opponents"] == "greedy"
    cells = [(*cell["partners"], cell["deals"]) for cell in results["cross"]["cells"]]
    assert cells == [
        ("greedy", "greedy", 40),
        ("greedy", "random", 20),
        ("random", "random", 20),
    ]
    assert results["cross"]["cells"][0]["points_per_round"] == 0
    (pair,) = results["pairs"]
    low, high = pair["match_win_ci95"]
    assert 0.5 < low < pair["match_win_rate"] < high <= 1
    assert "`greedy`" in files["markdown"].read_text()
    assert files["html"].read_text().lower().startswith("<!doctype html>")
    blocks = sqlite3.connect(files["results"]).execute("SELECT count(*) FROM blocks").fetchone()
    assert blocks == (2 + 3 + 2 + 2,)


def test_a_rule_set_of_ones_own_is_played_and_its_fields_stand_in_every_file(tmp_path, capsys):
    rules = tmp_path / "my_rules.json"
    rules.write_text('{"name": "mine", "call_five": "duty", "last_king": false}')
    files = {kind: tmp_path / f"out.{kind}" for kind in ("json", "html", "results")}
    outputs = [part for kind, file in files.items() for part in (f"--{kind}", str(file))]
    command = ["--agents", "greedy", "random", "--deals", "20", "--rules", str(rules), *outputs]
    assert evaluate.main(command) == 0
    found = json.loads(files["json"].read_text())
    head = read_arguments(files["results"])
    for written in (found, head):
        assert Rules.from_keys(written) == Rules("mine", call_five="duty", last_king=False)
    assert "mine" in files["html"].read_text()
    rules.write_text('{"name": "mine", "last_king": false}')
    with pytest.raises(SystemExit, match="2"):
        evaluate.main(command)
    assert "rules_fields" in capsys.readouterr().err


def test_one_agent_against_the_field_and_a_test_that_stops_early(tmp_path):
    file = tmp_path / "out.json"
    text = f"--one greedy --agents random greedy --deals 900 --sprt 0,1.5 --json {file}"
    assert evaluate.main(text.split()) == 0
    first, mirror = json.loads(file.read_text())["pairs"]
    assert (first["a"], first["b"], first["deals"]) == ("greedy", "random", 256)
    assert (first["sprt"]["decision"], mirror["sprt"]["decision"]) == ("H1", "H0")
    assert first["sprt"]["llr"] >= first["sprt"]["bounds"][1] > 0


@pytest.mark.parametrize(
    ("arguments", "words"),
    [
        (["--agents", "greedy"], "two agents or more"),
        ([], "--agents"),
        (["--agents", "greedy", "gredy"], "expected an agent of random, "),
        (["--agents", "greedy", "random:depth=3"], "takes no options"),
        (["--agents", "greedy", "file:no/such/file"], "no/such/file"),
        (["--agents", "greedy", "random", "--deals", "0"], "number of deals"),
        (["--agents", "greedy", "random", "--deals", "many"], "'many'"),
        (["--agents", "greedy", "random", "--seed", "-1"], "seed"),
        (["--agents", "greedy", "random", "--rules", "chess"], "got 'chess'"),
        (["--agents", "greedy", "random", "--rules", "no.json"], "JSON file of rules"),
        (["--agents", "greedy", "random", "--json", "no/such/folder.json"], "no folder 'no/such'"),
        (["--agents", "greedy", "random", "--json", "."], "it is a folder"),
        (["--agents", "greedy", "random", "--workers", "0"], "workers"),
        (["--agents", "greedy", "random", "--workers", "9999"], "workers"),
        (["--agents", "greedy", "random", "--backend", "dask"], "'dask'"),
        (["--agents", "greedy", "random", "--episode", "game"], "'game'"),
        (["--agents", "greedy", "random", "--sprt", "1,0"], "the lower first"),
        (["--agents", "greedy", "random", "--sprt", "much"], "LOW,HIGH"),
        (["--agents", "greedy", "random", "--one", "gredy"], "'gredy'"),
        (["--agents", "greedy", "random", "--one", "greedy", "--cross"], "got both"),
        (["--agents", "greedy", "random", "--cross-opponent", "greedy"], "--cross"),
        (["--agents", "greedy", "random", "--cross", "--cross-opponent", "x"], "got 'x'"),
        (["--agents", "greedy", "random", "--fewer-deals", "greedy"], "DEALS:AGENT"),
        (["--agents", "greedy", "random", "--fewer-deals", "9:file"], "expected one of"),
        (["--agents", "greedy", "random", "--block-deals", "1"], "deals in a block"),
        (["--agents", "greedy", "random", "--results", "no/such/file"], "no folder"),
        (
            ["--agents", "greedy", "random", "--results", "README.md"],
            "expected a file of results of a tournament",
        ),
        (["--agents", "greedy", "random", "--json", "x", "--html", "x"], "one twice"),
        (["--agents", "greedy", "random", "--save-games", "no/such/folder"], "no folder"),
        (["--agents", "greedy", "random", "--save-games", "README.md"], "it is a file"),
        (["--agents", "greedy", "random", "--save-games", "agents"], "saved games or none"),
        (["--agents", "greedy", "random", "--save-share", "0.5"], "--save-games"),
        (["--agents", "greedy", "random", "--save-games", "x", "--save-share", "0"], "above 0"),
    ],
)
def test_wrong_input_ends_with_code_2_before_anything_is_played(
    arguments, words, capsys, monkeypatch
):
    monkeypatch.setattr(children, "play_block", lambda *_, **__: pytest.fail("played"))
    monkeypatch.chdir(ROOT)
    before = (ROOT / "README.md").read_bytes()
    with pytest.raises(SystemExit) as ended:
        evaluate.main(arguments)
    assert (ROOT / "README.md").read_bytes() == before
    assert ended.value.code == 2
    out, err = capsys.readouterr()
    assert out == ""
    assert words in " ".join(err.replace("│", " ").split())


def test_the_command_itself_ends_with_code_2_and_one_line_about_the_error():
    done = run("--agents", "greedy", "gredy")
    assert (done.returncode, done.stdout) == (2, "")
    assert done.stderr.startswith("evaluate.py: error: expected an agent of random, ")
    assert done.stderr.count("\n") == 1


def test_an_interrupt_ends_cleanly_with_the_pairs_that_were_finished(capsys, monkeypatch, tmp_path):
    play_block, played = children.play_block, []

    def interrupted(*arguments, **settings):
        played.append(arguments)
        if len(played) == 2:
            signal.raise_signal(signal.SIGINT)
        return play_block(*arguments, **settings)

    monkeypatch.setattr(children, "play_block", interrupted)
    file = tmp_path / "out.json"
    agents = ["--agents", "greedy", "random", "greedy"]
    assert evaluate.main([*agents, "--deals", "50", "--json", str(file)]) == 130
    out, err = capsys.readouterr()
    assert "stopped after 1 finished pair" in err
    assert "the same command goes on" not in err
    assert out.count("greedy") > 1
    assert not file.exists()


def test_an_interrupt_says_that_a_file_of_results_goes_on(capsys, monkeypatch, tmp_path):
    monkeypatch.setattr(children, "play_block", lambda *_, **__: signal.raise_signal(signal.SIGINT))
    file = tmp_path / "results.db"
    assert evaluate.main(["--agents", "greedy", "random", "--results", str(file)]) == 130
    assert "the same command goes on" in capsys.readouterr().err
    monkeypatch.undo()
    assert evaluate.main(["--agents", "greedy", "random", "--results", str(file)]) == 0


def test_an_agent_that_fails_in_the_middle_loses_nothing_that_was_played(capsys, monkeypatch):
    play_block = children.play_block

    def failing(task, **settings):
        if task.agents == ("greedy", "random"):
            raise AgentError("expected a legal action")
        return play_block(task, **settings)

    monkeypatch.setattr(children, "play_block", failing)
    assert evaluate.main(["--agents", "greedy", "greedy", "random", "--deals", "20"]) == 1
    out, err = capsys.readouterr()
    assert "expected a legal action" in err
    assert "100 %" in out


def test_an_agent_that_fails_is_told_beside_its_rating_and_by_the_exit_code(tmp_path, capsys):
    file = tmp_path / "out.json"
    arguments = ["--agents", "exec:false", "greedy", "--deals", "4", "--json", str(file)]
    assert evaluate.main(arguments) == 1
    out, err = capsys.readouterr()
    assert re.search(r"exec:false .*forfeited 1 pairing, did not start 10×", out)
    assert err == ""
    assert json.loads(file.read_text())["pairs"][0]["forfeited"] == ["exec:false"]


def test_progress_is_shown_on_a_terminal_alone_and_wiped_out(capsys, monkeypatch):
    arguments = ["--agents", "greedy", "random", "--deals", "600"]
    evaluate.main(arguments)
    assert capsys.readouterr().err == ""
    monkeypatch.setattr(sys.stderr, "isatty", lambda: True, raising=False)
    monkeypatch.setenv("TERM", "xterm")
    monkeypatch.setenv("COLUMNS", "120")
    monkeypatch.setattr(children, "play_block", slowly(children.play_block))
    evaluate.main(arguments)
    shown, hide, show = capsys.readouterr().err, "\x1b[?25l", "\x1b[?25h"
    text = re.sub(r"\x1b\[[0-9;]*m", "", shown)
    assert re.search(r"greedy against random .* 256 of 600 deals, [0-9,]+ rounds/s, ", text)
    assert shown.count(hide) == shown.count(show) == 1
    assert shown.endswith("\x1b[1A\x1b[2K")  # the finished line is wiped out


def slowly(play_block):
    """Plays blocks so slowly that the line is drawn after the first."""

    def play(task, **settings):
        time.sleep(0.6 * (task.block > 0))
        return play_block(task, **settings)

    return play


def test_the_benchmark_renews_the_tables_between_their_comments_and_nothing_else(
    tmp_path, capsys, monkeypatch
):
    slow = {"random": None, "greedy": None, "rollout:worlds=2": 10, "champion": 20}
    monkeypatch.setattr(roster, "ROSTER", slow)
    readme = tmp_path / "README.md"
    page = tmp_path / "strength.md"
    readme.write_text("# Title\n\n## Strength\n\n## More\n")
    page.write_text(f"# Strength\n\n{roster.START}\n{roster.END}\n\nWords.\n")
    files = ["--readme", str(readme), "--page", str(page)]
    for deals in ("20", "30"):
        assert roster.main([*files, "--deals", deals, "--workers", "1"]) == 0
    for file, frame in (
        (readme, ("# Title\n\n## Strength\n\n", "## More")),
        (page, ("# Strength\n\n", "Words.")),
    ):
        text = file.read_text()
        before, table = text.split(roster.START)
        table, after = table.split(roster.END)
        assert (before, after.strip()) == frame
        assert "`greedy`" in table
        assert "--deals 30" in table
        assert "--fewer-deals 10:rollout:worlds=2" in table
        assert "--deals 20" not in text
    assert ("[" in readme.read_text(), readme.read_text().count("Elo")) == (True, 1)
    assert len(readme.read_text()) < len(page.read_text())  # the page has the pairs, too
    readme.write_text("# Title\n")
    with pytest.raises(SystemExit) as ended:
        roster.main(files)
    assert ended.value.code == 2
    assert readme.read_text() == "# Title\n"


def test_the_bots_of_the_benchmark_are_those_of_the_registry_that_need_no_argument():
    plain = {name for name, entry in AGENTS.items() if not entry.argument}
    assert plain <= set(roster.ROSTER)


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
    text = "What it does, 100 %.\n\ncommand one    first\ncommand two    second\n"
    with pytest.raises(SystemExit) as ended:
        cli.parse(Options, ["--help"], description=text)
    assert ended.value.code == 0
    out = capsys.readouterr().out
    assert "\n  command one    first\n  command two    second\n" in out
    text = " ".join(out.replace("│", " ").split())
    assert "What it does, 100 %." in text
    assert "names, 100 % of them (required)" in text
    assert "a number (default: 0.001)" in text
    assert "some numbers (default: 256 256)" in text
    assert "a file --untold INT (default: 3)" in text  # None is not shown as a default
    assert "{low,high}" in text


def test_what_a_dataclass_refuses_is_an_error_of_the_command_line(capsys):
    for arguments in (["--untold", "-1"], ["--names"], ["--level", "middle"], ["--nam", "a"]):
        with pytest.raises(SystemExit) as ended:
            cli.parse(
                Options, [*arguments, *(["--names", "a"] if "--names" not in arguments else [])]
            )
        assert ended.value.code == 2
    assert "expected untold >= 0" in capsys.readouterr().err
