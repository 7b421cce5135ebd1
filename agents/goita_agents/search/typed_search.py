"""Values the actions of a decision under each type of opponents, and under their posterior.

A type of the opponents is given, and worlds are drawn from what the mover's seat believes then: of
the deals, and of the partner's type, which is drawn with them. In playouts each seat plays its
type and the mover's seat the analysed agent. All types share the random numbers of worlds and
playouts.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import Final

import numpy as np

from goita_agents.base import Float, Int, Policy
from goita_agents.beliefs.people import names_of
from goita_agents.beliefs.types import TypeListener, Types
from goita_agents.search.action_values import ActionValues, evaluate_actions
from goita_agents.search.rollout import players_of
from goita_agents.search.sampling import SampledWorlds, TypedWorlds
from goita_agents.search.typed_values import (
    COUNTS,
    ActionGrade,
    Deciding,
    Range,
    TypedPoints,
    TypeGrade,
    counted,
)
from goita_env import View, actions
from goita_env.tiles import NUM_KINDS, NUM_SEATS

MOST_DECIDING: Final = 3

FEWER: Final = 4
"""A type that does not count in the verdict gets this part of the worlds."""


@dataclass(frozen=True)
class Valued:
    """What the actions of a decision are worth."""

    options: tuple[ActionGrade, ...] = ()
    best: int | None = None
    loss: float = 0.0
    loss_error: float = 0.0
    loss_range: Range = (0.0, 0.0)
    types: tuple[TypeGrade, ...] = ()
    rival: int | None = None
    deciding: tuple[Deciding, ...] = ()


class TypedSearch:
    """A search of the decisions of one deal, one after another.

    Args:
        base: who plays the mover's seat in playouts.
        types: how the others may play.
        worlds: most worlds of a decision under each type.
        priors: [4, K, J] probabilities of the pairs of types when the round began, as each seat
            knew them.
    """

    def __init__(self, base: Policy, types: Types, worlds: int, priors: Float) -> None:
        self._players, self._types, self._worlds = players_of(base, types), types, worlds
        self._priors, self._names = priors, names_of(types)
        self._listeners: list[TypeListener | None] = [None] * NUM_SEATS

    def value(
        self,
        view: View,
        seat: int,
        played: int,
        seed: int,
        chances: Float,
        open_values: Mapping[int, int | None],
    ) -> Valued:
        """Values a decision in which a seat has a choice.

        Args:
            view: what the seat sees: one row.
            seat: its number, 0 to 3.
            played: the action that it chose.
            seed: of worlds and playouts.
            chances: [69] with which the policy that is shown chooses each action.
            open_values: of the actions with all hands open; empty before play.
        """
        listener = self._listener(view, seat)
        probability = listener.probability().sum(axis=1)
        (possible,) = np.nonzero(probability)
        share = probability[possible]
        found, worlds = self._search(view, listener, played, seed, possible, share)
        names = [self._names[number] for number in possible]
        by_type = _by_type(found, names, share, played)
        best, loss, error = _over_types(found, share, played)
        losses = [one.loss for one in counted(by_type)]
        options = _options(by_type, share, chances, open_values)
        ranked = [actions.parse(one.action) for one in sorted(options, key=lambda one: -one.points)]
        rival = played if played != best else next(one for one in ranked if one != best)
        return Valued(
            tuple(options),
            best,
            loss,
            error,
            (min(losses), max(losses)),
            by_type,
            rival,
            _deciding(found, worlds, share, best, rival, seat),
        )

    def _listener(self, view: View, seat: int) -> TypeListener:
        listener = self._listeners[seat]
        if listener is None:
            listener = TypeListener(view, self._types, self._priors[seat])
            self._listeners[seat] = listener
        else:
            listener.update(view)
        return listener

    def _search(
        self,
        view: View,
        listener: TypeListener,
        played: int,
        seed: int,
        possible: Int,
        share: Float,
    ) -> tuple[ActionValues, list[TypedWorlds]]:
        """Returns the values of the actions and their worlds, a row for each possible type."""
        counts = (share > COUNTS) | (share == share.max())
        many = np.where(counts, self._worlds, max(1, self._worlds // FEWER))
        worlds = [
            TypedWorlds(*listener.sample(count, np.random.default_rng(seed), opponents))
            for count, opponents in zip(many.tolist(), possible.tolist(), strict=True)
        ]
        rows = np.zeros(len(possible), np.int64)
        found = evaluate_actions(
            view[rows],
            view.legal()[rows],
            self._players,
            SampledWorlds.join(worlds),
            prior_action=np.full(len(rows), played),
            seeds=np.full(len(rows), seed, np.uint64),
            allocation="halving",
        )
        return found, worlds


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
    """
    row = np.zeros(len(share), np.int64)
    leads, weights = found.leads(row + best, row + rival)
    lead, weight, holds = [], [], []
    for number, one in enumerate(worlds):
        own = weights[number, : len(one)]
        if own.sum() > 0:
            lead.append(leads[number, : len(one)])
            weight.append(share[number] * own / own.sum())
            holds.append(one.worlds.hands[:, 1:] > 0)
    points, chance = np.concatenate(lead), np.concatenate(weight)
    held = np.concatenate(holds).reshape(len(points), -1)
    chance = chance / chance.sum()
    probability = chance @ held
    together = (chance * points) @ held
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


def _by_type(
    found: ActionValues, names: Sequence[str], share: Float, played: int
) -> tuple[TypeGrade, ...]:
    loss, error = found.lead(found.best, np.full(len(share), played))
    grades = [
        TypedPoints(actions.name(action), points, deviation, worlds)
        for action, points, deviation, worlds in zip(
            found.action.tolist(),
            found.points.tolist(),
            found.error.tolist(),
            found.worlds.tolist(),
            strict=True,
        )
    ]
    return tuple(
        TypeGrade(
            name,
            probability=float(share[row]),
            options=tuple(grades[pair] for pair in np.flatnonzero(found.row == row)),
            best=actions.name(int(found.best[row])),
            loss=float(loss[row]),
            loss_error=float(error[row]),
        )
        for row, name in enumerate(names)
    )


def _options(
    by_type: Sequence[TypeGrade],
    share: Float,
    chances: Float,
    open_values: Mapping[int, int | None],
) -> list[ActionGrade]:
    """Grades the legal actions under the posterior over types."""
    counts = counted(tuple(by_type))
    options = []
    for number, typed in enumerate(zip(*(one.options for one in by_type), strict=True)):
        points = [one.options[number].points for one in counts]
        action = actions.parse(typed[0].action)
        options.append(
            ActionGrade(
                action=typed[0].action,
                probability=float(chances[action]),
                points=float(share @ [one.points for one in typed]),
                error=float(np.hypot.reduce(share * [one.error for one in typed])),
                range=(min(points), max(points)),
                worlds=sum(one.worlds for one in typed),
                open=open_values.get(action),
            )
        )
    return options


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
