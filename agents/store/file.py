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

from agents.store.layout import MOST_ROWS, Block, Layout, Row, damaged
from agents.store.opening import APPLICATION, connect, disconnect, head, meta_of, told

SYNC_SECONDS: Final = 1.0
"""How much work a computer that loses its power may lose."""

_VALUES: Final = 900
"""Values that a statement adds at most, many rows at once; every SQLite takes 999."""


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
        self._db = connect(path, layout, "rwc")
        try:
            with self._told():
                if not self._one("PRAGMA page_count"):
                    self._begin(arguments)
                self.arguments = head(self._db, path, layout)
                self._check()
        except BaseException:
            disconnect(self._db)
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
        disconnect(self._db)

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
            rows = meta_of(self.layout, arguments).items()
            self._db.executemany("INSERT INTO meta VALUES (?, ?)", rows)

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
            rows = meta_of(self.layout, self._changed).items()
            self._db.executemany("REPLACE INTO meta VALUES (?, ?)", rows)
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
        with told(self.path, self.layout):
            yield


def read_arguments(path: Path, layout: Layout) -> dict[str, Any] | None:
    """Returns the arguments that a store was begun with; None if there is none yet.

    Raises:
        SettingError: if the file is something else, is damaged, or another program has it open.
        OSError: if it cannot be read.
    """
    if not path.exists() or not path.stat().st_size:
        return None
    db = connect(path, layout, "rw")
    try:
        with told(path, layout):
            begun = db.execute("PRAGMA page_count").fetchone()[0]
            return head(db, path, layout) if begun else None
    finally:
        disconnect(db)


@cache
def _insertion(table: str, rows: int, width: int) -> str:
    """Returns a statement that adds rows of a block; the block's number is the first value."""
    row = f"(?1{', ?' * width})"
    return f"INSERT INTO {table} VALUES {', '.join([row] * rows)}"
