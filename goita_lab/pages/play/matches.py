"""Keeps the matches of a folder: begins new ones there, lists and opens those that it holds."""

from __future__ import annotations

import re
from collections.abc import Callable
from contextlib import ExitStack, suppress
from dataclasses import dataclass, replace
from pathlib import Path
from typing import Final

from goita_agents.files import decode, locked, read_text
from goita_env.errors import GoitaError, RecordError, SettingError
from goita_env.records import complete
from goita_env.rules import RULE_SETS
from goita_env.tiles import NUM_SEATS
from goita_lab.pages.play import savegame
from goita_lab.pages.play.seating import HUMAN, MatchSettings, new_seed
from goita_lab.pages.play.table import PlayTable

AGENTS: Final = {
    "champion:search=on": "the strongest: looks ahead, takes its time",
    "champion": "very strong, learned by playing itself",
    "heuristic": "strong, plays by rules that people know",
    "people": "plays like people, learned from records",
    "greedy": "weak, gets rid of tiles",
    "random": "plays at random",
}
"""Agents that a page offers beside those that were seated already, and what they are."""

RULES: Final = {name: rules for name, rules in RULE_SETS.items() if not rules.is_small}
"""Rule sets that a page offers: small games have no matches."""

MOST: Final = 100
"""Matches that are listed."""

_NAME: Final = re.compile(r"match-(\d+)\.json")


@dataclass(frozen=True)
class Kept:
    """A match of the folder."""

    file: str
    players: tuple[str, ...]
    """By seat; "" at the person's."""
    scores: tuple[int, int]
    """Of the seats 0 and 2, and of the others, as far as rounds are over."""


class Matches:
    """The matches of the working folder, one of which is played.

    Args:
        path: the file of that match.
        stack: receives what is to be ended in the end: locks on files, agents.
        named: called with the file of each match that is begun or opened.
    """

    def __init__(
        self, path: Path, stack: ExitStack, named: Callable[[Path], object] = lambda _: None
    ) -> None:
        self.path, self._stack, self._named = path, stack, named
        self._own = {path.resolve()}

    def begin(self, settings: MatchSettings) -> PlayTable:
        """Begins a match in the first free file.

        Raises:
            AgentError: if there is no such agent.
        """
        path = savegame.lock_free_name(self._stack)
        return self._now(path, savegame.begin(settings, path))

    def open(self, name: str) -> PlayTable:
        """Goes on with a match of the folder.

        Raises:
            SettingError: if there is none of that name, or it is played by somebody else.
            AgentError, RecordError: as ``savegame.resume``.
        """
        path = Path(name)
        if not _NAME.fullmatch(name) or not path.exists():
            raise SettingError(f"expected a match of this folder, got {name!r}")
        if path.resolve() not in self._own:
            self._stack.enter_context(locked(path, savegame.FREE))
        return self._now(path, savegame.resume(path))

    def listed(self) -> list[Kept]:
        """Lists the matches of the folder, the newest first; files that hold none are left out."""
        named = [(_NAME.fullmatch(one.name), one) for one in Path().iterdir()]
        numbered = sorted(((int(name[1]), one) for name, one in named if name), reverse=True)
        found = []
        for _, file in numbered[:MOST]:
            with suppress(GoitaError, OSError, ValueError, IndexError):
                found.append(_read(file))
        return found

    def _now(self, path: Path, table: PlayTable) -> PlayTable:
        self._stack.callback(table.close)
        self.path = path
        self._own.add(path.resolve())
        self._named(path)
        return table


def settings_of(before: MatchSettings, wanted: dict[str, str] | None) -> MatchSettings:
    """Returns the settings of another match.

    Args:
        before: those of the present match.
        wanted: "partner", "next", "previous" and "rules" by name; None: as before.

    Raises:
        SettingError: if one is not offered.
    """
    new = replace(before, seed=new_seed(), first=None, taken_back=0)
    if wanted is None:
        return new
    seated = {text: one for one, text in zip(before.agents, before.specs, strict=True)}
    rules, offered = wanted["rules"], {*AGENTS, *seated} - {HUMAN}
    agents = list(before.agents)
    for place, seat in (("next", 1), ("partner", 2), ("previous", 3)):
        if wanted[place] not in offered:
            raise SettingError(f"expected one of the agents offered, got {wanted[place]!r}")
        agents[(before.seat + seat) % NUM_SEATS] = seated.get(wanted[place], wanted[place])
    if rules not in (*RULES, before.rules.name):
        raise SettingError(f"expected one of the rule sets offered, got {rules!r}")
    return replace(new, agents=tuple(agents), rules=RULES.get(rules, before.rules))


def _read(file: Path) -> Kept:
    """Reads what is listed of a match."""
    text = read_text(file, savegame.MOST_BYTES)
    agents = decode(text, savegame.SavedMatch, "a match").table.agents
    last = complete.loads(text, source=file.name).deals[-1]
    scores = last.scores
    with suppress(RecordError):  # it is under way
        scores = last.result().scores
    return Kept(file.name, agents, scores)
