"""Keeps blocks of work in one SQLite file, from which a program goes on after a stop.

::

    meta(key, value)                    "kind": what is kept; "arguments": JSON, what it depends on
    blocks(block, key, digest, ...)     a row for each block that is done, with columns of its kind
    ...(block, ...)                     other tables of the kind: rows of each block

A block is a transaction. It is in the file once ``add`` has returned, whatever becomes of the
program then; about once a second the disk is made to keep what is there, so that a computer that
loses its power loses no more. On a full disk ``add`` fails and the blocks before stay. One program
has the file at a time: it holds SQLite's own lock.

A file may be somebody else's: it is data. SQLite is told to trust no schema, tables and columns
must be exactly ours (no view, no trigger), SQLite's integrity check must find nothing, sizes are
limited, and each block carries a digest of its rows, so a digit that has changed is found. What is
refused is left as it is. (SQLite itself first brings in what a program that was killed had written
to ``FILE-wal``.) Whoever opens a store checks the types and values of its rows.
"""

from __future__ import annotations

import errno
import json
import os
import sqlite3
import time
from collections.abc import Iterable, Iterator, Mapping, Sequence
from contextlib import contextmanager, suppress
from dataclasses import dataclass, field
from functools import cache
from hashlib import blake2b
from itertools import chain
from pathlib import Path
from typing import Any, Final, Self

import msgspec

from goita_env.errors import SettingError

APPLICATION: Final = 0x476F6974
"""SQLite's application id of our files: "Goit"."""

SYNC_SECONDS: Final = 1.0
"""How much work a computer that loses its power may lose."""

MOST_BYTES: Final = 1 << 26
"""Most bytes of a row, and so of a text or blob."""

MOST_ROWS: Final = 1 << 20
"""Most rows of a block in one table."""

Value = int | float | str | bytes | None
Row = Sequence[Value]

_META: Final = "key TEXT PRIMARY KEY NOT NULL, value TEXT NOT NULL"
_BLOCKS: Final = ("block INTEGER PRIMARY KEY", "key TEXT NOT NULL UNIQUE", "digest BLOB NOT NULL")
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
_VALUES: Final = 900
"""Values that a statement adds at most, many rows at once; every SQLite takes 999."""

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


@dataclass(frozen=True)
class Table:
    """Describes a table of a kind of store; its first column, ``block``, comes by itself."""

    columns: tuple[str, ...]
    """As SQL defines them."""
    keys: int
    """So many of the first ones tell the rows of a block apart; rows are kept in their order."""


@dataclass(frozen=True)
class Layout:
    """Describes a kind of store."""

    kind: str
    """What it holds, in words: "results of a tournament"."""
    version: int
    """Grows when tables or the meaning of a column change."""
    columns: tuple[str, ...]
    """Of the table ``blocks``, behind its own."""
    tables: Mapping[str, Table] = field(default_factory=dict)
    """The others by name."""
    former: bytes = b""
    """How a file of the kind began in version 0.2.0, if it was no SQLite file."""

    def schema(self) -> dict[str, str]:
        """Returns the statements that make the tables, by name."""
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
    """Tells it apart."""
    values: Row
    """Of the columns of its kind in the table ``blocks``."""
    rows: Mapping[str, Sequence[Row]] = field(default_factory=dict)
    """Of the other tables, in the order of their keys."""

    def digest(self) -> bytes:
        """Returns what tells whether anything in it has changed."""
        told = [self.key, self.values, sorted(self.rows.items())]
        return blake2b(msgspec.msgpack.encode(told), digest_size=8).digest()


