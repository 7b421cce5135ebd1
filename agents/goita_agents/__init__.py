"""Plays Goita: bots, search, and beliefs about the others; ``load_agent`` builds agents."""

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
    """Returns one action of an agent, for a loop over a PettingZoo environment.

    Args:
        agent: any agent without a memory, as ``load_agent`` builds it, or a class.
        observation: PettingZoo's dict, {"observation": [512], "action_mask": [69]}, or only the
            observation.
        rng: consumed.
        mask: [69] nonzero where legal, if only the observation is given; None: read from it.
        rules: the rule set of the game; the observation does not contain it.

    Raises:
        ObservationError: if the observation is not valid.
        AgentError: if ``agent`` is not an agent or has a memory, if there is not one observation
            with its mask, if no action is legal because the seat does not act, or if the answer is
            illegal.
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
