"""Outputs of every command: checked first, none twice, and no special file is replaced."""

import json
import os
import stat
from importlib import import_module
from itertools import combinations
from pathlib import Path

import numpy as np
import pytest

from goita_agents.files import kind_of, write_whole
from goita_lab.__main__ import COMMANDS
from goita_lab.commands import evaluate, exact, exam
from programs import refusal
from record_samples import LINE

WORDS = {
    "evaluate": (
        "--agents greedy random",
        "--json --html --results --table --plot",
        "--save-games",
    ),
    "coordination": ("greedy", "--json --enter --results --table --plot", ""),
    "coordination of a small game": ("greedy --rules mini_3", "--json --enter --table --plot", ""),
    "exam make": ("", "-o", ""),
    "exam take": ("random", "--json --html", ""),
    "exact": ("mini_3", "-o --json --table", ""),
    "signals log": ("greedy --rounds 4", "", "-o"),
    "signals worth": ("greedy", "--json --results", ""),
    "signals messages": ("greedy", "--json --results", ""),
    "signals report": ("greedy", "-o --json --results", ""),
    "watch": ("record.txt", "-o", ""),
    "watch with an analysis": ("record.txt --analyse champion", "-o --json", ""),
    "imitate": ("games", "-o --json", ""),
    "exploit": ("greedy", "--json", "-o"),
    "beat": ("greedy", "", "-o"),
    "plot": ("runs/a", "-o", ""),
    "play": ("", "-o", ""),
    "examples": ("", "", "-o"),
    "train": ("", "", "--name"),
}
"""A command's words, its options for files, and those for folders."""

SILENT = {"bot", "check", "population", "solve"}
"""Commands without an output."""


def command(title, *words):
    """Returns the function of a command and its words, those of an output last."""
    name, *rest = title.partition(" with")[0].partition(" of")[0].split()
    given = WORDS[title][0].split()
    if "-o" in WORDS[title][1] + WORDS[title][2] and "-o" not in words and title != "play":
        given += ["-o", "other"]
    return import_module(f"goita_lab.{COMMANDS[name]}").main, [*rest, *given, *words]


@pytest.fixture
def place(tmp_path, monkeypatch):
    monkeypatch.chdir(tmp_path)
    (tmp_path / "record.txt").write_text(LINE)
    os.mkfifo("fifo.svg")
    Path("folder.svg").mkdir()
    Path("runs").mkdir()
    os.mkfifo("runs/fifo.svg")
    Path("file").write_text("")
    Path("runs/file").write_text("")
    Path("full.svg").symlink_to("/dev/full")
    Path("runs/full.svg").symlink_to("/dev/full")
    return tmp_path


def test_every_command_is_in_the_table():
    assert {title.split()[0] for title in WORDS} == COMMANDS.keys() - SILENT


@pytest.mark.parametrize("title", WORDS)
def test_an_output_that_is_no_file_ends_a_command_before_it_begins(title, place, capsys):
    before = sorted(place.rglob("*"))
    _, files, folders = (words.split() for words in WORDS[title])
    for option, path, kind in [
        *((option, "folder.svg", "it is a folder") for option in files),
        *((option, "file", "it is a file") for option in folders),
        *((option, "fifo.svg", "it is a fifo") for option in (*files, *folders)),
        *((option, "full.svg", "it is a device") for option in (*files, *folders)),
        *((option, "gone/x.svg", "there is no folder") for option in files),
    ]:
        said = refusal(capsys, *command(title, option, path))
        assert kind in " ".join(said.split()), (option, said)
    assert sorted(place.rglob("*")) == before
    assert stat.S_ISCHR(os.stat("/dev/full").st_mode)
    assert kind_of("fifo.svg") == "a fifo"


@pytest.mark.parametrize("title", WORDS)
def test_no_command_writes_one_file_twice(title, place, capsys):
    files = WORDS[title][1].split()
    Path("link.svg").symlink_to("x.svg")
    pairs = [(*pair, "x.svg", "./link.svg") for pair in combinations(files, 2)]
    if title in ("evaluate", "coordination"):
        pairs += [("--json", "--results", "x.json", "x.npz"), ("--json", "--results", "x.npz", "y")]
        pairs += [("--results", "--json", "r.db", "r.db-wal")]
    if title in ("signals report", "watch with an analysis"):
        pairs += [("-o", "--json", "x.svg", "x.svg.parts")]
    pairs += [
        (*pair, "-", "/dev/stdout") for pair in combinations(files, 2) if "--results" not in pair
    ]
    for first, second, path, other in pairs:
        words = command(title, first, path, second, other)
        assert "twice" in refusal(capsys, *words), words
    assert not Path("x.svg").exists()


def test_no_command_writes_over_what_it_reads(place, capsys):
    for name, words in (
        ("exam", "take random --exam record.txt --json ./record.txt"),
        ("watch", "record.txt -o record.txt --force"),
        ("imitate", "record.txt -o record.txt"),
    ):
        main = import_module(f"goita_lab.{COMMANDS[name]}").main
        assert "expected outputs that are not read" in refusal(capsys, main, words.split())


def test_an_exam_may_have_the_name_of_the_file_of_its_tasks(place, monkeypatch):
    monkeypatch.setattr(exam, "make", lambda *_: exam.Questions.load().select(np.arange(3)))
    assert exam.main(["make", "-o", "e.parts", "--positions", "3"]) == 0
    assert len(exam.Questions.load(Path("e.parts"))) == 3


def test_a_dash_is_standard_output(place, capfd):
    assert evaluate.main(["--agents", "greedy", "random", "--deals", "2", "--json", "-"]) == 0
    text = capfd.readouterr().out
    result, _ = json.JSONDecoder().raw_decode(text)
    assert result["agents"] == ["greedy", "random"]
    assert "seed: 0" in text
    words = ["mini_3", "--agents", "random", "--json", "/dev/stdout"]
    assert exact.main(words) == 0
    assert '"measured": [' in capfd.readouterr().out
    assert not Path("-").exists()


def test_a_special_file_is_never_replaced_and_a_file_is_through_a_link(place):
    for path in ("full.svg", "fifo.svg", "folder.svg"):
        with pytest.raises(OSError, match=f"it is {kind_of(path)}"):
            write_whole(Path(path), "text")
    Path("link").symlink_to("file")
    write_whole(Path("link"), "text")
    assert Path("file").read_text() == "text"
    assert Path("link").is_symlink()
