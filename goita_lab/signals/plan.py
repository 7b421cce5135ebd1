"""Does the work of measures in pieces, and says how many rounds a study plays."""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from dataclasses import asdict, dataclass
from itertools import pairwise
from typing import Any, Final, NamedTuple

from goita_agents.search.action_values import SEARCH_WORLDS
from goita_env.checks import check_seed
from goita_env.errors import SettingError
from goita_env.rules import JGA, Rules
from goita_lab.work import Runner

FORMAT: Final = "goita-signals-tasks-1"
"""Grows when the meaning of a stored result changes."""
PIECE: Final = 12
"""Deals of a piece of work."""
MOST_SHARE: Final = 100
LAST_SEED: Final = 3
"""Largest number added to the plan's seed: rounds for different purposes have different seeds."""

CONTROLS: Final = ("random", "greedy", "heuristic:conventions=off")
"""Agents without conventions: only skill and determinism make their actions informative."""


@dataclass(frozen=True, kw_only=True)
class Settings:
    """The seed and the rules of a measurement."""

    seed: int = 0
    """seed of everything that is random"""
    rules: Rules = JGA

    def __post_init__(self) -> None:
        check_seed(self.seed)
        check_seed(self.seed + LAST_SEED)

    def arguments(self, **arguments: Any) -> dict[str, Any]:
        """Returns all that the results of every task depend on, as JSON."""
        return {**arguments, "format": FORMAT, "settings": asdict(self)}


DEFAULT_SETTINGS: Final = Settings()


class Work(NamedTuple):
    """Work on deals of some agents that is done in pieces."""

    name: str
    do: Callable[[str, int, int], Any]
    """Does the piece of an agent, a first deal and a number of deals; it can be pickled."""
    kind: Any
    """Type of a piece's result."""
    agents: Sequence[str]
    deals: int
    models: Sequence[str] = ()
    """Other agents on whose policies each piece depends, because listeners use them as models."""
    step: int = PIECE
    """Deals of a piece. The last may have fewer, or one more: a single deal has no interval."""


_Piece = tuple[Work, str, int, int]
"""Work, an agent, a first deal and a number of deals."""


def in_pieces(
    work: Sequence[Work], arguments: Mapping[str, Any], runner: Runner
) -> dict[str, dict[str, list[Any]]]:
    """Does work in pieces and returns their results in order, by name of the work, then by agent.

    The agents take turns, so that a stopped run has measured the same deals of each. ``arguments``
    (``Settings.arguments``) are all that results depend on except the agents.
    """
    pieces = {
        str((job.name, agent, first, end)): (job, agent, first, end - first)
        for job in work
        # Bounds of the pieces. The range ends before the last deal, so that this deal does not
        # become a piece of its own.
        for first, end in pairwise([*range(0, max(job.deals - 1, 1), job.step), job.deals])
        for agent in job.agents
    }
    results = runner.run(_do, pieces, _kind_of, arguments, agents=_agents_of)
    by_name: dict[str, dict[str, list[Any]]] = {}
    for key, (job, agent, *_) in pieces.items():
        by_name.setdefault(job.name, {}).setdefault(agent, []).append(results[key])
    return by_name


def _do(piece: _Piece) -> Any:
    job, agent, first, deals = piece
    return job.do(agent, first, deals)


def _kind_of(piece: _Piece) -> Any:
    job, *_ = piece
    return job.kind


def _agents_of(piece: _Piece) -> tuple[str, ...]:
    job, agent, *_ = piece
    return tuple(dict.fromkeys((agent, *job.models)))


@dataclass(frozen=True)
class StudyPlan(Settings):
    """The agents of a study and its numbers of deals: all that its results depend on."""

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
    worlds: int = SEARCH_WORLDS
    """Largest number of worlds of a searched decision."""
    controls: tuple[str, ...] = CONTROLS
    """Policies that are measured without searches, for comparison."""

    @property
    def other_controls(self) -> tuple[str, ...]:
        """Controls that are not among the agents."""
        return tuple(agent for agent in dict.fromkeys(self.controls) if agent not in self.agents)


def quick(agents: tuple[str, ...], **options: Any) -> StudyPlan:
    """Returns a plan that takes a few minutes for two agents; ``options`` are other fields."""
    return StudyPlan(
        agents=agents,
        deals=72,
        gap_deals=16,
        value_deals=36,
        signals=48,
        rounds=2_000,
        cross_play_deals=256,
        **options,
    )


def full(agents: tuple[str, ...], share: float = 1.0, **options: Any) -> StudyPlan:
    """Returns a plan that takes one core about 20 minutes for two agents, if ``share`` is 1.

    ``share`` of the deals of listeners and searches is played; ``options`` are other fields.

    Raises:
        SettingError: if the share is not above 0.
    """
    if not 0 < share <= MOST_SHARE:
        raise SettingError(f"expected a share above 0, up to {MOST_SHARE}, got {share!r}")

    def shared(deals: int) -> int:
        return max(2, round(share * deals))

    return StudyPlan(
        agents=agents,
        deals=shared(300),
        gap_deals=shared(120),
        value_deals=shared(420),
        signals=shared(540),
        rounds=20_000,
        cross_play_deals=4_096,
        **options,
    )
