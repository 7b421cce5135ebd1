"""The command goita evaluate: table, JSON and errors; and command lines made of dataclasses."""

import json
import re
import signal
import sqlite3
import sys

import pytest

from bad_bots import command
from benchmarks import roster
from goita_env import Rules, __version__
from goita_lab import work
from goita_lab.arena.tournament import arena
from goita_lab.arena.tournament.results import read_arguments
from goita_lab.commands import evaluate
from programs import ROOT, refusal

TWO = "--agents greedy random"


def written(folder, *kinds):
    """Returns a path for each kind of output, and the options that ask for them."""
    files = {kind: folder / f"out.{kind}" for kind in kinds}
    return files, [part for kind, file in files.items() for part in (f"--{kind}", str(file))]


def test_the_command_plays_prints_a_table_and_writes_json(tmp_path, capsys):
    file = tmp_path / "out.json"
    words = f"{TWO} --deals 200 --seed 1 --json {file}"
    assert evaluate.main(words.split()) == 0
    out, err = capsys.readouterr()
    assert err == ""
    assert "Pairs, from the side of the first" in out

    results = json.loads(file.read_text())
    assert results["agents"] == ["greedy", "random"]
    assert results["episode"] == "round"
    assert (results["deals"], results["seed"], results["rules"]) == (200, 1, "jga")
    assert results["versions"]["goita_env"] == __version__
    assert results["command"] == f"goita evaluate {words}"
    (pair,) = results["pairs"]
    assert (pair["a"], pair["b"], pair["deals"]) == ("greedy", "random", 200)
    low, high = pair["ci95"]
    assert 10 < low < pair["points_per_round"] < high
    assert 0.5 < pair["round_win_rate"] < 1
    assert set(pair["ms_per_decision"]) == {"greedy", "random"}
    assert pair["rounds_per_second"] > 0
    assert f"{pair['points_per_round']:+.2f}" in out
    assert (pair["sprt"], pair["faults"], pair["forfeited"]) == (None, {}, [])
    assert 0 < pair["variance_removed"] < 1
    assert "match_win_rate" not in pair
    assert [rating["agent"] for rating in results["ratings"]] == ["greedy", "random"]
    assert results["cross"] is None
    assert results["seconds"] > 0


def test_all_options_come_together_in_one_tournament(tmp_path, capsys):
    files, outputs = written(tmp_path, "json", "html", "results")
    text = "--agents random greedy --cross --episode match --deals 20"
    text += " --fewer-deals 10:random --rules nine --seed 7"
    assert evaluate.main([*text.split(), *outputs]) == 0
    results = json.loads(files["json"].read_text())
    assert (results["episode"], results["rules"], results["seed"]) == ("match", "nine", 7)
    assert results["cross"]["opponents"] == "greedy"
    cells = [(*cell["partners"], cell["deals"]) for cell in results["cross"]["cells"]]
    assert cells == [("random", "random", 10), ("random", "greedy", 10), ("greedy", "greedy", 20)]
    assert results["cross"]["cells"][2]["points_per_round"] == 0
    (pair,) = results["pairs"]
    low, high = pair["match_win_ci95"]
    assert 0 <= low < pair["match_win_rate"] < high < 0.5
    assert files["html"].read_text().lower().startswith("<!doctype html>")
    blocks = sqlite3.connect(files["results"]).execute("SELECT count(*) FROM parts").fetchone()
    assert blocks == (4,)


