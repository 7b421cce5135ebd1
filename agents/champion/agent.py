"""Builds the agent ``champion`` from the weights that lie beside this file."""

from __future__ import annotations

from pathlib import Path
from typing import Final

from agents.base import Agent
from agents.bots.network import NetworkAgent
from agents.search.rollout import RolloutAgent

WEIGHTS: Final = Path(__file__).parent / "policy.safetensors"

WORLDS: Final = 256
"""Most worlds of a searched decision; where nothing comes near the policy's choice, sixteen."""

CAUTION: Final = 4.0
"""Standard errors by which an action must be better than the policy's own choice."""

MS: Final = 13.0
QUESTIONS: Final = 12_000.0
"""Budget of a searched decision, and questions with which a listener may begin: with these 95 of
100 decisions take 0.2 s at most."""

UNSEEN: Final = 19
"""Most unseen tiles of a decision that is searched: before, a search finds next to nothing."""


def load(
    search: bool = False,
    temperature: float = 0.0,
    worlds: int = WORLDS,
    ms: float = MS,
    belief: bool = True,
    caution: float = CAUTION,
    sure: float = 1.0,
    questions: float = QUESTIONS,
    unseen: int = UNSEEN,
) -> Agent:
    """Returns the champion.

    Args:
        search: think at the table: every action is played out by the policy in sampled worlds, and
            the policy's own choice stands unless another is better by more than chance.
        temperature: of the policy alone; 0 takes the likeliest action.
        worlds: how many worlds a decision is searched in, at most.
        ms: budget of a searched decision, in work (``agents.search.rollout``).
        belief: draw worlds from an exact posterior (``agents.search.hearing``).
        caution: standard errors by which an action must be better than the policy's own choice.
        sure: probability of an action (at temperature 1) above which nothing is searched.
        questions: to the policy, with which a listener begins, above which nothing is searched.
        unseen: tiles beyond which nothing is searched.

    Raises:
        AgentError: if an option is outside its choices.
    """
    policy = NetworkAgent.load(WEIGHTS, temperature=temperature)
    if not search:
        return policy
    return RolloutAgent(
        policy,
        worlds,
        ms,
        belief=belief,
        caution=caution,
        sure=sure,
        questions=questions,
        drop="behind",
        unseen=unseen,
    )
