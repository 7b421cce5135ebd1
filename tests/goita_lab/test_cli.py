"""The command line: options made of dataclasses, and help that nobody reads to its end."""

import sys
from contextlib import suppress
from dataclasses import dataclass
from importlib import import_module
from pathlib import Path
from typing import Literal

import pytest

from goita_lab import cli
from goita_lab.__main__ import COMMANDS as SUBCOMMANDS
from goita_lab.__main__ import main
from goita_lab.commands import check
from programs import run


@pytest.mark.parametrize("name", SUBCOMMANDS)
def test_every_help_has_one_form(monkeypatch, capsys, name):
    if name == "train":
        pytest.importorskip("torch")
    monkeypatch.setenv("COLUMNS", "200")
    monkeypatch.setattr(sys, "argv", [f"goita {name}"])
    found = import_module(f"goita_lab.{SUBCOMMANDS[name]}")
    for words in ([], *([one] for one in getattr(found, "COMMANDS", ()))):
        with suppress(SystemExit):
            found.main([*words, "--help"])
        told = capsys.readouterr().out
        assert "xit code 0" not in told, "the help of goita has them"
        if not words:
            assert told.count(f"\n    goita {name}") >= 2, "two examples"
        for mark in ("::", "``", "%%", "\n\n\n\n"):
            assert mark not in told


def test_the_commands_help_comes_without_numpy():
    code = "import sys; sys.argv = ['goita', '--help']; from goita_lab.__main__ import main\n"
    code += "try:\n    main()\nexcept SystemExit:\n    print('numpy' in sys.modules)"
    done = run([sys.executable, "-c", code])
    assert done.stdout.splitlines()[-1] == "False"
    assert "goita play --web" in done.stdout


@pytest.mark.parametrize(("words", "says"), [(["evluate"], "got 'evluate'"), ([], "")])
def test_an_unknown_command_is_refused_with_what_there_is(words, says):
    done = run([sys.executable, "-m", "goita_lab", *words])
    assert done.returncode == 2
    assert says in done.stderr


@pytest.mark.parametrize(
    ("raised", "code", "says"),
    [
        (ModuleNotFoundError("no torch", name="torch"), 2, "needs the extra [train]: pip inst"),
        (KeyboardInterrupt(), 130, "goita check: stopped"),
    ],
)
def test_what_is_missing_or_stops_a_command_before_it_works_is_told_in_a_line(
    monkeypatch, capsys, raised, code, says
):
    def fails(argv=None):
        raise raised

    monkeypatch.setattr(check, "main", fails)
    monkeypatch.setattr(sys, "argv", ["goita"])
    for name in ("stdout", "stderr"):
        monkeypatch.setattr(sys, name, getattr(sys, name))  # as they are after the command, too
    with pytest.raises(SystemExit) as ended:
        main(["check", "AGENT"])
    assert ended.value.code == code
    assert says in capsys.readouterr().err


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
    slow: bool = True
    """what is on has a switch that turns it off"""
    file: Path | None = None
    """a file"""
    untold: int = 3

    def __post_init__(self):
        if self.untold < 0:
            raise ValueError("expected untold >= 0")


def test_a_command_line_fills_a_dataclass_by_its_types():
    assert cli.parse(Options, ["--names", "a", "b"]) == Options(("a", "b"))
    text = "--names a --level high --learning-rate 0.1 --sizes 8 9 --fast --file x --untold 4"
    full = cli.parse(Options, text.split())
    assert full == Options(("a",), "high", 0.1, (8, 9), True, True, Path("x"), 4)
    assert not cli.parse(Options, ["--names", "a", "--no-slow"]).slow


def test_the_help_is_the_text_under_each_field(capsys):
    text = "What it does, 100 %.\n\ngoita one    first\ngoita two    second\n"
    with pytest.raises(SystemExit, match="0"):
        cli.parse(Options, ["--help"], description=text)
    out = capsys.readouterr().out
    assert "\n    goita one    first\n    goita two    second\n" in out
    text = " ".join(out.replace("│", " ").split())
    assert "What it does, 100 %." in text
    assert "names, 100 % of them (required)" in text
    assert "a number (default: 0.001)" in text
    assert "some numbers (default: 256 256)" in text
    assert "a file --untold INT (default: 3)" in text  # None is not shown as a default
    assert "{low,high}" in text
    assert "--no-slow" in text
    assert "--no-fast" not in text


def test_what_a_dataclass_refuses_is_an_error_of_the_command_line_and_cannot_steer_it(capsys):
    for text in ("--untold -1 --names a", "--names", "--level middle --names a", "--nam a"):
        with pytest.raises(SystemExit, match="2"):
            cli.parse(Options, text.split())
    assert "expected untold >= 0" in capsys.readouterr().err
    with pytest.raises(SystemExit, match="2"):
        cli.fail("expected\x1b[2J\r one\nor two")
    assert capsys.readouterr().err.endswith("error: expected\ufffd[2J\ufffd one\nor two\n")
