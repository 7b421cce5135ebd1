"""Advises a player from its view alone: what the champion would do, what the partner may hold."""

from __future__ import annotations

from dataclasses import dataclass
from functools import cache
from typing import Final

import numpy as np

from agents.base import Agent, Float, Memory, Policy
from agents.beliefs import Assumed, Listener, Seat
from agents.bots.network import NetworkAgent
from agents.champion.agent import CAUTION, WEIGHTS
from agents.faults import Accountable
from agents.search import drawing
from agents.search.hearing import Hearing
from agents.search.playout import Player
from agents.search.pricing import average, set_up
from goita_env import View
from goita_env.errors import SettingError
from goita_env.tiles import HAND_SIZE, NUM_KINDS

WORLDS: Final = 64
"""Worlds in which each action is played out."""

ACTIONS: Final = 8
"""Actions that are played out, at most: the likeliest ones."""

TREMBLE: Final = 0.05
"""How often a seat is supposed to slip to any legal action."""

_SEATS: Final[tuple[Seat, ...]] = ("next", "partner", "previous")


@dataclass(frozen=True)
class Option:
    """Holds what is to be said of an action."""

    action: int
    probability: float
    """With which the champion's policy plays it, at temperature 1."""
    points: float
    """Of the round, for the player's team, minus the others'; the mean over the worlds."""
    error: float
    """Standard error of that mean, by sampling alone."""


@dataclass(frozen=True)
class Hint:
    """Suggests an action."""

    action: int
    options: tuple[Option, ...]
    """The likeliest actions of the policy, the best by points first."""


@dataclass(frozen=True)
class Guess:
    """Says what the partner may hold: tiles that it hasn't shown, in its hand or face down."""

    chances: Float
    """[8, 9] Probability of 0, 1, ... tiles of each kind."""
    likely: tuple[tuple[str, float], ...]
    """The likeliest hands as dealt, as digits, with their probabilities."""
    assumed: tuple[str, str, str]
    """How the next seat, the partner and the previous seat are supposed to play."""

    @property
    def at_least_one(self) -> Float:
        """Returns the probability of a tile or more of each kind: float64 [8]."""
        found: Float = self.chances[:, 1:].sum(axis=1)
        return found

    @property
    def expected(self) -> Float:
        """Returns the expected tiles of each kind: float64 [8]."""
        found: Float = self.chances @ np.arange(HAND_SIZE + 1)
        return found


def hint(view: View) -> Hint:
    """Returns what the champion suggests, with the points of a search.

    Worlds are drawn from what a listener believes who supposes that all play as the champion, and
    slip now and then (``agents.search.drawing.TREMBLE``); each action is played out in all of them
    by the champion's policy at all seats. The policy's own choice is suggested unless another is
    ahead by more than chance, as with ``champion:search=on``. The same view gives the same hint.

    Args:
        view: of a seat that has a choice: one row.
    """
    policy, legal, seeds = _champion(), view.legal(), _seed(view)
    chances = policy.at(1.0).probabilities(view, legal)[0]
    player, favourite = Player(policy), int(chances.argmax())
    actions = np.argsort(-chances, kind="stable")[: min(ACTIONS, int(legal.sum()))]
    some = np.zeros_like(legal)
    some[0, actions] = True
    hearing = Hearing(policy, drawing.TREMBLE)
    drawn = drawing.draw(view, seeds, np.array([WORLDS]), WORLDS, policy, hearing)
    race, play = set_up(player, view, some, np.array([favourite]), drawn, seeds)
    worlds, many = np.arange(int(drawn.count[0])), len(actions)
    pairs = race.action.searchsorted(actions)
    points = play(pairs.repeat(len(worlds)), np.tile(worlds, many)).reshape(many, len(worlds))
    weight = drawn.weight[:, worlds]
    means, errors = average(points, weight)
    options = [
        Option(action, float(chances[action]), mean, error)
        for action, mean, error in zip(
            actions.tolist(), means.tolist(), errors.tolist(), strict=True
        )
    ]
    best = int(means.argmax())
    lead, error = average(points[best] - points[:1], weight)
    ahead = lead[0] > CAUTION * error[0]
    options.sort(key=lambda one: -one.points)
    return Hint(int(actions[best]) if ahead else favourite, tuple(options))


def partner(view: View, agents: tuple[Agent, Agent, Agent]) -> Guess:
    """Returns what the partner may hold, from all that has been seen: an exact posterior.

    Each seat is supposed to play as its agent does where that agent's probabilities are known, else
    as the champion's policy, and to slip now and then.

    Args:
        view: of the player, in a round under way: one row.
        agents: of the next seat, the partner and the previous seat.

    Raises:
        SettingError: if the round was decided before play, or an agent's probabilities are none.
    """
    try:
        assumed = {
            seat: Assumed(_known(agent), tremble=TREMBLE)
            for seat, agent in zip(_SEATS, agents, strict=True)
        }
        belief = Listener(view, assumed).posterior("partner")
    except SettingError:
        raise
    except Exception as error:  # of code that may be anybody's
        raise SettingError(
            "expected probabilities of the agents at the table, but asking for them raised "
            f"{type(error).__name__}"
        ) from error
    left = belief.hands - view.face_up[0, 2]
    chances = np.array(
        [
            np.bincount(left[:, kind].clip(0), belief.probability, HAND_SIZE + 1)
            for kind in range(NUM_KINDS)
        ]
    )
    return Guess(chances, tuple(belief.most_likely(3)), belief.assumed)


@cache
def _champion() -> NetworkAgent:
    """Returns the champion's policy."""
    return NetworkAgent.load(WEIGHTS)


def _known(agent: Agent) -> Agent:
    """Returns an agent whose probabilities are known from one view: it, or the champion."""
    known = isinstance(agent, Policy) and not isinstance(agent, Memory | Accountable)
    return agent if known else _champion().at(1.0)


def _seed(view: View) -> np.ndarray[tuple[int], np.dtype[np.uint64]]:
    """Returns a seed that follows from a view of one row: [1]."""
    return np.random.default_rng(view.words[0]).integers(2**63, size=1).astype(np.uint64)
