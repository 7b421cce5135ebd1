"""Infers how others play: an exact posterior over types of opponents and partners, and over deals.

A type says how a player acts. The two opponents share a type, the partner has another. Each seat is
filtered under each of its types (``goita_agents.beliefs.filtering``), and the sum over all
deals is the evidence of a pair of types. So the posterior over types and deals together is exact.
"""

from __future__ import annotations

from collections.abc import Sequence
from contextlib import suppress
from dataclasses import dataclass
from math import inf, log
from typing import Final

import numpy as np

from goita_agents.base import Agent, AgentError, Float, Int
from goita_agents.beliefs.deal_belief import DealBelief, systematic_sample
from goita_agents.beliefs.following import Following, seat_number
from goita_agents.beliefs.hand_belief import HandBelief
from goita_agents.beliefs.history import Event, Messages
from goita_agents.beliefs.unheard_messages import DealMixture, sample_of
from goita_agents.models import (
    LEGAL_MODEL,
    TYPE_EPSILONS,
    OpponentModel,
    PolicyModel,
    SharedAnswers,
    UnexplainedError,
)
from goita_env import View
from goita_env.checks import check_count
from goita_env.errors import SettingError
from goita_env.tiles import RelativeSeat
from goita_env.worlds import Worlds

NEGLIGIBLE: Final = 0.01
"""Types of opponents that are less likely than this share of the likeliest count as impossible:
they need not be followed, and the posterior is exact up to their share."""

BROAD_EPSILON: Final = 0.5  # Of the fallback type.

BROAD_PRIOR: Final = 0.1  # Probability of the fallback type at first.


@dataclass(frozen=True)
class Types:
    """The policies that the opponents and the partner may play, with their priors.

    One type in each list should be broad, such as a policy with a large epsilon: it explains
    players that play like no other type in the list.

    Raises:
        AgentError: if a list is empty or holds ``LEGAL_MODEL``, which gives no distribution over
            actions, or probabilities are not one positive number for each type.
    """

    opponents: tuple[OpponentModel, ...]  #: K models of the opposing team.
    partners: tuple[OpponentModel, ...]  #: J models of the partner.
    opponent_prior: tuple[float, ...] = ()  #: [K] Empty: equally likely.
    partner_prior: tuple[float, ...] = ()  #: [J] Empty: equally likely.

    def __post_init__(self) -> None:
        for models, prior in (
            (self.opponents, self.opponent_prior),
            (self.partners, self.partner_prior),
        ):
            if not models or any(model is LEGAL_MODEL for model in models):
                raise AgentError(
                    "expected one type or more, each a distribution over actions, got "
                    f"{[model.name for model in models]}"
                )
            positive = all(0 < chance < inf for chance in prior)
            if prior and (len(prior) != len(models) or not positive):
                raise AgentError(f"expected {len(models)} probabilities above 0, got {list(prior)}")

    def prior(self) -> Float:
        """Returns the probability of each pair of types at first: float64 [K, J]."""
        opponents, partners = (
            np.array(prior or (1.0,) * len(models)) / (sum(prior) or len(models))
            for models, prior in (
                (self.opponents, self.opponent_prior),
                (self.partners, self.partner_prior),
            )
        )
        return np.outer(opponents, partners)


def make_types(
    opponents: Sequence[Agent],
    partners: Sequence[Agent],
    epsilon: float = TYPE_EPSILONS[0],
    shares: Sequence[float] = (),
) -> Types:
    """Returns types of policies, with a fallback type for players that play like none of them.

    The fallback type is the last of ``opponents`` with an epsilon of ``BROAD_EPSILON``. Each type
    of the partner has the epsilon that search assumes of a partner, which is large.

    Args:
        opponents: policies that the opposing team may play.
        partners: policies that the partner may play.
        epsilon: of the opponents' policies.
        shares: relative probabilities of the opponents' policies; empty: equal.

    Raises:
        AgentError: if an agent's probabilities are not known, or a list is empty.
    """
    if not opponents:
        raise AgentError("expected one type of opponents or more, got none")
    models = [PolicyModel(agent, epsilon=epsilon) for agent in opponents]
    shares = shares or [1.0] * len(models)
    narrow_prior = [(1 - BROAD_PRIOR) * share / sum(shares) for share in shares]
    return Types(
        opponents=(*models, PolicyModel(opponents[-1], epsilon=BROAD_EPSILON)),
        partners=tuple(PolicyModel(agent, epsilon=TYPE_EPSILONS[1]) for agent in partners),
        opponent_prior=(*narrow_prior, BROAD_PRIOR),
    )


