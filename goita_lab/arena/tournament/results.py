"""Stores the blocks of a tournament in a file, from which it resumes after a stop.

A block is stored under the texts of its agents and their digests (``goita_agents.identity``). If
one agent changes, only its blocks are played again.
"""

from __future__ import annotations

import json
import secrets
from collections.abc import Mapping
from dataclasses import fields
from pathlib import Path
from typing import Any, Final, Self

from goita_agents.identity import Identities
from goita_env.errors import SettingError
from goita_lab.arena.tournament.plan import BlockFigures, BlockResult, Schedule, Task
from goita_lab.store import TaskStore, check_columns, stored_arguments

RESULTS_KIND: Final = "results of a tournament"


class ResultsFile:
    """The results of a tournament, opened for adding blocks; the file is created if missing.

    Args:
        path: the file.
        plan: the tournament, or another schedule.
        identities: digests of its agents.
        anew: begin the file anew, whatever its tournament.

    Raises:
        SettingError: if the file is of another kind, version or tournament, is damaged, or is open
            in another program; it is left unchanged.
        OSError: if it cannot be read or written.

    Attributes:
        blocks: the stored blocks that count.
        note: a line on stored blocks that do not count because an agent has changed; "": none.
    """

    def __init__(
        self, path: Path, plan: Schedule, identities: Identities, *, anew: bool = False
    ) -> None:
        self._plan = plan
        self._store = TaskStore(path, RESULTS_KIND, plan.arguments(), identities, anew=anew)
        try:
            tasks = [task for pairing in plan.pairings() for task in pairing.tasks]
            stored = (task for task in tasks if self._store.has(_name(task), plan.specs_of(task)))
            self.blocks = [self._block(task) for task in stored]
        except BaseException:
            self.close()
            raise
        self.note = self._store.note({_name(task): plan.specs_of(task) for task in tasks})

    def append(self, result: BlockResult) -> None:
        """Writes a block; on a SettingError (disk full) the file keeps its content."""
        figures = {field.name: getattr(result, field.name) for field in fields(BlockFigures)}
        agents = self._plan.specs_of(result.task)
        self._store.add(_name(result.task), agents, BlockFigures(**figures))

    def close(self) -> None:
        """Closes the file."""
        self._store.close()

    def __enter__(self) -> Self:
        return self

    def __exit__(self, *error: object) -> None:
        self.close()

    def _block(self, task: Task) -> BlockResult:
        """Returns a stored block; a SettingError if the block cannot be of this tournament."""
        name, agents = _name(task), self._plan.specs_of(task)
        figures: BlockFigures = self._store.value(name, agents, BlockFigures)
        num_players = 1 + max(map(max, task.seatings))
        sizes = {"S": len(task.seatings), "D": task.deals, "P": num_players}
        try:
            check_columns(vars(figures), figures.columns(), sizes)
        except SettingError as error:
            raise self._store.damaged(f"block {task.block}: {error}") from error
        rounds, players_at_fault = figures.rounds, {player for player, _ in figures.faults}
        if (
            (figures.rounds_won > rounds).any()
            or (task.episode == "round" and (rounds > 1).any())
            or not {*figures.forfeited, *players_at_fault} <= {*range(num_players)}
        ):
            raise self._store.damaged(f"block {task.block}: impossible rounds or players")
        return BlockResult(**vars(figures), task=task)


def _name(task: Task) -> str:
    """Returns the name of a block among the tasks of the file."""
    return json.dumps([*task.agents, task.block])


def read_arguments(path: Path | None) -> dict[str, Any] | None:
    """Returns the arguments of a file of results, None if missing; raises as opening does."""
    if path is None or not path.exists() or not path.stat().st_size:
        return None
    return stored_arguments(path, RESULTS_KIND)


def draw_seed(arguments: Mapping[str, Any] | None) -> int:
    """Returns the seed among the arguments of a file of results; without them a secret one."""
    if arguments is None:
        return secrets.randbits(64)
    seed: int = arguments.get("seed", -1)  # the plan refuses -1
    return seed
