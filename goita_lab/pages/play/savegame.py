"""Saves a match after every move, as a complete record with its settings beside it.

``goita watch FILE`` opens such a file, finished or not: it holds all hands. A file may
come from somebody else. It can name only agents of this repository; others must be given again by
who resumes it.
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

MOST_BYTES: Final = 10**7
"""A longer file is refused; a match takes about ten thousand bytes."""

FREE: Final = "a match that nobody is playing"

MOST: Final = 100
"""Matches of a folder that are listed."""

NAMED: Final = re.compile(r"match-(\d+)\.json")
"""Names of files that are given to matches, and listed."""

Count = Annotated[int, Meta(ge=0)]


@dataclass(frozen=True)
class SavedSettings:
    """What a file keeps beside the record."""

    agents: tuple[str, str, str, str]
    """By seat; "" at the person's seat."""
    seed: Count


@dataclass(frozen=True)
class SavedMatch:
    """What is read here of a file; the rest is the record."""

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
        partner: the agent opposite the person, as the file names it. None: the file's, which has
            to be one of this repository, without a path, a command or a class of one's own.
        opponents: the two others: one for both, or the one after the person and the one before;
            None as above.
    """
    settings, deals = read(path)
    one, other = (None, None) if opponents is None else (opponents[0], opponents[-1])
    given = ((one, "--opponents"), (partner, "--partner"), (other, "--opponents"))
    for named, (spec, option) in zip(settings.others, given, strict=True):
        if spec is None:
            check_shipped(named, f"{path.name} ({option})")
        elif spec != named:
            raise SettingError(f"expected {option} {named!r} as in {path.name}, got {spec!r}")
    try:
        return PlayTable(settings, deals, keep=_writer(path))
    except RecordError as error:
        raise RecordError(f"{path.name}: {error}") from error


def read(path: Path) -> tuple[MatchSettings, tuple[DealRecord, ...]]:
    """Returns the settings and the deals of a file; builds no agent."""
    text = read_text(path, MOST_BYTES)
    record = complete.loads(text, source=path.name)
    saved = decode(text, SavedMatch, f"a match of goita_lab.pages.play in {path.name}").table
    if not record.deals:
        raise RecordError(f"{path.name}: expected a deal, got none")
    check_plain(record.deals, "goita play")
    first = record.deals[0]
    settings = MatchSettings(saved.agents, saved.seed, first.rules, first)
    return settings, record.deals


def listed() -> list[tuple[str, MatchSettings, tuple[int, int]]]:
    """Lists the matches of the working folder, the newest first; others' files are left out.

    Returns:
        For each the name of its file, its settings, and the points of seats 0 and 2 and of the
        others, as far as rounds are over.
    """
    named = [(NAMED.fullmatch(one.name), one) for one in Path().iterdir()]
    numbered = sorted(((int(name[1]), one) for name, one in named if name), reverse=True)
    found = []
    for _, file in numbered[:MOST]:
        with suppress(GoitaError, OSError):
            settings, deals = read(file)
            scores = deals[-1].scores
            with suppress(RecordError):  # it is under way
                scores = deals[-1].result().scores
            found.append((file.name, settings, scores))
    return found


def lock_free_name(stack: ExitStack) -> Path:
    """Returns the first of match-1.json, match-2.json, ... that nobody has, locked by the stack."""
    number = 1
    while True:
        path = Path(f"match-{number}.json")
        number += 1
        with suppress(SettingError):
            if not path.exists():
                stack.enter_context(locked(path, FREE))
                return path


def _writer(path: Path) -> Callable[[PlayTable], None]:
    whole = path.resolve()

    def write(table: PlayTable) -> None:
        saved = {"agents": table.settings.specs, "seed": table.settings.seed}
        write_whole(whole, complete.dumps(table.record, {"table": saved}))

    return write
