"""Holds what all measures depend on, and how their work is done in pieces."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Mapping, Sequence
from dataclasses import asdict, dataclass
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
    agents: Sequence[str]
    deals: int
    step: int
    """Deals of a piece; the last may have fewer."""
    kind: Any
    """Type of a piece's result."""


class Piece(NamedTuple):
    """A piece of work: ``deals`` deals of an agent from deal ``first`` on."""

    work: str
    agent: str
    first: int
    deals: int


def in_pieces(
    do: Callable[[Piece], Any], work: Sequence[Work], arguments: Mapping[str, Any], runner: Runner
) -> dict[tuple[str, str], list[Any]]:
    """Does work in pieces and returns their results in order, by name of the work and agent.

    The agents come in turn: a stopped run has measured all of them alike.

    Args:
        do: does a piece; it can be pickled.
        work: what there is to do.
        arguments: all that results depend on (``Settings.arguments``).
        runner: of the pieces.

    Raises:
        SettingError, WorkerError, OSError: as ``Runner.run`` does.
    """
    todo = {
        str(tuple(piece)): piece
        for one in work
        for first in range(0, one.deals, one.step)
        for agent in one.agents
        for piece in [Piece(one.name, agent, first, min(one.step, one.deals - first))]
    }
    kinds = {one.name: one.kind for one in work}
    found = runner.run(do, todo, lambda piece: kinds[piece.work], arguments)
    parts: dict[tuple[str, str], list[Any]] = {}
    for key, piece in todo.items():
        parts.setdefault((piece.work, piece.agent), []).append(found[key])
    return parts
