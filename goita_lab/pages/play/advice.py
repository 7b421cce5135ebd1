"""Advises a player from its view alone: what the champion would do, what the partner may hold."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from functools import cache
from typing import Final

import numpy as np

from goita_agents.base import Agent, Float, Policy, is_stateless
from goita_agents.beliefs import Listener, PolicyModel, RelativeSeat
from goita_agents.beliefs.people import people
from goita_agents.beliefs.types import Types
from goita_agents.champion.agent import network
from goita_agents.search.action_values import MIN_Z
from goita_env import Game, View, actions
from goita_env.errors import SettingError
from goita_env.records import DealRecord
from goita_lab.pages.watch.decisions import Deciding
from goita_lab.pages.watch.matches import MatchPriors
from goita_lab.pages.watch.valuing import TypedSearch

WORLDS: Final = 256
"""Worlds for each type of the others: those of the first analysis of a review."""

LEAST: Final = 0.005
"""Probability of a partner's hand that is told."""

_SEATS: Final[tuple[RelativeSeat, ...]] = ("next", "partner", "previous")


@dataclass(frozen=True)
class HintOption:
    """What a hint says of an action."""

    action: int
    probability: float
    """With which the champion's policy plays it, at temperature 1."""
    points: float | None
    """Of the round, for the player's team, minus the others'; the mean over the worlds. None: it
    was dropped early, behind others, in few worlds that happened to be good for all of them."""
    error: float
    """Standard error of that mean, by sampling alone."""


@dataclass(frozen=True)
class Hint:
    """A suggested action."""

    action: int
    options: tuple[HintOption, ...]
    """The legal actions, the best by points first."""
    rival: int
    """Another action, to which ``deciding`` compares the best one."""
    deciding: tuple[Deciding, ...]
    """The tiles on which the choice hangs most."""

    @property
    def best(self) -> int:
        return self.options[0].action


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


def at_sight(view: View) -> Float:
    """Returns how the champion's policy plays without looking ahead: [69], at temperature 1."""
    chances: Float = network().at(1.0).probabilities(view, view.legal())[0]
    return chances


def hint(view: View, seat: int, earlier: Sequence[DealRecord] = ()) -> Hint:
    """Returns what the champion suggests, with the points of a search.

    It is the search of a review (``goita_lab.pages.watch.valuing``): the others may play like any
    type of people, and what they showed in earlier rounds of the match counts. The policy's own
    choice stands unless another action leads it by ``MIN_Z`` standard errors of
    ``goita_agents.search.action_values``. The same view gives the same hint.

    Args:
        view: of a seat that has a choice: one row.
        seat: its number, 0 to 3.
        earlier: the rounds of the match before this one.
    """
    chances, seed = at_sight(view), int(np.random.default_rng(view.words[0]).integers(2**63))
    chosen = int(chances.argmax())
    search = TypedSearch(network(), _people(), WORLDS, _priors().after(earlier))
    found = search.value(view, seat, chosen, seed, chances, {})
    assert found.best is not None
    assert found.rival is not None
    best = next(one for one in found.options if actions.parse(one.action) == found.best)
    ranked = sorted(found.options, key=lambda one: (one is not best, -one.points))
    options = [
        HintOption(
            actions.parse(one.action),
            one.probability,
            one.points if round(one.points, 1) <= round(best.points, 1) else None,
            one.error,
        )
        for one in ranked
    ]
    options.sort(key=lambda one: one.points is None)
    leads = found.loss > MIN_Z * found.loss_error
    return Hint(found.best if leads else chosen, tuple(options), found.rival, found.deciding)


def prepare() -> None:
    """Loads what a hint needs, for seconds, so that the next one comes at once."""
    game = Game(seed=0)
    assert game.seat is not None
    hint(game.view(game.seat), game.seat)


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
    likely = tuple(one for one in belief.most_likely(3) if one[1] >= LEAST)
    return PartnerGuess(at_least_one, belief.expected() - shown, likely, belief.models)


@cache
def _people() -> Types:
    return people()


@cache
def _priors() -> MatchPriors:
    return MatchPriors(_people())


def _known(agent: Agent) -> Agent:
    """Returns an agent whose probabilities are known from one view: it, or the champion."""
    return agent if isinstance(agent, Policy) and is_stateless(agent) else network().at(1.0)
