"""Stores the blocks of a tournament in a file, from which it resumes after a stop.

A block is stored under the texts of its agents and the SHA-256 of the files that each is read from.
If one agent changes, only its blocks are played again.
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
from goita_lab.store import Parts, check_columns, pack

KIND: Final = "results of a tournament"


class ResultsFile:
    """The results of a tournament, opened for adding blocks; the file is created if missing.

    Args:
        path: the file.
        plan: the tournament, or another schedule.
        identities: what its agents are made of.

    Raises:
        SettingError: if the file is of another kind, version or tournament, is damaged, or is open
            in another program; it is left unchanged.
        OSError: if it cannot be read or written.

    Attributes:
        blocks: the stored blocks that count.
        note: a line on the stored blocks that do not, because an agent has changed; "" if none.
    """

    def __init__(self, path: Path, plan: Schedule, identities: Identities) -> None:
        self._plan, self._identities = plan, identities
        self._parts = Parts(path, KIND, plan.arguments())
        try:
            ours, theirs = json.loads(json.dumps(plan.arguments())), self._parts.arguments
            if differ := [key for key in {**ours, **theirs} if ours.get(key) != theirs.get(key)]:
                raise SettingError(
                    f"expected the arguments that {str(path)!r} was begun with: "
                    + "; ".join(f"{k} {theirs.get(k)!r}, now {ours.get(k)!r}" for k in differ)
                )
            tasks = (task for pairing in plan.pairings() for task in pairing.tasks)
            self.blocks = [
                self._block(task) for task in tasks if self._key(task) in self._parts.found
            ]
        except BaseException:
            self.close()
            raise
        unused = len(self._parts.found) - len(self.blocks)
        self.note = (
            f"{path}: {unused} block(s) do not count, as the files of an agent have changed\n"
            if unused
            else ""
        )

    def append(self, result: BlockResult) -> None:
        """Writes a block; on a SettingError (disk full) the file keeps its content.

        A block is left out whose agents are made of something else by now: who played it?
        """
        if self._identities.changed({self._plan.spec_of(text) for text in result.task.agents}):
            return
        figures = {field.name: getattr(result, field.name) for field in fields(BlockFigures)}
        self._parts.add(self._key(result.task), pack(BlockFigures(**figures)))

    def close(self) -> None:
        """Closes the file."""
        self._parts.close()

    def __enter__(self) -> Self:
        return self

    def __exit__(self, *error: object) -> None:
        self.close()

    def _key(self, task: Task) -> str:
        digests = self._identities.digests
        contents = [digests.get(self._plan.spec_of(text)) for text in task.agents]
        return json.dumps([*task.agents, *contents, task.block])

    def _block(self, task: Task) -> BlockResult:
        """Returns a stored block; a SettingError if it is none of this tournament."""
        figures: BlockFigures = self._parts.value(self._key(task), BlockFigures)
        sizes = {"S": len(task.seatings), "D": task.deals, "P": 1 + max(map(max, task.seatings))}
        try:
            check_columns(vars(figures), figures.columns(), sizes)
        except SettingError as error:
            raise self._parts.damaged(f"block {task.block}: {error}") from error
        players, rounds = range(sizes["P"]), figures.rounds
        if (
            (figures.rounds_won > rounds).any()
            or (task.episode == "round" and (rounds > 1).any())
            or not {*figures.forfeited, *(player for player, _ in figures.faults)} <= {*players}
        ):
            raise self._parts.damaged(f"block {task.block}: rounds or players that are none")
        return BlockResult(**vars(figures), task=task)


def read_arguments(path: Path | None) -> dict[str, Any] | None:
    """Returns the arguments of a file of results, None if missing; raises as opening does."""
    if path is None or not path.exists() or not path.stat().st_size:
        return None
    with Parts(path, KIND, {}) as parts:
        return parts.arguments


def draw_seed(kept: Mapping[str, Any] | None) -> int:
    """Returns the seed among the arguments of a file of results, else one that nobody can know."""
    if kept is None:
        return secrets.randbits(64)
    seed: int = kept.get("seed", -1)  # the plan refuses what is none
    return seed
