"""Values the actions of a decision under the posterior over types of opponents.

A type of the opponents is given, and worlds are drawn from what the mover's seat believes then: of
the deals, and of the partner's type, which is drawn with them. In playouts each seat plays its
type and the mover's seat the analysed agent. All types share the random numbers of worlds and
playouts. Points are those of the mover's team in the round.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from typing import Annotated, Final

import numpy as np
from msgspec import Meta

from goita_agents.base import Bool, Float, Policy
from goita_agents.beliefs.types import Types
from goita_agents.search.action_values import ActionValues, evaluate_actions
from goita_agents.search.rollout import players_of
from goita_agents.search.sampling import PosteriorSampler, SampledWorlds, TypedWorlds
from goita_env import View
from goita_env.tiles import NAMES, NUM_KINDS, NUM_SEATS

MOST_DECIDING: Final = 3

COUNTS: Final = 0.05
"""Probability above which a type of the others counts; the likeliest one always does."""

FEWER: Final = 4
"""A type that does not count gets this part of the worlds."""

Seat = Annotated[int, Meta(ge=0, lt=NUM_SEATS)]

Kind = Annotated[int, Meta(ge=0, lt=len(NAMES))]


@dataclass(frozen=True)
class ActionPoints:
    """What a legal action is worth under the posterior over types."""

    action: int
    points: float
    error: float
    """Standard error of the points, by sampling alone."""
    worlds: int
    """In which it was played out, of all types."""


@dataclass(frozen=True)
class Deciding:
    """How much of a choice hangs on whether a seat holds a tile of a kind."""

    seat: Seat
    kind: Kind
    probability: float
    """That it does, by what the mover could know, under the posterior over types."""
    held: float
    """By how many points ``best`` leads ``rival`` where the seat holds one."""
    missing: float
    """The same where it does not."""


@dataclass(frozen=True)
class Valued:
    """What the actions of a decision are worth."""

    options: tuple[ActionPoints, ...]
    best: int
    loss: float
    """By how many points the best leads the played action."""
    loss_error: float
    rival: int
    """The played action; where nothing is better, the next best one."""
    deciding: tuple[Deciding, ...]


class TypedSearch:
    """A search of the decisions of one deal, one after another, those of several seats too.

    Args:
        base: who plays the mover's seat in playouts.
        types: how the others may play.
        worlds: most worlds of a decision under each type.
        priors: [4, K, J] probabilities of the pairs of types when the round began, as each seat
            knew them.
        budget: playouts under each type, about: in one stage if enough for all; None: no limit.
    """

    def __init__(
        self, base: Policy, types: Types, worlds: int, priors: Float, budget: int | None = None
    ) -> None:
        self._players, self._worlds, self._budget = players_of(base, types), worlds, budget
        self._sampler = PosteriorSampler(types, lambda seat: (types, priors[seat]))

    def value(self, view: View, seat: int, played: int, seed: int) -> Valued:
        """Values a decision in which a seat has a choice.

        Args:
            view: what the seat sees: one row.
            seat: its number, 0 to 3.
            played: the action that it chose.
            seed: of worlds and playouts.
        """
        share, worlds = self._worlds_of(view, seat, seed)
        rows = np.zeros(len(share), np.int64)
        few = self._budget is not None and view.legal().sum() * self._worlds <= self._budget
        found = evaluate_actions(
            view[rows],
            view.legal()[rows],
            self._players,
            SampledWorlds.join(worlds),
            prior_action=np.full(len(rows), played),
            seeds=np.full(len(rows), seed, np.uint64),
            allocation="uniform" if few else "halving",
            budget=self._budget,
        )
        best, loss, error = _over_types(found, share, played)
        options = _options(found, share)
        ranked = [one.action for one in sorted(options, key=lambda one: -one.points)]
        rival = played if played != best else next(one for one in ranked if one != best)
        deciding = _deciding(found, worlds, share, best, rival, seat)
        return Valued(options, best, loss, error, rival, deciding)

    def _worlds_of(self, view: View, seat: int, seed: int) -> tuple[Float, list[TypedWorlds]]:
        """Returns the probability of each possible type of the opponents, and worlds under it."""
        listener = self._sampler.listener(view, seat)
        probability = listener.probability().sum(axis=1)
        (possible,) = np.nonzero(probability)
        share = probability[possible]
        counts = (share > COUNTS) | (share == share.max())
        many = np.where(counts, self._worlds, max(1, self._worlds // FEWER))
        return share, [
            TypedWorlds(*listener.sample(count, np.random.default_rng(seed), opponents))
            for count, opponents in zip(many.tolist(), possible.tolist(), strict=True)
        ]


def _deciding(
    found: ActionValues,
    worlds: Sequence[TypedWorlds],
    share: Float,
    best: int,
    rival: int,
    seat: int,
) -> tuple[Deciding, ...]:
    """Returns the tiles in others' hands on which the lead of one action over another hangs most.

    They are ranked by the covariance of the lead and of holding the tile.

    Args:
        found: the values of all actions.
        worlds: in which they were played out, by type.
        share: the probability of each type.
        best: the action that leads.
        rival: the other action.
        seat: of the mover.
    """
    points, chance, holds = _leads(found, worlds, share, best, rival)
    probability = chance @ holds
    together = (chance * points) @ holds
    mean = float(chance @ points)
    with np.errstate(invalid="ignore", divide="ignore"):
        with_it, without = together / probability, (mean - together) / (1 - probability)
    covariance = np.abs(together - probability * mean)
    order = np.argsort(-covariance, kind="stable")[:MOST_DECIDING]
    return tuple(
        Deciding(
            seat=(seat + 1 + place // NUM_KINDS) % NUM_SEATS,
            kind=place % NUM_KINDS,
            probability=float(probability[place]),
            held=float(with_it[place]),
            missing=float(without[place]),
        )
        for place in order.tolist()
        if 0 < probability[place] < 1
    )


def _leads(
    values: ActionValues, worlds: Sequence[TypedWorlds], share: Float, best: int, rival: int
) -> tuple[Float, Float, Bool]:
    """Returns the worlds of all types, n in all, in which both actions were played.

    Returns:
        The lead of the best action in each, float64 [n]; its probability, float64 [n]; and which
        kinds of tiles the seats 1, 2 and 3 hold there, bool [n, 24], seat by seat.
    """
    row = np.zeros(len(share), np.int64)
    leads, weights = values.leads(row + best, row + rival)
    points, chances, held = [], [], []
    for index, typed in enumerate(worlds):
        weight = weights[index, : len(typed)]
        if weight.sum() > 0:
            points.append(leads[index, : len(typed)])
            chances.append(share[index] * weight / weight.sum())
            held.append(typed.worlds.hands[:, 1:] > 0)
    chance = np.concatenate(chances)
    return (
        np.concatenate(points),
        chance / chance.sum(),
        np.concatenate(held).reshape(len(chance), -1),
    )


def _options(found: ActionValues, share: Float) -> tuple[ActionPoints, ...]:
    """Returns the points of the legal actions under the posterior over types."""
    options = []
    for action in found.action[found.row == 0].tolist():
        (typed,) = np.nonzero(found.action == action)
        options.append(
            ActionPoints(
                action,
                points=float(share @ found.points[typed]),
                error=float(np.hypot.reduce(share * found.error[typed])),
                worlds=int(found.worlds[typed].sum()),
            )
        )
    return tuple(options)


def _over_types(found: ActionValues, share: Float, played: int) -> tuple[int, float, float]:
    """Returns the best action under the posterior, and its lead over the played one, with error.

    Any action may be the best that was never dropped under some type that counts. Each type has a
    sample of its own, so the error is that of a stratified sample.
    """
    chosen = np.full(len(share), played)
    most = np.zeros(len(share), np.int64)
    np.maximum.at(most, found.row, found.worlds)
    counts = (share > COUNTS) | (share == share.max())
    whole = (found.worlds == most[found.row]) & counts[found.row]
    best, loss, error = played, 0.0, 0.0
    for action in np.unique(found.action[whole]).tolist():
        lead, errors = found.lead(np.full(len(share), action), chosen)
        ahead = float(share @ lead)
        if ahead > loss:
            best, loss, error = action, ahead, float(np.hypot.reduce(share * errors))
    return best, loss, error
