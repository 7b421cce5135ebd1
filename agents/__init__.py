"""Holds everything that plays Goita, learns to play it, or measures play."""

from typing import TYPE_CHECKING, Any

import numpy as np
import numpy.typing as npt

from agents.answers import check_actions
from agents.base import Agent, AgentError
from agents.models import check_stateless
from agents.registry import is_own as is_own
from agents.registry import load_agent, names
from goita_env.actions import NUM_ACTIONS
from goita_env.checks import describe
from goita_env.rules import JGA, Rules
from goita_env.views import from_observation

if TYPE_CHECKING:
    from agents.tournament.arena import Tournament, play_pair
    from agents.tournament.plan import Plan

__all__ = [
    "Agent",
    "AgentError",
    "Plan",
    "Tournament",
    "choose",
    "load_agent",
    "names",
    "play_pair",
]


def choose(
    agent: Agent,
    observation: dict[str, npt.NDArray[Any]] | npt.ArrayLike,
    rng: np.random.Generator,
    *,
    mask: npt.ArrayLike | None = None,
    rules: str | Rules = JGA,
) -> int:
    """Asks an agent for one action, as a loop over a PettingZoo environment needs it.

    Args:
        agent: any agent without a memory of its own, as ``load_agent`` builds it.
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
    named = isinstance(getattr(agent, "name", None), str)
    if isinstance(agent, str) or not (named and callable(getattr(agent, "act", None))):
        raise AgentError(
            "expected an object with act() and a name, which load_agent builds from a text, "
            f"got {agent!r}"
        )
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
    return int(check_actions(agent.act(view, legal, rng), legal, agent.name, view.game)[0])


def __getattr__(name: str) -> Any:
    """Imports the tournament when it is first used: its libraries are another extra's."""
    if name in ("Plan", "Tournament", "play_pair"):
        from agents.tournament import arena, plan

        return getattr(plan if name == "Plan" else arena, name)
    raise AttributeError(f"module {__name__!r} has no attribute {name!r}")
