"""Describes kinds of stores, and opens SQLite files that may be somebody else's."""

from __future__ import annotations

import errno
import json
import os
import sqlite3
from collections.abc import Iterator, Mapping, Sequence
from contextlib import contextmanager, suppress
from dataclasses import dataclass, field
from hashlib import blake2b
from pathlib import Path
from typing import Any, Final
from weakref import WeakSet

import msgspec

from goita_env.errors import SettingError

APPLICATION: Final = 0x476F6974  # SQLite's application id of our files: "Goit".

MOST_BYTES: Final = 1 << 26  # Largest row in bytes, and so the largest text or blob.

MOST_ROWS: Final = 1 << 20  # Most rows of a block in one table.

Value = int | float | str | bytes | None

Row = Sequence[Value]

_META: Final = "key TEXT PRIMARY KEY NOT NULL, value TEXT NOT NULL"

_BLOCKS: Final = ("block INTEGER PRIMARY KEY", "key TEXT NOT NULL UNIQUE", "digest BLOB NOT NULL")


@dataclass(frozen=True)
class TableSchema:
    """Describes one table of a store, without its first column ``block``."""

    columns: tuple[str, ...]  #: SQL definitions of the columns.
    keys: int
    """The first ``keys`` columns identify a row of a block; rows are read in their order."""


@dataclass(frozen=True)
class Layout:
    """Describes a kind of store."""

    kind: str  #: The content in words, for errors: "results of a tournament".
    version: int  #: Grows when a table or the meaning of a column changes.
    columns: tuple[str, ...]  #: Columns of the table ``blocks`` besides its own.
    tables: Mapping[str, TableSchema] = field(default_factory=dict)  #: The other tables by name.
    former: bytes = b""  #: First bytes of such a file in version 0.2.0, if it was no SQLite file.

    def schema(self) -> dict[str, str]:
        """Returns the SQL statement that creates each table, by name."""
        found = {"meta": _META, "blocks": ", ".join((*_BLOCKS, *self.columns))}
        for name, table in self.tables.items():
            keys = [column.split()[0] for column in table.columns[: table.keys]]
            parts = ("block INTEGER NOT NULL REFERENCES blocks", *table.columns)
            found[name] = f"{', '.join(parts)}, PRIMARY KEY ({', '.join(('block', *keys))})"
        ends = {name: " WITHOUT ROWID" if name in self.tables else "" for name in found}
        return {name: f"CREATE TABLE {name} ({text}){ends[name]}" for name, text in found.items()}


@dataclass(frozen=True)
class Block:
    """Holds one block of work."""

    key: str
    values: Row  #: Values of ``Layout.columns``.
    rows: Mapping[str, Sequence[Row]] = field(default_factory=dict)
    """Rows of the other tables, in the order of their keys."""

    def digest(self) -> bytes:
        content = [self.key, self.values, sorted(self.rows.items())]
        return blake2b(msgspec.msgpack.encode(content), digest_size=8).digest()


def damaged(path: Path, layout: Layout, what: str) -> SettingError:
    """Returns the error for a file whose content is not as it was written."""
    return SettingError(
        f"expected {layout.kind} as they were written, got a damaged file {str(path)!r}: "
        f"{what[:200]!r}"
    )


_LIMITS: Final = {
    sqlite3.SQLITE_LIMIT_LENGTH: MOST_BYTES,
    sqlite3.SQLITE_LIMIT_SQL_LENGTH: 1 << 16,
    sqlite3.SQLITE_LIMIT_COLUMN: 64,
    sqlite3.SQLITE_LIMIT_EXPR_DEPTH: 20,
    sqlite3.SQLITE_LIMIT_COMPOUND_SELECT: 4,
    sqlite3.SQLITE_LIMIT_FUNCTION_ARG: 8,
    sqlite3.SQLITE_LIMIT_ATTACHED: 0,
    sqlite3.SQLITE_LIMIT_TRIGGER_DEPTH: 1,
    sqlite3.SQLITE_LIMIT_WORKER_THREADS: 0,
}
_PRAGMAS: Final = (
    *("trusted_schema = OFF", "cell_size_check = ON", "mmap_size = 0", "temp_store = MEMORY"),
    *("locking_mode = EXCLUSIVE", "synchronous = NORMAL"),
)
_MAGIC: Final = b"SQLite format 3\0"

_JOURNAL_OF_SEVERAL: Final = bytes.fromhex("d9d505f920a163d7")
"""Last bytes of a rollback journal that names another file, which SQLite would delete."""

_SYSTEM: Final = {
    sqlite3.SQLITE_FULL: errno.ENOSPC,
    sqlite3.SQLITE_READONLY: errno.EACCES,
    sqlite3.SQLITE_PERM: errno.EACCES,
    sqlite3.SQLITE_CANTOPEN: errno.EACCES,
    sqlite3.SQLITE_IOERR: errno.EIO,
    sqlite3.SQLITE_PROTOCOL: errno.ENOLCK,
}
"""Errors of the disk or the file system, not of the file's content."""


class Connection(sqlite3.Connection):
    """Adds the identity of the file to an open connection."""

    file: tuple[int, int]  #: Device and inode.


