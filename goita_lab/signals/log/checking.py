"""Checks files of logs before their rows are read: a log may come from somebody else.

Its metadata is parsed into types, its columns are those of the format, and it is no larger than its
rounds can be. Names of agents are texts; none of them is loaded. What the numbers say is believed.
"""

from __future__ import annotations

from pathlib import Path
from typing import Annotated, Any, Final, Literal

import msgspec

from goita_env.information import InformationStructure
from goita_env.rules import Rules
from goita_env.views.observation import OBSERVATION_VERSION
from goita_lab.signals.log.columns import arrow, arrow_type, columns
from goita_lab.signals.log.schema import KEY, LogError
from goita_lab.signals.playing import MAX_AGENTS, MAX_ROUNDS

MAX_PART_ROUNDS: Final = 50_000
"""Most rounds of a part: read, it takes half a gigabyte."""
ROUND_BYTES: Final = 1 << 18
"""Uncompressed bytes a round that no part has on average, beyond ``SPARE``."""
SPARE: Final = 1 << 24

Text = Annotated[str, msgspec.Meta(min_length=1, max_length=1_000)]
Count = Annotated[int, msgspec.Meta(ge=0, le=MAX_ROUNDS)]


class Head(msgspec.Struct, frozen=True):
    """The metadata of a file, on which its content depends."""

    format: Literal["goita-signals-3"]
    observation_version: int
    goita_env: Text
    agents: Annotated[list[Text], msgspec.Meta(min_length=1, max_length=MAX_AGENTS)]
    specs: Annotated[list[Text], msgspec.Meta(min_length=1, max_length=MAX_AGENTS)]
    seed: Annotated[int, msgspec.Meta(ge=0)]
    belief: Text | None
    rules: Text
    first: Count
    rounds: Annotated[int, msgspec.Meta(ge=1, le=MAX_PART_ROUNDS)]
    rules_fields: dict[str, str | bool | int | list[int]] | None = None
    information: dict[str, Any] | None = None
    weights: dict[Text, Text] | None = None
    drawn: bool = False


def check_file(file: Path, kind: str) -> Head:
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
        each = columns(kind, words=information.num_words, belief=head.belief is not None)
        given = {one.name: one.type for one in pyarrow.parquet.read_schema(file)}
        size = sum(known.row_group(g).total_byte_size for g in range(known.num_row_groups))
    except (OSError, ValueError, RecursionError, pyarrow.ArrowException) as error:
        raise LogError(f"expected a Parquet file of a log, got {str(file)!r}: {error}") from error
    if head.observation_version != OBSERVATION_VERSION:
        raise LogError(
            f"expected observations of version {OBSERVATION_VERSION} in {str(file)!r}, got version "
            f"{head.observation_version}"
        )
    if given != {column.name: arrow_type(column) for column in each}:
        raise LogError(f"expected the columns of {kind} in {file}, got others: {sorted(given)}")
    if size > ROUND_BYTES * head.rounds + SPARE:
        raise LogError(
            f"expected no more in {file} than {head.rounds} rounds can have, got {size:,} bytes"
        )
    return head
