"""Advises a player from its view only: what the champion would do, what the partner may hold."""

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
from goita_env.tiles import PARTNER, RELATIVE_SEATS

HINT_WORLDS: Final = 96
"""Most worlds of a hint for each type of the other players."""
HINT_BUDGET: Final = 900
"""Playouts of a hint for each type: 30 actions are tried in half of the worlds."""

MIN_SHOWN_PROBABILITY: Final = 0.005
"""Least probability of a partner's hand that the player is shown."""


@dataclass(frozen=True)
class PartnerGuess:
    """Which tiles the partner may hold besides those face up: in its hand or face down."""

    at_least_one: Float
    """[8] Probability of at least one tile of each kind."""
    expected: Float
    """[8] Expected number of tiles of each kind."""
    likely: tuple[tuple[str, float], ...]
    """The likeliest hands as dealt (digits), with their probabilities."""
    models: tuple[str, str, str]
    """Descriptions of the models of the next seat, the partner and the previous seat."""


def advisor() -> Advisor:
    """Returns the advisor of a match: the champion, among players of the types of ``people``."""
    return Advisor(network(), network().at(1.0), people(), HINT_WORLDS, HINT_BUDGET)


def partner(view: View, agents: tuple[Agent, Agent, Agent]) -> PartnerGuess:
    """Returns the exact posterior of the partner's tiles, given all that the player has observed.

    The model of a seat is the policy of its agent if the agent reveals probabilities, else the
    champion's policy, both with the default epsilon.

    Args:
        view: of the player, in a round under way: one row.
        agents: of the next seat, the partner and the previous seat.

    Raises:
        SettingError: if the round ended before play, or an agent returns invalid probabilities.
    """
    try:
        models = {
            seat: PolicyModel(_modelled(agent))
            for seat, agent in zip(RELATIVE_SEATS, agents, strict=True)
        }
        belief = Listener(view, models).posterior("partner")
    except SettingError:
        raise
    except Exception as error:  # an agent may be a user's own code
        raise SettingError(
            "expected probabilities of the agents of the match, but asking for them raised "
            f"{type(error).__name__}"
        ) from error
    face_up = view.face_up[0, PARTNER]  # the view has one row
    # [H] @ [H, 8]: sums, for each kind, the probabilities of the hands with more than lie face up.
    at_least_one: Float = belief.probability @ (belief.hands > face_up)
    likely = tuple(
        (hand, probability)
        for hand, probability in belief.most_likely(3)
        if probability >= MIN_SHOWN_PROBABILITY
    )
    return PartnerGuess(at_least_one, belief.expected() - face_up, likely, belief.models)


def _modelled(agent: Agent) -> Agent:
    """Returns the agent, or the champion if one view does not give the agent's probabilities."""
    return agent if isinstance(agent, Policy) and is_stateless(agent) else network().at(1.0)
