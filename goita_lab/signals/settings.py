"""Holds what all measures depend on beside their agents and deals."""

from __future__ import annotations

from collections.abc import Iterable
from dataclasses import asdict, dataclass
from hashlib import sha256
from pathlib import Path
from typing import Any, Final

import goita_agents
import goita_env
import goita_lab
from goita_agents.models import EPSILON
from goita_agents.registry import content_hash
from goita_env.rules import JGA, Rules

CONTROLS: Final = ("random", "greedy", "heuristic:conventions=off")
"""Agents without conventions: what they tell, skill and determinism tell."""


@dataclass(frozen=True, kw_only=True)
class Settings:
    """How agents are modelled, what is random, and by which rules they play."""

    temperature: float | None = None
    """temperature of the listeners' models; by default as the agents play"""
    epsilon: float = EPSILON
    """probability with which the models take a random legal action"""
    seed: int = 0
    """seed of everything that is random"""
    rules: Rules = JGA
    """rule set"""

    def arguments(self, agents: Iterable[str], **more: Any) -> dict[str, Any]:
        """Returns all that results depend on, as JSON: pieces of work of others are dropped.

        Args:
            agents: texts of all that play or are modelled; their files count.
            more: what else the results depend on.
        """
        files = {agent: content_hash(agent) for agent in agents}
        return {**more, "settings": asdict(self), "files": files, "code": code()}


STANDARD: Final = Settings()


def code() -> str:
    """Returns a digest of all code and weights of the project, on which results depend."""
    digest = sha256()
    for package in (goita_env, goita_agents, goita_lab):
        folder = Path(package.__path__[0])
        for file in sorted(folder.rglob("*")):
            if file.suffix in (".py", ".safetensors", ".json"):
                digest.update(str(file.relative_to(folder)).encode() + file.read_bytes())
    return digest.hexdigest()[:16]
