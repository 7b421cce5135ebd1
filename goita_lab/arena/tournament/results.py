"""Stores the blocks of a tournament in a file, from which it resumes after a stop.

The file is an SQLite database (``goita_lab.store``), readable with ``sqlite3`` and pandas;
``docs/tournaments.md`` describes its tables. A block is stored under the texts of its agents, with
the SHA-256 of the files of a user's agents. If one agent changes, only its blocks are played again.
"""

from __future__ import annotations

import json
from collections import Counter
from dataclasses import asdict, fields
from pathlib import Path
from typing import Annotated, Any, Final, Literal

import msgspec
import numpy as np
import numpy.typing as npt
from msgspec import Meta

from goita_agents.faults import Fault
from goita_agents.registry import short_name
from goita_env.errors import SettingError
from goita_lab.arena.tournament.plan import Pairing, Schedule
from goita_lab.arena.tournament.task import GAME_FIGURES, BlockResult, Task
from goita_lab.store import Store

KIND: Final = "results of a tournament"

_FAULT: Final = {
    field.name: "INTEGER NOT NULL" if field.type == "int" else "TEXT NOT NULL"
    for field in fields(Fault)
}
_OF_BLOCK: Final = "block INTEGER NOT NULL REFERENCES blocks ON DELETE CASCADE"


def _numbers(*names: str) -> str:
    return ", ".join(f"{name} INTEGER NOT NULL" for name in names)


TABLES: Final = {
    "blocks": "block INTEGER PRIMARY KEY, key TEXT NOT NULL UNIQUE, pairing TEXT NOT NULL, "
    f"{_numbers('number', 'first', 'deals')}, seconds REAL NOT NULL",
    "games": f"{_OF_BLOCK}, {_numbers('deal', 'seating', *GAME_FIGURES)}, "
    "PRIMARY KEY (block, deal, seating)",
    "players": f"{_OF_BLOCK}, player INTEGER NOT NULL, agent TEXT NOT NULL, source TEXT, "
    "decisions INTEGER NOT NULL, thinking REAL NOT NULL, forfeited INTEGER NOT NULL, "
    "PRIMARY KEY (block, player)",
    "faults": f"{_OF_BLOCK}, {_numbers('number', 'player')}, "
    f"{', '.join(f'{name} {kind}' for name, kind in _FAULT.items())}, "
    "PRIMARY KEY (block, number)",
}
"""The columns of a file of results, by table."""

_Seconds = Annotated[float, Meta(ge=0, le=1e9)]
_Player = tuple[
    int, int, str, str | None, Annotated[int, Meta(ge=0, le=1 << 40)], _Seconds, Literal[0, 1]
]
"""A row of the table of players."""

_MOST_POINTS: Final = 1_000
"""Points of a round, with what messages cost, are below it."""


