"""Advises a player from its view alone: what the champion would do, what the partner may hold."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Final

from goita_agents.base import Agent, Float, Policy, is_stateless
from goita_agents.beliefs import Listener, PolicyModel
from goita_agents.beliefs.people import people
from goita_agents.champion.agent import network
from goita_agents.search.advisor import Advisor
from goita_env import View
from goita_env.errors import SettingError
from goita_env.tiles import RELATIVE_SEATS

WORLDS: Final = 96
"""Most worlds of a hint for each type of the others."""
BUDGET: Final = 900  # Playouts for each: 30 actions are tried in half of the worlds.

LEAST: Final = 0.005
"""Probability of a partner's hand that is told."""


@dataclass(frozen=True)
class PartnerGuess:
    """Which tiles the partner may have left: in its hand or face down."""

    at_least_one: Float
    """[8] Probability of a tile or more of each kind."""
    expected: Float
    """[8] Expected tiles of each kind."""
    likely: tuple[tuple[str, float], ...]
    """The likeliest hands as dealt, as digits, with their probabilities."""
    models: tuple[str, str, str]
    """The models of the next seat, the partner and the previous seat, in words."""


def advisor() -> Advisor:
    """Returns who gives the hints of a match: the champion, among any type of people."""
    return Advisor(network(), network().at(1.0), people(), WORLDS, BUDGET)


def partner(view: View, agents: tuple[Agent, Agent, Agent]) -> PartnerGuess:
    """Returns what the partner may hold, from all that has been seen: an exact posterior.

    The model of a seat is its agent's policy where its probabilities are known, else the
    champion's, each with the default epsilon.

    Args:
        view: of the player, in a round under way: one row.
        agents: of the next seat, the partner and the previous seat.

    Raises:
        SettingError: if the round was decided before play, or an agent's probabilities are none.
    """
    try:
        models = {
            seat: PolicyModel(_known(agent))
            for seat, agent in zip(RELATIVE_SEATS, agents, strict=True)
        }
        belief = Listener(view, models).posterior("partner")
    except SettingError:
        raise
    except Exception as error:  # of code that may be anybody's
        raise SettingError(
            "expected probabilities of the agents of the match, but asking for them raised "
            f"{type(error).__name__}"
        ) from error
    shown = view.face_up[0, 2]
    at_least_one: Float = belief.probability @ (belief.hands > shown)
    likely = tuple(one for one in belief.most_likely(3) if one[1] >= LEAST)
    return PartnerGuess(at_least_one, belief.expected() - shown, likely, belief.models)


def _known(agent: Agent) -> Agent:
    """Returns an agent whose probabilities are known from one view: it, or the champion."""
    return agent if isinstance(agent, Policy) and is_stateless(agent) else network().at(1.0)
