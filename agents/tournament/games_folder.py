"""Keeps the games of a tournament in a folder: one file a block, one deal a line of JSON.

::

    FOLDER/tournament.json                       what the tournament is, its rules, the share saved
    FOLDER/001-greedy-random-00000.jsonl         the first block of the first pairing

    {"pairing": ["greedy", "random"], "block": 0, "deal": 17, "seating": 1, "number": 1,
     "agents": ["random", "greedy", "random", "greedy"], "rules": "jga", "dealer": 2,
     "scores": [0, 0], "winner": 3, "points": 40, "before_play": [[0, 65], [2, 67]],
     "history": "11124559,11122347,13445667,11123358,s3,346,483,194,..."}

A file is there whole or not at all, and a block that is played again writes the same file again. So
a tournament that is stopped and gone on with has each game once.
"""

from __future__ import annotations

import json
import re
from collections.abc import Iterable, Iterator
from dataclasses import asdict, dataclass
from pathlib import Path
from typing import Final, Literal

from agents.files import decode, read_limited, write_whole
from agents.tournament.games import SavedDeal, check_share
from agents.tournament.plan import OF_AGENTS, Plan
from agents.tournament.task import Task
from goita_env.errors import GoitaError, RecordError, SettingError
from goita_env.rules import Rules, get_rules

FORMAT: Final = "goita-games-1"
"""Names this kind of folder; grows when the meaning of a line changes."""

MANIFEST: Final = "tournament.json"
"""The file that says which tournament the folder is of."""

MOST_BYTES: Final = 10**8
"""A larger file is refused; that of a block has some hundred thousand bytes."""


@dataclass(frozen=True)
class Manifest:
    """Is what is read of a manifest."""

    format: Literal["goita-games-1"]
    rules: Rules


class GamesFolder:
    """Is the folder of a tournament's games; it is made where there is none.

    Args:
        path: the folder.
        plan: the tournament.
        share: of the deals, more than 0 and at most 1, whose games are saved.

    Raises:
        SettingError: if the folder holds another tournament's games or another share.
        OSError: if it cannot be made or written.
    """

    def __init__(self, path: Path, plan: Plan, share: float = 1.0) -> None:
        self.path, self.share = path, check_share(share)
        self._prefixes = {
            pairing.tasks[0].agents: f"{number:03}-{_file_name(pairing.agents)}"
            for number, pairing in enumerate(plan.pairings(), 1)
        }
        # Not what agents are read from: after a change their blocks, and so their files, are new.
        arguments = {k: v for k, v in plan.arguments().items() if k not in OF_AGENTS}
        head = {
            "format": FORMAT,
            "save_share": share,
            "arguments": arguments,
            "rules": asdict(get_rules(plan.rules)),
        }
        text = json.dumps(head, indent=1) + "\n"
        path.mkdir(exist_ok=True)
        manifest = path / MANIFEST
        if not manifest.exists():
            if any(path.glob("[!.]*")):
                raise SettingError(f"expected a folder of saved games or none, got {str(path)!r}")
            write_whole(manifest, text)
        elif read_limited(manifest, MOST_BYTES) != text.encode():
            raise SettingError(
                f"expected {str(path)!r} to hold this tournament's games and the same share, "
                f"got another one: see {str(manifest)!r}"
            )

    def file(self, task: Task) -> Path:
        """Returns the file of a block's games."""
        return self.path / f"{self._prefixes[task.agents]}-{task.block:05}.jsonl"

    def write(self, task: Task, deals: Iterable[SavedDeal]) -> None:
        """Writes the games of a block, in the place of those that may be there already."""
        lines = (deal.to_line(task.agents, task.block) for deal in deals)
        write_whole(self.file(task), "".join(f"{line}\n" for line in lines))

    def keep(self, tasks: Iterable[Task]) -> None:
        """Removes the games of all other blocks: they were played, but don't count."""
        wanted = {self.file(task) for task in tasks}
        for file in self.path.glob("*.jsonl"):
            if file not in wanted:
                file.unlink()


def read_games(folder: Path, pattern: str = "*.jsonl") -> Iterator[SavedDeal]:
    """Yields every deal of a folder of games, block by block.

    Args:
        folder: the folder.
        pattern: which of its files are read.

    Raises:
        GoitaError: if they are something else; anybody may have written them.
        OSError: if there are none.
    """
    manifest = read_limited(folder / MANIFEST, MOST_BYTES)
    rules = decode(manifest, Manifest, f"saved games, with {MANIFEST}").rules
    for file in sorted(folder.glob(pattern)):
        for number, line in enumerate(read_limited(file, MOST_BYTES).splitlines(), 1):
            try:
                yield SavedDeal.from_line(line, rules)
            except GoitaError as error:
                raise RecordError(f"{file.name}, line {number}: {error}") from error


def _file_name(agents: Iterable[str]) -> str:
    """Returns the names of a pairing as part of a file's name, each cut short."""
    return "-".join(re.sub(r"[^\w.=+]+", "_", agent)[-32:] for agent in agents)
