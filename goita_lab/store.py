"""Keeps finished tasks of long work in an SQLite file, from which it resumes, and arrays in .npz.

::

    meta(kind, arguments)     what the file holds, and as JSON what all tasks depend on
    parts(key, value)         the tasks: JSON of name and digests of agents; MessagePack (``pack``)

Adding a task is one transaction: once it has been added it survives a crash of the program, and on
a full disk the tasks before it stay. A file is open in one program at a time, by SQLite's own lock.
Files may come from somebody else: they are data, parsed into types and never unpickled.
"""

from __future__ import annotations

import io
import json
import sqlite3
import zlib
from collections.abc import Callable, Collection, Iterable, Iterator, Mapping
from contextlib import contextmanager, suppress
from dataclasses import dataclass, fields, is_dataclass
from pathlib import Path
from typing import Any, Final, Self, get_args
from zipfile import BadZipFile, ZipFile

import msgspec
import numpy as np
import numpy.typing as npt

from goita_agents.files import decode, write_whole
from goita_agents.identity import Identities
from goita_env.checks import check_regular
from goita_env.errors import SettingError
from goita_lab.provenance import depended_versions

FORMAT: Final = "goita-tasks-1"
"""Names this layout of a file of tasks."""
SQLITE_SUFFIXES: Final = ("-wal", "-shm", "-journal")
"""Ends of the names of further files that SQLite writes."""

LARGEST_NUMBER: Final = 1e12
"""This project computes no larger numbers."""
ESCAPED: Final = b"\xc1"
"""A first byte that MessagePack never has."""
MOST_POINTS: Final = 1_000
"""No round has more points."""

_PRAGMAS: Final = (
    *("trusted_schema = OFF", "locking_mode = EXCLUSIVE", "synchronous = NORMAL"),
    "wal_autocheckpoint = 64",  # pages: what a power cut may cost
)

_TABLES: Final = (
    "CREATE TABLE meta (kind TEXT NOT NULL, arguments TEXT NOT NULL)",
    "CREATE TABLE parts (key TEXT PRIMARY KEY NOT NULL, value BLOB NOT NULL)",
)


