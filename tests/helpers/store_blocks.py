"""Parts for a store, also written by a program that is killed: ``python store_blocks.py FILE``."""

import sys
from itertools import count
from pathlib import Path

from goita_lab.store import Parts, pack

ARGUMENTS = {"seed": 3, "agents": ["greedy", None]}


def opened(path, arguments=ARGUMENTS):
    return Parts(path, "blocks of a test", arguments)


def block(number, rows=200):
    return pack([[place, place / 7 + number] for place in range(rows)])


def write(path, many=None):
    """Adds blocks, without an end where there is no number, and says so of each."""
    with opened(path) as store:
        first = len(store.found)
        for number in count(first) if many is None else range(first, first + many):
            store.add(str(number), block(number))
            if many is None:
                print(number, flush=True)


if __name__ == "__main__":
    try:
        write(Path(sys.argv[1]))
    except (ValueError, OSError) as error:
        print(error, file=sys.stderr)
