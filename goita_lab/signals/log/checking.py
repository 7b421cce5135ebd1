"""Checks files of logs before their rows are read: a log may come from somebody else.

A file's metadata must fit its types, its columns those of the format, and its size what its rounds
can have. Names of agents are texts; none of them is loaded. pyarrow itself must be a version that
runs no code of a file's. What the numbers say is believed.
"""

from __future__ import annotations

from pathlib import Path
from typing import Annotated, Any, Final

import msgspec

from goita_env.information import InformationStructure
from goita_env.rules import Rules
from goita_env.views.observation import OBSERVATION_VERSION
from goita_lab.signals.log.columns import (
    DEALS,
    FIRST,
    FORMAT,
    SECOND,
    arrow,
    arrow_type,
    columns,
)
from goita_lab.signals.log.schema import KEY, LogError
from goita_lab.signals.playing import MAX_AGENTS, MAX_ROUNDS, check_agents

MAX_PART_ROUNDS: Final = 50_000
"""Most rounds of a part: read, it takes half a gigabyte."""
MAX_METADATA: Final = 1 << 16
"""Bytes of a file's own metadata, and of its Arrow schema."""
MAX_FOOTER: Final = 1 << 24
"""Bytes of a Parquet footer."""
MOST_DEALS: Final = 4
"""Deals a round that no part has on average, beyond ``SPARE``."""
MOST_DECISIONS: Final = 64
"""Decisions a deal that no part has on average."""
SPARE: Final = 1_024

BYTES: Final = 1_024
"""Uncompressed bytes a row that no part has on average, beyond ``MAX_METADATA``."""

Text = Annotated[str, msgspec.Meta(min_length=1, max_length=1_000)]
Count = Annotated[int, msgspec.Meta(ge=0, le=MAX_ROUNDS)]


class Head(msgspec.Struct, frozen=True):
    """The metadata of a file, on which its content depends."""

    format: str
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
    """None in logs of 0.2.1 and earlier."""
    drawn: bool = False

    @property
    def options(self) -> InformationStructure:
        """Who knows and tells what."""
        return InformationStructure.from_keys({"information": self.information})


def check_file(file: Path, kind: str) -> Head:
    """Checks all of a file of a log but its rows, and returns its metadata.

    Raises:
        LogError: if it is no such file, of another version, or larger than its rounds can be.
        ImportError: if pyarrow is missing or too old.
    """
    pyarrow = arrow()
    try:
        known = pyarrow.parquet.read_metadata(file)
        head = _head((known.metadata or {}).get(KEY, b"null"), file)
        _check_size(known, head, kind, file)
        # Broken descriptions of columns are an error here; asked for directly, some end Python.
        pyarrow.parquet.ParquetFile(file).scan_contents(batch_size=1 << 16)
        _check_values(known, head, file)
        found = pyarrow.parquet.read_schema(file).remove_metadata()
    except LogError:
        raise
    except (OSError, ValueError, RecursionError, pyarrow.ArrowException) as error:
        raise LogError(f"expected a Parquet file of a log, got {str(file)!r}: {error}") from error
    words, belief = head.options.num_words, head.belief is not None
    each = columns(kind, form=head.format, words=words, belief=belief)
    wanted = {column.name: arrow_type(column) for column in each}
    given = {field.name: field.type for field in found}
    if len(found) != len(wanted) or given != wanted:
        wrong = sorted(name for name in wanted | given if wanted.get(name) != given.get(name))
        raise LogError(f"expected the columns of {kind} in {file}, got others: {wrong}")
    return head


def _head(text: bytes, file: Path) -> Head:
    known = FIRST, SECOND, FORMAT
    if len(text) > MAX_METADATA:
        raise LogError(f"expected metadata of up to {MAX_METADATA:,} bytes, got more in {file}")
    if (form := msgspec.json.decode(text, type=dict[str, Any]).get("format")) not in known:
        raise LogError(
            f"expected a log of format {', '.join(known)}, got {form!r} in {str(file)!r}"
        )
    head = msgspec.json.decode(text, type=Head)
    if head.observation_version != OBSERVATION_VERSION:
        raise LogError(
            f"expected observations of version {OBSERVATION_VERSION} in {str(file)!r}, got version "
            f"{head.observation_version}"
        )
    Rules.from_keys(msgspec.to_builtins(head))
    check_agents(len(head.agents), head.drawn)
    return head


def _check_size(known: Any, head: Head, kind: str, file: Path) -> None:
    most = MOST_DEALS * head.rounds + SPARE
    most = most if kind == DEALS else MOST_DECISIONS * most
    rows, groups, footer = known.num_rows, known.num_row_groups, known.serialized_size
    fits = 0 <= rows <= most and groups <= SPARE and footer <= MAX_FOOTER
    size = sum(known.row_group(group).total_byte_size for group in range(groups if fits else 0))
    if not fits or size > BYTES * rows + MAX_METADATA:
        raise LogError(
            f"expected no more in {file} than {head.rounds} rounds can have, got {size:,} bytes "
            f"of {rows:,} rows in {groups:,} groups, described by {footer:,} bytes"
        )


def _check_values(known: Any, head: Head, file: Path) -> None:
    groups = [known.row_group(group) for group in range(known.num_row_groups)]
    columns = [group.column(place) for group in groups for place in range(group.num_columns)]
    each = {
        "words.list.element": head.options.num_words,
        "probabilities.list.element": head.options.num_actions,
    }
    many = max((c.num_values / each.get(c.path_in_schema, 1) for c in columns), default=0)
    if many > known.num_rows:
        raise LogError(
            f"expected no more in {file} than {head.rounds} rounds can have, got {many:,.0f} "
            f"values of a column in {known.num_rows:,} rows"
        )
