"""Notifies agents with a memory of the deals in their games and the ends of their rounds."""

from __future__ import annotations

from collections.abc import Callable, Iterable
from typing import TypeAlias

from goita_env.agent import RedealObserver, Results, StatefulAgent
from goita_env.arrays import Int
from goita_env.rounds.decisions import FinishedDeals, PendingDecisions

Sitting: TypeAlias = Callable[[Int], Iterable[tuple[StatefulAgent, Int, Int, Int]]]
"""Yields the agents with a memory in games [n]: each agent, its k places among the n games, its
seats there, and the numbers of its games in its views; all three are [k]."""


def notify_agents(decisions: PendingDecisions, sitting: Sitting) -> None:
    """Notifies agents of all deals that a step of ``Rounds`` ended and began, in this order."""
    if decisions.redealt is not None:
        notify_redealt(decisions.redealt, sitting)
    if decisions.ended is not None:
        notify_ended(decisions.ended, sitting)
    if decisions.dealt is not None:
        for agent, index, seats, games in sitting(decisions.dealt.rows):
            agent.begin(games, seats, decisions.dealt.view(index, seats))


def notify_redealt(redealt: FinishedDeals, sitting: Sitting) -> None:
    """Notifies agents with a method ``redeal`` of deals that ended in a redeal."""
    for agent, index, seats, games in sitting(redealt.rows):
        if isinstance(agent, RedealObserver):
            agent.redeal(games, redealt.view(index, seats))


def notify_ended(ended: FinishedDeals, sitting: Sitting) -> None:
    """Notifies agents of the ends of rounds."""
    hands = ended.hands
    for agent, index, seats, games in sitting(ended.rows):
        results = Results(ended.winner[index], ended.points[index], ended.view(index, seats))
        agent.end(games, results, hands[index])
