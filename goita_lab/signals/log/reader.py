"""Reads logs to numpy and to pandas."""

from __future__ import annotations

import re
from pathlib import Path
from typing import TYPE_CHECKING, Any, Final

import msgspec

from goita_env.errors import SettingError, install
from goita_lab.signals.log.checking import Head, check_file
from goita_lab.signals.log.columns import DEALS, DECISIONS, FOLDERS, arrow
from goita_lab.signals.log.schema import LogError, play_of
from goita_lab.signals.playing import MAX_ROUNDS, Play

if TYPE_CHECKING:
    import pandas as pd

_PART: Final = re.compile(rf"{DECISIONS}-(\d{{5,7}})\.parquet")


def part_file(folder: Path, kind: str, number: int) -> Path:
    """Returns the path of a part of the deals or the decisions.

    Each table has a folder, which other programs read as one.
    """
    return folder / FOLDERS[kind] / f"{kind}-{number:05d}.parquet"


def is_log(folder: Path) -> bool:
    """Returns whether a folder holds parts of a log."""
    return bool(_parts(folder))


def _parts(folder: Path) -> list[int]:
    files = (folder / FOLDERS[DECISIONS]).glob(f"{DECISIONS}-*.parquet")
    names = [_PART.fullmatch(file.name) for file in files]
    return sorted(int(name[1]) for name in names if name)


def read(folder: str | Path, rounds: int | None = None) -> Play:
    """Reads the play that a log holds.

    The log may be somebody else's: every file is checked before its rows are read, and its names of
    agents are texts and load nothing. What its numbers say is believed.

    Reads whole parts up to ``rounds`` or more.

    Raises:
        LogError: if it is no log, of another version, damaged, or parts of several.
        ImportError: if pyarrow is missing or too old.
    """
    parts, have = [], 0
    for number in _numbers(Path(folder)):
        if rounds is not None and have >= rounds:
            break
        head = _next_head(Path(folder), number, have)
        parts.append(_read_part(Path(folder), number, head))
        have += head.rounds
    try:
        return Play.join(parts)
    except SettingError as error:
        raise LogError(f"{folder}: {error}") from error


def read_frame(folder: str | Path, columns: list[str] | None = None) -> pd.DataFrame:
    """Reads the decisions of a log, each with the columns of its deal.

    Raises:
        LogError: as ``read``; also if there is no such column.
        ImportError: if pyarrow or pandas is missing.
    """
    pyarrow = arrow()
    try:
        import pandas as pd
    except ImportError as error:
        raise ImportError(f"a table needs pandas: {install('lab')}") from error
    frames, key, have = [], ["round", "redeal"], 0
    for number in _numbers(Path(folder)):
        loaded = []
        have += _next_head(Path(folder), number, have).rounds
        for kind in (DECISIONS, DEALS):
            file = part_file(Path(folder), kind, number)
            names = pyarrow.parquet.read_schema(file).names
            wanted = [name for name in names if columns is None or name in columns or name in key]
            loaded.append(_table(file, wanted).to_pandas())
        frames.append(loaded[0].merge(loaded[1], on=key, how="left"))
    frame = pd.concat(frames, ignore_index=True)
    if columns is None:
        return frame
    if unknown := sorted(set(columns) - set(frame.columns)):
        raise LogError(f"expected columns of {list(frame.columns)}, got {unknown}")
    return frame[columns]


def _numbers(folder: Path) -> list[int]:
    """Returns the numbers of a log's parts: 0, 1, 2 and so on; a LogError if one is missing."""
    found = _parts(folder)
    if not found:
        raise LogError(f"expected a folder with {DECISIONS}-*.parquet, got {str(folder)!r}")
    if found != list(range(len(found))):
        missing = next(place for place, number in enumerate(found) if place != number)
        raise LogError(f"expected {part_file(folder, DECISIONS, missing)}, got none")
    return found


def _next_head(folder: Path, number: int, have: int) -> Head:
    """Checks both files of a part, which must go on at round ``have``; returns their metadata."""
    deals, decisions = (part_file(folder, kind, number) for kind in (DEALS, DECISIONS))
    head = check_file(decisions, DECISIONS)
    if check_file(deals, DEALS) != head:
        raise LogError(f"expected {deals} and {decisions} of the same play, got others")
    if head.first != have or have + head.rounds > MAX_ROUNDS:
        raise LogError(f"expected {decisions} to go on at round {have}, got round {head.first}")
    return head


def _table(file: Path, columns: list[str] | None = None) -> Any:
    pyarrow = arrow()
    try:
        table = pyarrow.parquet.ParquetFile(file).read(columns)
        table.validate(full=True)  # places in dictionaries, offsets, text that is none
    except (OSError, ValueError, pyarrow.ArrowException) as error:
        raise _damaged(file, error) from error
    return table


def _read_part(folder: Path, number: int, head: Head) -> Play:
    deals, decisions = (part_file(folder, kind, number) for kind in (DEALS, DECISIONS))
    tables = _table(deals), _table(decisions)
    try:
        return play_of(*tables, msgspec.to_builtins(head))
    except (ValueError, TypeError, IndexError, OverflowError) as error:
        raise _damaged(decisions, error) from error


def _damaged(file: Path, error: Exception) -> LogError:
    return LogError(f"expected a whole part of a log, got {str(file)!r}: {error}")
