"""Keeps finished parts of long work in an SQLite file, from which it resumes, and arrays in .npz.

::

    meta(kind, arguments)     what the file holds, and as JSON what all parts depend on
    parts(key, value)         the parts, each packed as MessagePack (``pack``)

Adding a part is one transaction: once it has been added it survives a crash of the program, and on
a full disk the parts before it stay. A file is open in one program at a time, by SQLite's own lock.
Files may come from somebody else: they are data, parsed into types and never unpickled.
"""

from __future__ import annotations

import io
import json
import sqlite3
import zlib
from collections.abc import Iterable, Iterator, Mapping
from contextlib import contextmanager, suppress
from pathlib import Path
from typing import Any, Final, Self, get_args
from zipfile import BadZipFile, ZipFile

import msgspec
import numpy as np
import numpy.typing as npt

from goita_agents.files import decode, write_whole
from goita_env.errors import SettingError

_PRAGMAS: Final = (
    *("trusted_schema = OFF", "locking_mode = EXCLUSIVE", "synchronous = NORMAL"),
    "wal_autocheckpoint = 64",  # pages: what a power cut may cost
)

_TABLES: Final = (
    "CREATE TABLE meta (kind TEXT NOT NULL, arguments TEXT NOT NULL)",
    "CREATE TABLE parts (key TEXT PRIMARY KEY NOT NULL, value BLOB NOT NULL)",
)


class Parts:
    """A file of the finished parts of long work, by key, as typed values.

    A value is a dataclass, or a tuple of some, of numbers, texts, tuples, mappings, dataclasses and
    arrays (``npt.NDArray[np.int64]``); it is restored to the last bit.

    Args:
        path: the file; it is created if missing or empty.
        kind: the content in words: "parts of an analysis".
        arguments: everything that the parts depend on, as JSON. Parts of other arguments are
            dropped when the first new one is added.

    Raises:
        SettingError: if the file is something else, is damaged, cannot be read or written, or is
            open in another program.

    Attributes:
        arguments: those of the file.
        found: the packed parts with these arguments, by key.
    """

    def __init__(self, path: Path, kind: str, arguments: Mapping[str, Any]) -> None:
        self.path, self.kind = path, kind
        self._new = json.dumps(arguments)
        self.found: dict[str, bytes] = {}
        with self._errors():
            self._db = sqlite3.connect(path, timeout=0, isolation_level=None)
            try:
                self._open()
                self._others = self.arguments != json.loads(self._new)  # tuples are lists there
                if not self._others:
                    rows = self._db.execute("SELECT key, value FROM parts ORDER BY rowid")
                    self.found = dict(rows.fetchall())
            except BaseException:
                self._db.close()
                raise

    def value(self, key: str, kind: Any) -> Any:
        """Returns the part of a key; a SettingError if it is no value of the type."""
        try:
            return unpack(self.found[key], kind)
        except SettingError as error:
            raise self.damaged(f"{key}: {error}") from error

    def add(self, key: str, packed: bytes) -> None:
        """Writes a part."""
        with self._errors():
            # Into FILE-wal, without waiting for the disk; now and then from there into the file.
            self._db.execute("PRAGMA journal_mode = WAL")
            self._db.execute("BEGIN IMMEDIATE")
            with self._db:  # commits, or rolls back
                if self._others:
                    self._db.execute("DELETE FROM parts")
                    self._db.execute("UPDATE meta SET arguments = ?", (self._new,))
                self._db.execute("INSERT INTO parts VALUES (?, ?)", (key, packed))
        self._others = False

    def damaged(self, what: object) -> SettingError:
        """Returns the error for a file whose content is not as it was written."""
        return SettingError(
            f"expected {self.kind} as they were written, got a damaged file "
            f"{str(self.path)!r}: {str(what)[:200]!r}"
        )

    def close(self) -> None:
        """Closes the file, everything merged into the one file."""
        with suppress(sqlite3.Error):  # on a full disk FILE-wal stays beside it: nothing is lost
            self._db.execute("PRAGMA journal_mode = DELETE")
        self._db.close()

    def __enter__(self) -> Self:
        return self

    def __exit__(self, *error: object) -> None:
        self.close()

    def _open(self) -> None:
        """Locks the file, creates its tables where it has none, and reads its arguments."""
        db = self._db
        for pragma in _PRAGMAS:
            db.execute(f"PRAGMA {pragma}")
        db.execute("BEGIN EXCLUSIVE")  # locking_mode keeps the lock until the file is closed
        with db:
            if not db.execute("PRAGMA schema_version").fetchone()[0]:  # nobody made a table
                for table in _TABLES:
                    db.execute(table)
                db.execute("INSERT INTO meta VALUES (?, ?)", (self.kind, self._new))
            ((kind, found),) = db.execute("SELECT kind, arguments FROM meta").fetchall() or [(0, 0)]
        if kind != self.kind:
            raise self.damaged(f"its kind is {kind!r}")
        try:
            self.arguments: dict[str, Any] = msgspec.json.decode(found, type=dict[str, Any])
        except (msgspec.MsgspecError, RecursionError, TypeError) as error:
            raise self.damaged(error) from error

    @contextmanager
    def _errors(self) -> Iterator[None]:
        """Turns SQLite's errors into a SettingError with what SQLite says."""
        try:
            yield
        except sqlite3.Error as error:
            raise SettingError(
                f"expected {self.kind} in a file that no other program has open, got "
                f"{str(self.path)!r}: {str(error)[:200]}"
            ) from error


