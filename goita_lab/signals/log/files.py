"""Writes logs part by part, so that a stopped log can be continued, and reads logs of others, too.

A file's metadata is parsed into types, its columns must be those of the format, and it must be no
larger than its rounds can be. Names of agents are texts; reading loads no agent. Numbers are
checked for type and bounds, not for truth.
"""

from __future__ import annotations

import os
import re
import sys
from collections.abc import Iterator, Sequence
from functools import partial
from itertools import product
from pathlib import Path
from typing import Annotated, Any, Final, Literal

import msgspec
import numpy as np
from msgspec.structs import replace

import goita_env
from goita_agents.base import AgentError, Float
from goita_agents.beliefs import PolicyModel
from goita_agents.identity import Identities
from goita_agents.registry import check_names
from goita_env.errors import SettingError
from goita_env.information import PLAIN, InformationStructure
from goita_env.rules import JGA, Rules, get_rules
from goita_env.tiles import NUM_SEATS, RELATIVE_SEATS
from goita_env.views.observation import OBSERVATION_VERSION
from goita_lab.provenance import CHANGED_MARK, depended_versions
from goita_lab.signals.listening import listen
from goita_lab.signals.log.schema import (
    DEALS,
    DECISIONS,
    FOLDERS,
    FORMAT,
    KEY,
    LogError,
    arrow,
    columns,
    play_of,
    tables,
)
from goita_lab.signals.playing import MAX_ROUNDS, Play, check_rounds, load_policy, play
from goita_lab.store import check_same, kept_line
from goita_lab.work import on_workers

PART_ROUNDS: Final = 2_000
"""Rounds in a part: about 40,000 decisions in 1.5 MB."""
MAX_PART_ROUNDS: Final = 50_000
"""Most rounds of a part, which takes half a gigabyte when it is read."""
ROUND_BYTES: Final = 1 << 18
"""Bound on the uncompressed bytes a round of a part, in addition to ``SPARE_BYTES`` a part."""
SPARE_BYTES: Final = 1 << 24

_PART: Final = re.compile(rf"{DECISIONS}-(\d{{5,7}})\.parquet")

Text = Annotated[str, msgspec.Meta(min_length=1, max_length=1_000)]
Texts = Annotated[list[Text], msgspec.Meta(min_length=1, max_length=127)]


class Head(msgspec.Struct, frozen=True, kw_only=True, omit_defaults=True):
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
    digests: dict[Text, Text] | None = None
    versions: dict[Text, Text] | None = None


def part_file(folder: Path, kind: str, index: int) -> Path:
    """Returns the path of a part of the deals or the decisions.

    Each table has a folder, which other programs read as one table.
    """
    return folder / FOLDERS[kind] / f"{kind}-{index:05d}.parquet"


def part_indices(folder: Path) -> list[int]:
    """Returns the indices of a log's parts, ascending; an empty list if the folder holds no log."""
    files = (folder / FOLDERS[DECISIONS]).glob(f"{DECISIONS}-*.parquet")
    names = [_PART.fullmatch(file.name) for file in files]
    return sorted(int(name[1]) for name in names if name)


def read(folder: str | Path) -> Play:
    """Reads the play that a log holds.

    Raises:
        LogError: if the folder holds no log, parts of several logs, or a log that is damaged or of
            another version.
    """
    folder, plays, rounds = Path(folder), list[Play](), 0
    players = list[tuple[Any, ...]]()  # the agents of each part
    indices = part_indices(folder)
    if not indices:
        raise LogError(f"expected a folder with {DECISIONS}-*.parquet, got {str(folder)!r}")
    for expected, index in enumerate(indices):
        if index != expected:
            raise LogError(f"expected {part_file(folder, DECISIONS, expected)}, got none")
        head, play = _read_part(folder, index)
        players.append((head.specs, head.belief, head.weights, head.digests))
        if players[0] != players[-1]:
            raise LogError(f"expected parts of the same agents in {str(folder)!r}, got others")
        if head.first != rounds or rounds + head.rounds > MAX_ROUNDS:
            file = part_file(folder, DECISIONS, index)
            raise LogError(f"expected {file} to continue at round {rounds}, got round {head.first}")
        plays.append(play)
        rounds += head.rounds
    try:
        return Play.join(plays)
    except SettingError as error:
        raise LogError(f"{folder}: {error}") from error


