"""Tells agents with a memory what was dealt in their games and how their rounds ended."""

from __future__ import annotations

from collections.abc import Callable, Iterable
from typing import TypeAlias

from goita_env.agent import RedealObserver, Results, StatefulAgent
from goita_env.arrays import Int
from goita_env.rounds.decisions import FinishedDeals, PendingDecisions

Sitting: TypeAlias = Callable[[Int], Iterable[tuple[StatefulAgent, Int, Int, Int]]]
"""Finds the agents with a memory in games [n]: each agent, where among the n it sits, at which
seats, and the numbers of its games as its views have them; those of the last three are [k]."""


def tell(decisions: PendingDecisions, sitting: Sitting) -> None:
    """Tells all that a step of ``Rounds`` ended and began, in this order."""
    if decisions.redealt is not None:
        tell_redealt(decisions.redealt, sitting)
    if decisions.ended is not None:
        tell_ended(decisions.ended, sitting)
    if decisions.dealt is not None:
        for agent, index, seats, games in sitting(decisions.dealt.rows):
            agent.begin(games, seats, decisions.dealt.view(index, seats))


def tell_redealt(redealt: FinishedDeals, sitting: Sitting) -> None:
    """Tells those that want to know how deals ended in a redeal."""
    for agent, index, seats, games in sitting(redealt.rows):
        if isinstance(agent, RedealObserver):
            agent.redeal(games, redealt.view(index, seats))


def tell_ended(ended: FinishedDeals, sitting: Sitting) -> None:
    """Tells how rounds ended."""
    hands = ended.hands
    for agent, index, seats, games in sitting(ended.rows):
        results = Results(ended.winner[index], ended.points[index], ended.view(index, seats))
        agent.end(games, results, hands[index])
