"""Reads logs to numpy, also those of somebody else.

A file's metadata is parsed into types, its columns must be those of the format, and it must be no
larger than its rounds can be. Names of agents are texts; none of them is loaded. What the numbers
say is believed.
"""

from __future__ import annotations

import re
from pathlib import Path
from typing import Annotated, Any, Final, Literal

import msgspec

from goita_env.errors import SettingError
from goita_env.information import InformationStructure
from goita_env.rules import Rules
from goita_env.views.observation import OBSERVATION_VERSION
from goita_lab.signals.log.schema import (
    DEALS,
    DECISIONS,
    FOLDERS,
    KEY,
    LogError,
    arrow,
    columns,
    play_of,
)
from goita_lab.signals.playing import MAX_ROUNDS, Play

MAX_PART_ROUNDS: Final = 50_000
"""Most rounds of a part: read, it takes half a gigabyte."""
ROUND_BYTES: Final = 1 << 18
"""Uncompressed bytes a round that no part has on average, beyond ``SPARE``."""
SPARE: Final = 1 << 24

_PART: Final = re.compile(rf"{DECISIONS}-(\d{{5,7}})\.parquet")

Text = Annotated[str, msgspec.Meta(min_length=1, max_length=1_000)]
Texts = Annotated[list[Text], msgspec.Meta(min_length=1, max_length=127)]


class Head(msgspec.Struct, frozen=True):
    """The metadata of a file, on which its content depends."""

    format: Literal["goita-signals-3"]
    observation_version: int
    goita_env: Text
    agents: Texts
    specs: Texts
    seed: Annotated[int, msgspec.Meta(ge=0)]
    belief: Text | None
    rules: Text
    first: Annotated[int, msgspec.Meta(ge=0, le=MAX_ROUNDS)]
    rounds: Annotated[int, msgspec.Meta(ge=1, le=MAX_PART_ROUNDS)]
    rules_fields: dict[str, str | bool | int | list[int]] | None = None
    information: dict[str, Any] | None = None
    weights: dict[Text, Text] | None = None


def part_file(folder: Path, kind: str, number: int) -> Path:
    """Returns the path of a part of the deals or the decisions.

    Each table has a folder, which other programs read as one.
    """
    return folder / FOLDERS[kind] / f"{kind}-{number:05d}.parquet"


def parts(folder: Path) -> list[int]:
    """Returns the numbers of a log's parts, ascending; none: the folder holds no log."""
    files = (folder / FOLDERS[DECISIONS]).glob(f"{DECISIONS}-*.parquet")
    names = [_PART.fullmatch(file.name) for file in files]
    return sorted(int(name[1]) for name in names if name)


def read(folder: str | Path) -> Play:
    """Reads the play that a log holds.

    Raises:
        LogError: if it is no log, of another version, damaged, or parts of several.
        ImportError: if pyarrow is missing or too old.
    """
    folder, plays, have = Path(folder), list[Play](), 0
    found = parts(folder)
    if not found:
        raise LogError(f"expected a folder with {DECISIONS}-*.parquet, got {str(folder)!r}")
    for place, number in enumerate(found):
        if place != number:
            raise LogError(f"expected {part_file(folder, DECISIONS, place)}, got none")
        head, play = _read_part(folder, number)
        if head.first != have or have + head.rounds > MAX_ROUNDS:
            file = part_file(folder, DECISIONS, number)
            raise LogError(f"expected {file} to go on at round {have}, got round {head.first}")
        plays.append(play)
        have += head.rounds
    try:
        return Play.join(plays)
    except SettingError as error:
        raise LogError(f"{folder}: {error}") from error


def _read_part(folder: Path, number: int) -> tuple[Head, Play]:
    files = [part_file(folder, kind, number) for kind in (DEALS, DECISIONS)]
    heads = [read_head(file, kind) for file, kind in zip(files, (DEALS, DECISIONS), strict=True)]
    if heads[0] != heads[1]:
        raise LogError(f"expected {files[0]} and {files[1]} of the same play, got others")
    pyarrow = arrow()
    try:
        deals, decisions = (pyarrow.parquet.ParquetFile(file).read() for file in files)
        for table in (deals, decisions):
            table.validate(full=True)  # places in dictionaries, offsets, text that is none
        return heads[1], play_of(deals, decisions, msgspec.to_builtins(heads[1]))
    except (OSError, ValueError, LookupError, ArithmeticError, pyarrow.ArrowException) as error:
        raise LogError(f"expected a whole part of a log, got {str(files[1])!r}: {error}") from error


def read_head(file: Path, kind: str) -> Head:
    """Checks all of a file of a log but its rows, and returns its metadata.

    Raises:
        LogError: if it is no such file, of another version, or larger than its rounds can be.
        ImportError: if pyarrow is missing or too old.
    """
    pyarrow = arrow()
    try:
        known = pyarrow.parquet.read_metadata(file)
        head = msgspec.json.decode((known.metadata or {}).get(KEY, b"null"), type=Head)
        Rules.from_keys(msgspec.to_builtins(head))
        information = InformationStructure.from_keys({"information": head.information})
        expected = columns(kind, words=information.num_words, belief=head.belief is not None)
        given = {one.name: one.type for one in pyarrow.parquet.read_schema(file)}
        size = sum(known.row_group(g).total_byte_size for g in range(known.num_row_groups))
    except (OSError, ValueError, RecursionError, pyarrow.ArrowException) as error:
        raise LogError(f"expected a Parquet file of a log, got {str(file)!r}: {error}") from error
    if (head.observation_version, given) != (OBSERVATION_VERSION, expected):
        raise LogError(
            f"expected the columns of {kind}, observations of version {OBSERVATION_VERSION}, in "
            f"{str(file)!r}, got version {head.observation_version} and {sorted(given)}"
        )
    if size > ROUND_BYTES * head.rounds + SPARE:
        raise LogError(
            f"expected no more in {file} than {head.rounds} rounds can have, got {size:,} bytes"
        )
    return head
