"""Opens SQLite files that may be somebody else's, and checks what they are."""

from __future__ import annotations

import errno
import json
import os
import sqlite3
from collections.abc import Iterator, Mapping
from contextlib import contextmanager, suppress
from hashlib import blake2b
from pathlib import Path
from typing import Any, Final
from weakref import WeakSet

from agents.store.layout import MOST_BYTES, Layout, damaged
from goita_env.errors import SettingError

APPLICATION: Final = 0x476F6974
"""SQLite's application id of our files: "Goit"."""

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
"""Ends a rollback journal that names another file, which SQLite would delete."""

_SYSTEM: Final = {
    sqlite3.SQLITE_FULL: errno.ENOSPC,
    sqlite3.SQLITE_READONLY: errno.EACCES,
    sqlite3.SQLITE_PERM: errno.EACCES,
    sqlite3.SQLITE_CANTOPEN: errno.EACCES,
    sqlite3.SQLITE_IOERR: errno.EIO,
    sqlite3.SQLITE_PROTOCOL: errno.ENOLCK,
}
"""What is wrong with disk or file system, not with what the file holds."""


class Connection(sqlite3.Connection):
    """Is an open file of a store."""

    file: tuple[int, int]
    """Its device and number."""


_OPEN: Final[WeakSet[Connection]] = WeakSet()
"""What this process has open. To read such a file otherwise would give up its lock: the system
drops a process's locks as it closes the file, however it was opened."""


def connect(path: Path, layout: Layout, mode: str) -> Connection:
    """Opens a file that may be anything, and keeps others from it.

    Raises:
        SettingError: if it is no SQLite file, or another program has it open.
        OSError: if it cannot be read.
    """
    if path.exists() and _identity(path) in {db.file for db in _OPEN}:
        raise _in_use(path, layout)
    _check_beginning(path, layout)
    with told(path, layout):
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
    """Closes a file, which others may open then."""
    db.close()
    _OPEN.discard(db)


def _identity(path: Path) -> tuple[int, int]:
    """Returns what tells a file apart whatever its name."""
    found = path.stat()
    return found.st_dev, found.st_ino


def _in_use(path: Path, layout: Layout) -> SettingError:
    """Returns the error that says that a file is in use."""
    return SettingError(
        f"expected {layout.kind} in a file that no other program has open, got {str(path)!r}"
    )


def _check_beginning(path: Path, layout: Layout) -> None:
    """Checks what can be seen before SQLite opens a file.

    Raises:
        SettingError: if it is no SQLite file, or has a journal that no program of ours leaves.
        OSError: if it cannot be read.
    """
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


def head(db: sqlite3.Connection, path: Path, layout: Layout) -> dict[str, Any]:
    """Returns the arguments of an open file after checking that it is of a kind.

    Raises:
        SettingError: if it is not.
        sqlite3.Error: if SQLite cannot read it.
    """
    tables = db.execute("SELECT type, name, sql FROM sqlite_master LIMIT 100").fetchall()
    found = (
        *(
            db.execute(f"PRAGMA {name}").fetchone()[0]
            for name in ("application_id", "user_version")
        ),
        # An index without a statement is SQLite's own, of a UNIQUE column.
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
    """Returns the table that says of what a file is."""
    told = json.dumps(arguments)
    digest = blake2b(f"{layout.kind}\n{told}".encode(), digest_size=8).hexdigest()
    return {"kind": layout.kind, "arguments": told, "digest": digest}


@contextmanager
def told(path: Path, layout: Layout) -> Iterator[None]:
    """Tells SQLite's errors as ours.

    Raises:
        SettingError: if the file is damaged or another program has it open.
        OSError: if it cannot be read or written.
    """
    try:
        yield
    except sqlite3.Error as error:
        code = getattr(error, "sqlite_errorcode", sqlite3.SQLITE_CORRUPT) & 0xFF
        if code in (sqlite3.SQLITE_BUSY, sqlite3.SQLITE_LOCKED):
            raise _in_use(path, layout) from error
        if code in _SYSTEM:
            number = _SYSTEM[code]
            raise OSError(number, os.strerror(number), str(path)) from error
        raise damaged(path, layout, str(error)) from error