class Store:
    """Is a file of blocks, open for more.

    Args:
        path: the file; it is begun where there is none, or an empty one.
        layout: what it holds.
        arguments: all that the blocks depend on, as JSON can hold it; kept in a new file.

    Raises:
        SettingError: if the file is something else, is damaged, or another program has it open.
        OSError: if it cannot be read or written.

    Attributes:
        arguments: those that the file was begun with.
    """

    def __init__(self, path: Path, layout: Layout, arguments: Mapping[str, Any]) -> None:
        self.path, self.layout = path, layout
        self.arguments: dict[str, Any]
        self._dropped: tuple[int, ...] = ()
        self._changed: dict[str, Any] | None = None
        self._writing = False
        self._synced = time.monotonic()
        self._db = _connect(path, layout, "rwc")
        try:
            with self._told():
                if not self._one("PRAGMA page_count"):
                    self._begin(arguments)
                self.arguments = _head(self._db, path, layout)
                self._check()
        except BaseException:
            self._db.close()
            raise

    def read(self) -> Iterator[tuple[int, Block]]:
        """Yields the blocks of the file and their numbers, in the order in which they came.

        Raises:
            SettingError: if one has changed since it was written, or is too large.
        """
        with self._told():
            for number, key, digest, *values in self._db.execute(
                "SELECT * FROM blocks ORDER BY block"
            ):
                rows = {name: self._rows(name, number) for name in self.layout.tables}
                block = Block(key, values, rows)
                if not isinstance(key, str) or block.digest() != digest:
                    raise damaged(self.path, self.layout, f"block {number} has changed")
                yield number, block

    def add(self, block: Block) -> None:
        """Writes a block, and before the first one what ``drop`` was told.

        Raises:
            OSError: if the disk is full or fails; the file holds what it held.
        """
        with self._transaction():
            self._forget()
            marks = ", ".join("?" * (2 + len(block.values)))
            row = (block.key, block.digest(), *block.values)
            number = self._db.execute(f"INSERT INTO blocks VALUES (NULL, {marks})", row).lastrowid
            for name, rows in block.rows.items():
                many = _VALUES // len(self.layout.tables[name].columns)
                for start in range(0, len(rows), many):
                    some = rows[start : start + many]
                    statement = _insertion(name, len(some), len(some[0]))
                    self._db.execute(statement, [number, *chain.from_iterable(some)])
        self._dropped, self._changed = (), None
        now = time.monotonic()
        if now - self._synced >= SYNC_SECONDS:
            self._run("PRAGMA wal_checkpoint(PASSIVE)")
            self._synced = now

    def drop(self, numbers: Iterable[int], arguments: Mapping[str, Any] | None = None) -> None:
        """Has blocks removed together with the next ``add``; until then the file stays as it is.

        Args:
            numbers: of the blocks, as ``read`` gives them.
            arguments: what the file's are replaced by; None: they stay.
        """
        self._dropped = tuple(numbers)
        self._changed = None if arguments is None else dict(arguments)

    def close(self) -> None:
        """Closes the file: one file then, which the disk is made to keep."""
        if self._writing:
            # On a full disk FILE-wal stays beside it, and nothing is lost.
            with suppress(sqlite3.Error):
                self._db.execute("PRAGMA journal_mode = DELETE")
        self._db.close()

    def __enter__(self) -> Self:
        return self

    def __exit__(self, *error: object) -> None:
        self.close()

    # ------------------------------------------------------------------------------------ inside

    def _begin(self, arguments: Mapping[str, Any]) -> None:
        """Makes the tables of a new file."""
        with self._transaction(log=False):
            self._db.execute(f"PRAGMA application_id = {APPLICATION}")
            self._db.execute(f"PRAGMA user_version = {self.layout.version}")
            for statement in self.layout.schema().values():
                self._db.execute(statement)
            head = (("kind", self.layout.kind), ("arguments", json.dumps(arguments)))
            self._db.executemany("INSERT INTO meta VALUES (?, ?)", head)

    def _check(self) -> None:
        """Has SQLite look at every page, and for rows that belong to no block.

        Raises:
            SettingError: if it finds something.
        """
        found = self._one("PRAGMA integrity_check(1)")
        if found != "ok":
            raise damaged(self.path, self.layout, str(found))
        if self._db.execute("PRAGMA foreign_key_check").fetchone():
            raise damaged(self.path, self.layout, "rows of no block")

    def _forget(self) -> None:
        """Removes what is to be removed."""
        if self._changed is not None:
            told = (json.dumps(self._changed),)
            self._db.execute("UPDATE meta SET value = ? WHERE key = 'arguments'", told)
        numbers = [(number,) for number in self._dropped]
        for name in (*self.layout.tables, "blocks"):
            self._db.executemany(f"DELETE FROM {name} WHERE block = ?", numbers)

    def _rows(self, name: str, number: int) -> list[Row]:
        """Returns the rows of a block in a table.

        Raises:
            SettingError: if there are more than a block can have.
        """
        keys = ", ".join(str(2 + key) for key in range(self.layout.tables[name].keys))
        query = f"SELECT * FROM {name} WHERE block = ? ORDER BY {keys} LIMIT {MOST_ROWS + 1}"
        rows = [row[1:] for row in self._db.execute(query, (number,))]
        if len(rows) > MOST_ROWS:
            raise damaged(self.path, self.layout, f"more than {MOST_ROWS:,} rows of a block")
        return rows

    def _one(self, query: str) -> Any:
        """Returns the one value that a query gives."""
        return self._db.execute(query).fetchone()[0]

    def _run(self, statement: str) -> None:
        """Has SQLite do something, its errors told as ours."""
        with self._told():
            self._db.execute(statement)

    @contextmanager
    def _transaction(self, *, log: bool = True) -> Iterator[None]:
        """Has everything inside written, or nothing; ``log``: to FILE-wal, without a wait."""
        with self._told():
            if log and not self._writing:
                self._db.execute("PRAGMA journal_mode = WAL")
                self._writing = True
            self._db.execute("BEGIN IMMEDIATE")
            try:
                yield
                self._db.execute("COMMIT")
            except BaseException:
                if self._db.in_transaction:
                    self._db.execute("ROLLBACK")
                raise

    @contextmanager
    def _told(self) -> Iterator[None]:
        """Tells SQLite's errors as ours."""
        with _told(self.path, self.layout):
            yield


