"""Keeps the blocks of a tournament in a file of JSON lines, from which it goes on after a stop.

::

    {"format": "goita-results-1", "arguments": {...}, "crc": ...}
    {"agents": ["greedy", "random"], "block": 0, "points": [[...], [...]], ..., "crc": ...}

The first line says which tournament it is; each other is a block, in the order in which they were
finished. Lines are only ever appended, each in one write, so a program that is killed loses the
blocks under way and nothing else; the disk is made to keep them about once a second. A last line
without its end is one that was being written: it is dropped, and the block played again. Anything
else that is not as it should be is an error, and the file is left as it is. ``crc`` is the CRC-32
of the rest of the line, so a digit that has changed is found.
"""

from __future__ import annotations

import contextlib
import json
import os
import time
from collections.abc import Iterable, Mapping
from dataclasses import asdict
from pathlib import Path
from typing import Any, Final, Self
from zlib import crc32

import numpy as np

from agents.faults import Fault
from agents.tournament.task import BlockResult, Task
from goita_env.errors import SettingError

FORMAT: Final = "goita-results-1"
"""Names this kind of file; grows when the meaning of a line changes."""

SYNC_SECONDS: Final = 1.0
"""How much work a computer that loses its power may lose."""

_ARRAYS: Final = {
    "points": np.int32,
    "rounds": np.int32,
    "rounds_won": np.int32,
    "won": np.bool_,
    "decisions": np.int64,
    "thinking": np.float64,
}


class ResultsFile:
    """Is the file of a tournament, open for more blocks.

    Args:
        path: the file; it is begun where there is none.
        arguments: all that the results depend on, as JSON can hold it.
        tasks: every block of the tournament.

    Raises:
        SettingError: if the file is no results file, is of another tournament, is damaged, or is
            being written by another program; it is left as it is then.
        OSError: if it cannot be read or written.

    Attributes:
        blocks: those that the file holds.
        note: what had to be dropped, "" if nothing.
    """

    def __init__(self, path: Path, arguments: Mapping[str, Any], tasks: Iterable[Task]) -> None:
        self.path, self.note = path, ""
        self._file = os.open(path, os.O_RDWR | os.O_CREAT | os.O_APPEND, 0o666)
        self._synced = time.monotonic()
        try:
            _lock(self._file, path)
            head = _line({"format": FORMAT, "arguments": dict(arguments)})
            text = path.read_bytes()
            whole = text[: text.rfind(b"\n") + 1]
            if not whole and not head.startswith(text):
                raise SettingError(f"expected a results file, got {str(path)!r}: no whole line")
            self.blocks = self._read(whole, head, tasks) if whole else []
            if len(whole) < len(text):
                self.note = f"{path}: the last line was cut off; its block is played again"
                os.ftruncate(self._file, len(whole))
            if not whole:
                self._write(head)
        except BaseException:
            os.close(self._file)
            raise

    def append(self, result: BlockResult) -> None:
        """Writes a block."""
        self._write(_line(_record(result)))

    def close(self) -> None:
        """Makes the disk keep everything, and closes the file."""
        os.fsync(self._file)
        os.close(self._file)

    def __enter__(self) -> Self:
        return self

    def __exit__(self, *error: object) -> None:
        self.close()

    def _read(self, text: bytes, head: bytes, tasks: Iterable[Task]) -> list[BlockResult]:
        """Returns the blocks of the lines.

        Raises:
            SettingError: if a line is not as it should be.
        """
        first, *lines = text.splitlines(keepends=True)
        if first != head:
            self._check_head(first, head)
        known = {(task.agents, task.block): task for task in tasks}
        blocks = []
        for number, line in enumerate(lines, start=2):
            record = self._parse(line, number)
            try:
                task = known.pop((tuple(record["agents"]), record["block"]))
                blocks.append(_result(task, record))
            except (KeyError, TypeError, ValueError) as error:
                raise SettingError(
                    f"expected a block of this tournament, each once, "
                    f"in line {number} of {str(self.path)!r}, got {line[:80]!r}..."
                ) from error
        return blocks

    def _check_head(self, line: bytes, wanted: bytes) -> None:
        """Says what is wrong with the first line.

        Raises:
            SettingError: always.
        """
        found = self._parse(line, 1)
        if found.get("format") != FORMAT or not isinstance(found.get("arguments"), dict):
            raise SettingError(
                f"expected a results file, format {FORMAT!r}, "
                f"got {found.get('format')!r} in line 1 of {str(self.path)!r}"
            )
        ours, theirs = json.loads(wanted)["arguments"], found["arguments"]
        differ = [key for key in {**ours, **theirs} if ours.get(key) != theirs.get(key)]
        told = "; ".join(f"{key} {theirs.get(key)!r}, now {ours.get(key)!r}" for key in differ)
        raise SettingError(f"expected the arguments that {str(self.path)!r} was begun with: {told}")

    def _parse(self, line: bytes, number: int) -> dict[str, Any]:
        """Returns what a line holds.

        Raises:
            SettingError: if it is damaged.
        """
        with contextlib.suppress(ValueError):
            record = json.loads(line)
            if isinstance(record, dict):
                record.pop("crc", None)
                if _line(record) == line:
                    return record
        raise SettingError(
            f"expected a line as it was written, got a damaged one: line {number} "
            f"of {str(self.path)!r}, {line[:60]!r}"
        )

    def _write(self, line: bytes) -> None:
        """Appends a line, and about once a second makes the disk keep it."""
        while line:
            line = line[os.write(self._file, line) :]
        now = time.monotonic()
        if now - self._synced >= SYNC_SECONDS:
            os.fsync(self._file)
            self._synced = now


def _line(record: Mapping[str, Any]) -> bytes:
    """Returns a record as a line that ends with its own check sum."""
    text = json.dumps(record, separators=(",", ":"))
    return f'{text[:-1]},"crc":{crc32(text.encode())}}}\n'.encode()


def _record(result: BlockResult) -> dict[str, Any]:
    """Returns a block as JSON can hold it."""
    return {
        "agents": list(result.task.agents),
        "block": result.task.block,
        **{name: getattr(result, name).tolist() for name in _ARRAYS},
        "seconds": result.seconds,
        "faults": [[player, asdict(fault)] for player, fault in result.faults],
        "forfeited": list(result.forfeited),
    }


def _result(task: Task, record: Mapping[str, Any]) -> BlockResult:
    """Returns the block that a record holds.

    Raises:
        KeyError, TypeError, ValueError: if it holds none of this task.
    """
    arrays: dict[str, Any] = {n: np.array(record[n], kind) for n, kind in _ARRAYS.items()}
    shape = (len(task.seatings), task.deals)
    for name, array in arrays.items():
        wanted = (len(task.agents),) if name in ("decisions", "thinking") else shape
        if array.shape != wanted:
            raise ValueError(f"expected {name} of shape {wanted}, got {array.shape}")
    return BlockResult(
        task=task,
        **arrays,
        seconds=float(record["seconds"]),
        faults=tuple(
            (int(player), Fault(**{**fault, "stderr": tuple(fault["stderr"])}))
            for player, fault in record["faults"]
        ),
        forfeited=tuple(record["forfeited"]),
    )


def _lock(file: int, path: Path) -> None:
    """Keeps other programs from writing the file, where the system knows how.

    Raises:
        SettingError: if one is doing so.
    """
    try:
        import fcntl
    except ImportError:
        return
    try:
        fcntl.flock(file, fcntl.LOCK_EX | fcntl.LOCK_NB)
    except BlockingIOError as error:
        raise SettingError(
            f"expected a results file that nobody is writing, got {str(path)!r}"
        ) from error