class TaskStore:
    """A file of the finished tasks of long work, by key, as typed values.

    A value is a dataclass, or a tuple of some, of numbers, texts, tuples, mappings, dataclasses and
    arrays (``npt.NDArray[np.int64]``); it is restored to the last bit.

    The arguments and the versions belong to the file: it is refused if they are others, and nothing
    in it is ever deleted. The digests of agents belong to the key of a task: the tasks of an agent
    that has changed are done again, and the others kept.

    Args:
        path: the file; it is created if missing or empty.
        kind: the content in words: "tasks of an analysis".
        arguments: everything that all tasks depend on, as JSON, but versions and agents.
        identities: what the agents are made of.
        anew: begin a file of this kind anew, whatever its arguments.

    Raises:
        SettingError: if the file is something else, is of other arguments or versions, is damaged,
            cannot be read or written, or is open in another program.
    """

    def __init__(
        self,
        path: Path,
        kind: str,
        arguments: Mapping[str, Any],
        identities: Identities | None = None,
        *,
        anew: bool = False,
    ) -> None:
        self.path, self.kind = path, kind
        self.identities = identities or Identities()
        whole = {**arguments, "store": FORMAT, "versions": depended_versions()}
        self.arguments: dict[str, Any] = json.loads(json.dumps(whole))  # tuples become lists
        if anew and path.exists():
            stored_arguments(path, kind)  # raises if it is another file, which stays
            for end in ("", *SQLITE_SUFFIXES):
                Path(f"{path}{end}").unlink(missing_ok=True)
        self._db, stored = _opened(path, kind, self.arguments)
        try:
            check_same(stored, self.arguments, f"{str(path)!r} was begun with")
            with _errors(path, kind):
                rows = self._db.execute("SELECT key, value FROM parts ORDER BY rowid").fetchall()
            self._packed: dict[str, bytes] = dict(rows)
            self._names = set(map(self._name, self._packed))
        except BaseException:
            self._db.close()
            raise

    def key(self, name: str, agents: Iterable[str]) -> str:
        """Returns the key of a task: its name, and the digests of its agents by their texts."""
        return json.dumps([name, self.identities.of(agents)], sort_keys=True)

    def has(self, name: str, agents: Iterable[str]) -> bool:
        """Returns whether a task is finished."""
        return self.key(name, agents) in self._packed

    def value(self, name: str, agents: Iterable[str], kind: Any) -> Any:
        """Returns the value of a finished task; raises a SettingError if it is not of the type."""
        try:
            return unpack(self._packed[self.key(name, agents)], kind)
        except SettingError as error:
            raise self.damaged(f"{name}: {error}") from error

    def add(self, name: str, agents: Collection[str], value: object) -> None:
        """Writes the value of a task, unless an agent is made of something else by now."""
        if self.identities.changed(agents):
            return
        key, packed = self.key(name, agents), pack(value)
        with _errors(self.path, self.kind):
            # Into FILE-wal, without waiting for the disk; now and then from there into the file.
            self._db.execute("PRAGMA journal_mode = WAL")
            self._db.execute("BEGIN IMMEDIATE")
            with self._db:  # commits, or rolls back
                self._db.execute("INSERT INTO parts VALUES (?, ?)", (key, packed))
        self._packed[key] = packed

    def note(self, tasks: Mapping[str, Iterable[str]]) -> str:
        """Returns ``kept_line`` for tasks, which are given with their agents."""
        finished = {name for name, agents in tasks.items() if self.has(name, agents)}
        # Tasks that the file has, but not for the agents as they are now.
        repeated = self._names & (tasks.keys() - finished)
        return kept_line(self.path, len(finished), len(repeated))

    def _name(self, key: str) -> str:
        try:
            name, _ = json.loads(key)
        except (ValueError, TypeError, RecursionError) as error:
            raise self.damaged(error) from error
        return str(name)

    def damaged(self, what: object) -> SettingError:
        """Returns the error for a file whose content is not as it was written."""
        return _damaged(self.path, self.kind, what)

    def close(self) -> None:
        """Closes the file, everything merged into the one file."""
        with suppress(sqlite3.Error):  # on a full disk FILE-wal stays next to it: nothing is lost
            self._db.execute("PRAGMA journal_mode = DELETE")
        self._db.close()

    def __enter__(self) -> Self:
        return self

    def __exit__(self, *error: object) -> None:
        self.close()


def _opened(
    path: Path, kind: str, arguments: Mapping[str, Any]
) -> tuple[sqlite3.Connection, dict[str, Any]]:
    """Locks a file, creates its tables if it has none, and returns its database and arguments.

    ``arguments`` are written only where the file is new.
    """
    with _errors(path, kind):
        db = sqlite3.connect(path, timeout=0, isolation_level=None)
        try:
            for pragma in _PRAGMAS:
                db.execute(f"PRAGMA {pragma}")
            db.execute("BEGIN EXCLUSIVE")  # locking_mode keeps the lock until the file is closed
            with db:
                (schema_version,) = db.execute("PRAGMA schema_version").fetchone()
                if not schema_version:  # no process has made a table
                    for table in _TABLES:
                        db.execute(table)
                    db.execute("INSERT INTO meta VALUES (?, ?)", (kind, json.dumps(arguments)))
                rows = db.execute("SELECT kind, arguments FROM meta").fetchall()
            ((stored, text),) = rows or [(None, None)]
            if stored != kind:
                raise SettingError(f"its kind is {stored!r}")
            return db, decode(text, dict[str, Any], "arguments")
        except (ValueError, TypeError) as error:
            db.close()
            raise _damaged(path, kind, error) from error
        except BaseException:
            db.close()
            raise


def _damaged(path: Path, kind: str, what: object) -> SettingError:
    return SettingError(
        f"expected {kind} as they were written, got a damaged file {str(path)!r}: "
        f"{str(what)[:200]!r}"
    )


@contextmanager
def _errors(path: Path, kind: str) -> Iterator[None]:
    """Turns SQLite's errors into a SettingError with what SQLite says."""
    try:
        yield
    except sqlite3.Error as error:
        raise SettingError(
            f"expected {kind} in a file that no other program has open, got {str(path)!r}: "
            f"{str(error)[:200]}"
        ) from error


