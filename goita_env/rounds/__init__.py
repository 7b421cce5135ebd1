"""Plays N rounds or matches in parallel for the evaluation of agents: ``Rounds``.

::

    rounds = Rounds(1000, seed=0)
    decisions = rounds.decisions
    while not rounds.over:
        actions = agent.act(decisions.view, decisions.legal, rng) if len(decisions.rows) else []
        decisions = rounds.step(actions)
        if decisions.ended is not None:
            print(decisions.ended.rows, decisions.ended.points, decisions.ended.winner)

Each step makes one decision in every game: the only legal action where there is just one, else the
action that ``step`` is given, games in ascending order.
"""

from goita_env.engine.episodes import Episode, check_episode
from goita_env.rounds.decisions import DecisionsMade, FinishedDeals, NewDeals, PendingDecisions
from goita_env.rounds.playing import Rounds

__all__ = [
    "DecisionsMade",
    "Episode",
    "FinishedDeals",
    "NewDeals",
    "PendingDecisions",
    "Rounds",
    "check_episode",
]