def read_arguments(path: Path, layout: Layout) -> dict[str, Any] | None:
    """Returns the arguments that a store was begun with; None if there is none yet.

    Raises:
        SettingError: if the file is something else, is damaged, or another program has it open.
        OSError: if it cannot be read.
    """
    if not path.exists() or not path.stat().st_size:
        return None
    db = _connect(path, layout, "rw")
    try:
        with _told(path, layout):
            begun = db.execute("PRAGMA page_count").fetchone()[0]
            return _head(db, path, layout) if begun else None
    finally:
        db.close()


def damaged(path: Path, layout: Layout, what: str) -> SettingError:
    """Returns the error that says that a file is not as it was written."""
    return SettingError(
        f"expected {layout.kind} as they were written, got a damaged file {str(path)!r}: "
        f"{what[:200]!r}"
    )


def _connect(path: Path, layout: Layout, mode: str) -> sqlite3.Connection:
    """Opens a file that may be anything, and keeps others from it.

    Raises:
        SettingError: if it is no SQLite file, or another program has it open.
        OSError: if it cannot be read.
    """
    _check_beginning(path, layout)
    with _told(path, layout):
        address = f"{path.absolute().as_uri()}?mode={mode}"
        db = sqlite3.connect(address, timeout=0, isolation_level=None, uri=True)
        try:
            for limit, most in _LIMITS.items():
                db.setlimit(limit, most)
            for pragma in _PRAGMAS:
                db.execute(f"PRAGMA {pragma}")
            db.execute("BEGIN EXCLUSIVE")  # the lock is kept, by locking_mode
            db.execute("ROLLBACK")
        except BaseException:
            db.close()
            raise
        return db


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


def _head(db: sqlite3.Connection, path: Path, layout: Layout) -> dict[str, Any]:
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
        meta = dict(db.execute("SELECT key, value FROM meta LIMIT 3"))
    if meta.keys() != {"kind", "arguments"} or meta["kind"] != layout.kind:
        raise SettingError(
            f"expected a file of {layout.kind} of this version, got {str(path)!r}: "
            "another SQLite file, or one with other tables"
        )
    try:
        return msgspec.json.decode(meta["arguments"], type=dict[str, Any])
    except (TypeError, ValueError, RecursionError) as error:
        raise damaged(path, layout, f"its arguments are no JSON: {error}") from error


@cache
def _insertion(table: str, rows: int, width: int) -> str:
    """Returns a statement that adds rows of a block; the block's number is the first value."""
    row = f"(?1{', ?' * width})"
    return f"INSERT INTO {table} VALUES {', '.join([row] * rows)}"


@contextmanager
def _told(path: Path, layout: Layout) -> Iterator[None]:
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
            raise SettingError(
                f"expected {layout.kind} in a file that no other program has open, "
                f"got {str(path)!r}"
            ) from error
        if code in _SYSTEM:
            number = _SYSTEM[code]
            raise OSError(number, os.strerror(number), str(path)) from error
        raise damaged(path, layout, str(error)) from error
