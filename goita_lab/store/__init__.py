"""Keeps blocks of work in one SQLite file, so that a program can resume after a stop.

::

    meta(key, value)                    "kind": what the file holds; "arguments": JSON, what the
                                        blocks depend on; "digest" of both
    blocks(block, key, digest, ...)     a row for each finished block, with columns of its kind
    ...(block, ...)                     other tables of the kind: rows of each block

A block is one transaction. Once ``add`` has returned, the block survives a crash of the program.
About once a second the file is synchronised with the disk, so a power cut loses a second of work.
On a full disk ``add`` fails and earlier blocks stay. A file is open in one program at a time, by
SQLite's own lock.

A file may come from somebody else, so it is treated as data. SQLite trusts no schema; the tables
and columns must be exactly ours (no view, no trigger); SQLite's integrity check must pass; sizes
are limited; each block carries a digest of its rows. A refused file is left unchanged, except that
SQLite itself first merges ``FILE-wal`` of a program that was killed. The caller checks the types
and values of the rows.
"""

from goita_lab.store.file import Store, read_arguments
from goita_lab.store.format import MOST_BYTES, Block, Layout, Row, TableSchema, damaged

__all__ = [
    "MOST_BYTES",
    "Block",
    "Layout",
    "Row",
    "Store",
    "TableSchema",
    "damaged",
    "read_arguments",
]
