"""Values the actions of a decision under the posterior over types of opponents.

For each type of the opponents, worlds are drawn from the acting seat's belief given that type: the
deal and the type of the partner. In playouts the acting seat plays like the analysed agent, and
each of the others like its type. All types share the random numbers of worlds and playouts. Points
are those of the acting seat's team in the round.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass, field
from statistics import NormalDist
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
"""Most tiles that are named as those on which a choice depends."""

FALSE_ALARMS: Final = 0.05
"""Highest share of the decisions without a difference that may be called clear."""

MIN_BRANCH_LEAD: Final = 0.5
"""Points by which different actions must lead where a seat has a tile and where it has not."""

COUNTING_SHARE: Final = 0.05
"""Probability above which a type of the opponents counts; the likeliest type always does."""

FEWER_WORLDS: Final = 4
"""The worlds of a type that does not count are divided by this number."""

Seat = Annotated[int, Meta(ge=0, lt=NUM_SEATS)]

Kind = Annotated[int, Meta(ge=0, lt=len(NAMES))]


def clear_min_z(choices: int) -> float:
    """Returns how many standard errors make a lead clear, among ``choices`` legal actions.

    Each other action may look better by luck: Bonferroni's correction.
    """
    return NormalDist().inv_cdf(1 - FALSE_ALARMS / (choices - 1))


@dataclass(frozen=True)
class ActionPoints:
    """What a legal action is worth under the posterior over types."""

    action: int
    points: float
    error: float
    """Standard error of the points, by sampling only."""
    worlds: int
    """Worlds in which it was played out, of all types."""


@dataclass(frozen=True)
class Deciding:
    """A tile on which a choice depends: with it one action is better, without it another one."""

    seat: Seat
    kind: Kind
    probability: float
    """Probability that it does, as the acting seat could infer it, over all types."""
    held: float
    """Points by which ``best`` leads ``rival`` where the seat holds such a tile."""
    missing: float
    """The same where it does not."""


@dataclass(frozen=True)
class Comparison:
    """How the best action compares with another one."""

    rival: int
    lead: float
    """Points by which the best action leads the rival."""
    lead_error: float
    """Standard error of the lead, by sampling only."""
    deciding: tuple[Deciding, ...]
    """The tiles on which the choice between the two depends."""


@dataclass(frozen=True)
class Valued:
    """What the actions of a decision are worth."""

    options: tuple[ActionPoints, ...]
    best: int
    played: int
    loss: float
    """Points by which the best action leads the played one."""
    loss_error: float
    compared_with: Callable[[int], Comparison] = field(repr=False, compare=False)
    """Compares the best action with another one."""

    def was_dropped_early(self, option: ActionPoints) -> bool:
        """Returns whether an action has more points than the best one, as displayed.

        It was dropped when it was behind others, after few worlds that were good for all actions.
        """
        (best,) = (other for other in self.options if other.action == self.best)
        return round(option.points, 1) > round(best.points, 1)

    @property
    def next_best(self) -> int:
        """The action with the most points next to the best one, those dropped early last."""

        def rank(option: ActionPoints) -> tuple[bool, float]:
            return not self.was_dropped_early(option), option.points

        others = [option for option in self.options if option.action != self.best]
        return max(others, key=rank).action

    @property
    def rival(self) -> int:
        """The played action; where no action is better, the next best one."""
        return self.played if self.played != self.best else self.next_best


class TypedSearch:
    """A search of the decisions of one deal, one after another, of one seat or of several.

    Args:
        base: the policy that plays the acting seat in playouts.
        types: how the others may play.
        worlds: most worlds of a decision under each type.
        priors: [4, K, J] probabilities of the pairs of types when the round began, as each seat
            believed.
        budget: playouts under each type, about. If they are enough for all actions in all worlds,
            no action is dropped. None: no limit.
    """

    def __init__(
        self, base: Policy, types: Types, worlds: int, priors: Float, budget: int | None = None
    ) -> None:
        self._players, self._worlds, self._budget = players_of(base, types), worlds, budget
        self._sampler = PosteriorSampler(types, lambda seat: (types, priors[seat]))

    def value(self, view: View, seat: int, played: int, seed: int) -> Valued:
        """Values a decision in which a seat has a choice.

        Args:
            view: the view of the seat: one row.
            seat: its number, 0 to 3.
            played: the action that it chose.
            seed: of worlds and playouts.
        """
        share, worlds = self._worlds_of(view, seat, seed)
        rows = np.zeros(len(share), np.int64)  # the one row of the view, again for each type
        affordable = self._budget is not None and view.legal().sum() * self._worlds <= self._budget
        values = evaluate_actions(
            view[rows],
            view.legal()[rows],
            self._players,
            SampledWorlds.join(worlds),
            prior_action=np.full(len(rows), played),
            seeds=np.full(len(rows), seed, np.uint64),
            allocation="uniform" if affordable else "halving",
            budget=self._budget,
        )
        best, loss, error = _over_types(values, share, played)

        def compared_with(rival: int) -> Comparison:
            lead, lead_error = _lead(values, share, best, rival)
            deciding = _deciding(values, worlds, share, best, rival, seat)
            return Comparison(rival, lead, lead_error, deciding)

        return Valued(_options(values, share), best, played, loss, error, compared_with)

    def _worlds_of(self, view: View, seat: int, seed: int) -> tuple[Float, list[TypedWorlds]]:
        """Returns the probability of each possible type of the opponents, and worlds under it."""
        listener = self._sampler.listener(view, seat)
        probability = listener.probability().sum(axis=1)
        (possible,) = np.nonzero(probability)
        share = probability[possible]
        counts = (share > COUNTING_SHARE) | (share == share.max())
        num_worlds = np.where(counts, self._worlds, max(1, self._worlds // FEWER_WORLDS))
        return share, [
            TypedWorlds(*listener.sample(count, np.random.default_rng(seed), opponents))
            for count, opponents in zip(num_worlds.tolist(), possible.tolist(), strict=True)
        ]


def _deciding(
    values: ActionValues,
    worlds: Sequence[TypedWorlds],
    share: Float,
    best: int,
    rival: int,
    seat: int,
) -> tuple[Deciding, ...]:
    """Returns the tiles in others' hands on which the choice between two actions depends most.

    One action is better where a seat has such a tile, the other one where it has not, each by
    ``MIN_BRANCH_LEAD`` and by a standard error. Tiles are ranked by the covariance of the lead and
    of holding the tile.

    Args:
        values: the values of all actions.
        worlds: in which they were played out, by type.
        share: the probability of each type.
        best: the action that leads.
        rival: the other action.
        seat: the acting seat.
    """
    leads, chance, holds = _leads(values, worlds, share, best, rival)
    # [24] A place stands for a seat and a kind: 8 kinds of the next seat, then of the partner, ...
    probability = chance @ holds
    held, held_error = _branch(leads, chance, holds)
    missing, missing_error = _branch(leads, chance, ~holds)
    # NaN, where the tile is held in all worlds or in none, is no difference.
    differs = (
        (held * missing < 0)
        & (np.abs(held) >= np.maximum(held_error, MIN_BRANCH_LEAD))
        & (np.abs(missing) >= np.maximum(missing_error, MIN_BRANCH_LEAD))
    )
    # The covariance of the lead and of holding the tile.
    covariance = np.where(differs, probability * np.abs(held - chance @ leads), 0.0)
    order = np.argsort(-covariance, kind="stable")[:MOST_DECIDING]
    return tuple(
        Deciding(
            seat=(seat + 1 + place // NUM_KINDS) % NUM_SEATS,
            kind=place % NUM_KINDS,
            probability=float(probability[place]),
            held=float(held[place]),
            missing=float(missing[place]),
        )
        for place in order.tolist()
        if differs[place]
    )


def _branch(leads: Float, chance: Float, members: Bool) -> tuple[Float, Float]:
    """Returns the mean lead over some worlds and its standard error, for each of P places.

    Args:
        leads: [n] the lead in each world.
        chance: [n] the probability of each world.
        members: [n, P] the worlds that count, for each place.

    Returns:
        Both float64 [P]; NaN where no world counts.
    """
    with np.errstate(invalid="ignore", divide="ignore"):
        total = chance @ members
        mean = (chance * leads) @ members / total
        variance = np.maximum((chance * leads**2) @ members / total - mean**2, 0)
        # The number of equally likely worlds with the same precision (Kish's effective size).
        effective = total**2 / (chance**2 @ members)
        return mean, np.sqrt(variance / effective)


def _lead(values: ActionValues, share: Float, best: int, rival: int) -> tuple[float, float]:
    """Returns by how many points one action leads another over all types, and the error."""
    lead, errors = values.lead(np.full(len(share), best), np.full(len(share), rival))
    return float(share @ lead), float(np.hypot.reduce(share * errors))


def _leads(
    values: ActionValues, worlds: Sequence[TypedWorlds], share: Float, best: int, rival: int
) -> tuple[Float, Float, Bool]:
    """Returns the lead in each world of the types under which both actions were played.

    ``share``: the probability of each type.

    Returns:
        The lead of the best action in each of n worlds, float64 [n]; the probability of the world,
        0 where one of the actions was not played, float64 [n]; and whether the seats 1, 2 and 3
        hold each kind, bool [n, 24], seat by seat.
    """
    num_types = len(share)  # a row each
    leads, weights = values.leads(np.full(num_types, best), np.full(num_types, rival))
    leads_of_type, chances, holds = [], [], []
    for index, typed in enumerate(worlds):
        weight = weights[index, : len(typed)]
        if weight.sum() > 0:
            leads_of_type.append(leads[index, : len(typed)])
            chances.append(share[index] * weight / weight.sum())
            holds.append(typed.worlds.hands[:, 1:] > 0)
    chance = np.concatenate(chances)
    return (
        np.concatenate(leads_of_type),
        chance / chance.sum(),
        np.concatenate(holds).reshape(len(chance), -1),
    )


def _options(values: ActionValues, share: Float) -> tuple[ActionPoints, ...]:
    """Returns the points of the legal actions under the posterior over types."""
    options = []
    for action in values.action[values.row == 0].tolist():
        # Rows are types with the same legal actions: an action has a pair of each type, in order.
        (pairs,) = np.nonzero(values.action == action)
        options.append(
            ActionPoints(
                action,
                points=float(share @ values.points[pairs]),
                error=float(np.hypot.reduce(share * values.error[pairs])),
                worlds=int(values.worlds[pairs].sum()),
            )
        )
    return tuple(options)


def _over_types(values: ActionValues, share: Float, played: int) -> tuple[int, float, float]:
    """Returns the best action under the posterior, and its lead over the played one, with error.

    Only actions that were never dropped under some type that counts can be the best. Each type has
    a separate sample, so the error is that of a stratified sample.
    """
    most_worlds = np.zeros(len(share), np.int64)  # of an action under each type
    np.maximum.at(most_worlds, values.row, values.worlds)
    counts = (share > COUNTING_SHARE) | (share == share.max())
    never_dropped = (values.worlds == most_worlds[values.row]) & counts[values.row]
    best, loss, error = played, 0.0, 0.0
    for action in np.unique(values.action[never_dropped]).tolist():
        lead, lead_error = _lead(values, share, action, played)
        if lead > loss:
            best, loss, error = action, lead, lead_error
    return best, loss, error
