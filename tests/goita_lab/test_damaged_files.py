"""Files that are damaged or edited: each is refused in a sentence, and stays as it was."""

import io
import json
import os
import random
import shutil
import sqlite3
from contextlib import closing
from pathlib import Path

import msgspec
import numpy as np
import pytest

from goita_agents.base import AgentError
from goita_agents.bots.network import NetworkAgent, file_digest
from goita_agents.bots.network_file import write_network
from goita_agents.champion.agent import network
from goita_env.errors import GoitaError, SettingError
from goita_env.rules import read_rules
from goita_lab.arena.coordination import leaderboard
from goita_lab.commands import exact, exam
from goita_lab.exact.agent import SolvedAgent, restore
from goita_lab.exact.teamwork import Players, shipped
from goita_lab.exact.tree import enumerate_game
from goita_lab.exam.questions import BY_ACTION, SHIPPED, STORED_MODELS, Questions
from goita_lab.learning.measuring import read_curve
from goita_lab.signals.listening import Heard, listen, standard_models
from goita_lab.signals.measures.shuffled import Shuffled
from goita_lab.signals.measures.value import ALL_SEATS, SourcePoints
from goita_lab.signals.playing import play
from goita_lab.store import pack, unpack
from programs import ROOT, refusal


@pytest.fixture(scope="module")
def tree():
    return enumerate_game("mini_3")


@pytest.fixture(scope="module")
def originals(tree, tmp_path_factory):
    """A good file of each kind, by its name."""
    folder = tmp_path_factory.mktemp("originals")
    assert exact.main(["mini_3", "--rounds", "2", "-o", str(folder / "solution.npz")]) == 0
    shutil.copy(shipped(tree.rules), folder / "players.npz")
    Questions.load().select(np.arange(6)).save(folder / "exam.npz", {"seed": 1})
    for name in ("leaderboard", "leaderboard_exact"):
        shutil.copy(ROOT / "benchmarks" / f"{name}.json", folder)
    champion = network()
    data = write_network(champion.info, champion.untrained(1).tensors())
    (folder / "network.safetensors").write_bytes(data)
    return folder


@pytest.fixture
def readers(tree):
    """What reads a file of each kind."""
    return {
        "solution.npz": lambda path: (restore(tree, path), SolvedAgent(str(path))),
        "players.npz": lambda path: Players.load(tree, path),
        "exam.npz": Questions.load,
        "leaderboard.json": leaderboard.read,
        "leaderboard_exact.json": leaderboard.read,
        "network.safetensors": lambda path: (NetworkAgent.load(path), file_digest(path)),
    }


@pytest.mark.parametrize("make", [os.mkfifo, os.mkdir, lambda path: path.symlink_to("/dev/null")])
def test_what_is_no_regular_file_is_refused_before_it_is_opened(make, readers, tmp_path):
    for name, read in {**readers, "rules.json": lambda path: read_rules(str(path))}.items():
        make(tmp_path / name)
        with pytest.raises(GoitaError, match=f"expected a .*file, got '{tmp_path / name}'"):
            read(tmp_path / name)


def test_a_key_of_json_that_is_there_twice_is_refused(originals, tmp_path):
    path = tmp_path / "twice.json"
    path.write_text('{"format": 1, ' + (originals / "leaderboard.json").read_text()[1:])
    assert "got 'format' twice" in refused(leaderboard.read, path)


def test_a_curve_with_other_columns_is_refused(tmp_path):
    (tmp_path / "strength.csv").write_text("decisions,points_per_round,low,high\n1,2,1,3\n")
    assert "expected columns opponent, " in refused(read_curve, tmp_path / "strength.csv")


KINDS = ("solution.npz", "players.npz", "exam.npz")


def refused(read, path):
    """Expects a file to be refused in a sentence and left alone."""
    before = path.read_bytes()
    with pytest.raises(GoitaError) as caught:
        read(path)
    assert str(path) in str(caught.value)
    assert path.read_bytes() == before
    return str(caught.value)


