"""Stores the blocks of a tournament in a file, from which it resumes after a stop.

The file is an SQLite database (``goita_lab.store``), readable with ``sqlite3`` and pandas;
``docs/tournaments.md`` describes its tables. A block is stored under the texts of its agents, with
the SHA-256 of the files of a user's agents. If one agent changes, only its blocks are played again.
"""

from __future__ import annotations

import json
from collections import Counter
from collections.abc import Iterable, Mapping
from dataclasses import asdict, fields
from pathlib import Path
from types import GenericAlias
from typing import Annotated, Any, Final

import msgspec
import numpy as np

from goita_agents.faults import Fault
from goita_agents.registry import short_name
from goita_env.errors import SettingError
from goita_lab import store
from goita_lab.arena.tournament.plan import Pairing, Schedule
from goita_lab.arena.tournament.task import GAME_FIGURES, BlockResult, Count, Flag, Small, Task
from goita_lab.store import Block, Layout, Row, Store, TableSchema, damaged

_Seconds = Annotated[float, msgspec.Meta(ge=0, le=1e12)]
_GAMES: Final[Any] = GenericAlias(
    list, (GenericAlias(tuple, (Count, Small, *GAME_FIGURES.values())),)
)
_Player = tuple[int, str, str | None, Count, _Seconds, Flag]

_FAULT: Final = {field.name: str(field.type) for field in fields(Fault)}
_LISTS: Final = [name for name, kind in _FAULT.items() if kind.startswith("tuple")]
"""Fields of a fault that are stored as JSON."""


def _columns(names: Iterable[str], kind: str) -> tuple[str, ...]:
    return tuple(f"{name} {kind} NOT NULL" for name in names)


