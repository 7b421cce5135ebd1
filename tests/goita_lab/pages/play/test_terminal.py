"""The game in the terminal: what can be typed, 80 columns, plain ASCII, Ctrl-C and going on."""

import re
import sys
from pathlib import Path

import pytest

from goita_env import actions, errors
from goita_env.render import ansi
from goita_env.tiles import DIGITS
from goita_lab.commands.play import main
from goita_lab.pages.play import savegame, sentences, terminal
from goita_lab.pages.play.seating import MatchSettings
from goita_lab.pages.play.table import PlayTable
from play_tables import GREEDY, any_move
from programs import refusal

LEGAL = [0, actions.encode(4, 3), actions.encode(7, 0), *range(65, 69)]


@pytest.mark.parametrize(
    ("line", "meant"),
    [
        *((way, 36) for way in ("54", "5 4", " 金銀 ", "GS", "gs", "５４", "5銀")),
        *((way, 57) for way in ("王し", "玉し", "91", "81", "kp")),
        *((way, 0) for way in ("p", "P", "pas")),
        *(("call", 65), ("SI", 66), ("r", 67), ("co", 68), ("？", "?"), ("h", "hint")),
        *((way, way) for way in ("back", "quit")),
    ],
)
def test_moves_and_commands_can_be_typed_in_many_ways(line, meant):
    assert terminal.read(line, LEGAL) == meant


@pytest.mark.parametrize(
    ("line", "legal", "message"),
    [
        *(
            (line, LEGAL, "expected a move or \\?")
            for line in ("", "5", "543", "xyz", "金", "\x00")
        ),
        ("5" * 9999, LEGAL, "expected a move or \\?"),
        ("11", LEGAL, r"expected a legal move, got '11' \(pawn then pawn\)"),
        ("c", LEGAL, "expected one of call, continue, got 'c'"),
        ("54", [], "expected one of \\?, back, quit, got '54'"),
    ],
)
def test_what_is_no_move_is_told(line, legal, message):
    with pytest.raises(errors.ActionError, match=message) as caught:
        terminal.read(line, legal)
    assert len(str(caught.value)) < 120


def sit(monkeypatch, table, lines, **options) -> None:
    """Plays at a terminal whose lines are given, or come from a function of the table."""
    given = iter(lines) if not callable(lines) else iter(lambda: lines(table), None)

    def line(prompt: str) -> str:
        print(prompt)
        try:
            return next(given)
        except StopIteration:
            raise EOFError from None

    monkeypatch.setattr("builtins.input", line)
    terminal.Terminal(table, **options).play()


@pytest.mark.parametrize("plain", [False, True])
def test_a_match_is_played_to_its_end_in_80_columns(monkeypatch, capsys, plain):
    table, choose = PlayTable(MatchSettings(GREEDY, 3)), any_move(0)
    asked, between = [], iter(["?", "zz", "b"])

    def answer(table):
        if table.asks == "round":
            return next(between, "")
        asked.append(1)
        helps = {2: "?", 4: "hint", 6: "zz", 7: "99"}
        action = choose(table)
        pair = actions.decode(action)
        typed = sentences.action(action) if pair is None else "".join(DIGITS[k] for k in pair)
        return helps.get(len(asked)) or typed

    sit(monkeypatch, table, answer, ascii=plain)
    text = capsys.readouterr().out
    assert table.asks == "match"
    assert re.search(r"The match is over: you (win|lose), \d+ to \d+\.", text)
    assert text.startswith("Goita to 150 points, rules jga, seed 3. ")
    assert "You may:" in text
    said = " ".join(text.split())
    assert "points more than" in said or "the difference is not clear" in said
    assert "Expected a legal move, got '99'" in text
    assert "You may type:\n  Enter    the next round\n  ?        what can be typed" in text
    assert "Expected one of ?, back, quit, got 'zz'" in text
    assert table.taken_back == 1
    assert max(map(ansi.width, text.splitlines())) <= 80
    if plain:
        assert set(text) - set("±") <= {chr(code) for code in range(128)}
    assert "\x1b" not in text