def _read_part(folder: Path, index: int) -> tuple[Head, Play]:
    """Returns the metadata and the play of a part, after checks of its two files."""
    files = [part_file(folder, kind, index) for kind in (DEALS, DECISIONS)]
    heads = [_read_head(file, kind) for file, kind in zip(files, (DEALS, DECISIONS), strict=True)]
    if heads[0] != heads[1]:
        raise LogError(f"expected {files[0]} and {files[1]} of the same play, got others")
    pyarrow = arrow()
    try:
        deals, decisions = (pyarrow.parquet.ParquetFile(file).read() for file in files)
        for table in (deals, decisions):
            table.validate(full=True)  # indices into dictionaries, offsets, invalid UTF-8
        return heads[1], play_of(deals, decisions, msgspec.to_builtins(heads[1]))
    except (OSError, ValueError, LookupError, ArithmeticError, pyarrow.ArrowException) as error:
        raise LogError(f"expected a whole part of a log, got {str(files[1])!r}: {error}") from error


def _read_head(file: Path, kind: str) -> Head:
    """Checks everything in a file of a log except its rows, and returns its metadata."""
    pyarrow = arrow()
    try:
        footer = pyarrow.parquet.read_metadata(file)
        head = msgspec.json.decode((footer.metadata or {}).get(KEY, b"null"), type=Head)
        Rules.from_keys(msgspec.to_builtins(head))
        information = InformationStructure.from_keys({"information": head.information})
        expected = columns(kind, words=information.num_words, belief=head.belief is not None)
        types = {field.name: field.type for field in pyarrow.parquet.read_schema(file)}
        size = sum(footer.row_group(g).total_byte_size for g in range(footer.num_row_groups))
    except (OSError, ValueError, RecursionError, pyarrow.ArrowException) as error:
        raise LogError(f"expected a Parquet file of a log, got {str(file)!r}: {error}") from error
    if (head.observation_version, types) != (OBSERVATION_VERSION, expected):
        raise LogError(
            f"expected the columns of {kind}, observations of version {OBSERVATION_VERSION}, in "
            f"{str(file)!r}, got version {head.observation_version} and {sorted(types)}"
        )
    if size > ROUND_BYTES * head.rounds + SPARE_BYTES:
        raise LogError(
            f"expected no more in {file} than {head.rounds} rounds can have, got {size:,} bytes"
        )
    return head


def write(
    folder: Path,
    agents: Sequence[str],
    rounds: int,
    *,
    seed: int = 0,
    rules: str | Rules = JGA,
    belief: str | None = None,
    part_rounds: int = PART_ROUNDS,
    workers: int = 1,
    information: InformationStructure = PLAIN,
    anew: bool = False,
) -> Iterator[int]:
    """Plays rounds and logs every decision; parts that the folder has already are not played again.

    A part's content depends only on agents, seed, rules and its index. A file is written under
    another name and then renamed, so that a file under its own name is whole. Parts of agents that
    have changed since are played again; a line on standard error says so.

    Args:
        folder: of the log.
        agents: texts; ``play`` describes the seating.
        rounds: number of rounds.
        seed: of deals and random numbers.
        rules: rule set.
        belief: an agent that models the other seats, for ``belief_columns``; None: no columns about
            beliefs.
        part_rounds: rounds of a part.
        workers: number of processes.
        information: shown tiles and messages.
        anew: begin the log anew, whatever the folder holds.

    Yields:
        The rounds of the log so far.

    Raises:
        SettingError: if the folder holds parts of another log, or a number is impossible; parts
            are left as they are.
        LogError: if a part is damaged, or the folder has more parts than the log.
        AgentError: if an agent is impossible, or changes while it plays.
    """
    check_names(agents)
    names = [load_policy(agent).name for agent in agents]
    # Half of a surrogate pair cannot be encoded.
    if unencodable := [name for name in names if name != name.encode(errors="ignore").decode()]:
        raise SettingError(
            f"expected names in UTF-8 (NAME=AGENT gives one), got {unencodable[0]!r}"
        )
    check_rounds(len(agents), rounds, MAX_ROUNDS)
    check_rounds(len(agents), part_rounds, MAX_PART_ROUNDS)
    identities = Identities([*agents, *([belief] if belief else [])])
    first_part = Head(
        format=FORMAT,
        observation_version=OBSERVATION_VERSION,
        goita_env=goita_env.__version__,
        agents=names,
        specs=list(agents),
        seed=seed,
        belief=belief,
        weights=identities.weights,
        digests=identities.digests,
        versions=depended_versions(),
        first=0,
        rounds=part_rounds,
        **get_rules(rules).to_keys(),  # "rules", and "rules_fields" of a user's own
        **information.to_keys(),
    )
    parts = [
        replace(first_part, first=first, rounds=min(part_rounds, rounds - first))
        for first in range(0, rounds, part_rounds)
    ]
    if anew:
        for index, kind in product(part_indices(folder), FOLDERS):
            part_file(folder, kind, index).unlink(missing_ok=True)
    existing = [i for i in range(len(parts)) if part_file(folder, DECISIONS, i).exists()]
    if not existing and {path.name for path in folder.glob("[!.]*")} - {*FOLDERS.values()}:
        raise SettingError(f"expected a folder of a log or none, got {str(folder)!r}")
    # The other existing parts are of agents that have changed since, and are played again.
    kept = {index for index in existing if _is_same(folder, index, parts[index])}
    sys.stderr.write(kept_line(folder, len(kept), len(existing) - len(kept)))
    part_after_end = part_file(folder, DECISIONS, len(parts))
    if part_after_end.exists():
        raise LogError(
            f"expected a log of {rounds:,} rounds at most, got one that has {part_after_end}"
        )
    if logged := sum(parts[index].rounds for index in kept):
        yield logged
    missing = [(index, part) for index, part in enumerate(parts) if index not in kept]
    for index in on_workers(partial(_write_part, folder), missing, workers):
        if changed := identities.changed():
            part_file(folder, DECISIONS, index).unlink()
            raise AgentError(f"expected {changed} to stay the same, but it {CHANGED_MARK}")
        logged += parts[index].rounds
        yield logged


