"""Saves a match after every move, as a complete record with the setting beside it.

``python -m agents.watch FILE`` opens such a file, finished or not: it holds all hands. A file may
come from somebody else. The agents that it can name by itself are those of this repository; others
are given again by whoever goes on.
"""

from __future__ import annotations

import os
from collections.abc import Iterator, Sequence
from contextlib import contextmanager
from dataclasses import asdict, dataclass
from itertools import count
from pathlib import Path
from typing import IO, Annotated, Final

from msgspec import Meta

from agents.files import decode, read_text, write_whole
from agents.play.table import PERSON, Setting, Table
from agents.registry import check_shipped
from goita_env.errors import RecordError, SettingError
from goita_env.records import complete
from goita_env.tiles import NUM_SEATS

MOST_BYTES: Final = 10**7
"""A longer file is refused; a match takes about ten thousand bytes."""

LONGEST: Final = 1000
"""Characters of an agent's text, at most."""

Spec = Annotated[str, Meta(max_length=LONGEST)]
Count = Annotated[int, Meta(ge=0)]


@dataclass(frozen=True)
class Sitting:
    """Is what a file holds beside the record."""

    agents: tuple[Spec, Spec, Spec, Spec]
    """By seat; "" where the person sits."""
    seed: Count
    taken_back: Count


@dataclass(frozen=True)
class File:
    """Is what is read here of a file; the rest is the record."""

    table: Sitting
    """Under this key the setting stands in the file."""


class Kept:
    """Keeps a match in a file.

    Args:
        path: the file.
    """

    def __init__(self, path: Path) -> None:
        self.path = path.resolve()

    def __call__(self, table: Table) -> None:
        """Writes the match such that the file holds it as it was or as it is, never a part.

        Raises:
            OSError: if it cannot be written.
        """
        setting = table.setting
        one, two, three, four = texts(setting)
        told = File(Sitting((one, two, three, four), setting.seed, table.taken_back))
        write_whole(self.path, complete.dumps(table.record, asdict(told)))


def texts(setting: Setting) -> list[str]:
    """Returns the agents of a setting as a file names them."""
    return [one if isinstance(one, str) else one.name for one in setting.agents]


def begin(setting: Setting, path: Path) -> Table:
    """Returns a new match that is kept in a file.

    Raises:
        AgentError: if there is no such agent.
        SettingError: if there is such a file, or an agent's text is too long for it.
        OSError: if it cannot be written.
    """
    if path.exists():
        raise SettingError(
            f"expected a new file, got {str(path)!r}, which exists: --resume goes on with a match"
        )
    for text in texts(setting):
        if len(text) > LONGEST:
            raise SettingError(f"expected at most {LONGEST} characters as an agent, got {text!r}")
    kept = Kept(path)
    table = Table(setting, keep=kept)
    kept(table)
    return table


def resume(path: Path, partner: str | None = None, opponents: Sequence[str] | None = None) -> Table:
    """Returns the match that a file keeps, as it was left.

    Args:
        path: the file.
        partner: the agent opposite the person, as the file names it. None: the file's, which has
            to be one of this repository, without a path, a command or a class of one's own.
        opponents: the two others: one for both, or the one after the person and the one before;
            None as above.

    Raises:
        AgentError: if there is no such agent any more, or the file names one that it may not.
        RecordError, SettingError: if the file holds no match, or other agents are given.
        OSError: if it cannot be read.
    """
    text = read_text(path, MOST_BYTES)
    record = complete.loads(text, source=path.name)
    told = decode(text, File, f"a match of agents.play in {path.name}").table
    if not record.deals:
        raise RecordError(f"{path.name}: expected a deal, got none")
    first, agents = record.deals[0], told.agents
    name = record.players[agents.index(PERSON)] if PERSON in agents else PERSON
    setting = Setting(agents, told.seed, first.rules, name, first, told.taken_back)
    _check_agents(setting, path, partner, opponents)
    try:
        return Table(setting, record.deals, keep=Kept(path))
    except RecordError as error:
        raise RecordError(f"{path.name}: {error}") from error


def others(setting: Setting) -> tuple[str, str, str]:
    """Returns the agents' texts: of the next seat, the partner, the previous seat."""
    named = texts(setting)
    one, two, three = (named[(setting.seat + place) % NUM_SEATS] for place in (1, 2, 3))
    return one, two, three


def _check_agents(
    setting: Setting, path: Path, partner: str | None, opponents: Sequence[str] | None
) -> None:
    """Checks that a file names agents of this repository, or those that are given beside it.

    Raises:
        AgentError: if it names another one.
        SettingError: if others are given.
    """
    first, last = (None, None) if opponents is None else (opponents[0], opponents[-1])
    given = ((first, "--opponents"), (partner, "--partner"), (last, "--opponents"))
    for named, (text, option) in zip(others(setting), given, strict=True):
        if text is None:
            check_shipped(named, f"{path.name} ({option})")
        elif text != named:
            raise SettingError(f"expected {option} {named!r} as in {path.name}, got {text!r}")


def free_names() -> Iterator[Path]:
    """Yields those of match-1.json, match-2.json, ... that aren't there."""
    return (path for n in count(1) if not (path := Path(f"match-{n}.json")).exists())


@contextmanager
def locked(path: Path) -> Iterator[None]:
    """Keeps other processes from playing on in a file, where the system knows how.

    The lock lies beside the file, which is replaced after every move.

    Raises:
        SettingError: if one does so.
        OSError: if the lock cannot be written.
    """
    try:
        import fcntl
    except ImportError:
        yield
        return
    whole = path.resolve()
    file = whole.with_name(f".{whole.name}.lock")
    while True:
        with file.open("w") as lock:
            try:
                fcntl.flock(lock, fcntl.LOCK_EX | fcntl.LOCK_NB)
            except BlockingIOError as error:
                raise SettingError(
                    f"expected a match that nobody is playing, got {str(path)!r}, which another "
                    "process has open"
                ) from error
            if not _is_open(file, lock):
                continue  # whoever had it has just removed it
            try:
                yield
            finally:
                file.unlink(missing_ok=True)
            return


def _is_open(file: Path, lock: IO[str]) -> bool:
    """Tells whether a path leads to an open file."""
    try:
        return os.path.samestat(file.stat(), os.fstat(lock.fileno()))
    except FileNotFoundError:
        return False
