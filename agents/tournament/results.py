"""Keeps the blocks of a tournament in a file, from which it goes on after a stop.

The file is an SQLite database (``agents.store``), which ``sqlite3`` and pandas read:
``docs/tournaments.md`` describes its tables. A block is kept under its agents: their texts, and for
agents of one's own the SHA-256 of the files that they are read from. With one agent changed its
blocks alone are played again.
"""

from __future__ import annotations

import json
from collections import Counter
from collections.abc import Iterable, Mapping
from dataclasses import asdict, fields
from pathlib import Path
from typing import Annotated, Any, Final, Self

import msgspec
import numpy as np

from agents import store
from agents.faults import Fault
from agents.registry import short_name
from agents.store import Block, Layout, Row, Store, Table, damaged
from agents.tournament.plan import OF_AGENTS, Pairing
from agents.tournament.task import BlockResult, Task
from goita_env.errors import SettingError

_Small = Annotated[int, msgspec.Meta(ge=-(2**31), le=2**31 - 1)]
_Count = Annotated[int, msgspec.Meta(ge=0, le=2**53)]
_Seconds = Annotated[float, msgspec.Meta(ge=0)]
_Truth = Annotated[int, msgspec.Meta(ge=0, le=1)]
_Game = tuple[_Count, _Small, _Small, _Count, _Count, _Truth]
_Player = tuple[int, str, str | None, _Count, _Seconds, _Truth]

_FAULT: Final = tuple(field.name for field in fields(Fault))
_NUMBERS: Final = {field.name for field in fields(Fault) if field.type == "int"}
_LISTS: Final = {field.name for field in fields(Fault) if str(field.type).startswith("tuple")}
"""Columns of a fault; those that are lists are kept as JSON."""

LAYOUT: Final = Layout(
    kind="results of a tournament",
    version=1,
    columns=(
        "pairing TEXT NOT NULL",
        "number INTEGER NOT NULL",
        "first INTEGER NOT NULL",
        "deals INTEGER NOT NULL",
        "seconds REAL NOT NULL",
    ),
    tables={
        "games": Table(
            (
                "deal INTEGER NOT NULL",
                "seating INTEGER NOT NULL",
                "points INTEGER NOT NULL",
                "rounds INTEGER NOT NULL",
                "rounds_won INTEGER NOT NULL",
                "won INTEGER NOT NULL",
            ),
            keys=2,
        ),
        "players": Table(
            (
                "player INTEGER NOT NULL",
                "agent TEXT NOT NULL",
                "source TEXT",
                "decisions INTEGER NOT NULL",
                "thinking REAL NOT NULL",
                "forfeited INTEGER NOT NULL",
            ),
            keys=1,
        ),
        "faults": Table(
            (
                "number INTEGER NOT NULL",
                "player INTEGER NOT NULL",
                *(
                    f"{name} {'INTEGER' if name in _NUMBERS else 'TEXT'} NOT NULL"
                    for name in _FAULT
                ),
            ),
            keys=1,
        ),
    },
    former=b'{"format":"goita-results-1"',
)
"""The tables of a file of results."""


class ResultsFile:
    """Is the file of a tournament, open for more blocks.

    Args:
        path: the file; it is begun where there is none.
        arguments: all that the results depend on, as JSON can hold it.
        tasks: every block of the tournament.
        sources: what each agent is read from, by its text (``Plan.contents``).

    Raises:
        SettingError: if the file is no results file, is of another tournament or of version 0.2.0,
            is damaged, or another program has it open; it is left as it is then.
        OSError: if it cannot be read or written.

    Attributes:
        blocks: those that the file holds and that count.
        note: what will be played again because its agent has changed, "" if nothing.
    """

    def __init__(
        self,
        path: Path,
        arguments: Mapping[str, Any],
        tasks: Iterable[Task],
        sources: Mapping[str, str | None],
    ) -> None:
        self.path, self.note = path, ""
        self.blocks: list[BlockResult] = []
        known = {_key(task): task for task in tasks}
        self._sources = sources
        ours = {k: v for k, v in json.loads(json.dumps(arguments)).items() if k not in OF_AGENTS}
        self._store = Store(path, LAYOUT, ours)
        try:
            _compare(path, ours, self._store.arguments)
            self._read(known)
        except BaseException:
            self._store.close()
            raise

    def append(self, result: BlockResult) -> None:
        """Writes a block.

        Raises:
            OSError: if the disk is full or fails; the file holds what it held.
        """
        self._store.add(_block(result, self._sources))

    def close(self) -> None:
        """Makes the disk keep everything, and closes the file."""
        self._store.close()

    def __enter__(self) -> Self:
        return self

    def __exit__(self, *error: object) -> None:
        self.close()

    def _read(self, known: dict[str, Task]) -> None:
        """Takes in the blocks, but those of agents that have changed: they are to be dropped.

        Raises:
            SettingError: if a block is none of this tournament.
        """
        stale: list[int] = []
        changed: Counter[str] = Counter()
        for number, block in self._store.read():
            try:
                task = known.pop(block.key)
                result, sources = _result(task, block)
            except (KeyError, TypeError, ValueError, RecursionError) as error:
                raise damaged(
                    self.path, LAYOUT, f"block {number} is none of this tournament: {error}"
                ) from error
            texts = zip(task.agents, sources, strict=True)
            others = {text for text, source in texts if source != self._sources[text]}
            changed.update(others)
            if others:
                stale.append(number)
            else:
                self.blocks.append(result)
        if stale:
            self._store.drop(stale)
            self.note = (
                f"{self.path}: {len(stale)} block(s) are played again, as the files of an agent "
                f"have changed: {', '.join(f'{text!r} ({n})' for text, n in changed.items())}"
            )