def pack(value: object) -> bytes:
    """Packs a value as MessagePack; a TypeError if it contains what cannot be unpacked.

    An array becomes its type, its shape and its raw little-endian bytes.
    """
    return msgspec.msgpack.encode(value, enc_hook=_encoded)


def unpack(data: bytes, kind: Any) -> Any:
    """Unpacks a value of a type, and of nothing else; a SettingError if the bytes hold none."""
    try:
        return msgspec.msgpack.decode(data, type=kind, dec_hook=_array)
    except (ValueError, TypeError, OverflowError, RecursionError) as error:
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
    if name != dtype.name:
        raise ValueError(f"expected an array of {dtype.name}, got {name!r}")
    return np.frombuffer(data, dtype.newbyteorder("<")).astype(dtype).reshape(shape)


Arrays = dict[str, npt.NDArray[Any]]

MOST_BYTES: Final = 1 << 32
"""Largest size of all arrays of a file."""


def write(path: Path, about: Mapping[str, Any], arrays: Arrays) -> None:
    """Writes arrays whole or not at all; ``about`` says as JSON what they are."""
    file = io.BytesIO()
    np.savez_compressed(file, about=np.array(json.dumps(about)), **arrays)  # type: ignore[arg-type]
    write_whole(path, file.getvalue())


def read(
    path: Path, about: Mapping[str, Any], names: Iterable[str]
) -> tuple[dict[str, Any], Arrays]:
    """Returns what a file says of itself, and some of its arrays.

    Args:
        path: the file.
        about: what it must say, among other things.
        names: of the arrays.
    """
    try:
        with ZipFile(path) as file:
            size = sum(one.file_size for one in file.infolist())
        if size > MOST_BYTES:
            raise ValueError(f"expected at most {MOST_BYTES:,} bytes, got {size:,}")
        with np.load(path, allow_pickle=False) as file:
            said = decode(str(file["about"]), dict[str, Any], "JSON as 'about'")
            found = {name: file[name] for name in names}
        if said != {**said, **about}:
            raise ValueError(f"expected {dict(about)}, got {said}")
    # What a damaged archive or its headers can raise; an array may declare any size.
    except (ValueError, LookupError, EOFError, BadZipFile, zlib.error, MemoryError) as error:
        kind = about.get("format", "arrays")
        raise SettingError(f"expected a file of {kind} in {str(path)!r}: {error}") from error
    return said, found
