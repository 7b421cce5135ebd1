"""Reads and writes files of blocks."""

from __future__ import annotations

import sqlite3
import time
from collections.abc import Iterable, Iterator, Mapping
from contextlib import contextmanager, suppress
from functools import cache
from itertools import chain
from pathlib import Path
from typing import Any, Final, Self

from goita_lab.store.format import (
    APPLICATION,
    MOST_ROWS,
    Block,
    Layout,
    Row,
    connect,
    damaged,
    disconnect,
    meta_of,
    read_head,
    sqlite_errors,
)

SYNC_SECONDS: Final = 1.0  # Seconds of work that a power cut may lose.

_VALUES: Final = 900  # Most values of one statement; every SQLite accepts 999.


class Store:
    """Opens a file of blocks for reading and adding; it is created if missing or empty.

    Args:
        path: the file.
        layout: what it holds.
        arguments: everything that the blocks depend on, as JSON; written into a new file.

    Raises:
        SettingError: if the file is something else, is damaged, or is open in another program.
        OSError: if it cannot be read or written.
    """

    def __init__(self, path: Path, layout: Layout, arguments: Mapping[str, Any]) -> None:
        self.path, self.layout = path, layout
        self._dropped: tuple[int, ...] = ()
        self._new_arguments: dict[str, Any] | None = None
        self._writing = False
        self._synced = time.monotonic()
        self._db = connect(path, layout, "rwc")
        try:
            with self._errors():
                if not self._value("PRAGMA page_count"):
                    self._create(arguments)
                self.arguments: dict[str, Any] = read_head(self._db, path, layout)
                self._check_integrity()
        except BaseException:
            disconnect(self._db)
            raise

    def read(self) -> Iterator[tuple[int, Block]]:
        """Yields number and content of each block, oldest first; a SettingError if damaged."""
        with self._errors():
            for number, key, digest, *values in self._db.execute(
                "SELECT * FROM blocks ORDER BY block"
            ):
                rows = {name: self._rows(name, number) for name in self.layout.tables}
                block = Block(key, values, rows)
                if not isinstance(key, str) or block.digest() != digest:
                    raise damaged(self.path, self.layout, f"block {number} has changed")
                yield number, block

    def add(self, block: Block) -> None:
        """Writes a block; the first call also carries out ``drop``.

        Raises:
            OSError: if the disk is full or fails; the file keeps its content.
        """
        with self._transaction():
            self._carry_out_drop()
            marks = ", ".join("?" * (2 + len(block.values)))
            row = (block.key, block.digest(), *block.values)
            number = self._db.execute(f"INSERT INTO blocks VALUES (NULL, {marks})", row).lastrowid
            for name, rows in block.rows.items():
                many = _VALUES // len(self.layout.tables[name].columns)
                for start in range(0, len(rows), many):
                    some = rows[start : start + many]
                    statement = _insertion(name, len(some), len(some[0]))
                    self._db.execute(statement, [number, *chain.from_iterable(some)])
        self._dropped, self._new_arguments = (), None
        now = time.monotonic()
        if now - self._synced >= SYNC_SECONDS:
            with self._errors():
                self._db.execute("PRAGMA wal_checkpoint(PASSIVE)")
            self._synced = now

    def drop(self, numbers: Iterable[int], arguments: Mapping[str, Any] | None = None) -> None:
        """Marks blocks for removal by the next ``add``; until then the file stays unchanged.

        Args:
            numbers: numbers of blocks, from ``read``.
            arguments: replace those of the file; None: they stay.
        """
        self._dropped = tuple(numbers)
        self._new_arguments = None if arguments is None else dict(arguments)

    def close(self) -> None:
        """Merges everything into the one file, synchronises it with the disk and closes it."""
        if self._writing:
            # On a full disk FILE-wal stays beside it, and nothing is lost.
            with suppress(sqlite3.Error):
                self._db.execute("PRAGMA journal_mode = DELETE")
        disconnect(self._db)

    def __enter__(self) -> Self:
        return self

    def __exit__(self, *error: object) -> None:
        self.close()

    def _create(self, arguments: Mapping[str, Any]) -> None:
        with self._transaction(log=False):
            self._db.execute(f"PRAGMA application_id = {APPLICATION}")
            self._db.execute(f"PRAGMA user_version = {self.layout.version}")
            for statement in self.layout.schema().values():
                self._db.execute(statement)
            self._write_meta(arguments)

    def _write_meta(self, arguments: Mapping[str, Any]) -> None:
        rows = meta_of(self.layout, arguments).items()
        self._db.executemany("REPLACE INTO meta VALUES (?, ?)", rows)

    def _check_integrity(self) -> None:
        if (found := self._value("PRAGMA integrity_check(1)")) != "ok":
            raise damaged(self.path, self.layout, str(found))
        if self._db.execute("PRAGMA foreign_key_check").fetchone():
            raise damaged(self.path, self.layout, "rows of no block")

    def _carry_out_drop(self) -> None:
        if self._new_arguments is not None:
            self._write_meta(self._new_arguments)
        numbers = [(number,) for number in self._dropped]
        for name in (*self.layout.tables, "blocks"):
            self._db.executemany(f"DELETE FROM {name} WHERE block = ?", numbers)

    def _rows(self, name: str, number: int) -> list[Row]:
        keys = ", ".join(str(2 + key) for key in range(self.layout.tables[name].keys))
        query = f"SELECT * FROM {name} WHERE block = ? ORDER BY {keys} LIMIT {MOST_ROWS + 1}"
        rows = [row[1:] for row in self._db.execute(query, (number,))]
        if len(rows) > MOST_ROWS:
            raise damaged(self.path, self.layout, f"more than {MOST_ROWS:,} rows of a block")
        return rows

    def _value(self, query: str) -> Any:
        return self._db.execute(query).fetchone()[0]

    @contextmanager
    def _transaction(self, *, log: bool = True) -> Iterator[None]:
        """Writes everything inside or nothing; ``log``: to FILE-wal, without waiting."""
        with self._errors():
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
    def _errors(self) -> Iterator[None]:
        with sqlite_errors(self.path, self.layout):
            yield


def read_arguments(path: Path, layout: Layout) -> dict[str, Any] | None:
    """Returns the arguments of a store, None if there is none yet; raises as opening it does."""
    if not path.exists() or not path.stat().st_size:
        return None
    db = connect(path, layout, "rw")
    try:
        with sqlite_errors(path, layout):
            begun = db.execute("PRAGMA page_count").fetchone()[0]
            return read_head(db, path, layout) if begun else None
    finally:
        disconnect(db)


@cache
def _insertion(table: str, rows: int, width: int) -> str:
    """Returns a statement that inserts rows; its first value is the block's number."""
    row = f"(?1{', ?' * width})"
    return f"INSERT INTO {table} VALUES {', '.join([row] * rows)}"
