"""Saves a match after every move, as a complete record with the setting beside it.

``python -m agents.watch FILE`` opens such a file, finished or not: it holds all hands.
"""

from __future__ import annotations

import json
from itertools import count
from pathlib import Path
from typing import Final

from agents.files import write_whole
from agents.play.table import Setting, Table
from goita_env.errors import RecordError, SettingError
from goita_env.records import complete

KEY: Final = "table"
"""Under which the setting stands in the file."""


class Kept:
    """Keeps a match in a file.

    Args:
        path: the file.
    """

    def __init__(self, path: Path) -> None:
        self.path = path

    def __call__(self, table: Table) -> None:
        """Writes the match such that the file holds it as it was or as it is, never a part.

        Raises:
            OSError: if it cannot be written.
        """
        setting = table.setting
        named = [one if isinstance(one, str) else one.name for one in setting.agents]
        told = {"agents": named, "seed": setting.seed, "taken_back": table.taken_back}
        text = complete.dumps(table.record, {KEY: told})
        write_whole(self.path, text)


def begin(setting: Setting, path: Path) -> Table:
    """Returns a new match that is kept in a file.

    Raises:
        AgentError: if there is no such agent.
        SettingError: if there is such a file.
        OSError: if it cannot be written.
    """
    if path.exists():
        raise SettingError(
            f"expected a new file, got {str(path)!r}, which exists: --resume goes on with a match"
        )
    kept = Kept(path)
    table = Table(setting, keep=kept)
    kept(table)
    return table


def resume(path: Path) -> Table:
    """Returns the match that a file keeps, as it was left.

    Raises:
        AgentError: if there is no such agent any more.
        RecordError: if the file holds no match.
        OSError: if it cannot be read.
    """
    try:
        text = path.read_text(encoding="utf-8")
        record = complete.loads(text, source=path.name)
        told = json.loads(text)[KEY]
        agents, seed, taken_back = (told[key] for key in ("agents", "seed", "taken_back"))
        if [type(one) for one in (*agents, seed, taken_back)] != [str] * 4 + [int] * 2:
            raise RecordError(f"{path.name}: expected four agents and two numbers, got {told!r}")
    except (KeyError, TypeError, UnicodeDecodeError) as error:
        problem = f"{path.name}: expected a match of agents.play, got {error!r}"
        raise RecordError(problem) from error
    if not record.deals:
        raise RecordError(f"{path.name}: expected a deal, got none")
    first = record.deals[0]
    name = record.players[agents.index("")] if "" in agents else ""
    setting = Setting(tuple(agents), seed, first.rules, name, first, taken_back)
    try:
        return Table(setting, record.deals, keep=Kept(path))
    except RecordError as error:
        raise RecordError(f"{path.name}: {error}") from error


def free_name() -> Path:
    """Returns the first of match-1.json, match-2.json, ... that isn't there."""
    return next(path for n in count(1) if not (path := Path(f"match-{n}.json")).exists())
