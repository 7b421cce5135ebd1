"""Advises a player from its view alone: what the champion would do, what the partner may hold."""

from __future__ import annotations

from dataclasses import dataclass
from functools import cache
from typing import Final

import numpy as np

from goita_agents.base import Agent, Float, Policy, is_stateless
from goita_agents.beliefs import Listener, PolicyModel, RelativeSeat
from goita_agents.beliefs.people import people
from goita_agents.beliefs.types import Types
from goita_agents.champion.agent import network
from goita_agents.search.action_values import BUDGET, WORLDS, evaluate_actions
from goita_agents.search.rollout import players_of
from goita_agents.search.sampling import PosteriorSampler, sample_worlds
from goita_env import Game, View
from goita_env.errors import SettingError

ACTIONS: Final = 8
"""Actions that are played out, at most: the likeliest ones."""

_SEATS: Final[tuple[RelativeSeat, ...]] = ("next", "partner", "previous")


@dataclass(frozen=True)
class HintOption:
    """What a hint says of an action."""

    action: int
    probability: float
    """With which the champion's policy plays it, at temperature 1."""
    points: float
    """Of the round, for the player's team, minus the others'; the mean over the worlds."""
    error: float
    """Standard error of that mean, by sampling alone."""


@dataclass(frozen=True)
class Hint:
    """A suggested action."""

    action: int
    options: tuple[HintOption, ...]
    """The likeliest actions of the policy, the best by points first."""


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


def hint(view: View, most: int = ACTIONS) -> Hint:
    """Returns what the champion suggests, with the points of a search.

    It searches with the worlds and the budget of ``champion:search=on``, but takes the others for
    types of people (``goita_agents.beliefs.people``), and plays each of the likeliest actions out
    in the same number of worlds, so that their points can be compared. The policy's own choice
    stands unless another action leads it by ``MIN_Z`` standard errors of
    ``goita_agents.search.action_values``. The same view gives the same hint.

    Args:
        view: of a seat that has a choice: one row.
        most: actions that are played out, at most: the likeliest ones. More than the default ones
            are played out in as many worlds each.
    """
    policy, legal = network(), view.legal()
    seeds = np.random.default_rng(view.words[0]).integers(2**63, size=1).astype(np.uint64)
    chances = policy.at(1.0).probabilities(view, legal)[0]
    likeliest = np.argsort(-chances, kind="stable")[: min(most, int(legal.sum()))]
    searched = np.zeros_like(legal)
    searched[0, likeliest] = True
    found = evaluate_actions(
        view,
        searched,
        players_of(policy, _people()),
        sample_worlds(view, seeds, np.array([WORLDS]), PosteriorSampler(_people())),
        prior_action=likeliest[:1],
        seeds=seeds,
        allocation="uniform",
        budget=BUDGET * max(ACTIONS, len(likeliest)) // ACTIONS,
    )
    options = [
        HintOption(action, float(chances[action]), points, error)
        for action, points, error in zip(
            found.action.tolist(), found.points.tolist(), found.error.tolist(), strict=True
        )
    ]
    options.sort(key=lambda one: -one.points)
    return Hint(int(found.chosen[0]), tuple(options))


def prepare() -> None:
    """Loads what a hint needs, for seconds, so that the next one comes at once."""
    game = Game(seed=0)
    assert game.seat is not None
    hint(game.view(game.seat))


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
            seat: PolicyModel(_known(agent)) for seat, agent in zip(_SEATS, agents, strict=True)
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
    likely = tuple(belief.most_likely(3))
    return PartnerGuess(at_least_one, belief.expected() - shown, likely, belief.models)


@cache
def _people() -> Types:
    return people()


def _known(agent: Agent) -> Agent:
    """Returns an agent whose probabilities are known from one view: it, or the champion."""
    return agent if isinstance(agent, Policy) and is_stateless(agent) else network().at(1.0)
