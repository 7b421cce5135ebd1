"""The belief about all hidden hands together, from which worlds are drawn."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from math import prod
from typing import Final

import numpy as np
import numpy.typing as npt

from goita_agents.base import Float, Int, sample_at
from goita_agents.beliefs.filtering import States
from goita_agents.beliefs.hand_belief import read_counts
from goita_agents.beliefs.summing import PerSeat, pair_weights
from goita_agents.beliefs.supports import Support
from goita_env import View
from goita_env.checks import check_count
from goita_env.errors import HandsError
from goita_env.tiles import NUM_KINDS, NUM_SEATS, PAWN
from goita_env.views import NONE
from goita_env.worlds import Worlds

PARTNER_HANDS_AT_ONCE: Final = 128  # Drawn hands of seat 2 that are completed to deals at a time.


@dataclass(frozen=True)
class DealBelief:
    """The belief about the three hidden hands together, without a list of all deals."""

    support: Support  #: The M hands that each seat may have been dealt.
    weights: PerSeat  #: [M] Of the hands of seats 1, 2 and 3; a deal's weight is the product.
    marginals: PerSeat  #: [M] Probabilities of the hands of seats 1, 2 and 3.
    total: float  #: Sum of the weights of all deals.
    apart: bool  #: Seats 1 and 3 don't both hold five pawns.
    states: tuple[States, States, States]  #: What the filters of seats 1, 2 and 3 hold.
    view: View  #: The moment: one row.
    models: tuple[str, str, str]  #: Names of the models of seats 1, 2 and 3.

    def log_probability(self, hands: Sequence[str | npt.ArrayLike]) -> float:
        """Returns the logarithm of a deal's probability in nats, minus infinity if it has none.

        Args:
            hands: [3, 8] tiles of each kind dealt to seats 1, 2 and 3, or three hands of digits.

        Raises:
            HandsError: if they are not a deal of the unseen tiles.
        """
        counts = np.array([read_counts(hand) for hand in hands]).reshape(-1, NUM_KINDS)
        indices = [self.support.find(hand) for hand in counts]
        fits = len(counts) == 3 and (counts.sum(axis=0) == self.support.unseen).all()
        if not fits or min(indices) < 0:
            raise HandsError(
                f"expected hands of seats 1, 2 and 3 that hold the unseen tiles, got {hands!r}"
            )
        weight = prod(weights[i] for weights, i in zip(self.weights, indices, strict=True))
        if self.apart and counts[0][PAWN] == counts[2][PAWN] == 5:
            weight = 0.0
        return float(np.log(weight / self.total)) if weight > 0 else -np.inf

    def sample(self, worlds: int, rng: np.random.Generator) -> Worlds:
        """Draws worlds: the hidden hands as they are now, and the tiles under the blocks.

        The partner's hands are a systematic sample, and the other hands are drawn given them. So
        each world has the weight 1 / ``worlds``.

        Raises:
            SettingError: if ``worlds`` is not a whole number from 1 on.
        """
        check_count(worlds, "worlds")
        dealt = self._draw_hands(worlds, rng)
        view, current = self.view, np.empty((worlds, NUM_SEATS, NUM_KINDS), np.int8)
        current[:, 0] = view.hand[0]
        face_down = np.full((worlds, NUM_SEATS, 4), NONE, np.int8)
        own = view.face_down[0, 0]
        face_down[:, 0, own] = view.blocks[0, 0, own]
        for seat, (hands, states) in enumerate(zip(dealt, self.states, strict=True), start=1):
            state = states.draw(hands, rng.random(worlds))
            current[:, seat], face_down[:, seat] = states.held[state], states.face_down[state]
        return Worlds(
            hands=current,
            face_down=face_down,
            weight=np.full(worlds, 1 / worlds),
            face_up=view.face_up.repeat(worlds, axis=0),
        )

    def _draw_hands(self, worlds: int, rng: np.random.Generator) -> tuple[Int, Int, Int]:
        """Draws the hands dealt to seats 1, 2 and 3, as indices of hands: int64 [worlds] each."""
        partner_hands = systematic_sample(self.marginals[1], worlds, float(rng.random()))
        next_hands, previous_hands = np.empty_like(partner_hands), np.empty_like(partner_hands)
        uniform = rng.random(worlds)
        for start in range(0, worlds, PARTNER_HANDS_AT_ONCE):
            part = slice(start, start + PARTNER_HANDS_AT_ONCE)
            # Each hand of seat 2 is weighed once, however often it was drawn: ``row`` is the place
            # in ``hands`` of each world's hand.
            hands, row = np.unique(partner_hands[part], return_inverse=True)
            # first [F]: hands of seat 1. weight, third [H, F]: of each with each hand of seat 2,
            # the weight of the deal, and the hand that is left for seat 3.
            first, weight, third = pair_weights(self.support, self.weights, hands, self.apart)
            column = sample_at(weight[row], uniform[part])
            next_hands[part], previous_hands[part] = first[column], third[row, column]
        return next_hands, partner_hands, previous_hands


def systematic_sample(weight: Float, count: int, uniform: float) -> Int:
    """Draws indices with probabilities in proportion to weights: int64 [count].

    Systematic resampling: one random number, ``uniform`` below 1, serves for all draws. Each
    quarter of the returned array is a systematic sample, too. Weights [n] that are all 0 count as
    equal.
    """
    weight = weight if weight.any() else np.ones(len(weight))
    summed = weight.cumsum()
    places = (np.arange(count) + uniform) / count * summed[-1]
    # Rounding may put the last place behind the last index that has a weight.
    last = np.flatnonzero(weight)[-1]
    drawn: Int = np.minimum(summed.searchsorted(places, side="right"), last)
    # Every fourth index goes into the same quarter; within a quarter they stay in order.
    return drawn[np.argsort(np.arange(count) % 4, kind="stable")]
