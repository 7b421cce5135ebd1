"""Measures in nats what actions tell: content, its split, friend against foe, misreading.

All of them start from what exact listeners heard (``agents.signals.listening.listen``): no density
is estimated, only the mean over positions, which has an interval over deals. What "the policy" is
that a listener assumes, its temperature and its tremble are part of every number.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import Final

import numpy as np

from agents.base import Float, Int
from agents.signals.contexts import Labels, labels
from agents.signals.listening import PARTNER, Heard, Known
from agents.signals.measures.estimates import over_deals
from agents.signals.playing import Play
from agents.statistics.intervals import Interval
from goita_env.errors import SettingError

QUANTILES: Final = (0.1, 0.5, 0.9, 0.99)
"""Quantiles by which a distribution is told."""

LOUD: Final = 1.0
"""Nats from which an action counts as a loud one."""


@dataclass(frozen=True)
class Content:
    """Says what the actions of a group told, in nats."""

    group: str
    """Which actions."""
    actions: int
    """How many were heard."""
    deals: int
    """In how many deals."""
    expected: Interval
    """Mean of the expected content I(H; Y) of the decision, whatever was then done."""
    told: Interval
    """Mean of what the action taken told: KL of the belief after it from the belief before."""
    gained: Interval
    """Mean of what it added to the log-probability of the true hand."""
    quantiles: tuple[float, ...]
    """Those of ``QUANTILES`` of what the actions told."""
    loud: float
    """Share of the actions that told ``LOUD`` nats or more."""


def content(
    play: Play, heard: Heard, decoder: str = "policy", by: str | None = None, speaker: int = PARTNER
) -> list[Content]:
    """Says how much each action tells about the speaker's hand, in nats (M1).

    For a listener i, as it hears seat P decide at t:

        I_t = I(H_P ; Y_t | h_i, pub_t) = E_{y ~ predictive} KL( b_{t+1}(h_P) || b_t(h_P) )

    with the exact beliefs b of the decoder. Each row's I_t and KL are exact; the intervals are over
    deals. The mean alone misleads: a pass is cheap on average and decisive where it surprises, so
    the distribution of KL is told beside it. Source: the mutual information of Strouse et al.
    (arXiv:1808.02093) and of the Bayesian action decoder (Foerster et al., arXiv:1811.01458),
    with the listener's posterior computed, not learned.

    Args:
        play: the play that was heard.
        heard: what the listeners heard.
        decoder: what they assume.
        by: "phase", "context", "attack", "action" (its kind) or "attacks with"; None: all together.
        speaker: relative seat of the speaker: 2 the partner, 1 and 3 the opponents.

    Returns:
        One entry a group that was heard in two deals or more.

    Raises:
        SettingError: if there is no such decoder or grouping, or fewer than two deals were heard.
    """
    number = heard.of(decoder)
    some = heard.where(heard.speaker == speaker)
    group = _grouped(play, some.row, by)
    deal, found = play.deal[some.row], []
    for place, name in enumerate(group.names):
        rows = np.flatnonzero(group.which == place)
        if len(np.unique(deal[rows])) < 2:
            continue
        expected, told, gained = (
            values[rows, number] for values in (some.content, some.told, some.gain)
        )
        found.append(
            Content(
                name,
                len(rows),
                len(np.unique(deal[rows])),
                over_deals(expected, deal[rows]),
                over_deals(told, deal[rows]),
                over_deals(gained, deal[rows]),
                tuple(np.quantile(told, QUANTILES).tolist()),
                float((told >= LOUD).mean()),
            )
        )
    if not found:
        raise SettingError("expected actions heard in two deals at least, got fewer")
    return found


@dataclass(frozen=True)
class Split:
    """Says where knowledge of the partner's hand comes from, in nats a decision of the listener."""

    rules: Interval
    """G: E[log b0(h) - log prior(h)], h the true hand: what a uniformly random player would have
    told by doing the same."""
    policy: Interval
    """Policy information P: E[log b(h) - log b0(h)]: what it tells beyond to know the policy."""
    total: Interval
    """G + P."""
    share: Interval | None
    """P / (G + P); None where the total is not above 0 for sure."""
    deals: int
    """Deals heard."""


def content_split(
    play: Play,
    known: Known,
    decoder: str = "policy",
    rules: str = "rules",
    of: int = PARTNER,
) -> Split:
    """Splits what a listener knows of a hand into what rules and what the policy tell (M2).

        G = E[ log b0_T(h*) - log prior(h*) ],   P = E[ log b_T(h*) - log b0_T(h*) ],
        share = P / (G + P)

    with h* the true hand, b the belief of the policy's decoder, b0 that of the grounded one, for
    which any legal action is as likely as any other, and T each moment at which the listener is to
    decide itself: what it could use. P is at least 0 in expectation where the decoder is right
    (b is then the better predictor), and below 0 where it misleads. P is no measure of convention:
    skill and determinism tell as much, and ``greedy``, which has no convention, has as high a
    share as bots that do. Compare with agents of known making (``study.CONTROLS``). Source: the
    grounded belief of Foerster et al. (arXiv:1811.01458), in nats of the true hand.

    Args:
        play: the play that was heard.
        known: what the listeners knew.
        decoder: name of the policy's decoder.
        rules: name of the decoder of a uniformly random player.
        of: relative seat whose hand is meant.

    Raises:
        SettingError: if there is no such decoder, or fewer than two deals were heard.
    """
    deal, seat = play.deal[known.row], of - 1
    grounded = known.log_probability[:, known.of(rules), seat]
    policy = known.log_probability[:, known.of(decoder), seat]
    before = known.prior[:, seat]
    total = over_deals(policy - before, deal)
    return Split(
        over_deals(grounded - before, deal),
        over_deals(policy - grounded, deal),
        total,
        _ratio(policy - grounded, policy - before, deal) if total.low > 0 else None,
        len(np.unique(deal)),
    )


