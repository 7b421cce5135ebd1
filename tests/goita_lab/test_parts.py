"""Pieces of a work: packed and unpacked to the last bit, and what is no such piece refused."""

from __future__ import annotations

import io
import pickle
from collections.abc import Mapping
from dataclasses import dataclass

import msgspec
import numpy as np
import numpy.typing as npt
import pytest

from goita_env.errors import SettingError
from goita_lab.parts import Parts, pack, unpack
from goita_lab.store import Block, Layout, Store
from raising import refuses
from sqlite_files import refused


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
    {"b": np.array([0.1, -0.0, np.nan, np.inf]), "a": np.zeros(0)},
    np.array(2**63 + 1, np.uint64),
    float("-inf"),
)


def test_a_piece_comes_back_to_the_last_bit_and_laid_out_row_by_row():
    found = unpack(pack(PIECE), Piece)
    assert (found.name, found.bound, list(found.points)) == ("one", float("-inf"), ["b", "a"])
    pairs = [(getattr(found, n), getattr(PIECE, n)) for n in ("counts", "mask", "words")]
    for ours, theirs in (*pairs, *((found.points[n], PIECE.points[n]) for n in "ab")):
        assert (ours.dtype, ours.shape) == (theirs.dtype, theirs.shape)
        assert ours.tobytes() == theirs.tobytes()
        assert ours.flags.c_contiguous
        assert ours.flags.writeable
    assert pack(found) == pack(PIECE)
    assert unpack(pack((PIECE, 3)), tuple[Piece, int])[1] == 3


def test_an_array_is_kept_little_endian_whatever_it_was():
    swapped = Piece(**{**vars(PIECE), "counts": PIECE.counts.astype(">i2")})
    assert pack(swapped) == pack(PIECE)


def test_what_no_annotation_asks_for_again_is_not_packed():
    for value in (object(), np.array([object()]), Parts):
        refuses(TypeError, "expected numbers, texts, arrays", pack, value)


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
    "pickle in an array": array("object", [1], pickle.dumps(Evil())),
    "pickle in an npy": array("int16", [1], saved(np.array([Evil()], dtype=object))),
    "nothing": b"",
    "cut": pack(PIECE)[:-3],
    "more": pack(PIECE) + b"\0",
    "number": 5,
    "list": [1, 2],
    "deep": b"\x91" * 10**6,
    "text for a number": {**msgspec.msgpack.decode(pack(PIECE)), "bound": "x"},
    "number for a text": {**msgspec.msgpack.decode(pack(PIECE)), "name": 5},
    "missing": {"name": "x"},
    "other type": array("int32", [1], bytes(4)),
    "wide": array("int16", [3], bytes(4)),
    "huge": array("int16", [2**62], b""),
    "huge and empty": array("int16", [0, 2**62], b""),
    "negative": array("int16", [-1], bytes(2)),
    "fraction": array("int16", [1.0], bytes(2)),
    "many axes": array("int16", [1] * 40, bytes(2)),
    "shape a number": array("int16", 1, bytes(2)),
    "data a text": array("int16", [1], "xx"),
    "data a list": array("int16", [1], [0, 0]),
    "two of three": {**msgspec.msgpack.decode(pack(PIECE)), "counts": ["int16", [1]]},
    "odd truth": {**msgspec.msgpack.decode(pack(PIECE)), "mask": ["bool", [1], b"\2"]},
    "array a number": {**msgspec.msgpack.decode(pack(PIECE)), "mask": 5},
}


@pytest.mark.parametrize("what", list(CRAFTED))
def test_crafted_pieces_are_refused_in_a_sentence_and_nothing_of_them_runs(tmp_path, what):
    value = CRAFTED[what]
    packed = value if isinstance(value, bytes) else msgspec.msgpack.encode(value)
    refuses(SettingError, "expected a value as it was packed", unpack, packed, Piece)
    path = tmp_path / "parts"
    with Parts(path, "parts of a test", {}) as parts:
        parts.add("one", packed)
    with Parts(path, "parts of a test", {}) as parts, refused(path, "damaged file"):
        parts.value("one", Piece)


def test_pieces_resume_with_the_same_arguments_and_begin_anew_with_others(tmp_path):
    path = tmp_path / "parts"

    def begun(seed):
        return Parts(path, "parts of a test", {"agents": ("greedy",), "seed": seed})

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


def test_a_piece_that_is_no_bytes_or_fails_its_check_is_refused(tmp_path):
    path, layout = tmp_path / "parts", Layout("parts of a test", 1, ("value BLOB NOT NULL",))
    with Store(path, layout, {}) as store:
        store.add(Block("one", ("text",)))
    refuses(SettingError, "no bytes", Parts, path, "parts of a test", {})

    def check(value):
        raise SettingError(f"expected 4, got {value!r}")

    more = tmp_path / "more"
    with Parts(more, "parts of a test", {}) as parts:
        parts.add("one", pack(3))
    with Parts(more, "parts of a test", {}) as parts, pytest.raises(SettingError, match="got 3"):
        parts.value("one", int, check)