_OPEN: Final[WeakSet[Connection]] = WeakSet()
"""Connections of this process. Its files must not be opened a second time: closing any descriptor
of a file drops all locks that the process holds on it."""


def connect(path: Path, layout: Layout, mode: str) -> Connection:
    """Opens a file and locks it against other programs; raises as ``Store`` does."""
    if path.exists() and _identity(path) in {db.file for db in _OPEN}:
        raise _in_use(path, layout)
    _check_beginning(path, layout)
    with sqlite_errors(path, layout):
        address = f"{path.absolute().as_uri()}?mode={mode}"
        db = sqlite3.connect(address, timeout=0, isolation_level=None, uri=True, factory=Connection)
        try:
            for limit, most in _LIMITS.items():
                db.setlimit(limit, most)
            for pragma in _PRAGMAS:
                db.execute(f"PRAGMA {pragma}")
            db.execute("BEGIN EXCLUSIVE")  # the lock is kept, by locking_mode
            db.execute("ROLLBACK")
            db.file = _identity(path)
            _OPEN.add(db)
        except BaseException:
            db.close()
            raise
        return db


def disconnect(db: Connection) -> None:
    """Closes a file and releases its lock."""
    db.close()
    _OPEN.discard(db)


def _identity(path: Path) -> tuple[int, int]:
    found = path.stat()
    return found.st_dev, found.st_ino


def _in_use(path: Path, layout: Layout) -> SettingError:
    return SettingError(
        f"expected {layout.kind} in a file that no other program has open, got {str(path)!r}"
    )


def _check_beginning(path: Path, layout: Layout) -> None:
    """Refuses a file that SQLite should not open: not a database, or a journal of another file."""
    if not path.exists():
        return
    if not path.is_file():
        raise SettingError(f"expected a file of {layout.kind}, got {str(path)!r}: it is no file")
    with path.open("rb") as file:
        start = file.read(64)
    if start and not start.startswith(_MAGIC):
        if layout.former and start.startswith(layout.former):
            raise SettingError(
                f"expected {layout.kind} of this version, got {str(path)!r} of version 0.2.0: "
                "go on with it in that version, or remove it and begin anew"
            )
        raise SettingError(
            f"expected a file of {layout.kind}, got {str(path)!r}, which begins {start[:20]!r}"
        )
    with suppress(FileNotFoundError), open(f"{os.path.realpath(path)}-journal", "rb") as file:
        file.seek(max(0, file.seek(0, os.SEEK_END) - len(_JOURNAL_OF_SEVERAL)))
        if file.read() == _JOURNAL_OF_SEVERAL:
            raise damaged(path, layout, "the journal beside it names another file")


def read_head(db: sqlite3.Connection, path: Path, layout: Layout) -> dict[str, Any]:
    """Checks that an open file is of a kind and returns its arguments."""
    tables = db.execute("SELECT type, name, sql FROM sqlite_master LIMIT 100").fetchall()
    found = (
        db.execute("PRAGMA application_id").fetchone()[0],
        db.execute("PRAGMA user_version").fetchone()[0],
        # An index without a statement is SQLite's own, for a UNIQUE column.
        {name: sql for kind, name, sql in tables if (kind, sql) != ("index", None)},
    )
    meta: dict[str, Any] = {}
    if found == (APPLICATION, layout.version, layout.schema()):
        meta = dict(db.execute("SELECT key, value FROM meta LIMIT 4"))
    if meta.keys() != {"kind", "arguments", "digest"} or meta["kind"] != layout.kind:
        raise SettingError(
            f"expected a file of {layout.kind} of this version, got {str(path)!r}: "
            "another SQLite file, or one with other tables"
        )
    try:
        arguments = json.loads(meta["arguments"])
    except (TypeError, ValueError, RecursionError) as error:
        raise damaged(path, layout, f"its arguments are no JSON: {error}") from error
    if not isinstance(arguments, dict) or meta != meta_of(layout, arguments):
        raise damaged(path, layout, "its arguments have changed")
    return arguments


def meta_of(layout: Layout, arguments: Mapping[str, Any]) -> dict[str, str]:
    text = json.dumps(arguments)
    digest = blake2b(f"{layout.kind}\n{text}".encode(), digest_size=8).hexdigest()
    return {"kind": layout.kind, "arguments": text, "digest": digest}


@contextmanager
def sqlite_errors(path: Path, layout: Layout) -> Iterator[None]:
    """Turns SQLite's errors into a SettingError (damaged, in use) or an OSError (disk)."""
    try:
        yield
    except (sqlite3.Error, UnicodeDecodeError) as error:  # a message may quote the file
        code = getattr(error, "sqlite_errorcode", sqlite3.SQLITE_CORRUPT) & 0xFF
        if code in (sqlite3.SQLITE_BUSY, sqlite3.SQLITE_LOCKED):
            raise _in_use(path, layout) from error
        if code in _SYSTEM:
            number = _SYSTEM[code]
            raise OSError(number, os.strerror(number), str(path)) from error
        raise damaged(path, layout, str(error)) from error
