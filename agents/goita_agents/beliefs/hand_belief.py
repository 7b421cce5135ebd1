"""The belief about one other seat's hand."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass, field
from functools import cached_property

import numpy as np
import numpy.typing as npt

from goita_agents.base import Float, Int
from goita_env.errors import HandsError, SettingError
from goita_env.hands import format_hand, read_digits
from goita_env.tiles import NUM_KINDS


@dataclass(frozen=True)
class HandBelief:
    """The probability of every hand that a seat may have been dealt.

    All beliefs of one listener about one round list the same hands in the same order, so two of
    them can be compared element by element.
    """

    hands: Int  #: [M, 8] Tiles of each kind in the hand as dealt.
    probability: Float  #: [M] Of each hand; 0 where it is ruled out.
    prior: Float  #: [M] Probability before anybody did anything: given only the viewer's own hand.
    models: tuple[str, str, str]  #: Names of the models of the relative seats 1, 2 and 3.
    find_facts: Callable[[], Float] = field(repr=False, compare=False)  #: Computes ``facts``.

    @cached_property
    def facts(self) -> Float:
        """[M] Probability from rule constraints only: all deals that they allow are equally likely.

        Hands that the models rule out are left out, too. A model without an epsilon may rule out
        many hands: then use a listener with ``LEGAL_MODEL``.
        """
        return self.find_facts()

    def entropy(self) -> float:
        """Returns the Shannon entropy in nats."""
        possible = self.probability[self.probability > 0]
        return float(-(possible * np.log(possible)).sum())

    def divergence(self, before: HandBelief) -> float:
        """Returns the information since an earlier belief of the same listener, in nats.

        That is the divergence of Kullback and Leibler (1951) of this belief from the earlier one.
        """
        possible = self.probability > 0
        ratio = self.probability[possible] / before.probability[possible]
        return max(float(self.probability[possible] @ np.log(ratio)), 0.0)

    def expected(self) -> Float:
        """Returns the expected tiles of each kind in the hand as dealt: float64 [8]."""
        return self.probability @ self.hands

    def at_least(self, count: int) -> Float:
        """Returns the probability of at least ``count`` tiles of each kind: float64 [8].

        Raises:
            SettingError: if the number is not from 0 to 8.
        """
        if isinstance(count, bool) or count not in range(NUM_KINDS + 1):
            raise SettingError(f"expected a number of tiles from 0 to 8, got {count!r}")
        return self.probability @ (self.hands >= count)

    def log_probability(self, hand: str | npt.ArrayLike) -> float:
        """Returns the logarithm of a hand's probability in nats, minus infinity if it has none.

        Args:
            hand: eight digits, or [8] tiles of each kind, as dealt.

        Raises:
            HandsError: if the unseen tiles don't hold such a hand.
        """
        probability = self.probability[self.index(hand)]
        return float(np.log(probability)) if probability > 0 else -np.inf

    def sampling_ratio(self, hand: str | npt.ArrayLike) -> float:
        """Returns how much likelier a hand is than by rule constraints only.

        That is the true state sampling ratio of Solinas, Rebstock and Buro (2019): the probability
        with which one deal is drawn, times the number of deals that the facts allow, all tiles
        being distinct. A hand belongs to the same number of deals under the belief and under the
        facts, so the ratio is that of the hand's two probabilities. Its logarithm is the gain in
        nats.

        Raises:
            HandsError: if the facts rule it out.
        """
        index = self.index(hand)
        if not self.facts[index] > 0:
            raise HandsError(f"expected a hand that the facts allow, got {self.hands[index]!r}")
        return float(self.probability[index] / self.facts[index])

    def most_likely(self, count: int) -> list[tuple[str, float]]:
        """Returns the likeliest hands as digits, with their probabilities, likeliest first."""
        order = np.argsort(-self.probability, kind="stable")[:count]
        return [(format_hand(self.hands[i]), float(self.probability[i])) for i in order]

    def index(self, hand: str | npt.ArrayLike) -> int:
        """Returns the number of a hand in ``hands``.

        Raises:
            HandsError: if the unseen tiles don't hold such a hand.
        """
        rows = np.flatnonzero((self.hands == read_counts(hand)).all(axis=1))
        if not len(rows):
            raise HandsError(f"expected a hand of eight unseen tiles, got {hand!r}")
        return int(rows[0])


def read_counts(hand: str | npt.ArrayLike) -> Int:
    """Returns the tiles of each kind of a hand, given as digits or as counts: int64 [8]."""
    if isinstance(hand, str):
        return np.bincount(read_digits(hand, 0), minlength=NUM_KINDS)
    counts = np.asarray(hand)
    if counts.shape != (NUM_KINDS,) or not np.issubdtype(counts.dtype, np.integer):
        raise HandsError(f"expected digits or tiles of each kind, shape (8,), got {hand!r}")
    return counts.astype(np.int64)