class ResultsFile(Store):
    """The results of a tournament, opened for adding blocks; the file is created if missing.

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
        self._stale: list[tuple[int]] = []
        self._sources = plan.contents()
        super().__init__(path, KIND, TABLES, plan.arguments())
        try:
            ours, theirs = json.loads(json.dumps(plan.arguments())), self.arguments
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
        task = result.task
        games = [*_games(task), *(getattr(result, name).T.ravel() for name in GAME_FIGURES)]
        with self.block() as db:
            db.executemany("DELETE FROM blocks WHERE block = ?", self._stale)
            title = Pairing(tuple(map(short_name, task.agents)), ()).title
            head = _key(task), _text(title), task.block, task.first, task.deals, result.seconds
            block = db.execute("INSERT INTO blocks VALUES (NULL, ?, ?, ?, ?, ?, ?)", head).lastrowid
            counts = zip(result.decisions.tolist(), result.thinking.tolist(), strict=True)
            players = [
                (player, _text(text), self._sources[text], *count, player in result.forfeited)
                for player, (text, count) in enumerate(zip(task.agents, counts, strict=True))
            ]
            faults = [
                (number, player, *_fault_row(fault))
                for number, (player, fault) in enumerate(result.faults)
            ]
            tables = {"games": np.column_stack(games).tolist(), "players": players}
            for name, rows in {**tables, "faults": faults}.items():
                if rows:
                    marks = ", ?" * len(rows[0])
                    statement = f"INSERT INTO {name} VALUES ({block}{marks})"
                    db.executemany(statement, rows)
        self._stale = []

    def _load(self, known: dict[str, Task]) -> None:
        """Reads the blocks; those of changed agents are removed as the next one is added."""
        changed: Counter[str] = Counter()
        for block, key, seconds in self.read("SELECT block, key, seconds FROM blocks"):
            try:
                task = known.pop(key)
                result, sources = self._block(task, block, seconds)
            except (KeyError, TypeError, ValueError, OverflowError, RecursionError) as error:
                raise self.damaged(f"block {block} is none of this tournament: {error}") from error
            texts = zip(task.agents, sources, strict=True)
            others = {text for text, source in texts if source != self._sources[text]}
            changed.update(others)
            if others:
                self._stale.append((block,))
            else:
                self.blocks.append(result)
        if self._stale:
            self.note = (
                f"{self.path}: {len(self._stale)} block(s) are played again, as the files of an "
                "agent have changed: "
                f"{', '.join(f'{text!r} ({n})' for text, n in changed.items())}\n"
            )

    def _block(
        self, task: Task, block: int, seconds: float
    ) -> tuple[BlockResult, list[str | None]]:
        """Returns a stored block and the sources of its agents, or raises a ValueError."""
        rows = {
            name: self.read(f"SELECT * FROM {name} WHERE block = ? ORDER BY 2, 3", block)
            for name in ("games", "players", "faults")
        }
        games = np.array(msgspec.convert(rows["games"], list[tuple[int, ...]]), np.int32).T
        if not np.array_equal(games[1:3], _games(task)):
            raise ValueError(f"expected {task.deals} deals in {len(task.seatings)} seatings")
        players = msgspec.convert(rows["players"], list[_Player])
        if [row[1] for row in players] != list(range(len(task.agents))):
            raise ValueError(f"expected {len(task.agents)} players, got {len(players)}")
        faults = tuple(_fault(row) for row in rows["faults"])
        if wrong := {player for player, _ in faults} - {*range(len(task.agents))}:
            raise ValueError(f"expected faults of its players, got one of {min(wrong)}")
        _check(task, games[3:])
        shape = task.deals, len(task.seatings)
        columns = zip(GAME_FIGURES, games[3:], strict=True)
        figures: dict[str, Any] = {name: one.reshape(shape).T.copy() for name, one in columns}
        figures["won"] = figures["won"].astype(bool)
        result = BlockResult(
            task,
            **figures,
            decisions=np.array([row[4] for row in players], np.int64),
            thinking=np.array([row[5] for row in players]),
            seconds=msgspec.convert(seconds, _Seconds),
            faults=faults,
            forfeited=tuple(row[1] for row in players if row[6]),
        )
        return result, [row[3] for row in players]


def _check(task: Task, figures: npt.NDArray[np.int32]) -> None:
    """Raises a ValueError if the figures of games are impossible: rows as ``GAME_FIGURES``."""
    points, rounds, rounds_won, won = figures
    possible = (
        ((rounds == 1) if task.episode == "round" else (rounds >= 1))
        & (rounds_won >= 0)
        & (rounds_won <= rounds)
        & ((won == 0) | (won == 1))
        & (abs(points) < _MOST_POINTS * rounds)
    )
    if not possible.all():
        names, first = ", ".join(GAME_FIGURES), figures[:, int((~possible).argmax())]
        raise ValueError(f"expected possible {names}, got {first.tolist()}")


def read_arguments(path: Path) -> dict[str, Any] | None:
    """Returns the arguments of a file of results, None if missing; raises as opening does."""
    if not path.exists() or not path.stat().st_size:
        return None
    with Store(path, KIND, TABLES, {}) as store:
        if type(store.arguments.get("seed")) is not int:
            raise store.damaged(f"its seed is {store.arguments.get('seed')!r}")
        return store.arguments


def _key(task: Task) -> str:
    return json.dumps([*task.agents, task.block])


def _games(task: Task) -> list[np.ndarray[Any, np.dtype[np.int64]]]:
    """Returns the columns deal and seating of the table ``games``."""
    seatings = np.arange(len(task.seatings))
    deals = task.first + np.arange(task.deals)
    return [np.repeat(deals, len(seatings)), np.tile(seatings, len(deals))]


def _text(text: str) -> str:
    """Escapes lone surrogates, which SQLite cannot hold."""
    return text.encode("utf-8", "backslashreplace").decode()


def _fault_row(fault: Fault) -> list[Any]:
    values = asdict(fault) | {"stderr": json.dumps(fault.stderr)}
    return [_text(value) if isinstance(value, str) else value for value in values.values()]


def _fault(row: tuple[Any, ...]) -> tuple[int, Fault]:
    """Returns a player and its fault; raises a ValueError if the row holds none."""
    _, _, player, *values = row
    found = dict(zip(_FAULT, values, strict=True))
    found["stderr"] = msgspec.json.decode(found["stderr"])
    return player, msgspec.convert(found, Fault)
