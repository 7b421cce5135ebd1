"""Plays a local best response to an agent: a search whose model of the opponents is the agent.

After Lisy and Bowling, "Equilibrium approximation quality of current no-limit poker bots" (2017).
"""

from __future__ import annotations

from typing import Final

from goita_agents.base import Agent
from goita_agents.beliefs.types import Types
from goita_agents.models import TYPE_EPSILONS, PolicyModel
from goita_agents.registry import Entry
from goita_agents.search.action_values import SearchOptions
from goita_agents.search.rollout import RolloutAgent

OPPONENT_EPSILON: Final = 0.01
"""Epsilon of the opponents, which play as the model says. With 0, a tie that rounding decides in
another way would rule out all deals."""

BEST_RESPONSE: Final = SearchOptions()
"""Options of ``best_response``. A search of whole rounds, with 4,000 queries, takes longer and
gains less; it finds more only against agents that lose rounds by their first passes."""


def best_response(
    to: Agent,
    options: SearchOptions = BEST_RESPONSE,
    epsilon: float = OPPONENT_EPSILON,
    partner_epsilon: float = TYPE_EPSILONS[1],
) -> RolloutAgent:
    """Returns a search with one agent as the model of all others, and as its own base policy.

    Beliefs are exact posteriors under that model, and all seats play like the agent in playouts. So
    it deviates from the agent where one action gains against two of it. It is meant for both seats
    of a team.

    Args:
        to: the agent that the opponents play; its probabilities must be known.
        options: how a decision is searched.
        epsilon: of the opponents.
        partner_epsilon: of the partner, which searches too and so deviates from the agent.

    Raises:
        AgentError: if the agent's probabilities are not known, or an option is outside its choices.
    """
    opponent = PolicyModel(to, epsilon=epsilon)
    partner = PolicyModel(to, epsilon=partner_epsilon)
    agent = RolloutAgent(to, options, belief=True, types=Types((opponent,), (partner,)))
    agent.name = "best_response"
    return agent


ENTRY = Entry(best_response)
"""``best_response``, as texts name it."""
