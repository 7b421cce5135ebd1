"""Measures in nats what actions reveal: content, its split, the partner-opponent gap, mismatch.

All start from exact listeners (``listening.listen``): only means over positions are estimated, with
intervals over deals. Every figure depends on the listener's model, its temperature and epsilon.
"""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass
from functools import partial
from typing import Final

import numpy as np
import numpy.typing as npt

from goita_agents.base import Float, Int
from goita_env import View
from goita_env.actions import CALL, MESSAGE, PASS
from goita_env.errors import SettingError
from goita_env.tiles import NAMES, NUM_KINDS, PARTNER
from goita_env.views import NONE
from goita_lab.arena.statistics.intervals import Interval, ratio_interval
from goita_lab.signals.filters import CONTEXTS, context
from goita_lab.signals.listening import POLICY, UNIFORM, ActionInformation, ListenerKnowledge
from goita_lab.signals.playing import Play

REVEALED_QUANTILES: Final = (0.1, 0.5, 0.9, 0.99)
INFORMATIVE_NATS: Final = 1.0
"""Nats from which on an action counts as informative."""
TILES_OUT_PHASES: Final = ("0-8 tiles out", "9-16", "17-24")
"""Phases of a round by the tiles that all seats have played before a decision."""
ACTION_KINDS: Final = ("pass", "lead", "receive", "answer", "message")
GROUPINGS: Final = ("phase", "context", "attack", "action", "attacks with")
"""Groupings of actions by what is public about them."""


@dataclass(frozen=True)
class InformationGain:
    """The information in a group of actions, in nats."""

    group: str
    actions: int
    deals: int
    expected: Interval
    """Mean expected content I(H; Y) of the decision."""
    revealed: Interval
    """Mean KL of the belief after the action from the belief before it."""
    gained: Interval
    """Mean change of the log-probability of the true hand."""
    quantiles: tuple[float, ...]
    """``REVEALED_QUANTILES`` of the KL behind ``revealed``."""
    informative: float
    """Share of the actions that revealed ``INFORMATIVE_NATS`` nats or more."""

    def figures(self) -> dict[str, Interval | None]:
        """Returns the figures that have intervals, by name."""
        return {"expected": self.expected, "revealed": self.revealed, "gained": self.gained}


def information_gain(
    play: Play,
    heard: ActionInformation,
    model: str = POLICY,
    by: str | None = None,
    speaker: int = PARTNER,
) -> list[InformationGain]:
    """Measures how much actions reveal about the speaker's hand, in nats.

    For a listener i and a decision of seat P at time t:

        I_t = I(H_P ; Y_t | h_i, pub_t) = E_{y ~ predictive} KL( b_{t+1}(h_P) || b_t(h_P) )

    with the exact beliefs b under the model; intervals are over deals. A pass reveals little on
    average and much where it surprises, so KL has quantiles. Source: the mutual information of
    Strouse et al. (arXiv:1808.02093) and of the Bayesian action decoder (Foerster et al.,
    arXiv:1811.01458), where the listener's posterior is computed, not learned.

    ``by`` is one of ``GROUPINGS``, None for all actions together; ``speaker`` a relative seat.
    Returns an entry for each group observed in at least two deals.

    Raises:
        SettingError: if there is no such model or grouping, or fewer than two deals were observed.
    """
    column, actions = heard.of(model), heard.where(heard.speaker == speaker)
    names, group = groups(play, actions.row, by)
    gains = []
    for index, name in enumerate(names):
        members = group == index
        rows, kl = actions.row[members], actions.revealed[members, column]
        deals = len(np.unique(play.deal[rows]))
        if deals >= 2:
            nats = actions.content[members, column], kl, actions.gain[members, column]
            expected, revealed, gained = (over_deals(play, rows, figure) for figure in nats)
            quantiles = tuple(np.quantile(kl, REVEALED_QUANTILES).tolist())
            informative = float((kl >= INFORMATIVE_NATS).mean())
            gains.append(
                InformationGain(
                    name, len(rows), deals, expected, revealed, gained, quantiles, informative
                )
            )
    if not gains:
        raise SettingError("expected actions heard in at least two deals, got fewer")
    return gains


