"""Holds what all measures depend on beside their agents and deals."""

from __future__ import annotations

from collections.abc import Iterable
from dataclasses import asdict, dataclass
from typing import Any, Final

from goita_agents.models import EPSILON, OpponentModel
from goita_agents.registry import content_hash
from goita_env.rules import JGA, Rules
from goita_lab.arena.statistics.intervals import Interval
from goita_lab.provenance import code
from goita_lab.signals.listening import standard_models
from goita_lab.signals.measures.information_gain import InformationGain

CONTROLS: Final = ("random", "greedy", "heuristic:conventions=off")
"""Agents without conventions: what they tell, skill and determinism tell."""


@dataclass(frozen=True, kw_only=True)
class Settings:
    """How agents are modelled, what is random, and by which rules they play."""

    read_as: str | None = None
    """agent that the listeners take all seats for, in place of the agent that plays"""
    temperature: float | None = None
    """temperature of the listeners' models; by default as the agents play"""
    epsilon: float = EPSILON
    """probability with which the models take a random legal action"""
    seed: int = 0
    """seed of everything that is random"""
    rules: Rules = JGA
    """rule set"""

    @property
    def other_models(self) -> tuple[str, ...]:
        """Agents that are models without playing."""
        return () if self.read_as is None else (self.read_as,)

    def models(self, agent: str) -> dict[str, OpponentModel]:
        """Returns the listeners' models of an agent, "policy" and "uniform"."""
        return standard_models(self.read_as or agent, self.temperature, self.epsilon)

    def told(self, gain: InformationGain) -> Interval:
        """Returns what actions told, in nats, where the model is right (KL).

        Where it is another's, a belief may move and mislead: the change of the log-probability of
        the true hand, whose mean is the same under the right model.
        """
        return gain.told if self.read_as is None else gain.gained

    def arguments(self, agents: Iterable[str], **more: Any) -> dict[str, Any]:
        """Returns all that results depend on, as JSON: pieces of work of others are dropped.

        Args:
            agents: texts of all that play or are modelled; their files count.
            more: what else the results depend on.
        """
        named = (*agents, *self.other_models)
        files = {agent: content_hash(agent) for agent in named}
        return {**more, "settings": asdict(self), "files": files, "code": code()}


STANDARD: Final = Settings()