LAYOUT: Final = Layout(
    kind="results of a tournament",
    version=1,
    columns=(
        "pairing TEXT NOT NULL",
        *_columns(("number", "first", "deals"), "INTEGER"),
        "seconds REAL NOT NULL",
    ),
    tables={
        "games": TableSchema(_columns(("deal", "seating", *GAME_FIGURES), "INTEGER"), keys=2),
        "players": TableSchema(
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
        "faults": TableSchema(
            (
                *_columns(("number", "player"), "INTEGER"),
                *(
                    f"{name} {'INTEGER' if kind == 'int' else 'TEXT'} NOT NULL"
                    for name, kind in _FAULT.items()
                ),
            ),
            keys=1,
        ),
    },
    former=b'{"format":"goita-results-1"',
)
"""The tables of a file of results."""


class ResultsFile(Store):
    """Opens the results of a tournament for adding blocks; the file is created if missing.

    Args:
        path: the file.
        plan: the tournament, or another schedule.

    Raises:
        SettingError: if the file is of another kind, version or tournament, is damaged, or is open
            in another program; it is left unchanged.
        OSError: if it cannot be read or written.

    Attributes:
        blocks: the stored blocks that count.
        note: a line on the blocks that are played again because an agent has changed; "" if none.
    """

    def __init__(self, path: Path, plan: Schedule) -> None:
        self.note = ""
        self.blocks: list[BlockResult] = []
        self._sources = plan.contents()
        ours = json.loads(json.dumps(plan.arguments()))
        super().__init__(path, LAYOUT, ours)
        try:
            theirs = self.arguments
            if differ := [key for key in {**ours, **theirs} if ours.get(key) != theirs.get(key)]:
                raise SettingError(
                    f"expected the arguments that {str(path)!r} was begun with: "
                    + "; ".join(f"{k} {theirs.get(k)!r}, now {ours.get(k)!r}" for k in differ)
                )
            tasks = (task for pairing in plan.pairings() for task in pairing.tasks)
            self._load({_key(task): task for task in tasks})
        except BaseException:
            self.close()
            raise

    def append(self, result: BlockResult) -> None:
        """Writes a block; on an OSError (disk full) the file keeps its content."""
        self.add(_to_block(result, self._sources))

    def _load(self, known: dict[str, Task]) -> None:
        """Reads the blocks; those of changed agents are marked for removal."""
        stale: list[int] = []
        changed: Counter[str] = Counter()
        for number, block in self.read():
            try:
                task = known.pop(block.key)
                result, sources = _from_block(task, block)
            except (KeyError, TypeError, ValueError, OverflowError, RecursionError) as error:
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
            self.drop(stale)
            self.note = (
                f"{self.path}: {len(stale)} block(s) are played again, as the files of an agent "
                f"have changed: {', '.join(f'{text!r} ({n})' for text, n in changed.items())}\n"
            )


def read_arguments(path: Path) -> dict[str, Any] | None:
    """Returns the arguments of a file of results, None if missing; raises as opening does."""
    found = store.read_arguments(path, LAYOUT)
    if found is not None and type(found.get("seed")) is not int:
        raise damaged(path, LAYOUT, f"its seed is {found.get('seed')!r}")
    return found


def _key(task: Task) -> str:
    return json.dumps([*task.agents, task.block])


def _values(task: Task) -> tuple[str, int, int, int]:
    """Returns the columns of the table ``blocks`` that follow from the task."""
    names = tuple(map(short_name, task.agents))
    return _text(Pairing(names, ()).title), task.block, task.first, task.deals


def _games(task: Task) -> list[np.ndarray[Any, np.dtype[np.int64]]]:
    """Returns the columns deal and seating of the table ``games``."""
    seatings = np.arange(len(task.seatings))
    deals = task.first + np.arange(task.deals)
    return [np.repeat(deals, len(seatings)), np.tile(seatings, len(deals))]


def _to_block(result: BlockResult, sources: Mapping[str, str | None]) -> Block:
    task = result.task
    columns = [*_games(task), *(getattr(result, name).T.ravel() for name in GAME_FIGURES)]
    players = [
        (player, _text(text), sources[text], decisions, thinking, int(player in result.forfeited))
        for player, (text, decisions, thinking) in enumerate(
            zip(task.agents, result.decisions.tolist(), result.thinking.tolist(), strict=True)
        )
    ]
    faults = [
        (number, player, *_fault_row(fault)) for number, (player, fault) in enumerate(result.faults)
    ]
    rows = {"games": np.column_stack(columns).tolist(), "players": players, "faults": faults}
    return Block(_key(task), (*_values(task), float(result.seconds)), rows)


def _fault_row(fault: Fault) -> Row:
    values = asdict(fault)
    values |= {name: json.dumps(values[name]) for name in _LISTS}
    return [_text(value) if isinstance(value, str) else value for value in values.values()]


def _text(text: str) -> str:
    """Escapes lone surrogates, which SQLite cannot hold."""
    return text.encode("utf-8", "backslashreplace").decode()


def _from_block(task: Task, block: Block) -> tuple[BlockResult, list[str | None]]:
    """Returns a stored block and the sources of its agents, or raises a ValueError."""
    *values, seconds = block.values
    if tuple(values) != _values(task):
        raise ValueError(f"expected {_values(task)!r}, got {values!r}")
    games = np.array(msgspec.convert(block.rows["games"], _GAMES), np.int32)
    games = games.reshape(-1, 2 + len(GAME_FIGURES)).T
    if not np.array_equal(games[:2], _games(task)):
        raise ValueError(
            f"expected {task.deals} deals from {task.first} on, in {len(task.seatings)} seatings"
        )
    players = msgspec.convert(block.rows["players"], list[_Player])
    wanted = [(player, _text(text)) for player, text in enumerate(task.agents)]
    if [row[:2] for row in players] != wanted:
        raise ValueError(f"expected the players {wanted!r}, got {[row[:2] for row in players]!r}")
    shape = task.deals, len(task.seatings)
    figures: dict[str, Any] = {
        name: column.reshape(shape).T.copy()
        for name, column in zip(GAME_FIGURES, games[2:], strict=True)
    }
    if (figures["rounds_won"] > figures["rounds"]).any():
        raise ValueError("expected no more rounds won than played")
    figures["won"] = figures["won"].astype(bool)
    result = BlockResult(
        task,
        **figures,
        decisions=np.array([row[3] for row in players], np.int64),
        thinking=np.array([row[4] for row in players]),
        seconds=msgspec.convert(seconds, _Seconds),
        faults=tuple(_fault(row, len(players)) for row in block.rows["faults"]),
        forfeited=tuple(row[0] for row in players if row[5]),
    )
    return result, [row[2] for row in players]


def _fault(row: Row, players: int) -> tuple[int, Fault]:
    """Returns a player and its fault; raises a ValueError if the row holds none."""
    _, player, *values = row
    if not isinstance(player, int) or player not in range(players):
        raise ValueError(f"expected a player below {players}, got {player!r}")
    found: dict[str, Any] = dict(zip(_FAULT, values, strict=True))
    found |= {name: msgspec.json.decode(found[name]) for name in _LISTS}
    return int(player), msgspec.convert(found, Fault)
