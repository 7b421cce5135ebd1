"""Parts of a study: stopped and gone on with, kept to the digit, and those of others."""

import json
import sqlite3
from dataclasses import replace

import numpy as np
import pytest

from agents.parts import pack, unpack
from agents.signals import keeping
from agents.signals import study as studying
from agents.signals.commands import main
from agents.signals.listening import Heard, Known, listen, standard
from agents.signals.measures.shuffled import VARIANTS, Shuffled
from agents.signals.measures.value import Values
from agents.signals.numbers import to_json
from agents.signals.playing import Play, play
from agents.signals.study import quick, study
from agents.store import Block
from goita_env.errors import SettingError

SMALL = {"heard": 4, "overheard": 2, "valued": 2, "signals": 2, "rounds": 60, "partners": 8}
SHUFFLED = Shuffled.of({v: np.array([0.1, 2.0]) for v in VARIANTS}, 0.3, 0.7)


@pytest.fixture(scope="module")
def heard():
    told = play(["greedy"], 4)
    return told, *listen(told, standard("greedy"), listeners=range(4))


def told(progress):
    """Stops a study after some pieces."""

    def listen_to(done):
        if done.startswith(f"{progress} of"):
            raise KeyboardInterrupt

    return listen_to


def test_a_study_that_was_stopped_ends_as_one_that_was_not_to_the_digit(tmp_path, monkeypatch):
    pytest.importorskip("sklearn")
    plan = replace(quick(("random",), controls=()), worlds=4, **SMALL)
    whole = study(plan, progress=lambda _: None)
    file = tmp_path / "page.html.parts"
    for pieces in (1, 3):
        with pytest.raises(KeyboardInterrupt):
            study(plan, progress=told(pieces), parts=file)
    made = []
    work = studying._work
    monkeypatch.setattr(studying, "_work", lambda *given: made.append(given) or work(*given))
    again = study(plan, progress=lambda _: None, parts=file)
    assert len(made) == 1  # of four
    assert to_json(again, "x") == to_json(whole, "x")

    made.clear()
    monkeypatch.setattr(keeping, "code", lambda: "other code")
    with pytest.raises(KeyboardInterrupt):
        study(plan, progress=told(1), parts=file)
    assert len(made) == 1


def test_every_kind_of_work_comes_back_to_the_last_bit(heard):
    values = Values("a", {"policy": "b"}, 4, {"none": np.array([0.1, -3.0])})
    for piece, kind in (
        (heard, tuple[Play, Heard, Known]),
        (values, Values),
        (SHUFFLED, Shuffled),
    ):
        found = unpack(pack(piece), kind)
        assert pack(found) == pack(piece)
        keeping.check(found, 2)


def changed(heard, number, **arrays):
    return tuple(replace(one, **arrays) if n == number else one for n, one in enumerate(heard))


@pytest.mark.parametrize(
    ("number", "change"),
    [
        (0, lambda one: {"hands": one.hands[:, :3]}),
        (0, lambda one: {"hands": one.hands.ravel()}),
        (0, lambda one: {"action": one.action[:-1]}),
        (0, lambda one: {"action": one.action + np.int8(60)}),
        (0, lambda one: {"deal": one.deal + 1}),
        (0, lambda one: {"seat": one.seat - np.int8(1)}),
        (0, lambda one: {"words": one.words[:, :7]}),
        (1, lambda one: {"row": one.row + 10**6}),
        (1, lambda one: {"decoders": ("policy",)}),
        (1, lambda one: {"gain": one.gain[:, :1]}),
        (1, lambda one: {"speaker": one.speaker * 0}),
        (2, lambda one: {"holds": one.holds[..., :7]}),
        (2, lambda one: {"prior": one.prior[:-1]}),
        (2, lambda one: {"listener": one.listener + 1}),
    ],
)
def test_arrays_that_do_not_fit_each_other_are_refused(heard, number, change):
    with pytest.raises(SettingError, match="expected"):
        keeping.check(changed(heard, number, **change(heard[number])), 4)
    with pytest.raises(SettingError, match="points of 'none'"):
        keeping.check(Values("a", {}, 4, {"none": np.zeros(3)}), 4)
    with pytest.raises(SettingError, match="variants"):
        keeping.check(replace(SHUFFLED, points={"V0": np.zeros(2)}), 2)


@pytest.mark.parametrize("value", [b"\x80\x04pickle", pack([1, 2]), pack(None)])
def test_crafted_pieces_of_a_study_are_refused_in_a_sentence(tmp_path, value):
    plan = replace(quick(("greedy",)), worlds=4, **SMALL)
    file = tmp_path / "parts"
    with pytest.raises(KeyboardInterrupt):
        study(plan, progress=told(1), parts=file)
    with sqlite3.connect(file) as db:
        ((key,),) = db.execute("SELECT key FROM blocks").fetchall()
        block = Block(key, (value,))
        db.execute("UPDATE blocks SET value = ?, digest = ?", (value, block.digest()))
    with pytest.raises(SettingError, match="damaged file") as error:
        study(plan, progress=lambda _: None, parts=file)
    assert json.loads(key) == ["value", "greedy", 0, 2]
    assert "\n" not in str(error.value)


def test_a_folder_of_parts_of_version_0_2_0_is_refused_with_a_sentence(tmp_path, capsys):
    page = tmp_path / "page.html"
    (tmp_path / "page.html.parts").mkdir()
    with pytest.raises(SystemExit, match="2"):
        main(["report", "greedy", "--quick", "-o", str(page)])
    error = capsys.readouterr().err
    assert "of version 0.2.0" in error
    assert error.count("\n") == 1