@dataclass(frozen=True)
class InformationGainSplit:
    """Knowledge of the partner's hand by its source, in nats a decision of the listener."""

    uniform: Interval
    """U: what the same actions of a uniformly random player reveal."""
    policy: Interval
    """P, the policy information: what knowing the policy adds."""
    total: Interval
    """U + P."""
    share: Interval | None
    """P / (U + P); None unless the interval of the total lies above 0."""
    deals: int

    def figures(self) -> dict[str, Interval | None]:
        """Returns the figures that have intervals, by name."""
        return {
            "uniform": self.uniform,
            "policy": self.policy,
            "total": self.total,
            "share": self.share,
        }


def information_gain_split(
    play: Play, knowledge: ListenerKnowledge, model: str = POLICY
) -> InformationGainSplit:
    """Splits knowledge of the partner's hand into parts from legality and from the policy, in nats.

        U = E[ log b0_T(h*) - log prior(h*) ],   P = E[ log b_T(h*) - log b0_T(h*) ],
        share = P / (U + P)

    with h* the true hand of the partner, b the belief under the policy's model, b0
    under the uniform one, and T each moment at which the listener itself decides. E[P] is at least
    0 where the model is right, and below 0 where it misleads. P does not measure conventions: skill
    and determinism reveal as much, and ``greedy``, which has no conventions, has as high a share as
    bots with conventions. Compare with ``plan.CONTROLS``. Source: the belief b0 of Foerster et al.
    (arXiv:1811.01458).
    """
    rows, seat = knowledge.row, PARTNER - 1
    by_uniform = knowledge.log_probability[:, knowledge.of(UNIFORM), seat]
    by_policy = knowledge.log_probability[:, knowledge.of(model), seat]
    prior = knowledge.prior[:, seat]
    policy_gain, total_gain = by_policy - by_uniform, by_policy - prior
    uniform, policy, total = (
        over_deals(play, rows, gain) for gain in (by_uniform - prior, policy_gain, total_gain)
    )
    share = None
    if total.low > 0:
        share = ratio_of_means(policy_gain, total_gain, partial(over_deals, play, rows))
    return InformationGainSplit(uniform, policy, total, share, len(np.unique(play.deal[rows])))


@dataclass(frozen=True)
class PartnerOpponentGap:
    """The mean information gain of the speaker's partner and of an opponent, in nats."""

    partner: Interval
    opponent: Interval
    gap: Interval
    """Partner minus opponent, decision by decision."""
    decisions: int
    """Number of decisions that all three others observed."""

    def figures(self) -> dict[str, Interval | None]:
        """Returns the figures that have intervals, by name."""
        return {"partner": self.partner, "opponent": self.opponent, "gap": self.gap}


def partner_opponent_gap(
    play: Play, heard: ActionInformation, model: str = POLICY
) -> PartnerOpponentGap:
    """Measures how much more actions reveal to the partner than to an opponent, in nats.

        rho_t = I(H;Y_t | h_partner, pub) - 1/2 sum over opponents I(H;Y_t | h_opponent, pub)

    with H the speaker's hand; ``heard`` comes from ``listen(..., listeners=range(4))``. A code of
    only public information reveals the same to both, so rho is expected near 0. Above 0 there is
    secrecy: a code that the opponents do not know, or that their own hand does not help to read
    (Wyner 1975). Where one policy plays at all seats and is every listener's model, a value near 0
    does not exclude private codes: a test takes teams trained apart, and opponents with another
    model. It is a SettingError if no decision was observed by all three others.
    """
    rows, index, counts = np.unique(heard.row, return_inverse=True, return_counts=True)
    complete = counts == 3  # decisions that all three others observed
    if not complete.any():
        raise SettingError("expected decisions that all three others heard, got none")
    content, from_partner = heard.content[:, heard.of(model)], heard.speaker == PARTNER
    # Sums by decision: over one partner and over two opponents.
    to_partner = np.bincount(index[from_partner], content[from_partner], len(rows))[complete]
    to_opponents = np.bincount(index[~from_partner], content[~from_partner], len(rows))[complete]
    to_opponent = to_opponents / 2
    nats = to_partner, to_opponent, to_partner - to_opponent
    partner, opponent, gap = (over_deals(play, rows[complete], figure) for figure in nats)
    return PartnerOpponentGap(partner, opponent, gap, len(to_partner))


