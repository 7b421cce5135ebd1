"""Plays a local best response to an agent: a search that is told how the opponents play.

After Lisy and Bowling, "Equilibrium approximation quality of current no-limit poker bots" (2017).
"""

from __future__ import annotations

from typing import Final

from goita_agents.base import Agent
from goita_agents.beliefs.types import Types
from goita_agents.models import EPSILONS, PolicyModel
from goita_agents.registry import Entry
from goita_agents.search.action_values import (
    ALLOCATION,
    BUDGET,
    MAX_POLICY_QUERIES,
    MAX_UNSEEN_TILES,
    MIN_Z,
    WORLDS,
)
from goita_agents.search.rollout import RolloutAgent

EPSILON: Final = 0.01
"""Of the opponents, who are what the search is told. With 0 a tie that rounding decides otherwise
would leave nothing possible."""


class BestResponseAgent(RolloutAgent):
    """A search with one agent as the model of all others, and as its own base policy.

    Beliefs are exact posteriors under that model, and all seats play like the agent in playouts. So
    it deviates from the agent where one action gains against two of it. It is meant for both seats
    of a team.

    Args:
        to: the agent that the opponents play; its probabilities must be known.
        worlds: how many worlds a decision is searched in, at most.
        budget: playouts of a decision, at most.
        min_z: standard errors by which an action must lead the agent's own choice.
        max_policy_queries: most queries to the agent with which a listener may begin.
        max_unseen_tiles: most unseen tiles of a decision that is searched. The whole round, with
            4,000 queries, takes longer and gains less; it finds more only against agents that lose
            rounds by their first passes.
        epsilon: of the opponents.
        partner_epsilon: of the partner, who searches too and so deviates from the agent.

    Raises:
        AgentError: if the agent's probabilities are not known, or an option is outside its choices.
    """

    def __init__(
        self,
        to: Agent,
        worlds: int = WORLDS,
        budget: int = BUDGET,
        min_z: float = MIN_Z,
        max_policy_queries: float = MAX_POLICY_QUERIES,
        max_unseen_tiles: int = MAX_UNSEEN_TILES,
        epsilon: float = EPSILON,
        partner_epsilon: float = EPSILONS[1],
    ) -> None:
        opponent = PolicyModel(to, epsilon=epsilon)
        partner = PolicyModel(to, epsilon=partner_epsilon)
        super().__init__(
            to,
            worlds,
            budget,
            belief=True,
            min_z=min_z,
            max_policy_queries=max_policy_queries,
            allocation=ALLOCATION,
            max_unseen_tiles=max_unseen_tiles,
            types=Types((opponent,), (partner,)),
        )
        self.name = "best_response"


ENTRY = Entry(BestResponseAgent)
"""``best_response``, as texts name it."""
