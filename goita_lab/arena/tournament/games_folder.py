"""Saves the games of a tournament in a folder: a file for each block, a line of JSON for each deal.

::

    FOLDER/tournament.json                  the tournament, the weights of networks, versions
    FOLDER/001-greedy-random-00000.jsonl    the first block of the first pairing

    {"format": "goita-record-1", "rules": "jga", "players": ["random", "greedy", "random",
     "greedy"], "block": 0, "deal": 17, "seating": 1, "number": 1, "deals": [{"hands": ["11124559",
     "11122347", "13445667", "11123358"], "dealer": 2, "scores": [0, 0], "moves": ["2:46", "3:83",
     "0:p", ...]}]}

A line is a complete record (``goita_env.records.complete``) of one deal, whose players are the
agents, with further keys (``SavedDeal``). So a file can be read without its folder.

A file is written whole or not at all, and a block that is played again writes the same file again.
So a tournament that is stopped and resumed saves each game once.
"""

from __future__ import annotations

import json
import re
from collections.abc import Iterable, Iterator, Mapping
from io import StringIO
from pathlib import Path
from typing import Any, Final

from goita_agents.files import json_text, read_text, write_whole
from goita_agents.identity import Identities
from goita_env.checks import read_limited, unique_keys
from goita_env.errors import GoitaError, RecordError, SettingError
from goita_env.records.model import brief
from goita_lab.arena.tournament.plan import Schedule, Task
from goita_lab.arena.tournament.saved_games import SavedDeal
from goita_lab.provenance import depended_versions, versions
from goita_lab.store import check_same

FORMAT: Final = "goita-games-2"  #: Format mark of the folder; changes with the meaning of a line.
OLD_FORMATS: Final = {"goita-games-1": "0.3.0"}  #: Former formats, and the version that reads each.

MANIFEST: Final = "tournament.json"  #: The file that describes the tournament of a folder.
GAMES_PATTERN: Final = "[!.]*.jsonl"  #: Matches the files of games, except hidden ones.

MAX_GAMES_BYTES: Final = 10**8
"""Largest file that is read; that of a block has some hundred thousand bytes."""


class GamesFolder:
    """A folder of the games of a tournament; it is created if missing.

    The games of an agent that has changed are removed, because they will be played again.

    Args:
        path: the folder.
        plan: the tournament, or another schedule.
        identities: digests of its agents.
        anew: begin the folder anew, whatever its tournament.

    Raises:
        SettingError: if the folder holds the games of another tournament or version.
        OSError: if it cannot be created or written.
    """

    def __init__(
        self, path: Path, plan: Schedule, identities: Identities, *, anew: bool = False
    ) -> None:
        self.path = path
        self._prefixes = {
            pairing.tasks[0].agents: "-".join([f"{index:03}", *map(_short, pairing.agents)])
            for index, pairing in enumerate(plan.pairings(), 1)
        }
        head = {
            "format": FORMAT,
            "arguments": {**plan.arguments(), "versions": depended_versions()},
        }
        origin = {
            "weights": identities.weights,
            "digests": identities.digests,
            "versions": versions(),
        }
        path.mkdir(exist_ok=True)
        manifest = path / MANIFEST
        if manifest.exists():
            stored = _read_manifest(manifest)
            if anew:
                self.keep(())
            else:
                stored_head = {name: stored[name] for name in stored.keys() - origin.keys()}
                # As JSON, in which tuples have become lists.
                present_head = json.loads(json.dumps(head))
                check_same(stored_head, present_head, f"{str(path)!r} was begun with")
                self._remove_changed(plan, stored.get("digests", {}), identities.digests)
        elif any(path.glob("[!.]*")):
            raise SettingError(f"expected a folder of saved games or none, got {str(path)!r}")
        write_whole(manifest, json_text(head | origin))

    def _remove_changed(
        self, plan: Schedule, stored: Mapping[str, str], present: Mapping[str, str]
    ) -> None:
        """Removes the games of agents that have other digests now than in the manifest."""
        changed = {spec for spec in plan.specs if stored.get(spec) != present.get(spec)}
        if changed:
            tasks = (task for pairing in plan.pairings() for task in pairing.tasks)
            self.keep(task for task in tasks if changed.isdisjoint(plan.specs_of(task)))

    def file(self, task: Task) -> Path:
        return self.path / f"{self._prefixes[task.agents]}-{task.block:05}.jsonl"

    def write(self, task: Task, deals: Iterable[SavedDeal]) -> None:
        """Writes the games of a block over those that may be there already."""
        write_whole(self.file(task), "".join(f"{deal.to_line()}\n" for deal in deals))

    def check_whole(self, tasks: Iterable[Task]) -> None:
        """Checks that the games of all these blocks are there; raises a SettingError."""
        if lost := [file.name for file in map(self.file, tasks) if not file.exists()]:
            raise SettingError(
                f"expected the games of every block of the results in {str(self.path)!r}, "
                f"got none of {len(lost)}: {lost[0]} and so on"
            )

    def keep(self, tasks: Iterable[Task]) -> None:
        """Removes the games of all blocks except these; other blocks do not count."""
        counting = {self.file(task) for task in tasks}
        for file in self.path.glob("*.jsonl"):
            if file not in counting:
                file.unlink()


def _short(name: str) -> str:
    """Returns the last 32 bytes of an agent's name, for file names, which may have 255 bytes."""
    return re.sub(r"[^\w.=+]+", "_", name).encode()[-32:].decode(errors="ignore")


def game_files(path: Path) -> list[Path]:
    """Returns the files of saved games: those of a folder, sorted by name, or the file itself."""
    return sorted(path.glob(GAMES_PATTERN)) if path.is_dir() else [path]


def read_games(path: Path) -> Iterator[SavedDeal]:
    """Yields every deal of a folder of games or of one of its files, block by block.

    The files may come from somebody else.

    Raises:
        GoitaError: if the folder has no manifest, or one of another format, or a file holds
            something else; names the file and the line.
        OSError: if a file cannot be read.
    """
    manifest = (path if path.is_dir() else path.parent) / MANIFEST
    if manifest.exists():
        _read_manifest(manifest)
    elif path.is_dir():
        raise RecordError(f"expected a folder of saved games, got no {MANIFEST} in {str(path)!r}")
    for file in game_files(path):
        for line_number, line in enumerate(StringIO(read_text(file, MAX_GAMES_BYTES)), 1):
            try:
                yield SavedDeal.from_line(line)
            except GoitaError as error:
                raise RecordError(f"{file.name}, line {line_number}: {error}") from error


def _read_manifest(file: Path) -> dict[str, Any]:
    """Returns the content of a manifest; a SettingError if it is of another format."""
    try:
        # json, because msgspec refuses lone surrogates, which a path may contain.
        content = json.loads(read_limited(file, MAX_GAMES_BYTES), object_pairs_hook=unique_keys)
    except (ValueError, RecursionError) as error:
        raise SettingError(f"expected JSON in {str(file)!r}: {error}") from error
    kind = content.get("format") if isinstance(content, dict) else content
    if not isinstance(content, dict) or kind != FORMAT:
        version = OLD_FORMATS.get(kind) if isinstance(kind, str) else None
        reader = f"; goita-env {version} reads it" if version else ""
        raise SettingError(
            f"expected saved games of the format {FORMAT!r} in {str(file)!r}, "
            f"got {brief(kind)}{reader}"
        )
    return content
