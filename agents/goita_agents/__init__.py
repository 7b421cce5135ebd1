"""Plays Goita: bots, search, and what they know of each other; ``load_agent`` builds them."""

from typing import Any

import numpy as np
import numpy.typing as npt

from goita_agents.asking import ask_actions
from goita_agents.base import Agent, AgentError
from goita_agents.bots.network import LogitAgent
from goita_agents.models import check_stateless
from goita_agents.registry import agent_names, load_agent
from goita_env.actions import NUM_ACTIONS
from goita_env.checks import describe
from goita_env.rules import JGA, Rules
from goita_env.views import from_observation

__all__ = ["Agent", "AgentError", "LogitAgent", "agent_names", "choose_action", "load_agent"]


def choose_action(
    agent: Agent | type,
    observation: dict[str, npt.NDArray[Any]] | npt.ArrayLike,
    rng: np.random.Generator,
    *,
    mask: npt.ArrayLike | None = None,
    rules: str | Rules = JGA,
) -> int:
    """Asks an agent for one action, as a loop over a PettingZoo environment needs it.

    Args:
        agent: any agent without a memory of its own, as ``load_agent`` builds it, or a class.
        observation: what PettingZoo hands over, {"observation": [512], "action_mask": [69]}, or the
            observation alone.
        rng: consumed.
        mask: [69] nonzero where legal, beside an observation alone; None: read from it.
        rules: the rule set that is played; the observation does not carry it.

    Raises:
        ObservationError: if it is no observation.
        AgentError: if it is no agent or one with a memory, if it is not one observation and its
            mask, if nothing is legal because the seat is not asked, or if the answer is illegal.
    """
    if isinstance(agent, str):
        raise AgentError(
            f"expected an object with act(), which load_agent builds from a text, got {agent!r}"
        )
    agent = load_agent(agent)
    check_stateless(agent)
    if isinstance(observation, dict):
        if not {"observation", "action_mask"} <= observation.keys():
            raise AgentError(
                "expected a dict with the keys 'observation' and 'action_mask', "
                f"got the keys {[*observation]}"
            )
        observation, mask = observation["observation"], observation["action_mask"]
    view = from_observation(observation, rules=rules)
    legal = view.legal() if mask is None else np.atleast_2d(np.asarray(mask, bool))
    if len(view) != 1 or legal.shape != (1, NUM_ACTIONS):
        raise AgentError(
            f"expected one observation and its mask [{NUM_ACTIONS}], got {describe(observation)} "
            f"and {describe(legal)}"
        )
    if not legal.any():
        raise AgentError("expected a legal action in the mask, got none: the seat is not asked")
    return int(ask_actions(agent, view, legal, rng)[0])
