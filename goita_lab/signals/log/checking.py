"""Checks files of logs before they are read: a log may come from somebody else.

A file's metadata must fit a schema, its columns those of the format, and its rows no more than its
rounds can have, before any row is read. Names of agents are texts; none of them is loaded. pyarrow
itself must be a version that runs no code of a file's.
"""

from __future__ import annotations

from pathlib import Path
from typing import TYPE_CHECKING, Annotated, Any, Final

import msgspec
import numpy as np

from goita_env.checks import check_seed
from goita_env.errors import SettingError
from goita_env.information import PLAIN, Information
from goita_env.rules import Rules
from goita_env.tiles import COUNTS, HAND_SIZE
from goita_env.views.observation import OBSERVATION_VERSION
from goita_lab.signals.log.arrow import arrow
from goita_lab.signals.log.columns import (
    DEALS,
    FIRST,
    FORMAT,
    SECOND,
    arrow_type,
    columns,
)
from goita_lab.signals.log.schema import KEY, LogError
from goita_lab.signals.playing import MAX_AGENTS, MAX_ROUNDS, Play, check_agents

if TYPE_CHECKING:
    import pyarrow as pa

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
    """Holds the metadata of a file, on which its content depends."""

    format: str
    observation_version: int
    goita_env: Text
    agents: Annotated[list[Text], msgspec.Meta(min_length=1, max_length=MAX_AGENTS)]
    specs: Annotated[list[Text], msgspec.Meta(min_length=1, max_length=MAX_AGENTS)]
    seed: int
    belief: Text | None
    rules: Text
    first: Count
    rounds: Annotated[int, msgspec.Meta(ge=1, le=MAX_PART_ROUNDS)]
    rules_fields: dict[str, str | bool | int] | None = None
    information: dict[str, Any] | None = None
    weights: dict[Text, Text] | None = None
    """None in logs of 0.2.1 and earlier."""
    drawn: bool = False

    @property
    def options(self) -> Information:
        """Who knows and tells what."""
        return Information.from_keys({"information": self.information})


def check_file(file: Path, kind: str) -> Head:
    """Checks all of a file of a log but its rows, and returns its metadata.

    Raises:
        LogError: if it is no such file, of another version, or larger than its rounds can be.
        ImportError: if pyarrow is missing or too old.
    """
    pyarrow = arrow()
    try:
        known = pyarrow.parquet.read_metadata(file)
        texts = known.metadata or {}
        if any(len(text) > MAX_METADATA for text in texts.values()):
            raise LogError(f"expected metadata of up to {MAX_METADATA:,} bytes, got more in {file}")
        head = _head(texts.get(KEY, b"null"), file)
        _check_rows(known, head, kind, file)
        # Broken descriptions of columns are an error here; asked for directly, some end Python.
        pyarrow.parquet.ParquetFile(file).scan_contents(batch_size=1 << 16)
        _check_values(known, head, file)
        found = pyarrow.parquet.read_schema(file).remove_metadata()
    except LogError:
        raise
    except (OSError, ValueError, pyarrow.ArrowException) as error:
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
    try:
        if (form := msgspec.json.decode(text, type=dict[str, Any]).get("format")) not in known:
            raise LogError(
                f"expected a log of format {', '.join(known)}, got {form!r} in {str(file)!r}"
            )
        head = msgspec.json.decode(text, type=Head)
        Rules.from_keys(msgspec.to_builtins(head))
        check_seed(head.seed)
        if head.options != PLAIN and head.format == FIRST:
            raise LogError(f"expected the plain game in a log of {FIRST}, got others in {file}")
        check_agents(len(head.agents), head.drawn)
    except LogError:
        raise
    except (msgspec.DecodeError, SettingError, RecursionError) as error:
        raise LogError(f"expected the metadata of a log in {str(file)!r}: {error}") from error
    if head.observation_version != OBSERVATION_VERSION:
        raise LogError(
            f"expected observations of version {OBSERVATION_VERSION} in {str(file)!r}, got version "
            f"{head.observation_version}"
        )
    if len(head.specs) != len(head.agents):
        raise LogError(f"expected a text of each agent in {str(file)!r}, got {head.specs!r}")
    return head


def _check_rows(known: Any, head: Head, kind: str, file: Path) -> None:
    deals = MOST_DEALS * head.rounds + SPARE
    most = deals if kind == DEALS else MOST_DECISIONS * deals
    rows, groups, footer = known.num_rows, known.num_row_groups, known.serialized_size
    if not 0 <= rows <= most or groups > SPARE or footer > MAX_FOOTER:
        raise LogError(
            f"expected no more in {file} than {head.rounds} rounds can have, got {rows:,} rows in "
            f"{groups:,} groups, described by {footer:,} bytes"
        )
    size = sum(known.row_group(group).total_byte_size for group in range(groups))
    if size > BYTES * rows + MAX_METADATA:
        raise LogError(
            f"expected no more in {file} than {head.rounds} rounds can have, got {size:,} bytes in "
            f"{rows:,} rows"
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


def check_whole(table: pa.Table, file: Path) -> None:
    """Checks that no value of a table is missing."""
    for name in table.column_names:
        column = table.column(name).combine_chunks()
        inner = column.flatten() if arrow().types.is_nested(column.type) else column
        if column.null_count or inner.null_count:
            raise LogError(f"expected a value in each row of {name!r} in {file}, got none in some")


def check_play(play: Play, head: Head, file: Path) -> None:
    """Checks that the numbers of a play are ones that a play can have."""
    rows = np.arange(len(play.deal))
    starts = play.starts
    sums = play.probabilities.sum(axis=1)
    rounds = head.first + np.arange(head.rounds)
    fine = {
        "each of its rounds": np.array_equal(np.unique(play.round), rounds),
        "redeals counted from 0": bool((play.redeal >= 0).all()),
        f"hands of {HAND_SIZE} tiles of one set": bool((play.hands.sum(axis=1) == COUNTS).all())
        and bool((play.hands.sum(axis=2) == HAND_SIZE).all()),
        "seats 0 to 3": _within(play.dealer, 0, 3) and _within(play.seat, 0, 3),
        "winners -1 to 3": _within(play.winner, -1, 3),
        "moves counted from 0": np.array_equal(play.move, rows - starts[play.deal]),
        "decisions deal after deal": bool((np.diff(play.deal) >= 0).all()),
        "legal actions": _within(play.action, 0, play.information.num_actions - 1)
        and bool(play.legal[rows, play.action].all()),
        "probabilities that sum to 1": bool((play.probabilities >= 0).all())
        and bool(np.allclose(sums, 1, atol=1e-4)),
    }
    if wrong := [name for name, holds in fine.items() if not holds]:
        raise LogError(f"expected {wrong[0]} in {file}, got others")


def _within(values: Any, low: int, high: int) -> bool:
    return bool(((values >= low) & (values <= high)).all())
