"""The store: what comes back of it, going on, and files of something else."""

from __future__ import annotations

import io
import os
import pickle
import sqlite3
from collections.abc import Mapping
from contextlib import closing
from dataclasses import dataclass, replace

import msgspec
import numpy as np
import numpy.typing as npt
import pytest

from goita_agents.identity import Identities
from goita_env.errors import SettingError
from goita_lab import store, work
from goita_lab.store import Column, TaskStore, pack, unpack
from goita_lab.work import Runner, Workers
from raising import refuses
from sqlite_files import edit, refused

KIND = "blocks of a test"
Block = list[list[float]]


def opened(path, arguments=(3, "greedy"), **options):
    return TaskStore(path, KIND, {"given": arguments}, **options)


def block(number, rows=200):
    return [[place, place / 7 + number] for place in range(rows)]


def contents(path, names="012x", **options):
    with opened(path, **options) as store:
        return {name: store.value(name, (), Block) for name in names if store.has(name, ())}


def blocks(numbers):
    return {str(number): block(number) for number in numbers}


@pytest.fixture
def path(tmp_path):
    with opened(tmp_path / "blocks") as store:
        for number in range(3):
            store.add(str(number), (), block(number))
    return tmp_path / "blocks"


def test_blocks_come_back_as_they_were(path):
    with opened(path) as store:
        store.add("x", (), block(3))
        assert store.has("x", ())
    assert contents(path) == {**blocks(range(3)), "x": block(3)}
    assert [file.name for file in path.parent.iterdir()] == ["blocks"]


@pytest.mark.parametrize(
    ("statement", "words"),
    [
        ("UPDATE meta SET arguments = '[1]'", "damaged file"),
        ("UPDATE meta SET kind = 'poems'", "its kind is 'poems'"),
        ("INSERT INTO meta SELECT * FROM meta", "damaged file"),
        ("UPDATE meta SET arguments = x'ff'", "damaged file"),
        ("DELETE FROM meta", "damaged file"),
        ("UPDATE parts SET value = 7", "damaged file"),
        ("UPDATE parts SET value = 'text'", "damaged file"),
        ("ALTER TABLE parts RENAME TO pieces", "no such table"),
        ("UPDATE parts SET key = 'x' WHERE rowid = 1", "damaged file"),
        ("UPDATE parts SET key = '[1' WHERE rowid = 1", "damaged file"),
    ],
)
def test_another_file_is_refused_in_a_sentence_and_left_as_it_is(path, statement, words):
    whole = path.read_bytes()
    edit(path, statement)
    with refused(path, words):
        contents(path)
    for content in (whole[:100], b"my diary\n" * 100, b"SQLite format 3\0" * 500):
        path.write_bytes(content)
        with refused(path, "expected"):
            contents(path)
    assert [file.name for file in path.parent.iterdir()] == ["blocks"]


@dataclass(frozen=True)
class Piece:
    name: str
    counts: npt.NDArray[np.int16]
    mask: npt.NDArray[np.bool_]
    points: Mapping[str, npt.NDArray[np.float64]]
    words: npt.NDArray[np.uint64]
    bound: float = 0.0


PIECE = Piece(
    "one",
    np.asfortranarray(np.arange(12, dtype=np.int16).reshape(3, 4)),
    np.array([[True, False]]),
    {"b": np.array([0.1, -0.0, 5e-324]), "a": np.zeros(0)},
    np.array(2**63 + 1, np.uint64),
    -0.0,
)


def test_a_piece_comes_back_to_the_last_bit_and_laid_out_row_by_row():
    found = unpack(pack(PIECE), Piece)
    assert (found.name, str(found.bound), list(found.points)) == ("one", "-0.0", ["b", "a"])
    pairs = [(getattr(found, n), getattr(PIECE, n)) for n in ("counts", "mask", "words")]
    for ours, theirs in (*pairs, *((found.points[n], PIECE.points[n]) for n in "ab")):
        assert (ours.dtype, ours.shape) == (theirs.dtype, theirs.shape)
        assert ours.tobytes() == theirs.tobytes()
        assert ours.flags.c_contiguous
        assert ours.flags.writeable
    assert pack(found) == pack(PIECE)
    refuses(TypeError, "expected numbers, texts, arrays", pack, np.array([object()]))


@dataclass(frozen=True)
class Gapped:
    points: npt.NDArray[np.float64]
    shares: npt.NDArray[np.float64]

    def columns(self):
        return {"points": Column("f", ("n", 2), gaps=True), "shares": Column("f", ("n",), 0, 1)}


def test_numbers_are_finite_of_one_size_and_in_the_range_of_their_column():
    gapped = Gapped(np.array([[np.nan, 3.0]]), np.array([0.5]))
    assert pack(unpack(pack(gapped), Gapped)) == pack(gapped)
    for wrong in (
        *(replace(PIECE, bound=value) for value in (np.nan, np.inf, -1e308)),
        replace(PIECE, points={"a": np.array([0.0, np.nan])}),
        replace(gapped, shares=np.array([np.nan])),
        replace(gapped, points=np.array([[np.inf, 3.0]])),
        *(replace(gapped, shares=value) for value in (np.array([1.5]), np.zeros(2), np.zeros(()))),
    ):
        refuses(SettingError, "as it was packed", unpack, pack(wrong), type(wrong))


class Evil:
    def __reduce__(self):
        return exec, ("raise SystemExit('unpickled')",)


def array(name, shape, data):
    return {**msgspec.msgpack.decode(pack(PIECE)), "counts": [name, shape, data]}


def saved(value):
    file = io.BytesIO()
    np.save(file, value, allow_pickle=True)
    return file.getvalue()


