"""``goita check``: a line a check, for good bots and bad ones."""

import os
import re
import sys
from functools import partial

import pytest

from bad_bots import BAD, command
from goita_lab.arena import check
from programs import ROOT, refusal
from samples import slow

pytestmark = pytest.mark.skipif(os.name != "posix", reason="programs as bots need POSIX")


@pytest.fixture(autouse=True)
def few_games(monkeypatch):
    """Asks each agent less often, where it is asked in this process."""
    monkeypatch.setattr(check, "check_agent", partial(check.check_agent, num_games=8, steps=60))


def lines(capsys, spec: str, *options: str) -> tuple[int, dict[str, str]]:
    """Checks an agent; returns the exit code and what each check has found."""
    code = check.main([f"hosted_bots:{spec}", "--deals", "4", "--isolate-ms", "20000", *options])
    out = capsys.readouterr().out.splitlines()
    return code, dict(line.split(": ", 1) for line in out)


@pytest.mark.parametrize("spec", ["DrawsOne", slow("Remembers")])
def test_a_good_bot_is_told_so(spec, no_children, capsys):
    every = ("builds", "answers", "isolated")
    assert lines(capsys, spec) == (0, dict.fromkeys(every, "ok"))


@pytest.mark.parametrize(
    ("spec", "answers", "isolated"),
    [
        ("Hostile:behaviour=raises", "ValueError: boom (hosted_bots.py, line ", "ValueError: boom"),
        slow("Hostile:behaviour=answers 999", "expected actions 0..68, got", "expected one of "),
        slow("Hostile:behaviour=exits", "SystemExit: 0 (hosted_bots.py, line ", "SystemExit: 0"),
        slow("CountsCalls", "expected the same ", "expected the same play"),
        ("OfItsBatch", "", "expected the same play in a process of its own, row by row"),
        ("OfItsProcess", "", "expected the same play in a process of its own"),
    ],
)
def test_a_bad_bot_is_told_what_is_wrong(spec, answers, isolated, no_children, capsys):
    code, found = lines(capsys, spec)
    assert (code, found["builds"]) == (1, "ok")
    assert found["answers"].startswith(answers)
    assert found["isolated"].startswith(isolated)


def test_a_bot_that_fails_elsewhere_alone_shows_where(no_children, capfd):
    code = check.main(["hosted_bots:RaisesElsewhere", "--deals", "4"])
    shown = capfd.readouterr()
    assert code == 1
    assert "isolated: in a process of its own: raised: OSError: not here" in shown.out
    assert 'hosted_bots.py", line ' in shown.err


def test_a_bot_that_cannot_be_built_is_not_asked_anything(no_children, capsys):
    error = refusal(capsys, check.main, ["hosted_bots:Hostile:behaviour=raises in init"])
    assert "but it raised ZeroDivisionError: no start (hosted_bots.py, line " in error


def test_a_program_is_checked_for_its_answers(no_children, capsys):
    bot = ROOT / "examples" / "bot_python.py"
    assert check.main([f"exec:[ms=20000]{sys.executable} {bot}"]) == 0
    assert capsys.readouterr().out.splitlines() == [
        "builds: ok",
        "answers: ok",
        "isolated: not tried, because a program always has processes of its own",
    ]
    assert check.main([f"plain:base=(exec:{sys.executable} -I -S {BAD} lies)"]) == 1
    assert "answers: illegal (seat " in capsys.readouterr().out


@pytest.mark.parametrize("spec", ["exec:{}", slow("plain:base=(exec:{})")])
@pytest.mark.parametrize(
    ("behaviour", "text"),
    [
        ("dies at once", "in the handshake: expected an answer, .* exit code 1 no luck today"),
        ("speaks another version", 'expected a "hello" with "protocol":1, got '),
    ],
)
def test_of_a_program_that_does_not_start_nothing_more_is_said(
    spec, behaviour, text, no_children, capsys
):
    assert check.main([spec.format(command(behaviour))]) == 1
    (line,) = capsys.readouterr().out.splitlines()
    assert re.match(f"builds: the program did not start: {text}", line)


def test_a_program_starts_under_the_rules_that_it_is_checked_with(no_children, tmp_path, capsys):
    words = command("keeps a diary", tmp_path / "diary")
    assert check.main([f"exec:{words}", "--rules", "pagat"]) == 0
    hellos = [file.read_text(encoding="utf-8").splitlines()[0] for file in tmp_path.glob("diary.*")]
    assert hellos
    assert all('"rules":"pagat"' in hello for hello in hellos)


@pytest.mark.parametrize(
    ("words", "text"),
    [
        (["nobody"], "error: expected an agent of "),
        (["exec:nobody"], "error: expected a program that can be started, got 'nobody'"),
        (
            ["greedy", "--isolate-memory", "lots"],
            "error: expected a size as 2G, 512M, 64K or in bytes",
        ),
        (["greedy", "--deals", "0"], "error: expected at least 1 deal, 1 ms and 1 s, got 0"),
    ],
)
def test_what_cannot_be_checked_ends_with_code_2(words, text, capsys):
    assert text in refusal(capsys, check.main, words)


@pytest.mark.parametrize("behaviour", ["exits at once", slow("loops")])
def test_a_bot_that_ends_or_stops_its_process_is_told_so(behaviour, capsys):
    code, found = lines(capsys, f"Hostile:behaviour={behaviour}", "--deals", "2", "--seconds", "2")
    assert (code, found["builds"]) == (1, "ok")
    assert re.search("it ended|an end within 2 s", found["answers"])
