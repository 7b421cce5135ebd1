"""Saves a match after every move, as a complete record together with the settings.

``goita watch FILE`` opens such a file, finished or not: it holds all hands. Because a file may come
from somebody else, only agents of this repository are built from the names in it; a player who
resumes a match with other agents has to name them again.
"""

from __future__ import annotations

import re
from collections.abc import Callable, Sequence
from contextlib import ExitStack, suppress
from dataclasses import dataclass
from pathlib import Path
from typing import Annotated, Final

from msgspec import Meta

from goita_agents.files import decode, locked, read_text, write_whole
from goita_agents.registry import check_shipped
from goita_env.errors import GoitaError, RecordError, SettingError
from goita_env.records import DealRecord, complete
from goita_lab.pages.play.seating import MatchSettings
from goita_lab.pages.play.table import PlayTable
from goita_lab.record_files import check_plain

MAX_SAVEGAME_BYTES: Final = 10**7
"""A longer file is refused; a match takes about ten thousand bytes."""

FREE_MATCH: Final = "a match that no one is playing"

MAX_LISTED_MATCHES: Final = 100
"""Matches of a folder that are listed."""

NAMED: Final = re.compile(r"match-(\d+)\.json")
"""Names of the files of matches, as they are chosen and listed."""

Count = Annotated[int, Meta(ge=0)]


@dataclass(frozen=True)
class SavedSettings:
    """What a file keeps next to the record."""

    agents: tuple[str, str, str, str]
    """By seat; "" at the person's seat."""
    seed: Count


@dataclass(frozen=True)
class SavedMatch:
    """The part of a file that is not the record."""

    table: SavedSettings
    """The key of the settings in the file."""


def begin(settings: MatchSettings, path: Path) -> PlayTable:
    """Returns a new match that is kept in a file."""
    if path.exists():
        raise SettingError(
            f"expected a new file, got {str(path)!r}, which exists: --resume continues a match"
        )
    keep = _writer(path)
    table = PlayTable(settings, keep=keep)
    keep(table)
    return table


def resume(
    path: Path, partner: str | None = None, opponents: Sequence[str] | None = None
) -> PlayTable:
    """Returns the match that a file keeps, as it was left.

    Args:
        path: the file.
        partner: the agent of the person's partner, as the file names it. None: the agent that the
            file names, which has to be of this repository: no path, command or class of a user.
        opponents: the agents of the opponents: one for both, or those of the next seat and of the
            previous seat; None: as for the partner.
    """
    settings, deals = read(path)
    following, previous = (None, None) if opponents is None else (opponents[0], opponents[-1])
    options = ((following, "--opponents"), (partner, "--partner"), (previous, "--opponents"))
    for saved, (spec, option) in zip(settings.others, options, strict=True):
        if spec is None:
            check_shipped(saved, f"{path.name} ({option})")
        elif spec != saved:
            raise SettingError(f"expected {option} {saved!r} as in {path.name}, got {spec!r}")
    try:
        return PlayTable(settings, deals, keep=_writer(path))
    except RecordError as error:
        raise RecordError(f"{path.name}: {error}") from error


def read(path: Path) -> tuple[MatchSettings, tuple[DealRecord, ...]]:
    """Returns the settings and the deals of a file; builds no agent."""
    text = read_text(path, MAX_SAVEGAME_BYTES)
    record = complete.loads(text, source=path.name)
    saved = decode(text, SavedMatch, f"a match of goita_lab.pages.play in {path.name}").table
    if not record.deals:
        raise RecordError(f"{path.name}: expected a deal, got none")
    check_plain(record.deals, "goita play")
    first = record.deals[0]
    settings = MatchSettings(saved.agents, saved.seed, first.rules, first)
    return settings, record.deals


def listed() -> list[tuple[str, MatchSettings, tuple[int, int]]]:
    """Lists the matches of the working folder, the newest first; unreadable files are left out.

    Returns:
        For each match its file name, its settings, and the points of seats 0 and 2 and of seats 1
        and 3 in the rounds that are over.
    """
    named = [(NAMED.fullmatch(path.name), path) for path in Path().iterdir()]
    numbered = sorted(((int(name[1]), path) for name, path in named if name), reverse=True)
    matches = []
    for _, file in numbered[:MAX_LISTED_MATCHES]:
        with suppress(GoitaError, OSError):
            settings, deals = read(file)
            scores = deals[-1].scores
            # An illegal move, in a file that another program has written: the last deal does not
            # count. ``resume`` refuses such a file.
            with suppress(RecordError):
                scores = deals[-1].result().scores
            matches.append((file.name, settings, scores))
    return matches


def lock_free_name(stack: ExitStack) -> Path:
    """Returns the first free name of match-1.json, match-2.json, ..., locked by the stack."""
    index = 1
    while True:
        path = Path(f"match-{index}.json")
        index += 1
        with suppress(SettingError):
            if not path.exists():
                stack.enter_context(locked(path, FREE_MATCH))
                return path


def _writer(path: Path) -> Callable[[PlayTable], None]:
    whole = path.resolve()

    def write(table: PlayTable) -> None:
        saved = {"agents": table.settings.specs, "seed": table.settings.seed}
        write_whole(whole, complete.dumps(table.record, {"table": saved}))

    return write
