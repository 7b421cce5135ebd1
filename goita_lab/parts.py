"""Stores the finished parts of a long computation in a file, by key, as typed values.

A value is a dataclass, or a tuple of some, of numbers, texts, tuples, mappings, dataclasses and
arrays (``npt.NDArray[np.int64]``). It is stored as MessagePack, an array as its type, shape and raw
little-endian bytes, and is restored to the last bit. Reading creates values of the annotated types
only: a file cannot name a class or run code, and values of another type or shape are refused.
"""

from __future__ import annotations

import json
from collections.abc import Callable, Mapping
from pathlib import Path
from typing import Any, Final, Self, get_args

import msgspec
import numpy as np

from goita_env.errors import SettingError
from goita_lab.store import MOST_BYTES, Block, Layout, Store, damaged

MOST_AXES: Final = 8


class Parts:
    """Opens a file of parts for reading and adding; it is created if missing.

    Args:
        path: the file.
        kind: the content in words: "parts of an analysis".
        arguments: everything that the parts depend on, as JSON. Parts of other arguments are
            dropped when the first new one is added.
        former: first bytes of such a file in version 0.2.0.

    Raises:
        SettingError: if the file is something else, is damaged, or is open in another program.
        OSError: if it cannot be read or written.

    Attributes:
        found: the packed parts of the file, by key.
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
        """Returns the part of a key; a SettingError if ``check`` raises a ValueError for it."""
        try:
            found = unpack(self.found[key], kind)
            if check is not None:
                check(found)
        except ValueError as error:
            raise damaged(self._store.path, self._layout, f"{key}: {error}") from error
        return found

    def add(self, key: str, packed: bytes) -> None:
        self._store.add(Block(key, (packed,)))

    def __enter__(self) -> Self:
        return self

    def __exit__(self, *error: object) -> None:
        self._store.close()

    def _bytes(self, block: Block) -> bytes:
        (value,) = block.values
        if not isinstance(value, bytes):
            raise damaged(self._store.path, self._layout, f"{block.key}: no bytes")
        return value


def pack(value: object) -> bytes:
    """Packs a value; raises a TypeError if it contains a type that cannot be unpacked."""
    return msgspec.msgpack.encode(value, enc_hook=_encoded)


def unpack(data: bytes, kind: Any) -> Any:
    """Unpacks a value of a type; raises a SettingError if the bytes hold no such value."""
    try:
        return msgspec.msgpack.decode(data, type=kind, dec_hook=_array)
    except (ValueError, TypeError, RecursionError) as error:
        raise SettingError(f"expected a value as it was packed, got another: {error}") from error


def _encoded(value: Any) -> Any:
    if isinstance(value, np.ndarray) and not value.dtype.hasobject:
        data = np.ascontiguousarray(value, value.dtype.newbyteorder("<"))
        return [value.dtype.name, value.shape, data.tobytes()]
    if isinstance(value, np.generic):
        return value.item()
    raise TypeError(f"expected numbers, texts, arrays and dataclasses, got {type(value)!r}")


def _array(kind: Any, encoded: Any) -> Any:
    _, annotated = get_args(kind)
    dtype = np.dtype(get_args(annotated)[0])
    name, shape, data = encoded
    fits = len(shape) <= MOST_AXES and all(type(n) is int and 0 <= n <= MOST_BYTES for n in shape)
    if name != dtype.name or not fits:
        raise ValueError(f"expected an array of {dtype.name}, got {name!r} of shape {shape!r}")
    if dtype == np.bool_ and data.strip(b"\0\1"):
        raise ValueError("expected truth values as 0 and 1, got other bytes")
    return np.frombuffer(data, dtype.newbyteorder("<")).astype(dtype).reshape(shape)
