"""Keeps pieces of a long work in a file of their own, by what they are of, as typed values.

A value is a dataclass, or a tuple of some, whose annotations say all: numbers, texts, tuples,
mappings, other dataclasses and arrays (``npt.NDArray[np.int64]``). It is kept as MessagePack, an
array as its type, shape and raw little-endian bytes, and comes back to the last bit, laid out row
by row. Reading makes values of the annotated types and nothing else: a file cannot name a class or
run code, and what it holds of another type or shape is refused.
"""

from __future__ import annotations

import json
from collections.abc import Callable, Mapping
from pathlib import Path
from typing import Any, Final, Self, get_args

import msgspec
import numpy as np

from agents.store import MOST_BYTES, Block, Layout, Store, damaged
from goita_env.errors import SettingError

MOST_AXES: Final = 8


class Parts:
    """Is a file of pieces of one work, open for more.

    Args:
        path: the file; it is begun where there is none.
        kind: what the pieces are, in words: "parts of an analysis".
        arguments: all that they depend on, as JSON can hold it. The pieces of other arguments are
            of no use; they are dropped as the first new one is added.
        former: how such a file began in version 0.2.0.

    Raises:
        SettingError: if the file is something else, is damaged, or another program has it open.
        OSError: if it cannot be read or written.

    Attributes:
        found: the pieces of the file as they were packed, by key.
    """

    def __init__(
        self, path: Path, kind: str, arguments: Mapping[str, Any], former: bytes = b""
    ) -> None:
        self._layout = Layout(kind, 1, ("value BLOB NOT NULL",), former=former)
        arguments = json.loads(json.dumps(arguments))  # tuples are lists there
        self._store = Store(path, self._layout, arguments)
        self.found: dict[str, bytes] = {}
        try:
            blocks = list(self._store.read())
            if self._store.arguments != arguments:
                self._store.drop([number for number, _ in blocks], arguments)
            else:
                self.found = {block.key: self._bytes(block) for _, block in blocks}
        except BaseException:
            self._store.close()
            raise

    def value(self, key: str, kind: Any, check: Callable[[Any], None] | None = None) -> Any:
        """Returns a piece of the file.

        Args:
            key: which.
            kind: the type of the value, as annotations write it.
            check: raises a ValueError if it is none of this piece.

        Raises:
            SettingError: if it is of another type.
        """
        try:
            found = unpack(self.found[key], kind)
            if check is not None:
                check(found)
        except ValueError as error:
            raise damaged(self._store.path, self._layout, f"{key}: {error}") from error
        return found

    def add(self, key: str, packed: bytes) -> None:
        """Writes a piece.

        Raises:
            OSError: if the disk is full or fails; the file holds what it held.
        """
        self._store.add(Block(key, (packed,)))

    def __enter__(self) -> Self:
        return self

    def __exit__(self, *error: object) -> None:
        self._store.close()

    def _bytes(self, block: Block) -> bytes:
        """Returns a block's value after checking that it is bytes."""
        (value,) = block.values
        if not isinstance(value, bytes):
            raise damaged(self._store.path, self._layout, f"{block.key}: no bytes")
        return value


def pack(value: object) -> bytes:
    """Returns a value as bytes.

    Raises:
        TypeError: if it holds something that no annotation can ask for again.
    """
    return msgspec.msgpack.encode(value, enc_hook=_told)


def unpack(data: bytes, kind: Any) -> Any:
    """Returns the value that ``pack`` made bytes of.

    Args:
        data: the bytes.
        kind: its type, as annotations write it.

    Raises:
        SettingError: if they hold none of this type.
    """
    try:
        return msgspec.msgpack.decode(data, type=kind, dec_hook=_array)
    except (ValueError, TypeError, RecursionError) as error:
        raise SettingError(f"expected a value as it was packed, got another: {error}") from error


def _told(value: Any) -> Any:
    """Returns an array, or a number of numpy's, as MessagePack can hold it."""
    if isinstance(value, np.ndarray) and not value.dtype.hasobject:
        data = np.ascontiguousarray(value, value.dtype.newbyteorder("<"))
        return [value.dtype.name, value.shape, data.tobytes()]
    if isinstance(value, np.generic):
        return value.item()
    raise TypeError(f"expected numbers, texts, arrays and dataclasses, got {type(value)!r}")


def _array(kind: Any, told: Any) -> Any:
    """Returns an array that is annotated as a kind.

    Raises:
        ValueError: if what is told is none.
    """
    _, annotated = get_args(kind)
    dtype = np.dtype(get_args(annotated)[0])
    name, shape, data = told
    fits = len(shape) <= MOST_AXES and all(type(n) is int and 0 <= n <= MOST_BYTES for n in shape)
    if name != dtype.name or not fits:
        raise ValueError(f"expected an array of {dtype.name}, got {name!r} of shape {shape!r}")
    if dtype == np.bool_ and data.strip(b"\0\1"):
        raise ValueError("expected truth values as 0 and 1, got other bytes")
    found = np.frombuffer(data, dtype.newbyteorder("<")).astype(dtype)
    return found.reshape(shape)
