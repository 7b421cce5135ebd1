"""Blocks for a store, also written by a program that is killed: ``python store_blocks.py FILE``."""

import sys
from itertools import count
from pathlib import Path

from goita_lab.store import Block, Layout, Store, TableSchema

LAYOUT = Layout(
    kind="blocks of a test",
    version=3,
    columns=("name TEXT NOT NULL", "data BLOB"),
    tables={"rows": TableSchema(("place INTEGER NOT NULL", "share REAL NOT NULL"), keys=1)},
    former=b'{"format":"test-1"',
)
ARGUMENTS = {"seed": 3, "agents": ["greedy", None]}


def block(number, rows=200):
    values = (f"block {number}", bytes([number % 256]) * 9)
    return Block(str(number), values, {"rows": [[place, place / 7] for place in range(rows)]})


def write(path, many=None):
    """Adds blocks, without an end where there is no number, and says so of each."""
    with Store(path, LAYOUT, ARGUMENTS) as store:
        first = len(list(store.read()))
        for number in count(first) if many is None else range(first, first + many):
            store.add(block(number))
            if many is None:
                print(number, flush=True)


if __name__ == "__main__":
    try:
        write(Path(sys.argv[1]))
    except (ValueError, OSError) as error:
        print(error, file=sys.stderr)