def test_a_rule_set_of_ones_own_is_played_and_its_fields_stand_in_every_file(tmp_path, capsys):
    rules = tmp_path / "my_rules.json"
    rules.write_text('{"name": "mine", "call_five": "duty", "last_king": false}')
    files, outputs = written(tmp_path, "json", "html", "results")
    command = ["--agents", "greedy", "random", "--deals", "20", "--rules", str(rules), *outputs]
    assert evaluate.main(command) == 0
    found = json.loads(files["json"].read_text())
    head = read_arguments(files["results"])
    for told in (found, head):
        assert Rules.from_keys(told) == Rules("mine", call_five="duty", last_king=False)
    assert "mine" in files["html"].read_text()
    rules.write_text('{"name": "mine", "last_king": false}')
    assert "rules_fields" in refusal(capsys, evaluate.main, command)


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
        ("--agents greedy", "two agents or more"),
        ("", "--agents"),
        ("--agents greedy gredy", "expected an agent of "),
        ("--agents greedy random:depth=3", "takes no options"),
        ("--agents greedy file:no/such/file", "no/such/file"),
        *((f"{TWO} --deals 0", "number of deals"), (f"{TWO} --deals many", "'many'")),
        *((f"{TWO} --seed -1", "seed"), (f"{TWO} --rules chess", "got 'chess'")),
        (f"{TWO} --rules no.json", "JSON file of rules"),
        (f"{TWO} --json no/such/folder.json", "no folder 'no/such'"),
        *((f"{TWO} --json .", "it is a folder"), (f"{TWO} --json x --html x", "'x' twice")),
        *((f"{TWO} --workers 0", "workers"), (f"{TWO} --workers 9999", "workers")),
        (f"{TWO} --episode game", "'game'"),
        *((f"{TWO} --sprt 1,0", "the lower first"), (f"{TWO} --sprt much", "LOW,HIGH")),
        *((f"{TWO} --one gredy", "'gredy'"), (f"{TWO} --one greedy --cross", "got both")),
        (f"{TWO} --fewer-deals greedy", "DEALS:AGENT"),
        (f"{TWO} --fewer-deals 9:file", "expected one of"),
        (f"{TWO} --results no/such/file", "no folder"),
        (f"{TWO} --results README.md", "file is not a database"),
        (f"{TWO} --save-games no/such/folder", "no folder"),
        (f"{TWO} --save-games README.md", "it is a file"),
        (f"{TWO} --save-games agents", "saved games or none"),
    ],
)
def test_wrong_input_ends_with_code_2_before_anything_is_played(
    arguments, words, capsys, monkeypatch
):
    monkeypatch.setattr(arena, "play_block", lambda *_, **__: pytest.fail("played"))
    monkeypatch.chdir(ROOT)
    before = (ROOT / "README.md").read_bytes()
    with pytest.raises(SystemExit, match="2"):
        evaluate.main(arguments.split())
    assert (ROOT / "README.md").read_bytes() == before
    out, err = capsys.readouterr()
    assert out == ""
    assert words in " ".join(err.replace("│", " ").split())


@pytest.mark.parametrize("kept", [False, True])
def test_an_interrupt_ends_cleanly_with_the_pairs_that_were_finished(
    capsys, monkeypatch, tmp_path, kept
):
    play_block, played = arena.play_block, []

    def interrupted(*arguments, **settings):
        played.append(arguments)
        if len(played) == 2:
            signal.raise_signal(signal.SIGINT)
        return play_block(*arguments, **settings)

    monkeypatch.setattr(arena, "play_block", interrupted)
    file = tmp_path / "out.json"
    command = [*TWO.split(), "greedy", "--deals", "50", "--json", str(file)]
    command += ["--results", str(tmp_path / "results.db")] if kept else []
    assert evaluate.main(command) == 130
    out, err = capsys.readouterr()
    assert " deals left; " in err
    assert ("the same command continues" in err) == kept
    assert out.count("greedy") > 1
    assert not file.exists()
    assert evaluate.main(command) == 0
    assert len(played) == (3 if kept else 4)


def test_who_forfeits_has_no_rank_and_is_told_below_the_others(tmp_path, capsys, monkeypatch):
    monkeypatch.setenv("COLUMNS", "120")
    file, liar = tmp_path / "out.json", f"liar=exec:{command('lies')}"
    arguments = ["--agents", liar, "greedy", "random", "--deals", "4", "--json", str(file)]
    assert evaluate.main(arguments) == 1
    out, err = capsys.readouterr()
    assert re.search(r"- +liar .*forfeited 2 pairings, illegal \d+×", out)
    assert err == ""
    told = json.loads(file.read_text())
    assert told["pairs"][0]["forfeited"] == ["liar"]
    assert [one["ranked"] for one in told["ratings"]] == [True, True, False]
    assert told["ratings"][2]["agent"] == "liar"


BROKEN = """
class Missing:
    def __init__(self, path: str = "nowhere.txt"):
        self.moves = open(path)

class Raises:
    def __init__(self):
        raise ValueError("no weights")

class Leaves:
    def __init__(self):
        raise SystemExit(0)
"""


