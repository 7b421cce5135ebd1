"""The store: what comes back of it, going on, and files of something else."""

from __future__ import annotations

import io
import pickle
from collections.abc import Mapping
from dataclasses import dataclass, replace

import msgspec
import numpy as np
import numpy.typing as npt
import pytest

from goita_env.errors import SettingError
from goita_lab.store import Column, Parts, pack, unpack
from raising import refuses
from sqlite_files import edit, refused


def opened(path, arguments=(3, "greedy")):
    return Parts(path, "blocks of a test", {"given": arguments})


def block(number, rows=200):
    return pack([[place, place / 7 + number] for place in range(rows)])


def contents(path):
    with opened(path) as store:
        return store.found


def blocks(numbers):
    return {str(number): block(number) for number in numbers}


@pytest.fixture
def path(tmp_path):
    with opened(tmp_path / "blocks") as store:
        for number in range(3):
            store.add(str(number), block(number))
    return tmp_path / "blocks"


def test_blocks_come_back_as_they_were_in_the_order_in_which_they_came(path):
    with opened(path) as store:
        store.add("x", block(3))
    assert list(contents(path).items()) == [*blocks(range(3)).items(), ("x", block(3))]
    assert [file.name for file in path.parent.iterdir()] == ["blocks"]


@pytest.mark.parametrize(
    ("statement", "words"),
    [
        ("UPDATE meta SET arguments = '[1]'", "damaged file"),
        ("UPDATE meta SET kind = 'poems'", "its kind is 'poems'"),
        ("ALTER TABLE parts RENAME TO pieces", "no such table"),
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
    with opened(tmp_path / "parts") as parts:
        parts.add("one", packed)
    with opened(tmp_path / "parts") as parts, refused(tmp_path / "parts", "damaged file"):
        parts.value("one", Piece)


def test_pieces_resume_with_the_same_arguments_and_begin_anew_with_others(tmp_path):
    path = tmp_path / "parts"

    def begun(seed):
        return opened(path, {"agents": ("greedy",), "seed": seed})

    with begun(1) as parts:
        assert parts.found == {}
        parts.add("one", pack(PIECE))
    with begun(1) as parts:
        assert parts.value("one", Piece).name == "one"
        parts.add("two", pack(3))
    before = path.read_bytes()
    with begun(2) as parts:
        assert parts.found == {}
    assert path.read_bytes() == before  # until a piece comes
    with begun(2) as parts:
        parts.add("one", pack(4))
    with begun(2) as parts:
        assert parts.found == {"one": pack(4)}