@pytest.mark.parametrize(
    ("words", "message"),
    [
        (["--seat", "4"], "expected a seat 0..3"),
        (["--partner", "nobody"], "expected an agent of"),
        (["--opponents", "greedy", "greedy", "greedy"], "one or two opponents"),
        (["--resume", "missing.json"], "No such file"),
        (["--resume", "a", "-o", "b"], "--resume without --output"),
        (["--resume", "a", "--seat", "0", "--seed", "0"], "--resume without --seat, --seed"),
        (["--position", "1111"], "four hands"),
        (["-o", "no/such/folder.json"], "there is no folder 'no/such'"),
        (["--web", "--host", "0.0.0.0"], "one address of this machine"),
    ],
)
def test_wrong_options_end_the_program_with_a_reason(words, message, tmp_path, monkeypatch, capsys):
    monkeypatch.chdir(tmp_path)
    assert message in refusal(capsys, main, words)


def test_the_options_say_who_sits_where(tmp_path, monkeypatch, capsys):
    monkeypatch.chdir(tmp_path)
    monkeypatch.setattr("builtins.input", lambda prompt: "quit")
    deal = "11224455,11233346,11123568,11145779,s2"
    words = ["--seat", "1", "--partner", "greedy", "--opponents", "random", "b=greedy"]
    assert main([*words, "--rules", "pagat", "--seed", "3"]) == 0
    assert main(["--partner", "random", "--opponents", "greedy", "--position", deal]) == 0
    first, second = (savegame.resume(Path(f"match-{n}.json")) for n in (1, 2))
    assert first.settings.names == ("b", "you", "random", "greedy")
    assert first.settings.rules.name == "pagat"
    assert second.record.deals[0].hands[0] == "11224455"
    assert second.game.deals[0].dealer == 1
    assert "--resume match-2.json" in capsys.readouterr().out


BOTS = ("--partner", "greedy", "--opponents", "greedy")

RAISING = """
from goita_agents.bots.greedy import GreedyAgent
class Raising(GreedyAgent):
    def act(self, view, legal, rng):
        raise ZeroDivisionError("my hand is 11223344")
"""


def test_an_agent_that_raises_ends_the_program_in_a_line_and_the_match_goes_on(
    tmp_path, monkeypatch, capsys
):
    (tmp_path / "my_bot.py").write_text(RAISING)
    monkeypatch.chdir(tmp_path)
    monkeypatch.syspath_prepend(tmp_path)
    monkeypatch.delitem(sys.modules, "my_bot", raising=False)
    bot = ["--partner", "my_bot:Raising"]
    first = [*bot, "--seed", "1", "-o", "m.json"]
    play_on = [*bot, "--resume", "m.json"]
    for words in (first, play_on):
        code, out, err = ended(monkeypatch, capsys, *words, typed=["11", "12", "13", "22"] * 50)
        assert code == 1
        assert err == (
            "goita play: error: expected 'my_bot:Raising' to answer act(), but it "
            "raised ZeroDivisionError (my_bot.py, line 5)\n"
        )
        assert "Continue: goita play --resume m.json --partner my_bot:Raising" in out
    (tmp_path / "my_bot.py").write_text(
        "from goita_agents.bots.greedy import GreedyAgent as Raising\n"
    )
    monkeypatch.delitem(sys.modules, "my_bot")
    code, _, err = ended(monkeypatch, capsys, *play_on, typed=["quit"])
    assert (code, err) == (0, "")


def ended(monkeypatch, capsys, *words: str, typed=()):
    """Runs the command with lines typed; returns exit code, output and errors."""
    lines = iter(typed)
    monkeypatch.setattr("builtins.input", lambda prompt: next(lines))
    try:
        code = main(words)
    except SystemExit as end:
        code = end.code
    return code, *capsys.readouterr()


def test_ctrl_c_saves_and_the_match_goes_on_for_one_process_alone(tmp_path, monkeypatch, capsys):
    monkeypatch.chdir(tmp_path)
    (tmp_path / "link.json").symlink_to("m.json")

    def interrupted(prompt):
        for name in ("m.json", "link.json"):
            error = refusal(capsys, main, ["--resume", name])
            assert f"expected a match that no one is playing, got '{name}', which another" in error
        raise KeyboardInterrupt

    with monkeypatch.context() as patch:
        patch.setattr("builtins.input", interrupted)
        assert main([*BOTS, "--seed", "1", "-o", "m.json"]) == 130
    assert "Continue: goita play --resume m.json" in capsys.readouterr().out
    before = savegame.resume(tmp_path / "m.json")
    code, out, _ = ended(monkeypatch, capsys, "--resume", "link.json", typed=["quit"])
    assert code == 0
    assert all(said[1:40] in " ".join(out.split()) for said in before.log)
    assert {file.name for file in tmp_path.iterdir()} == {"m.json", "link.json"}