@pytest.mark.parametrize("name", [*KINDS, "leaderboard.json", "network.safetensors"])
def test_a_cut_file_is_refused_and_a_flipped_bit_never_is_a_traceback(
    name, originals, readers, tmp_path
):
    whole, path, rng = (originals / name).read_bytes(), tmp_path / name, random.Random(3)
    readers[name](originals / name)
    for length in (0, 1, 100, len(whole) // 2, len(whole) - 2):
        path.write_bytes(whole[:length])
        refused(readers[name], path)
    for _ in range(20):
        place = rng.choice((rng.randrange(len(whole)), rng.randrange(400)))
        flipped = bytearray(whole)
        flipped[place] ^= 1 << rng.randrange(8)
        path.write_bytes(flipped)
        try:
            readers[name](path)
        except GoitaError:
            continue


def put(index, value):
    def change(array):
        changed = array.astype(float)
        changed.flat[index] = value
        return changed

    return change


CHANGES = {
    "cut": lambda array: array[:-1],
    "twice": lambda array: np.concatenate((array, array)),
    "one dimension more": lambda array: array[None],
    "a number": lambda array: np.float64(0.5),
    "texts": lambda array: array.astype(str),
    "complex": lambda array: array.astype(complex),
    "NaN": lambda array: np.full(array.shape, np.nan),
    "infinite": put(0, np.inf),
    "1e308": put(0, 1e308),
    "below": put(-1, -1e9),
}


@pytest.mark.parametrize("change", CHANGES)
@pytest.mark.parametrize("name", KINDS)
def test_arrays_of_another_shape_type_or_range_are_refused(
    name, change, originals, readers, tmp_path
):
    with np.load(originals / name) as file:
        arrays = dict(file)
    path = tmp_path / name
    for key, array in arrays.items():
        if key == "about" or array.dtype.kind == "U" or (not array.shape and change != "NaN"):
            continue
        np.savez(path, **(arrays | {key: CHANGES[change](array)}))
        refused(readers[name], path)


EDITS = {
    "no arrays": lambda about: {"about": None},
    "a list": lambda about: [],
    "another format": lambda about: {**about, "format": "goita-poems-1"},
    "no format": lambda about: {key: about[key] for key in about.keys() - {"format"}},
}


@pytest.mark.parametrize("name", KINDS)
def test_a_file_that_says_something_else_of_itself_is_refused(name, originals, readers, tmp_path):
    with np.load(originals / name) as file:
        arrays = dict(file)
    about, path = json.loads(str(arrays["about"])), tmp_path / name
    texts = [json.dumps(edit(about)) for edit in EDITS.values()]
    for text in (*texts, "[" * 100_000, "NaN", "", "{"):
        np.savez(path, **(arrays | {"about": np.array(text)}))
        refused(readers[name], path)
    file = io.BytesIO()
    np.save(file, np.array([print], object), allow_pickle=True)
    np.savez(path, **(arrays | {"about": np.array([print], object)}))
    refused(readers[name], path)


def test_probabilities_and_sets_that_contradict_the_game_are_refused(
    tree, originals, readers, tmp_path
):
    with np.load(originals / "solution.npz") as file:
        arrays = dict(file)
    path = tmp_path / "solution.npz"
    for key, value in (
        ("policy", arrays["policy"] / 2),
        ("starts", np.sort(arrays["starts"])[::-1]),
        ("starts", arrays["starts"] * 0),
        ("action", np.roll(arrays["action"], 1)),
    ):
        np.savez(path, **(arrays | {key: value}))
        refused(readers["solution.npz"], path)
    np.savez(path, **(arrays | {"average": arrays["average"] / 2}))
    with pytest.raises(AgentError, match="expected sums of 1"):
        SolvedAgent(str(path))


def edited(arrays, **changes):
    """Returns the arrays of an exam with other counts, or other arrays."""
    about = json.loads(str(arrays["about"]))
    for key, value in changes.items():
        if key in arrays:
            arrays = arrays | {key: value(arrays[key])}
        elif value is None:
            del about[key]
        else:
            about[key] = value
    return arrays | {"about": np.array(json.dumps(about))}


def legal_gap(array):
    changed = array.copy()
    changed[0, np.flatnonzero(~np.isnan(array[0]))[0]] = np.nan
    return changed


EXAMS = {
    "no number of valued positions": {"valued": None},
    "valued as text": {"valued": "many"},
    "none valued": {"valued": 0},
    "valued below 0": {"valued": -1},
    "half a position valued": {"valued": 7.5},
    "fewer valued than clear": {"valued": 7, "clear": 9},
    "fewer clear than there are": {"clear": 1},
    "no number of clear positions": {"clear": None},
    "a best action that does not lead clearly": {"choosing_lead_error": lambda array: array + 999},
    "a match below 0": {"match": lambda array: -1 - array},
    "an illegal best action by the rules": {"best_by_rules": lambda array: array * 0 + 68},
    "no points if the other agent continues": {"other_points": legal_gap},
    "versions as a text": {"versions": "0.3.0"},
    "weights as numbers": {"weights": {"champion": 3}},
    "a command as a number": {"command": 3},
    "players as numbers": {"players": lambda array: np.arange(6)},
    "three players": {"players": lambda array: np.array(["a\nb\nc"] * 6)},
    "five players": {"players": lambda array: np.array(["a\nb\nc\nd\ne"] * 6)},
    "players of too few positions": {"players": lambda array: array[:5]},
    "an illegal best action": {"best": lambda array: np.where(array == 0, 1, 0)},
    "best as floats": {"best": lambda array: array.astype(float)},
    "best beyond the actions": {"best": lambda array: array + 999},
    "points of 60 actions": {"points": lambda array: array[:, :60]},
    "points of an illegal action": {"points": np.nan_to_num},
    "no points of a legal action": {"points": legal_gap},
    "no error of a legal action": {"error": legal_gap},
    "seven times the beliefs": {"exact": lambda array: array * 7},
    "random words": {"words": lambda array: array * np.uint64(0x9E3779B97F4A7C15)},
    "no words": {"words": lambda array: array * 0},
    "a tile too many": {"words": lambda array: array | np.uint64(0xFF)},
}


@pytest.mark.parametrize("what", EXAMS)
def test_an_exam_that_was_edited_is_refused(what, originals, tmp_path):
    with np.load(originals / "exam.npz") as file:
        arrays = dict(file)
    path = tmp_path / "exam.npz"
    np.savez(path, **edited(arrays, **EXAMS[what]))
    refused(Questions.load, path)


def test_commands_end_with_a_line_and_leave_the_file(originals, tmp_path, capsys):
    with np.load(originals / "exam.npz") as file:
        np.savez(tmp_path / "exam.npz", **edited(dict(file), valued=0))
    words = ["take", "random", "--exam", str(tmp_path / "exam.npz"), "--json", str(tmp_path / "x")]
    assert "exam.npz" in refusal(capsys, exam.main, words)
    with np.load(originals / "solution.npz") as file:
        arrays = dict(file)
    path = tmp_path / "solution.npz"
    np.savez(path, **(arrays | {"sum": arrays["sum"] * np.nan}))
    before = path.read_bytes()
    assert "got nan" in refusal(capsys, exact.main, ["mini_3", "--rounds", "3", "-o", str(path)])
    assert path.read_bytes() == before
    assert not (tmp_path / "x").exists()


def test_an_exam_that_says_nothing_of_its_making_has_a_page_all_the_same(originals, tmp_path):
    with np.load(originals / "exam.npz") as file:
        np.savez(tmp_path / "exam.npz", **edited(dict(file), command="made by hand"))
    page = tmp_path / "page.html"
    words = ["take", "random", "--exam", str(tmp_path / "exam.npz"), "--html", str(page)]
    assert exam.main(words) == 0
    assert "made by hand" in page.read_text()
    loaded = Questions.load(tmp_path / "exam.npz")
    assert [loaded.stored_beliefs(model) for model in STORED_MODELS] == [None, None]


@pytest.mark.parametrize("name", ["leaderboard.json", "leaderboard_exact.json"])
@pytest.mark.parametrize("figure", ["NaN", "1e308", "1e400", '"3"', "null", "[" * 10_000])
def test_figures_of_a_leaderboard_that_are_none_are_refused(
    name, figure, originals, readers, tmp_path
):
    text = (originals / name).read_text()
    board, path = json.loads(text), tmp_path / name
    entry = board["entries"][0]
    cell = next(iter(entry["points"].values())) if "points" in entry else entry["figures"]["points"]
    cell[0] = 987.125
    path.write_text(json.dumps(board).replace("987.125", figure))
    refused(readers[name], path)


@pytest.fixture(scope="module")
def kept():
    """A result of each kind of task that a file of work keeps, packed."""
    played = play(["greedy"], 3, seed=1)
    heard = Heard(played, *listen(played, standard_models("greedy")))
    return {
        Heard: heard,
        Shuffled: Shuffled.of(np.arange(15.0).reshape(5, 3), 0.5, 0.5),
        SourcePoints: SourcePoints("greedy", {}, 8, (ALL_SEATS,), np.zeros((1, 3)), np.zeros(3)),
        Questions: Questions.load().select(np.arange(3)),
    }


def walk(value, change, kinds):
    """Changes each array of a packed value in turn; yields the whole values."""
    if isinstance(value, list) and len(value) == 3 and value[0] in kinds:
        yield change(*value)
    elif isinstance(value, list | dict):
        places = value if isinstance(value, dict) else range(len(value))
        for place in places:
            for inner in walk(value[place], change, kinds):
                other = value.copy()
                other[place] = inner
                yield other


def test_kept_results_with_other_numbers_or_shapes_are_refused(kept):
    floats, every = ("float64", "float32"), ("float64", "float32", "int64", "int8", "uint64")
    for kind, result in kept.items():
        assert pack(unpack(pack(result), kind)) == pack(result)
        whole = msgspec.msgpack.decode(pack(result))
        damages = [
            *walk(whole, lambda name, shape, data: [name, shape, b"\xff" * len(data)], floats),
            *walk(whole, lambda name, shape, data: [name, [-1], data], every),
            *walk(whole, lambda name, shape, data: [name, [*shape, 1], data], every),
            *walk(whole, lambda name, shape, data: [name, shape, data[:-1]], every),
            *walk(whole, lambda name, shape, data: ["float16", shape, data], every),
        ]
        for damaged in damages:
            gaps = kind is Questions and any(damaged[n] != whole[n] for n in BY_ACTION)
            if damaged == whole or gaps:  # they may have gaps
                continue
            with pytest.raises(SettingError, match="as it was packed"):
                unpack(msgspec.msgpack.encode(damaged), kind)


def test_a_figure_of_a_kept_block_that_cannot_be_is_damage(tmp_path, monkeypatch, capsys):
    from goita_lab.commands import evaluate

    monkeypatch.chdir(tmp_path)
    words = ["--agents", "greedy", "random", "--deals", "8", "--results", "r.db"]
    assert evaluate.main(words) == 0
    good = Path("r.db").read_bytes()
    with closing(sqlite3.connect("r.db")) as store:
        ((value,),) = store.execute("SELECT value FROM parts").fetchall()
    block = msgspec.msgpack.decode(value)
    changes = {
        "points": ["int32", [2, 8], np.full(16, 10**6, np.int32).tobytes()],
        "rounds": ["int32", [2, 8], np.full(16, 2, np.int32).tobytes()],
        "rounds_won": ["int32", [2, 8], np.full(16, -1, np.int32).tobytes()],
        "decisions": ["int64", [3], np.zeros(3, np.int64).tobytes()],
        "thinking": ["float64", [2], np.full(2, np.nan).tobytes()],
        "seconds": 1e308,
        "forfeited": [2],
        "faults": [[2, {"kind": "late", "seat": 0, "game": 0, "text": ""}]],
    }
    for name, change in changes.items():
        Path("r.db").write_bytes(good)
        with closing(sqlite3.connect("r.db")) as store, store:
            packed = msgspec.msgpack.encode(block | {name: change})
            store.execute("UPDATE parts SET value = ?", (packed,))
        before = Path("r.db").read_bytes()
        assert "damaged file" in refusal(capsys, evaluate.main, words), name
        assert Path("r.db").read_bytes() == before


def test_texts_that_are_no_utf_8_survive_in_every_file(tmp_path, monkeypatch):
    from goita_lab.commands import evaluate

    monkeypatch.chdir(tmp_path)
    name = "policy-\udcff\x07.safetensors"
    champion = network()
    Path(name).write_bytes(write_network(champion.info, champion.untrained(1).tensors()))
    text = f"file:{name}"
    words = ["--agents", text, "random", "--deals", "4", "--results", "r.db", "--json", "r.json"]
    for _ in range(2):  # the second time by what was kept
        assert evaluate.main([*words, "--html", "r.html", "--save-games", "games"]) == 0
        told = json.loads(Path("r.json").read_text())
        assert told["agents"] == [text, "random"]
        assert text in told["digests"]
    assert unpack(pack(text), str) == text
    assert unpack(pack({text: [text]}), dict[str, list[str]]) == {text: [text]}


def test_the_shipped_exam_is_in_order():
    assert len(Questions.load(SHIPPED).check()) == 600
