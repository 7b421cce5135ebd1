"""Does the work of measures in pieces, and says how many rounds a study plays."""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from dataclasses import asdict, dataclass
from itertools import pairwise
from typing import Any, Final, NamedTuple

from goita_agents.search.action_values import WORLDS
from goita_env.checks import check_seed
from goita_env.errors import SettingError
from goita_env.rules import JGA, Rules
from goita_lab.work import Runner

FORMAT: Final = "goita-signals-tasks-1"
"""Grows when the meaning of a kept result changes."""
PIECE: Final = 12
"""Deals of a piece of work."""
MOST_SHARE: Final = 100
LAST_SEED: Final = 3
"""Rounds for different uses are played under the plan's seed and the next ones, up to this one."""

CONTROLS: Final = ("random", "greedy", "heuristic:conventions=off")
"""Agents without conventions: what they tell, skill and determinism tell."""


@dataclass(frozen=True, kw_only=True)
class Settings:
    """What is random, and by which rules agents play."""

    seed: int = 0
    """seed of everything that is random"""
    rules: Rules = JGA

    def __post_init__(self) -> None:
        check_seed(self.seed)
        check_seed(self.seed + LAST_SEED)

    def arguments(self, **more: Any) -> dict[str, Any]:
        """Returns all that the results of every task depend on, as JSON."""
        return {**more, "format": FORMAT, "settings": asdict(self)}


STANDARD: Final = Settings()


class Work(NamedTuple):
    """Work on deals of some agents that is done in pieces."""

    name: str
    do: Callable[[str, int, int], Any]
    """Does a piece: an agent, its first deal and its number of deals; it can be pickled."""
    kind: Any
    """Type of a piece's result."""
    agents: Sequence[str]
    deals: int
    models: Sequence[str] = ()
    """Other agents on whose policies each piece depends: listeners take its agent for them."""
    step: int = PIECE
    """Deals of a piece; the last may have fewer, or one more: a single deal has no interval."""


def in_pieces(
    work: Sequence[Work], arguments: Mapping[str, Any], runner: Runner
) -> dict[str, dict[str, list[Any]]]:
    """Does work in pieces and returns their results in order, by name of the work, then by agent.

    The agents come in turn: a stopped run has measured all of them alike. ``arguments``: all that
    results depend on but agents (``Settings.arguments``).
    """
    todo = {
        str((one.name, agent, first, after)): (one, agent, first, after - first)
        for one in work
        for first, after in pairwise([*range(0, max(one.deals - 1, 1), one.step), one.deals])
        for agent in one.agents
    }
    found = runner.run(
        _do,
        todo,
        lambda piece: piece[0].kind,
        arguments,
        agents=lambda piece: tuple(dict.fromkeys((piece[1], *piece[0].models))),
    )
    parts: dict[str, dict[str, list[Any]]] = {}
    for key, (one, agent, *_) in todo.items():
        parts.setdefault(one.name, {}).setdefault(agent, []).append(found[key])
    return parts


def _do(piece: tuple[Work, str, int, int]) -> Any:
    work, agent, first, deals = piece
    return work.do(agent, first, deals)


@dataclass(frozen=True)
class StudyPlan(Settings):
    """What is studied: all that the results depend on."""

    agents: tuple[str, ...]
    deals: int
    """Deals with one listener."""
    gap_deals: int
    """Deals with four listeners."""
    value_deals: int
    """Deals that are played with each of the sources of information."""
    signals: int
    """Signals that are shuffled, one a deal."""
    rounds: int
    """Rounds behind the published measures, tables and trees."""
    cross_play_deals: int
    """Deals of every pair of partners."""
    worlds: int = WORLDS
    """Most worlds of a searched decision."""
    controls: tuple[str, ...] = CONTROLS
    """Policies that are measured without searches."""

    @property
    def other_controls(self) -> tuple[str, ...]:
        """Controls that are not among the agents."""
        return tuple(agent for agent in dict.fromkeys(self.controls) if agent not in self.agents)


def quick(agents: tuple[str, ...], **options: Any) -> StudyPlan:
    """Returns a plan of a few minutes for two agents; ``options``: other fields."""
    return StudyPlan(agents, 72, 16, 36, 48, 2_000, 256, **options)


def full(agents: tuple[str, ...], share: float = 1.0, **options: Any) -> StudyPlan:
    """Returns a plan of some 20 minutes of a core for two agents.

    Raises:
        SettingError: if the share is not above 0.
    """
    if not 0 < share <= MOST_SHARE:
        raise SettingError(f"expected a share above 0, up to {MOST_SHARE}, got {share!r}")
    one, four, value, signals = (max(2, round(share * deals)) for deals in (300, 120, 420, 540))
    return StudyPlan(agents, one, four, value, signals, 20_000, 4_096, **options)
