"""Keeps blocks of work in one SQLite file, from which a program goes on after a stop.

::

    meta(key, value)                    "kind": what is kept; "arguments": JSON, what it depends
                                        on; "digest" of both
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

from agents.store.file import Store, read_arguments
from agents.store.layout import MOST_BYTES, Block, Layout, Row, Table, damaged

__all__ = [
    "MOST_BYTES",
    "Block",
    "Layout",
    "Row",
    "Store",
    "Table",
    "damaged",
    "read_arguments",
]