class TypeListener(Following):
    """A listener that follows one round as one seat sees it, and infers the types of the players.

    Its posterior depends only on the view and the prior, whenever it began to listen.

    Args:
        view: the seat's view at any moment of a round: one row.
        types: how the others may play.
        prior: [K, J] probabilities of the pairs of types at first, above 0; None: those of
            ``types``.
        negligible: types of the opponents that are less likely than this share of the likeliest are
            left out; 0: none is, and all is exact.

    Raises:
        SettingError: if the view is not one row, or shows a round that was decided before play.
    """

    def __init__(
        self,
        view: View,
        types: Types,
        prior: Float | None = None,
        *,
        negligible: float = NEGLIGIBLE,
    ) -> None:
        self.types, self._least_log_share = types, log(negligible) if negligible else -inf
        self._followed: list[int] = []
        self.prior = types.prior() if prior is None else prior
        self._answers = SharedAnswers((*types.opponents, *types.partners))
        num_opponents = len(types.opponents)
        models = self._answers.models
        opponents, partners = models[:num_opponents], models[num_opponents:]
        super().__init__(view, (opponents, partners, opponents))

    def probability(self) -> Float:
        """Returns how likely each pair of types is now: float64 [K, J], with sum 1.

        Raises:
            UnexplainedError: if no type explains the actions of all seats.
        """
        try:
            return self._probability()
        finally:
            self._answers.forget()

    def _probability(self) -> Float:
        """Returns the same as ``probability``; models keep their answers meanwhile."""
        # Only the opponents' types that were likely before are weighed at first. Then the bounds of
        # the others, which are their earlier evidence, decide which of these must be weighed, too.
        weighed = {opponents for opponents, _ in self._beliefs}
        unweighed = [opponents for opponents in self._followed if opponents not in weighed]
        while True:
            for opponents in unweighed:
                self._weigh(opponents)
            score = np.log(self.prior) + self._evidence
            best = score[self._followed].max()
            if best == -np.inf:
                raise UnexplainedError(
                    "expected a type that explains the actions of all seats, got none"
                )
            likely = np.flatnonzero(score.max(axis=1) > best + self._least_log_share).tolist()
            unweighed = [opponents for opponents in likely if opponents not in self._followed]
            if not unweighed:
                break
            self._followed += unweighed
        self._followed = likely
        posterior = np.zeros(score.shape)
        posterior[likely] = np.exp(score[likely] - best)
        posterior /= posterior.sum()
        return posterior

    def beliefs(self) -> list[tuple[float, int, int, DealBelief | DealMixture]]:
        """Returns the possible pairs of types: probability, opponents, partner, belief.

        Raises:
            UnexplainedError: if no type explains the actions of all seats.
        """
        probability = self.probability()
        pairs = np.argwhere(probability).tolist()
        return [(float(probability[k, j]), k, j, self._beliefs[k, j]) for k, j in pairs]

    def posterior(self, relative_seat: RelativeSeat = "partner") -> HandBelief:
        """Returns the belief about a seat's hand, over all types.

        Raises:
            SettingError: if it is not one of the three seats.
            UnexplainedError: if no type explains the actions of all seats.
        """
        seat = seat_number(relative_seat)
        beliefs = self.beliefs()
        marginal = sum(p * belief.marginals[seat - 1] for p, _, _, belief in beliefs)
        _, k, j, _ = beliefs[0]
        branches = self._branches((k, j, k))
        return self._hand_belief(seat, np.asarray(marginal), branches, ("types",) * 3)

    def sample(
        self, count: int, rng: np.random.Generator, opponents: int | None = None
    ) -> tuple[Worlds, Int]:
        """Draws worlds, each with a pair of types: worlds and indices of pairs, int64 [count].

        The pair ``n`` is ``divmod(n, J)``: the type of the opponents and that of the partner. The
        pairs are a systematic sample, and so is each quarter of them.

        Args:
            count: number of worlds.
            rng: of all that is random in them.
            opponents: index of the type that the opponents are known to have; None: any.

        Raises:
            SettingError: if the opponents' type is impossible or negligible, or the count is not a
                whole number from 1 on.
            UnexplainedError: if no type explains the actions of all seats.
        """
        check_count(count, "worlds")
        beliefs = [entry for entry in self.beliefs() if opponents in (None, entry[1])]
        if not beliefs:
            raise SettingError(f"expected a type that is still possible, got {opponents!r}")
        pair = np.array([k * len(self.types.partners) + j for _, k, j, _ in beliefs])
        if len(beliefs) == 1:
            return beliefs[0][-1].sample(count, rng), pair.repeat(count)
        chances = np.array([chance for chance, *_ in beliefs])
        drawn = systematic_sample(chances, count, float(rng.random()))
        return sample_of([belief for *_, belief in beliefs], drawn, rng), pair[drawn]

    def _begin(self, view: View, messages: Messages) -> None:
        super()._begin(view, messages)
        self._evidence = np.zeros(self.prior.shape)
        """Log-probability of what has happened, under each pair of types. It only falls from event
        to event, so an earlier value bounds it from above."""
        self._followed = list(range(len(self._evidence)))
        self._beliefs: dict[tuple[int, int], DealBelief | DealMixture] = {}

    def _take(self, event: Event) -> None:
        super()._take(event)
        self._beliefs.clear()

    def _weigh(self, opponents: int) -> None:
        """Computes the evidence of a type of the opponents with each type of the partner."""
        for partner in range(len(self.types.partners)):
            self._evidence[opponents, partner] = -np.inf
            with suppress(UnexplainedError):
                branches = self._branches((opponents, partner, opponents))
                belief, log_evidence, _ = self._mixture(branches)
                self._beliefs[opponents, partner] = belief
                self._evidence[opponents, partner] = log_evidence
