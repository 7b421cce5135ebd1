"""The game in the terminal: what can be typed, 80 columns, plain ASCII, Ctrl-C and going on."""

import codecs
import os
import pty
import re
import select
import signal
import subprocess
import sys
import time
from pathlib import Path
from typing import ClassVar

import pytest

from goita_env import actions, errors
from goita_env.render import ansi
from goita_lab.commands.play import main
from goita_lab.pages.play import commands, savegame, sentences, terminal
from goita_lab.pages.play.seating import MatchSettings
from goita_lab.pages.play.table import PlayTable
from play_tables import GREEDY, any_move
from programs import ROOT, refusal

LEGAL = [0, actions.encode(4, 3), actions.encode(7, 0), *range(65, 69)]


@pytest.mark.parametrize(
    ("line", "meant"),
    [
        *((way, 36) for way in ("54", "5 4", " 金銀 ", "金 銀", "GS", "gs", "G, s", "gold silver")),
        *((way, 36) for way in ("５４", "Gold-Silver", "5銀", "goldS")),
        *((way, 57) for way in ("王し", "玉し", "91", "81", "kp", "king pawn")),
        *((way, 0) for way in ("p", "P", "pass", "pas")),
        *((way, 65) for way in ("call", "ca")),
        *((way, 66) for way in ("silent", "s", "SI")),
        *((way, 67) for way in ("redeal", "r")),
        *((way, 68) for way in ("continue", "co")),
        *((way, "?") for way in ("?", "？")),
        *((way, "hint") for way in ("hint", "h", "HI")),
        *((way, "partner") for way in ("partner", "par")),
        *((way, way) for way in ("back", "quit")),
    ],
)
def test_moves_and_commands_can_be_typed_in_many_ways(line, meant):
    assert commands.read(line, LEGAL) == meant


@pytest.mark.parametrize(
    ("line", "message"),
    [
        *((line, "expected a move or \\?") for line in ("", "5", "543", "xyz", "金", "\x00")),
        ("5" * 9999, "expected a move or \\?"),
        ("11", r"expected a legal move, got '11' \(pawn then pawn\)"),
        ("c", "expected one of call, continue, got 'c'"),
        ("pa", "expected one of pass, partner"),
    ],
)
def test_what_is_no_move_is_told(line, message):
    with pytest.raises(errors.ActionError, match=message) as caught:
        commands.read(line, LEGAL)
    assert len(str(caught.value)) < 120
    with pytest.raises(errors.ActionError, match=r"got 'pass' \(pass\)"):
        commands.read("pass", [36])


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
        helps = {2: "?", 4: "hint", 5: "partner", 6: "zz", 7: "99"}
        return helps.get(len(asked)) or sentences.action(choose(table))

    sit(monkeypatch, table, answer, ascii=plain)
    text = capsys.readouterr().out
    assert table.asks == "match"
    assert re.search(r"The match is over: you (win|lose), \d+ to \d+\.", text)
    assert text.startswith("Goita to 150 points, rules jga, seed 3. ")
    for said in ("You may (your hand", "The champion suggests", "Likeliest hands as dealt"):
        assert said in text
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
        (["--resume", "a", "--rules", "jga"], "--resume without --rules"),
        (
            ["--resume", "a", "--position", "1,2"],
            "--resume without --position: a saved match keeps its",
        ),
        (["--position", "1111"], "four hands"),
        (["-o", "no/such/folder.json"], "No such file"),
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


class Screen:
    """A program at a terminal of 80 columns."""

    opened: ClassVar[list["Screen"]] = []

    def __init__(self, folder: Path, *words: str) -> None:
        self._end, inner = pty.openpty()
        environment = os.environ | {"PYTHONPATH": str(ROOT), "COLUMNS": "80", "TERM": "dumb"}
        self.program = subprocess.Popen(
            [sys.executable, "-m", "goita_lab", "play", *words],
            cwd=folder, env=environment, stdin=inner, stdout=inner, stderr=inner,
            start_new_session=True,
        )  # fmt: skip
        os.close(inner)
        # A read may end in the middle of a character, or after what is waited for.
        self._decoder, self._text = codecs.getincrementaldecoder("utf-8")(), ""
        self.opened.append(self)

    def until(self, wanted: str) -> str:
        """Reads until something is written; returns all up to it since the last time."""
        end = time.monotonic() + 60
        while wanted not in self._text:
            left = max(end - time.monotonic(), 0.0)
            assert select.select([self._end], [], [], left)[0], self._text
            try:
                self._text += self._decoder.decode(os.read(self._end, 4096))
            except OSError:  # the program has ended
                assert wanted in self._text, self._text
        before, found, self._text = self._text.partition(wanted)
        return before + found

    def interrupt(self, wanted: str) -> str:
        """Presses Ctrl-C, and once more where nothing comes of it; returns what is written then.

        Python does not see a signal that comes between its prompt and its read before the next.
        """
        for _ in range(10):
            self.program.send_signal(signal.SIGINT)
            if select.select([self._end], [], [], 5)[0]:
                break
        return self.until(wanted)

    def type(self, line: str) -> None:
        os.write(self._end, f"{line}\n".encode())

    def close(self) -> int:
        self.opened.remove(self)
        try:
            return self.program.wait(20)
        finally:
            self.program.kill()
            self.program.wait()
            os.close(self._end)


@pytest.fixture(autouse=True)
def no_program_is_left():
    """A test that fails in the middle leaves no program that another test would trip over."""
    yield
    for screen in list(Screen.opened):
        screen.program.kill()
        screen.close()


def test_ctrl_c_saves_and_the_match_goes_on(tmp_path):
    screen = Screen(tmp_path, *BOTS, "--seed", "1", "-o", "m.json")
    screen.until("your move (? helps) > ")
    screen.type("?")
    helped = screen.until("your move (? helps) > ")
    tiles = re.search(r"(?:lay face down|receive with) (\S), attack with one of (\S)", helped)
    screen.type(f"{tiles[1]}{tiles[2]}")
    screen.until("attack with")
    screen.until(" > ")
    assert "Continue: goita play --resume m.json" in screen.interrupt("--resume m.json")
    assert screen.close() == 130
    before = savegame.resume(tmp_path / "m.json")
    assert before.may_take_back
    screen = Screen(tmp_path, "--resume", "m.json")
    shown = screen.until(" > ")
    assert all(said[1:40] in " ".join(shown.split()) for said in before.log)
    screen.type("quit")
    screen.until("Saved in m.json")
    assert screen.close() == 0
    assert savegame.resume(tmp_path / "m.json").log == before.log


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
            "goita play: error: expected 'my_bot:Raising' to play, but it raised "
            "ZeroDivisionError (my_bot.py, line 5)\n"
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


def test_a_second_process_on_a_match_is_refused_in_a_line(tmp_path, monkeypatch, capsys):
    monkeypatch.chdir(tmp_path)
    screen = Screen(tmp_path, *BOTS, "--seed", "1", "-o", "m.json")
    screen.until("your move (? helps) > ")
    (tmp_path / "link.json").symlink_to("m.json")
    for name in ("m.json", "link.json"):
        error = refusal(capsys, main, ["--resume", name])
        assert error.endswith(
            f"error: expected a match that nobody is playing, got '{name}', which another "
            "process has open\n"
        )
        assert error.count("\n") == 1
    screen.type("quit")
    screen.until("Saved in m.json")
    assert screen.close() == 0
    assert ended(monkeypatch, capsys, "--resume", "link.json", typed=["quit"])[0] == 0
    assert {file.name for file in tmp_path.iterdir()} == {"m.json", "link.json"}