@dataclass(frozen=True)
class FriendOrFoe:
    """Compares what actions tell the partner with what they tell the opponents, in nats."""

    friend: Interval
    """Mean content for the speaker's partner."""
    foe: Interval
    """Mean content for its two opponents."""
    balance: Interval
    """Friend minus foe, decision by decision."""
    decisions: int
    """Decisions that all three heard."""


def friend_or_foe(play: Play, heard: Heard, decoder: str = "policy") -> FriendOrFoe:
    """Says whether actions tell more to the partner than to the opponents, in nats (M6).

        rho_t = I(H;Y_t | h_partner, pub) - 1/2 sum over opponents I(H;Y_t | h_opponent, pub)

    with H the speaker's hand. With a code book that uses public information alone partner and
    opponents are exchangeable before the deal, so rho is expected near 0; above 0 there is secrecy,
    from a code that the opponents do not know or that their own hand does not help to read
    (Wyner 1975). Where one policy plays at all seats and every listener is given it, nobody lacks
    the code, and a value near 0 says nothing of private codes: to test for one takes teams that
    were trained apart and opponents with another decoder. ``measures.eavesdropping_cost`` says what
    being overheard costs in points.

    Args:
        play: the play that was heard.
        heard: what all four seats heard: ``listen(..., listeners=range(4))``.
        decoder: what they assume.

    Raises:
        SettingError: if no decision was heard by all three others.
    """
    number = heard.of(decoder)
    rows, which, counts = np.unique(heard.row, return_inverse=True, return_counts=True)
    complete = counts == 3
    if not complete.any():
        raise SettingError("expected decisions that all three others heard, got none")
    value, friend = heard.content[:, number], heard.speaker == PARTNER
    of_friend = np.bincount(which[friend], value[friend], len(rows))[complete]
    of_foes = np.bincount(which[~friend], value[~friend], len(rows))[complete] / 2
    deal = play.deal[rows[complete]]
    return FriendOrFoe(
        over_deals(of_friend, deal),
        over_deals(of_foes, deal),
        over_deals(of_friend - of_foes, deal),
        len(deal),
    )


@dataclass(frozen=True)
class Misreading:
    """Says what a listener loses by a wrong decoder, in nats a decision of the listener."""

    decoder: str
    """The decoder."""
    understood: Interval
    """Mean log-probability of the true hand minus that of the grounded decoder; below 0 the decoder
    is worse than to know the rules alone."""
    lost: Interval
    """Mean log-probability under the right decoder minus under this one."""


def misreading(
    play: Play, known: Known, right: str = "policy", rules: str = "rules", of: int = PARTNER
) -> list[Misreading]:
    """Says who misreads whom: how well each decoder reads hands from this play, in nats.

        understood = E[ log b^D(h*) - log b0(h*) ],   lost = E[ log b^right(h*) - log b^D(h*) ]

    the expected log-probabilities being cross-entropies of the true hand, so that ``lost`` is at
    least 0 in expectation where ``right`` is the policy that played. Source: the decoder of
    another seed as a placebo of Lowe et al. (arXiv:1903.05168); log-loss as a proper score.

    Args:
        play: the play that was heard.
        known: what the listeners knew.
        right: name of the decoder of the policy that played.
        rules: name of the grounded decoder.
        of: relative seat whose hand is meant.
    """
    deal, seat = play.deal[known.row], of - 1
    value = known.log_probability[:, :, seat]
    best, grounded = value[:, known.of(right)], value[:, known.of(rules)]
    return [
        Misreading(
            name,
            over_deals(value[:, number] - grounded, deal),
            over_deals(best - value[:, number], deal),
        )
        for number, name in enumerate(known.decoders)
        if name != rules
    ]


def _grouped(play: Play, rows: Int, by: str | None) -> Labels:
    """Returns the groups of some decisions."""
    if by is None:
        return Labels("all", ("all",), np.zeros(len(rows), np.int64))
    found = {one.title: one for one in labels(play, rows)}
    if by not in found:
        raise SettingError(f"expected a grouping by {list(found)} or None, got {by!r}")
    return found[by]


def _ratio(part: Float, whole: Float, deal: Int) -> Interval:
    """Returns the ratio of two sums: linearised, with the interval over deals of the residuals."""
    ratio = float(part.sum() / whole.sum())
    residual = over_deals((part - ratio * whole) / whole.mean(), deal)
    return Interval(ratio, ratio + residual.low, ratio + residual.high)