def _is_same(folder: Path, index: int, part: Head) -> bool:
    """Returns whether a stored part was played by the agents as they are now.

    ``part`` is what would be written in its place now.

    Raises:
        SettingError: if the stored part is of another log.
    """
    file = part_file(folder, DECISIONS, index)
    stored = _read_head(file, DECISIONS)
    # Agents and the package may have changed since; everything else must be equal.
    of_agents = {"weights": None, "digests": None}
    before, now = (
        msgspec.to_builtins(replace(head, goita_env="", **of_agents)) for head in (stored, part)
    )
    check_same(before, now, f"{str(file)!r} was begun with")
    return (stored.weights, stored.digests) == (part.weights, part.digests)


def _write_part(folder: Path, missing: tuple[int, Head]) -> int:
    """Plays and writes the part with an index and its metadata; returns the index."""
    index, part = missing
    keys = msgspec.to_builtins(part)
    played = play(
        part.specs,
        part.rounds,
        seed=part.seed,
        rules=Rules.from_keys(keys),
        first=part.first,
        information=InformationStructure.from_keys(keys),
    )
    columns = {} if part.belief is None else belief_columns(played, part.belief)
    deals, decisions = tables(played, columns, msgspec.json.encode(part))
    # The decisions come last: a part whose decisions exist is whole.
    for kind, table in ((DEALS, deals), (DECISIONS, decisions)):
        file = part_file(folder, kind, index)
        file.parent.mkdir(parents=True, exist_ok=True)
        # The name contains the process, because another program may be writing the same part.
        temporary = file.with_suffix(f".{os.getpid()}.tmp")
        arrow().parquet.write_table(table, temporary, compression="zstd")
        os.replace(temporary, file)
    return index


def belief_columns(play: Play, agent: str) -> dict[str, Float]:
    """Returns the acting seats' knowledge of the others as columns of a log: [D] each, nats.

    Every seat has an exact listener whose model of all others is ``PolicyModel(agent)``. Decisions
    before play have NaN.
    """
    _, knowledge = listen(
        play, {agent: PolicyModel(agent)}, listeners=range(NUM_SEATS), revealed=False
    )
    columns = {}
    for seat, turn in RELATIVE_SEATS.items():
        for figure in ("log_probability", "entropy"):
            columns[f"{figure}_{seat}"] = np.full(len(play.deal), np.nan)
            columns[f"{figure}_{seat}"][knowledge.row] = getattr(knowledge, figure)[:, 0, turn - 1]
    return columns