@pytest.mark.parametrize(
    ("spec", "words"),
    [
        ("broken_bots:Missing:path=none", "No such file or directory: 'none'"),
        ("broken_bots:Raises", "raised ValueError: no weights (broken_bots.py, line 8)"),
        ("broken_bots:Leaves", "raised SystemExit: 0"),
        ("plain:base=broken_bots:Raises", "raised ValueError: no weights"),
        ("file:none.safetensors", "none.safetensors"),
        ("goita_lab.exact.agent:SolvedAgent:path=none.npz", "none.npz"),
        ("exec:false", "in the handshake: expected an answer, but the program ended"),
        ("plain:base=(exec:false)", "in the handshake: expected an answer, but the program ended"),
        ("exec:no-such-program", "expected a program that can be started"),
    ],
)
def test_who_cannot_be_built_ends_a_tournament_before_anything_is_played(
    spec, words, tmp_path, monkeypatch, no_children, capsys
):
    (tmp_path / "broken_bots.py").write_text(BROKEN)
    monkeypatch.chdir(tmp_path)
    monkeypatch.syspath_prepend(str(tmp_path))
    monkeypatch.setattr(arena, "play_block", None)
    error = refusal(capsys, evaluate.main, ["--agents", "greedy", f"new={spec}"])
    assert words in error
    assert any(name in error for name in (f"new={spec}", spec[5:], "false"))
    assert error.count("\n") == 1


def test_progress_is_a_line_that_is_wiped_out_or_one_now_and_then(capsys, monkeypatch):
    arguments = [*TWO.split(), "--deals", "600"]
    evaluate.main(arguments)
    assert capsys.readouterr().err == ""
    monkeypatch.setattr(work, "PROGRESS_INTERVAL", 0.0)
    evaluate.main(arguments)
    first, second = capsys.readouterr().err.splitlines()
    line = "deals of all pairings: 256 of 600, time left: not known"
    assert first == line
    assert re.search(r": 512 of 600, time left: \d:\d\d:\d\d$", second)
    monkeypatch.setattr(sys.stderr, "isatty", lambda: True, raising=False)
    evaluate.main(arguments)
    shown = capsys.readouterr().err
    assert shown.startswith(f"\r\x1b[2K{line}")
    assert shown.endswith("\r\x1b[2K")


def test_the_benchmark_renews_the_tables_between_their_comments_and_nothing_else(
    tmp_path, capsys, monkeypatch
):
    slow = {"random": None, "greedy": None, "rollout:worlds=2": 2}
    monkeypatch.setattr(roster, "ROSTER", slow)
    monkeypatch.setattr(roster, "REFERENCE", "greedy")
    page, result = tmp_path / "strength.md", tmp_path / "roster.json"
    (tmp_path / "pictures").mkdir()
    page.write_text(f"# Strength\n\n{roster.START}\n{roster.END}\n\nWords.\n")
    for deals in ("4", "6"):
        files = ["--page", str(page), "--result", str(result)]
        assert roster.main([*files, "--deals", deals, "--workers", "1"]) == 0
    before, table = page.read_text().split(roster.START)
    table, after = table.split(roster.END)
    assert (before, after) == ("# Strength\n\n", "\n\nWords.\n")
    assert "`greedy`" in table
    assert "--deals 6 --workers 1 --fewer-deals 2:rollout:worlds=2" in table
    assert "--deals 4" not in table
    drawn = [(tmp_path / "pictures" / f"strength-{theme}.svg") for theme in ("light", "dark")]
    before = [path.read_bytes() for path in (page, result, *drawn)]
    for path in (page, *drawn):
        path.write_text(f"{roster.START}\n{roster.END}\n") if path == page else path.unlink()
    assert roster.main([*files, "--draw"]) == 0  # plays nothing
    assert page.read_text().split(roster.START)[1].split(roster.END)[0] in before[0].decode()
    assert [path.read_bytes() for path in (result, *drawn)] == before[1:]
    result.unlink()
    refusal(capsys, roster.main, [*files, "--draw"])
    page.write_text("# Title\n")
    refusal(capsys, roster.main, ["--page", str(page)])
    assert page.read_text() == "# Title\n"