def read_arguments(path: Path) -> dict[str, Any] | None:
    """Returns the arguments that a file of results was begun with; None if there is none yet.

    Raises:
        SettingError: if the file is no results file, is of version 0.2.0, is damaged, or another
            program has it open.
        OSError: if it cannot be read.
    """
    return store.read_arguments(path, LAYOUT)


def _compare(path: Path, ours: Mapping[str, Any], theirs: Mapping[str, Any]) -> None:
    """Checks that a file is of this tournament.

    Raises:
        SettingError: if it is not; the text lists what differs.
    """
    differ = [key for key in {**ours, **theirs} if ours.get(key) != theirs.get(key)]
    if differ:
        told = "; ".join(f"{key} {theirs.get(key)!r}, now {ours.get(key)!r}" for key in differ)
        raise SettingError(f"expected the arguments that {str(path)!r} was begun with: {told}")


def _key(task: Task) -> str:
    """Returns what tells a block apart: the texts of its agents and its number."""
    return json.dumps([*task.agents, task.block])


def _values(task: Task) -> tuple[str, int, int, int]:
    """Returns what the table of blocks says of a task."""
    names = tuple(map(short_name, task.agents))
    return _text(Pairing(names, ()).title), task.block, task.first, task.deals


def _block(result: BlockResult, sources: Mapping[str, str | None]) -> Block:
    """Returns a block as its tables hold it."""
    task = result.task
    seatings, deals = result.points.shape
    columns = [
        np.repeat(np.arange(deals) + task.first, seatings),
        np.tile(np.arange(seatings), deals),
        *(getattr(result, name).T.ravel() for name in ("points", "rounds", "rounds_won", "won")),
    ]
    players = [
        (player, _text(text), sources[text], decisions, thinking, int(player in result.forfeited))
        for player, (text, decisions, thinking) in enumerate(
            zip(task.agents, result.decisions.tolist(), result.thinking.tolist(), strict=True)
        )
    ]
    faults = [
        (number, player, *_of_fault(fault)) for number, (player, fault) in enumerate(result.faults)
    ]
    rows = {"games": np.column_stack(columns).tolist(), "players": players, "faults": faults}
    return Block(_key(task), (*_values(task), float(result.seconds)), rows)


def _of_fault(fault: Fault) -> Row:
    """Returns the columns of a fault."""
    values = asdict(fault)
    values |= {name: json.dumps(values[name]) for name in _LISTS}
    return [_text(value) if isinstance(value, str) else value for value in values.values()]


def _text(text: str) -> str:
    """Returns a text as SQLite can hold it: lone surrogates written out."""
    return text.encode("utf-8", "backslashreplace").decode()


def _result(task: Task, block: Block) -> tuple[BlockResult, list[str | None]]:
    """Returns the block that rows hold, and what each of its agents was read from.

    Raises:
        ValueError: if they hold none of this task.
    """
    *values, seconds = block.values
    if tuple(values) != _values(task):
        raise ValueError(f"expected {_values(task)!r}, got {values!r}")
    games = msgspec.convert(block.rows["games"], list[_Game])
    players = msgspec.convert(block.rows["players"], list[_Player])
    seatings, deals = shape = len(task.seatings), task.deals
    found = np.array(games, np.int32).reshape(-1, 6)
    order = np.column_stack(
        [np.repeat(np.arange(deals) + task.first, seatings), np.tile(np.arange(seatings), deals)]
    )
    if not np.array_equal(found[:, :2], order):
        raise ValueError(f"expected {deals} deals from {task.first} on, in {seatings} seatings")
    wanted = [(player, _text(text)) for player, text in enumerate(task.agents)]
    if [row[:2] for row in players] != wanted:
        raise ValueError(f"expected the players {wanted!r}, got {[row[:2] for row in players]!r}")
    points, rounds, rounds_won, won = (c.reshape(shape[::-1]).T for c in found[:, 2:].T)
    result = BlockResult(
        task=task,
        points=points.copy(),
        rounds=rounds.copy(),
        rounds_won=rounds_won.copy(),
        won=won.astype(np.bool_),
        decisions=np.array([row[3] for row in players], np.int64),
        thinking=np.array([row[4] for row in players]),
        seconds=msgspec.convert(seconds, _Seconds),
        faults=tuple(_fault(row, len(task.agents)) for row in block.rows["faults"]),
        forfeited=tuple(row[0] for row in players if row[5]),
    )
    return result, [row[2] for row in players]


def _fault(row: Row, players: int) -> tuple[int, Fault]:
    """Returns a player and its fault.

    Raises:
        ValueError: if a row holds none.
    """
    _, player, *values = row
    if not isinstance(player, int) or player not in range(players):
        raise ValueError(f"expected a player below {players}, got {player!r}")
    told: dict[str, Any] = dict(zip(_FAULT, values, strict=True))
    told |= {name: msgspec.json.decode(told[name]) for name in _LISTS}
    return int(player), msgspec.convert(told, Fault)
