"""A search that reads moves by some models and plays on by others.

In a checkout ``research.studies.reader:reader:base=A,opponent=B,reads=C,plays=D`` names one.
"""

from __future__ import annotations

from collections.abc import Sequence
from math import inf
from typing import Final

import numpy as np

from goita_agents.base import Agent, AgentError, Bool, Policy, plays
from goita_agents.beliefs.types import BROAD_EPSILON, Types
from goita_agents.models import TYPE_EPSILONS, OpponentModel, PolicyModel
from goita_agents.search.action_values import SEARCH_BUDGET, SEARCH_WORLDS, SearchOptions
from goita_agents.search.rollout import RolloutAgent
from goita_agents.search.sampling import PosteriorSampler
from goita_env import View
from goita_env.actions import MESSAGE
from goita_env.information import InformationStructure

MIN_Z: Final = 3.0
MOST_QUERIES: Final = 12_000.0
"""Of a model of one policy: where a listener would ask more often, nothing is searched."""


class ReaderAgent(RolloutAgent):
    """A search whose models in beliefs and agents in playouts may differ.

    Which decisions are searched depends on the base alone, and a decision's budget is in playouts.
    So what differs between two readers of one base is what their models and players bring about.

    Args:
        base: the network that plays where nothing is searched, and this seat in playouts.
        opponents: models of the opposing team; one of them plays there.
        partners: models of the partner; one of them plays there.
        opponent: plays the opponents' seats in playouts.
        partner: plays the partner's seat in playouts.
        worlds: how many worlds a decision is searched in, at most.
        budget: playouts of a decision, at most.
    """

    def __init__(
        self,
        base: Agent,
        opponents: Sequence[OpponentModel],
        partners: Sequence[OpponentModel],
        opponent: Agent,
        partner: Agent,
        worlds: int = SEARCH_WORLDS,
        budget: int = SEARCH_BUDGET,
    ) -> None:
        if not isinstance(base, Policy):
            raise AgentError(f"expected a base with known probabilities, got {base.name!r}")
        types = Types(tuple(opponents), tuple(partners))
        super().__init__(
            base,
            SearchOptions(worlds, budget, MIN_Z, max_policy_queries=inf),
            belief=True,
            types=types,
            players=[[base, opponent, partner, opponent]] * (len(opponents) * len(partners)),
        )
        self.name = "reader"
        self._counting = PosteriorSampler(base)

    def plays(self, information: InformationStructure) -> bool:
        """Tells whether the base plays games with these options."""
        return plays(self._base, information)

    def _searched(self, view: View, legal: Bool) -> Bool:
        searched = super()._searched(view, legal) & ~legal[:, MESSAGE:].any(axis=1)
        for row in np.flatnonzero(searched):
            searched[row] = self._counting.queries(view[row : row + 1]) <= MOST_QUERIES
        return searched


def as_opponent(agent: Agent) -> OpponentModel:
    """Returns the model of opponents that play like an agent."""
    return PolicyModel(agent, epsilon=TYPE_EPSILONS[0])


def as_partner(agent: Agent) -> OpponentModel:
    """Returns the model of a partner that plays like an agent."""
    return PolicyModel(agent, epsilon=TYPE_EPSILONS[1])


def broad(agent: Agent) -> OpponentModel:
    """Returns a model of players who are nobody that is known."""
    return PolicyModel(agent, epsilon=BROAD_EPSILON)


def reader(base: Agent, opponent: Agent, reads: Agent, plays: Agent) -> ReaderAgent:
    """Returns a search that takes its partner for one agent and plays on with another.

    Args:
        base: the policy that plays where nothing is searched, and this seat in playouts.
        opponent: plays at both seats of the other team, as the search knows.
        reads: whose moves the partner's are taken for.
        plays: plays the partner's seat in playouts.
    """
    return ReaderAgent(base, [as_opponent(opponent)], [as_partner(reads)], opponent, plays)