CRAFTED = {
    "pickle": pickle.dumps(Evil()),
    "pickle in an npy": array("int16", [1], saved(np.array([Evil()], dtype=object))),
    "nothing": b"",
    "missing": {"name": "x"},
    "other type": array("int32", [1], bytes(4)),
    "huge": array("int16", [2**62], b""),
}


@pytest.mark.parametrize("what", list(CRAFTED))
def test_crafted_pieces_are_refused_in_a_sentence_and_nothing_of_them_runs(tmp_path, what):
    value = CRAFTED[what]
    packed = value if isinstance(value, bytes) else msgspec.msgpack.encode(value)
    refuses(SettingError, "expected a value as it was packed", unpack, packed, Piece)
    with opened(tmp_path / "parts") as store:
        store.add("one", (), 1)
    with closing(sqlite3.connect(tmp_path / "parts")) as db, db:
        db.execute("UPDATE parts SET value = ?", (packed,))
    with opened(tmp_path / "parts") as store, refused(tmp_path / "parts", "damaged file"):
        store.value("one", (), Piece)


def test_tasks_of_other_arguments_or_versions_are_refused_by_name_and_stay(path, monkeypatch):
    whole, ways = contents(path), "name another file, or begin this one anew with --anew"
    for arguments, words in (
        ((4, "greedy"), r"given \[3, 'greedy'\], now \[4, 'greedy'\]"),
        ({"seed": 3}, "given.seed None, now 3"),
    ):
        with refused(path, f"was begun with: .*{words}.*; {ways}"):
            opened(path, arguments)
    versions = store.depended_versions()
    for name in ("goita_env", "numpy", "torch"):
        monkeypatch.setattr(store, "depended_versions", lambda n=name: versions | {n: "0.1"})
        with refused(path, f"versions.{name} '.*', now '0.1'; {ways}"):
            opened(path)
    monkeypatch.setattr(store, "FORMAT", "goita-tasks-2")
    monkeypatch.setattr(store, "depended_versions", lambda: versions)
    with refused(path, "store 'goita-tasks-1', now 'goita-tasks-2'"):
        opened(path)
    monkeypatch.undo()
    assert contents(path) == whole
    assert versions.keys() == {"goita_env", "numpy", "torch"}
    assert versions["numpy"].count(".") == 1


def test_a_file_is_begun_anew_if_it_is_said_and_no_other_file_is(path, tmp_path):
    assert contents(path, arguments=(4,), anew=True) == {}
    assert contents(path, arguments=(4,)) == {}
    with refused(path, "was begun with"):
        opened(path)
    assert contents(tmp_path / "new", anew=True) == {}
    diary = tmp_path / "diary"
    for content in (b"my diary\n" * 100, path.read_bytes()):
        diary.write_bytes(content)
        edit(diary, "UPDATE meta SET kind = 'poems'") if content[:6] == b"SQLite" else None
        with refused(diary, "expected blocks of a test"):
            opened(diary, anew=True)


class Made(Identities):
    """Agents that are made of what a test says."""

    def __init__(self, **digests):
        super().__init__()
        self.digests, self.different = digests, ()

    def changed(self, specs=None):
        return [spec for spec in specs if spec in self.different]


def test_tasks_of_an_agent_that_changed_are_done_again_and_the_others_kept(tmp_path):
    path, tasks = tmp_path / "tasks", {"1": ("a", "b"), "2": ("b", "c"), "3": ("c",), "4": ("d",)}
    with opened(path, identities=Made(a="1", b="1")) as kept:
        assert kept.note(tasks) == ""
        for name in ("1", "2", "3"):
            kept.add(name, tasks[name], int(name))
    with opened(path, identities=Made(a="2", b="1")) as kept:
        assert [name for name, agents in tasks.items() if kept.has(name, agents)] == ["2", "3"]
        assert kept.note(tasks) == (
            f"{path}: 2 tasks kept, 1 done again, because their agents have changed\n"
        )
        kept.add("1", tasks["1"], 10)
    with opened(path, identities=Made(a="1", b="1")) as kept:  # as it was before
        assert kept.value("1", tasks["1"], int) == 1
    with opened(path, identities=Made(a="2", b="1")) as kept:
        assert kept.value("1", tasks["1"], int) == 10
        kept.identities.different = ("d",)
        kept.add("4", tasks["4"], 4)  # nobody knows who did it
        assert not kept.has("4", tasks["4"])


def test_a_runner_does_what_is_missing_in_one_file_by_workers_that_stay(tmp_path, capsys):
    path, done = tmp_path / "tasks", []

    def double(number):
        done.append(number)
        return 2 * number

    def run(numbers, **options):
        told = []
        runner = Runner(1, path, lambda *said: told.append(said), **options)
        with runner.opened({"seed": 1}) as opened:
            for number in numbers:
                todo = {f"{number}": number, f"{number}.5": number + 0.5}
                found = opened.run(double, todo, lambda _: float)
                assert found == {f"{number}": 2 * number, f"{number}.5": 2 * number + 1}
        return told

    assert run([1, 2])[-1] == ("tasks", 4, 4)
    assert run([1, 2, 3])[-1] == ("tasks", 6, 6)
    assert done == [1, 1.5, 2, 2.5, 3, 3.5]
    run([1], anew=True)
    assert done[6:] == [1, 1.5]
    with refused(path, "seed 1, now 2"):
        Runner(1, path).run(double, {"1": 1}, lambda _: float, {"seed": 2})
    assert capsys.readouterr().err == ""


def processes(_):
    return os.getpid()


def test_workers_serve_several_maps(monkeypatch):
    monkeypatch.setattr(work, "_cores", lambda: 2)
    with Workers(2) as workers:
        first, second = (set(workers.map(processes, range(20))) for _ in range(2))
    assert first | second == first | second - {os.getpid()}
    assert len(first | second) == 2
