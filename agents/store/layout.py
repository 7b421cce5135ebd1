"""Describes kinds of stores and what a block of one is."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from hashlib import blake2b
from pathlib import Path
from typing import Final

import msgspec

from goita_env.errors import SettingError

MOST_BYTES: Final = 1 << 26
"""Most bytes of a row, and so of a text or blob."""

MOST_ROWS: Final = 1 << 20
"""Most rows of a block in one table."""

Value = int | float | str | bytes | None

Row = Sequence[Value]

_META: Final = "key TEXT PRIMARY KEY NOT NULL, value TEXT NOT NULL"

_BLOCKS: Final = ("block INTEGER PRIMARY KEY", "key TEXT NOT NULL UNIQUE", "digest BLOB NOT NULL")


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


def damaged(path: Path, layout: Layout, what: str) -> SettingError:
    """Returns the error that says that a file is not as it was written."""
    return SettingError(
        f"expected {layout.kind} as they were written, got a damaged file {str(path)!r}: "
        f"{what[:200]!r}"
    )
