"""Reads logs to numpy and to pandas."""

from __future__ import annotations

import json
from pathlib import Path
from typing import TYPE_CHECKING, Any, Final

from agents.signals.log.schema import FORMAT, KEY, LogError, arrow, play_of
from agents.signals.playing import Play

if TYPE_CHECKING:
    import pandas as pd

DEALS: Final = "deals"
DECISIONS: Final = "decisions"


def part_file(folder: Path, kind: str, number: int) -> Path:
    """Returns the path of a part of the deals or the decisions."""
    return folder / f"{kind}-{number:05d}.parquet"


def part_head(file: Path) -> dict[str, Any]:
    """Returns what a file of a log depends on.

    Raises:
        LogError: if it is no such file or of another version.
    """
    pyarrow = arrow()
    try:
        metadata = pyarrow.parquet.read_schema(file).metadata or {}
        known = json.loads(metadata.get(KEY, b"null"))
    except (OSError, ValueError, pyarrow.ArrowException) as error:
        raise LogError(f"expected a Parquet file of a log, got {str(file)!r}: {error}") from error
    form = known.get("format") if isinstance(known, dict) else None
    if form != FORMAT:
        raise LogError(f"expected a log of format {FORMAT!r}, got {form!r} in {str(file)!r}")
    found: dict[str, Any] = known
    return found


def read(folder: str | Path, rounds: int | None = None) -> Play:
    """Returns the play that a log holds, as numpy arrays.

    Args:
        folder: of the log.
        rounds: read at least so many from the first on, in whole parts; None: all.

    Raises:
        LogError: if it is no log, of another version, or parts of several.
        ImportError: if pyarrow is missing.
    """
    parts, have = [], 0
    for number in _numbers(Path(folder)):
        if rounds is not None and have >= rounds:
            break
        known = part_head(part_file(Path(folder), DECISIONS, number))
        parts.append(_read_part(Path(folder), number, known))
        have += int(known["rounds"])
    return Play.join(parts)


def read_frame(folder: str | Path, columns: list[str] | None = None) -> pd.DataFrame:
    """Returns the decisions of a log as a table, each with the columns of its deal.

    Args:
        folder: of the log.
        columns: names of those wanted (``schema``); None: all.

    Raises:
        LogError: as ``read``; also if there is no such column.
        ImportError: if pyarrow or pandas is missing.
    """
    pyarrow = arrow()
    try:
        import pandas as pd
    except ImportError as error:
        raise ImportError("a table needs pandas: pip install 'goita-env[signals]'") from error
    frames, key = [], ["round", "redeal"]
    for number in _numbers(Path(folder)):
        loaded = []
        for kind in (DECISIONS, DEALS):
            file = part_file(Path(folder), kind, number)
            part_head(file)
            names = pyarrow.parquet.read_schema(file).names
            wanted = [name for name in names if columns is None or name in columns or name in key]
            loaded.append(pyarrow.parquet.read_table(file, columns=wanted).to_pandas())
        frames.append(loaded[0].merge(loaded[1], on=key, how="left"))
    frame = pd.concat(frames, ignore_index=True)
    if columns is None:
        return frame
    if unknown := sorted(set(columns) - set(frame.columns)):
        raise LogError(f"expected columns of {list(frame.columns)}, got {unknown}")
    return frame[columns]


def _numbers(folder: Path) -> list[int]:
    """Returns the numbers of a log's parts, ascending.

    Raises:
        LogError: if there is none.
    """
    found = sorted(folder.glob(f"{DECISIONS}-*.parquet"))
    if not found:
        raise LogError(f"expected a folder with {DECISIONS}-*.parquet, got {str(folder)!r}")
    return [int(file.stem.rpartition("-")[2]) for file in found]


def _read_part(folder: Path, number: int, known: dict[str, Any]) -> Play:
    """Returns the play of one part."""
    pyarrow = arrow()
    files = [part_file(folder, kind, number) for kind in (DEALS, DECISIONS)]
    if part_head(files[0]) != known:
        raise LogError(f"expected {files[0]} and {files[1]} of the same play, got others")
    try:
        loaded = [pyarrow.parquet.read_table(file) for file in files]
        return play_of(loaded[0], loaded[1], known)
    except (OSError, KeyError, pyarrow.ArrowException) as error:
        raise LogError(f"expected a whole part of a log, got {files[1]}: {error}") from error
