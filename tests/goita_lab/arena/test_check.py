"""``goita check`` says of an agent what is wrong with it, before it plays."""

import re

import pytest

from goita_lab.commands import check
from goita_lab.exam.scoring import counted
from programs import refusal


def lines(capsys, spec, *options):
    code = check.main([f"hosted_bots:{spec}", "--deals", "4", *options])
    return code, dict(line.partition(": ")[::2] for line in capsys.readouterr().out.splitlines())


def test_a_good_bot_is_told_so(capsys):
    code, found = lines(capsys, "First")
    assert code == 0
    assert found["builds"] == "ok"
    assert found["answers"] == "ok, legal actions, the same for the same view"
    assert re.fullmatch(r"ok, the slowest of 56 answers took [\d.]+ ms", found["speed"])
    assert found["plays"] == "ok, 8 rounds against greedy over 4 deals"
    assert "beliefs" not in found
    assert check.main(["greedy", "--deals", "4"]) == 0


@pytest.mark.parametrize(
    ("behaviour", "check_name", "told"),
    [
        ("raises", "answers", "ValueError: boom (hosted_bots.py, line"),
        ("answers one pass", "answers", "expected"),
        ("raises in end", "answers", "LookupError: end"),
    ],
)
def test_what_is_wrong_is_told(behaviour, check_name, told, capsys):
    code, found = lines(capsys, f"Hostile:behaviour={behaviour}")
    assert code == 1
    assert told in found[check_name]


def test_wrong_beliefs_are_refused_and_right_ones_compared_with_counting(capsys, monkeypatch):
    monkeypatch.setattr("hosted_bots.First.beliefs", lambda bot, view: [1.5], raising=False)
    code, found = lines(capsys, "First")
    assert code == 1
    assert "expected probabilities from 0 to 1 of shape (64, 3, 8)" in found["beliefs"]
    for belief, gain in ((counted, 0.0), (lambda view: counted(view) * 0 + 0.5, -4.0)):
        monkeypatch.setattr("hosted_bots.First.beliefs", lambda bot, view, it=belief: it(view))
        code, found = lines(capsys, "First")
        assert code == 0
        told = float(re.search(r"probabilities; (\S+) nats a position", found["beliefs"])[1])
        assert told == 0 if belief is counted else told < gain


def test_what_cannot_be_built_is_exit_code_2(capsys):
    for spec in ("hosted_bots:Nobody", "exec:false"):
        assert "expected" in refusal(capsys, check.main, [spec])
