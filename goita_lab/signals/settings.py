"""Holds what all measures depend on, and how their work is done in pieces."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Mapping, Sequence
from dataclasses import asdict, dataclass
from itertools import pairwise
from typing import Any, Final, NamedTuple

from goita_agents.registry import content_hash
from goita_env.rules import JGA, Rules
from goita_lab.provenance import code
from goita_lab.work import Runner

CONTROLS: Final = ("random", "greedy", "heuristic:conventions=off")
"""Agents without conventions: what they tell, skill and determinism tell."""


@dataclass(frozen=True, kw_only=True)
class Settings:
    """What is random, and by which rules agents play."""

    seed: int = 0
    """seed of everything that is random"""
    rules: Rules = JGA

    def arguments(self, agents: Iterable[str], **more: Any) -> dict[str, Any]:
        """Returns all that results depend on, as JSON: pieces of work of others are dropped.

        Args:
            agents: texts of all that play or are modelled; their files count.
            more: what else the results depend on.
        """
        files = {agent: content_hash(agent) for agent in agents}
        return {**more, "settings": asdict(self), "files": files, "code": code()}


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
    step: int
    """Deals of a piece; the last may have fewer, or one more: a single deal has no interval."""


class _Piece(NamedTuple):
    work: Work
    agent: str
    first: int
    deals: int


def in_pieces(
    work: Sequence[Work], arguments: Mapping[str, Any], runner: Runner
) -> dict[tuple[str, str], list[Any]]:
    """Does work in pieces and returns their results in order, by name of the work and agent.

    The agents come in turn: a stopped run has measured all of them alike.

    Args:
        work: what there is to do.
        arguments: all that results depend on (``Settings.arguments``).
        runner: of the pieces.

    Raises:
        SettingError, WorkerError, OSError: as ``Runner.run`` does.
    """
    todo = {
        str((one.name, agent, first)): _Piece(one, agent, first, after - first)
        for one in work
        for first, after in pairwise([*range(0, max(one.deals - 1, 1), one.step), one.deals])
        for agent in one.agents
    }
    found = runner.run(_do, todo, lambda piece: piece.work.kind, arguments)
    parts: dict[tuple[str, str], list[Any]] = {}
    for key, piece in todo.items():
        parts.setdefault((piece.work.name, piece.agent), []).append(found[key])
    return parts


def _do(piece: _Piece) -> Any:
    return piece.work.do(piece.agent, piece.first, piece.deals)
