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
from collections.abc import Callable, Iterator, Mapping
from contextlib import contextmanager, suppress
from dataclasses import dataclass, fields, is_dataclass
from pathlib import Path
from typing import Any, Final, Self, get_args
from zipfile import BadZipFile, ZipFile

import msgspec
import numpy as np
import numpy.typing as npt

from goita_agents.files import decode, write_whole
from goita_env.errors import SettingError

LARGEST: Final = 1e12
"""Numbers beyond it are none that this project computes."""
ESCAPED: Final = b"\xc1"
"""A first byte that MessagePack never has."""
MOST_POINTS: Final = 1_000
"""Points beyond it are none of a round."""

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
            self.arguments: dict[str, Any] = decode(found, dict[str, Any], "arguments")
        except (SettingError, TypeError) as error:
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

    An array becomes its type, its shape and its raw little-endian bytes. MessagePack has no texts
    with half characters, as of a file name that is no UTF-8: then all texts are escaped.
    """
    try:
        return msgspec.msgpack.encode(value, enc_hook=_encoded)
    except UnicodeEncodeError:
        plain = msgspec.to_builtins(value, builtin_types=(bytes,), enc_hook=_encoded)
        return ESCAPED + msgspec.msgpack.encode(_mapped(plain, _escaped))


def unpack(data: bytes, kind: Any) -> Any:
    """Unpacks a value of a type, and of nothing else; a SettingError if the bytes hold none.

    Every number is checked (``check_numbers``).
    """
    try:
        if data.startswith(ESCAPED):
            plain = _mapped(msgspec.msgpack.decode(data[1:]), _unescaped)
            value = msgspec.convert(plain, kind, dec_hook=_array)
        else:
            value = msgspec.msgpack.decode(data, type=kind, dec_hook=_array)
        check_numbers(value)
    except (ValueError, TypeError, OverflowError, RecursionError) as error:
        raise SettingError(f"expected a value as it was packed, got another: {error}") from error
    return value


def _mapped(value: Any, change: Callable[[str], str]) -> Any:
    """Returns plain values with their texts changed, those of keys among them."""
    if isinstance(value, str):
        return change(value)
    if isinstance(value, dict):
        return {_mapped(key, change): _mapped(item, change) for key, item in value.items()}
    if isinstance(value, list | tuple):
        return [_mapped(item, change) for item in value]
    return value


def _escaped(text: str) -> str:
    return text.encode("utf-8", "surrogatepass").decode("latin-1")


def _unescaped(text: str) -> str:
    return text.encode("latin-1").decode("utf-8", "surrogatepass")


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
    if name != dtype.name or min(shape, default=0) < 0:
        raise ValueError(f"expected an array of {dtype.name}, got {name!r} of the shape {shape}")
    return np.frombuffer(data, dtype.newbyteorder("<")).astype(dtype).reshape(shape)


# ------------------------------------------------------------------------- what numbers may be


@dataclass(frozen=True)
class Column:
    """What an array, or a number, that is read back may be; finite in any case."""

    kind: str
    """Kinds of numpy: "f" floating point, "iu" whole numbers, "b" truth values, "U" texts."""
    shape: tuple[int | str, ...] = ()  #: A letter is a size that several columns share.
    low: float = -LARGEST
    high: float = LARGEST
    gaps: bool = False  #: NaN stands where there is no value.

    def check(self, name: str, value: Any, sizes: dict[str, int]) -> None:
        """Raises a SettingError if a value is another; notes the sizes that it has first."""
        array = np.asarray(value)
        wanted = tuple(
            sizes.setdefault(size, length) if isinstance(size, str) else size
            for size, length in zip(self.shape, array.shape, strict=False)
        )
        if array.dtype.kind not in self.kind or len(array.shape) != len(self.shape):
            raise SettingError(
                f"expected {name} of {len(self.shape)} dimensions and the type {self.kind!r}, got "
                f"{array.dtype} of the shape {array.shape}"
            )
        if array.shape != wanted:
            raise SettingError(f"expected {name} of the shape {wanted}, got {array.shape}")
        if array.dtype.kind == "U":
            return
        fine = (array >= self.low) & (array <= self.high)
        if array.dtype.kind == "f":
            fine = (fine & np.isfinite(array)) | (self.gaps & np.isnan(array))
        if not fine.all():
            raise SettingError(
                f"expected {name} from {self.low:g} to {self.high:g}, got {array[~fine].flat[0]}"
            )


def check_columns(
    values: Mapping[str, Any], columns: Mapping[str, Column], sizes: Mapping[str, int] | None = None
) -> dict[str, int]:
    """Checks values by their columns; returns the sizes of their letters.

    Args:
        values: by name, those of all columns among them.
        columns: what they may be.
        sizes: of letters, where they are known; else those of the first column that has it.
    """
    found = dict(sizes or {})
    for name, column in columns.items():
        column.check(name, values[name], found)
    return found


def check_numbers(value: Any, name: str = "a number") -> None:
    """Raises a SettingError if a value has numbers that its types do not allow.

    A dataclass may have a method ``columns`` that returns the ``Column`` of a field; all other
    numbers have to be finite and below ``LARGEST``.
    """
    if isinstance(value, np.ndarray):
        if value.dtype.kind == "f":
            Column("f", value.shape).check(name, value, {})
    elif isinstance(value, float):
        Column("f").check(name, value, {})
    elif isinstance(value, Mapping):
        for key, item in value.items():
            check_numbers(item, str(key))
    elif isinstance(value, tuple | list):
        for item in value:
            check_numbers(item, name)
    elif is_dataclass(value) and not isinstance(value, type):
        columns = value.columns() if hasattr(value, "columns") else {}
        check_columns(vars(value), columns)
        for field in fields(value):
            if field.name not in columns:
                check_numbers(getattr(value, field.name), field.name)


# ------------------------------------------------------------------------------------- arrays


Arrays = dict[str, npt.NDArray[Any]]

MOST_BYTES: Final = 1 << 32
"""Largest size of all arrays of a file."""


def write(path: Path, about: Mapping[str, Any], arrays: Arrays) -> None:
    """Writes arrays whole or not at all; ``about`` says as JSON what they are."""
    file = io.BytesIO()
    np.savez_compressed(file, about=np.array(json.dumps(about)), **arrays)  # type: ignore[arg-type]
    write_whole(path, file.getvalue())


def read(
    path: Path,
    about: Mapping[str, Any],
    columns: Mapping[str, Column],
    sizes: Mapping[str, int] | None = None,
) -> tuple[dict[str, Any], Arrays]:
    """Returns what a file says of itself, and some of its arrays, which are checked.

    Args:
        path: the file, which may come from somebody else.
        about: what it must say, among other things.
        columns: what the arrays may be.
        sizes: of letters in the shapes of columns, where they are known.
    """
    try:
        with ZipFile(path) as file:
            size = sum(member.file_size for member in file.infolist())
        if size > MOST_BYTES:
            raise ValueError(f"expected at most {MOST_BYTES:,} bytes, got {size:,}")
        with np.load(path, allow_pickle=False) as file:
            said = decode(str(file["about"]), dict[str, Any], "JSON as 'about'")
            if said != {**said, **about}:
                raise ValueError(f"expected {dict(about)}, got {said}")
            found = {name: file[name] for name in columns}
        check_columns(found, columns, sizes)
    # What a damaged archive or its headers can raise; an array may declare any size.
    except (ValueError, LookupError, EOFError, BadZipFile, zlib.error, MemoryError) as error:
        kind = about.get("format", "arrays")
        text = f"expected a file of {kind} in {str(path)!r}: {str(error)[:500]}"
        raise SettingError(text) from error
    return said, found