def stored_arguments(path: Path, kind: str) -> dict[str, Any]:
    """Returns the arguments of a file of finished tasks; raises as ``TaskStore`` does."""
    db, arguments = _opened(path, kind, {})
    db.close()
    return arguments


def check_same(stored: Mapping[str, Any], arguments: Mapping[str, Any], what: str) -> None:
    """Raises a SettingError that names the arguments in which finished work differs.

    Args:
        stored: the arguments of the work.
        arguments: those of now, as JSON has them.
        what: the work in words: "'results.db' was begun with".
    """
    before, now = _flat(stored), _flat(arguments)
    differ = [name for name in {**now, **before} if before.get(name) != now.get(name)]
    if differ:
        raise SettingError(
            f"expected the arguments that {what}: "
            + "; ".join(f"{n} {before.get(n)!r:.200}, now {now.get(n)!r:.200}" for n in differ)
            + "; name another file, or begin this one anew with --anew"
        )


def _flat(arguments: Mapping[str, Any], before: str = "") -> dict[str, Any]:
    """Returns arguments with those in mappings under names such as ``versions.numpy``."""
    flat: dict[str, Any] = {}
    for name, value in arguments.items():
        inner = _flat(value, f"{before}{name}.") if isinstance(value, Mapping) else {}
        flat |= inner or {f"{before}{name}": value}
    return flat


def kept_line(path: Path, kept_tasks: int, repeated_tasks: int) -> str:
    """Returns a line on tasks that are kept and done again; empty if no task is done again."""
    if not repeated_tasks:
        return ""
    return (
        f"{path}: {kept_tasks:,} tasks kept, {repeated_tasks:,} done again, because their agents "
        "have changed\n"
    )


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
        if not isinstance(data, bytes):  # a column of SQLite holds any type
            raise TypeError(f"expected bytes, got {type(data)}")
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
    low: float = -LARGEST_NUMBER
    high: float = LARGEST_NUMBER
    gaps: bool = False  #: NaN where there is no value.

    def check(self, name: str, value: Any, sizes: dict[str, int]) -> None:
        """Raises a SettingError if a value has another type, shape or size of numbers.

        ``sizes`` are the lengths of the letters in shapes; the length of a new letter is added.
        """
        array = np.asarray(value)
        expected_shape = tuple(
            sizes.setdefault(size, length) if isinstance(size, str) else size
            for size, length in zip(self.shape, array.shape, strict=False)
        )
        if array.dtype.kind not in self.kind or len(array.shape) != len(self.shape):
            raise SettingError(
                f"expected {name} of {len(self.shape)} dimensions and the type {self.kind!r}, got "
                f"{array.dtype} of the shape {array.shape}"
            )
        if array.shape != expected_shape:
            raise SettingError(f"expected {name} of the shape {expected_shape}, got {array.shape}")
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
    lengths = dict(sizes or {})
    for name, column in columns.items():
        column.check(name, values[name], lengths)
    return lengths


def check_numbers(value: Any, name: str = "a number") -> None:
    """Raises a SettingError if a value has numbers that its types do not allow.

    A dataclass may have a method ``columns`` that returns the ``Column`` of a field; all other
    numbers have to be finite and below ``LARGEST_NUMBER``.
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

MAX_ARRAY_BYTES: Final = 1 << 32
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
    check_regular(path)
    try:
        with ZipFile(path) as file:
            size = sum(member.file_size for member in file.infolist())
        if size > MAX_ARRAY_BYTES:
            raise ValueError(f"expected at most {MAX_ARRAY_BYTES:,} bytes, got {size:,}")
        with np.load(path, allow_pickle=False) as file:
            description = decode(str(file["about"]), dict[str, Any], "JSON as 'about'")
            # The file must say all that ``about`` says, and may say more.
            if description != {**description, **about}:
                stated = {key: description.get(key) for key in about}
                raise ValueError(f"expected {dict(about)}, got {stated}")
            arrays = {name: file[name] for name in columns}
        check_columns(arrays, columns, sizes)
    # What a damaged archive or its headers can raise; an array may declare any size.
    except (ValueError, LookupError, EOFError, BadZipFile, zlib.error, MemoryError) as error:
        kind = about.get("format", "arrays")
        text = f"expected a file of {kind} in {str(path)!r}: {str(error)[:500]}"
        raise SettingError(text) from error
    return description, arrays