@dataclass(frozen=True)
class ModelMismatch:
    """A listener's model compared with the uniform and the right one, in nats a decision."""

    model: str
    understood: Interval
    """Mean log-probability of the true hand minus that of the uniform model."""
    lost: Interval
    """Mean log-probability under the right model minus under this one."""


def model_mismatch(play: Play, knowledge: ListenerKnowledge) -> list[ModelMismatch]:
    """Measures how well each model except the uniform one reads partners' hands, in nats.

        understood = E[ log b^M(h*) - log b0(h*) ],   lost = E[ log b^policy(h*) - log b^M(h*) ]

    E[lost] is at least 0 where "policy" is the policy that played: log-loss is a proper score.
    Source: the policy of another seed as a placebo of Lowe et al. (arXiv:1903.05168).
    """
    log_probability = knowledge.log_probability[:, :, PARTNER - 1]
    by_policy = log_probability[:, knowledge.of(POLICY)]
    by_uniform = log_probability[:, knowledge.of(UNIFORM)]
    return [
        ModelMismatch(
            name,
            over_deals(play, knowledge.row, by_model - by_uniform),
            over_deals(play, knowledge.row, by_policy - by_model),
        )
        for name, by_model in zip(knowledge.models, log_probability.T, strict=True)
        if name != UNIFORM
    ]


def over_deals(play: Play, rows: Int, values: npt.ArrayLike) -> Interval:
    """Returns the mean of decisions' values [n] with its 95 % interval over deals.

    ``rows`` [n] are the decisions among those of the play.
    """
    _, deal = np.unique(play.deal[rows], return_inverse=True)
    sums = np.bincount(deal, np.asarray(values, np.float64))
    return ratio_interval(sums, np.bincount(deal).astype(np.float64))


def groups(play: Play, rows: Int, by: str | None) -> tuple[tuple[str, ...], Int]:
    """Groups decisions by what is public: the groups' names, and the group of each decision [n]."""
    view, action = play.view(rows), play.action[rows].astype(np.int64)
    # Indices into ``ACTION_KINDS``. Messages come before answers, whose condition they fulfil, too.
    kinds = np.select(
        [action == PASS, action >= MESSAGE, action >= CALL], [0, 4, 3], np.where(view.leads, 1, 2)
    )
    groupings: dict[str | None, tuple[tuple[str, ...], Int]] = {
        None: (("all",), np.zeros(len(rows), np.int64)),
        # A play puts two tiles out: up to 8 tiles are phase 0, up to 16 phase 1, up to 24 phase 2.
        "phase": (TILES_OUT_PHASES, np.maximum(2 * view.num_plays.astype(np.int64) - 1, 0) // 8),
        "context": (CONTEXTS, context(view)),
        "attack": ((*(f"{kind} attack" for kind in NAMES), "lead"), attack(view)),
        "action": (ACTION_KINDS, kinds),
        "attacks with": ((*NAMES, "none"), attacks_with(action)),
    }
    if by not in groupings:
        raise SettingError(f"expected a grouping by {list(GROUPINGS)} or None, got {by!r}")
    return groupings[by]


def attack(view: View) -> Int:
    """Returns the kind of the attack that is answered, 8 for leads: [N]."""
    answered = (view.attack != NONE) & ~view.leads
    return np.where(answered, view.attack, NUM_KINDS).astype(np.int64)


def attacks_with(action: npt.NDArray[np.integer]) -> Int:
    """Returns the kind that each action attacks with, 8 for none: [n]."""
    plays = (action > PASS) & (action < CALL)
    return np.where(plays, (action - 1) % NUM_KINDS, NUM_KINDS)


def ratio_of_means(part: Float, whole: Float, interval_of: Callable[[Float], Interval]) -> Interval:
    """Returns the ratio of two means, with the interval of its linearisation.

    ``interval_of`` returns the mean of values with its interval.
    """
    ratio = float(part.sum() / whole.sum())
    residual = interval_of((part - ratio * whole) / whole.mean())
    return Interval(ratio, ratio + residual.low, ratio + residual.high)
