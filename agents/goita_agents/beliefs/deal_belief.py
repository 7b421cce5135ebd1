"""The belief about all hidden hands together, from which worlds are drawn."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from typing import Final

import numpy as np
import numpy.typing as npt

from goita_agents.base import Float, Int, sample_at
from goita_agents.beliefs.filtering import States
from goita_agents.beliefs.hand_belief import read_counts
from goita_agents.beliefs.summing import Three, pair_weights
from goita_agents.beliefs.supports import Support
from goita_env import View
from goita_env.checks import check_count
from goita_env.errors import HandsError
from goita_env.tiles import NUM_KINDS, NUM_SEATS, PAWN
from goita_env.views import NONE
from goita_env.worlds import Worlds

ROWS: Final = 128  # Hands of one seat beside which those of the others are weighed at a time.


@dataclass(frozen=True)
class DealBelief:
    """The probability of every deal of the three hidden hands, without listing them."""

    support: Support  #: The M hands that each seat may have been dealt.
    weights: Three  #: [M] Of the hands of seats 1, 2 and 3; a deal's weight is the product.
    marginals: Three  #: [M] Probabilities of the hands of seats 1, 2 and 3.
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
        numbers = [self.support.find(hand) for hand in counts]
        fits = len(counts) == 3 and (counts.sum(axis=0) == self.support.unseen).all()
        if not fits or min(numbers) < 0:
            raise HandsError(
                f"expected hands of seats 1, 2 and 3 that hold the unseen tiles, got {hands!r}"
            )
        one, two, three = numbers
        weight = self.weights[0][one] * self.weights[1][two] * self.weights[2][three]
        if self.apart and counts[0][PAWN] == counts[2][PAWN] == 5:
            weight = 0.0
        return float(np.log(weight / self.total)) if weight > 0 else -np.inf

    def sample(self, worlds: int, rng: np.random.Generator) -> Worlds:
        """Draws worlds: the hidden hands as they are now, and the tiles under the blocks.

        The partner's hands are a systematic sample, the rest is drawn given them; so each world has
        the weight 1 / ``worlds``.

        Raises:
            SettingError: if it is no whole number of worlds from 1 on.
        """
        check_count(worlds, "worlds")
        dealt = self._draw_hands(worlds, rng)
        view, held = self.view, np.empty((worlds, NUM_SEATS, NUM_KINDS), np.int8)
        held[:, 0] = view.hand[0]
        face_down = np.full((worlds, NUM_SEATS, 4), NONE, np.int8)
        own = view.face_down[0, 0]
        face_down[:, 0, own] = view.blocks[0, 0, own]
        for seat, (hands, states) in enumerate(zip(dealt, self.states, strict=True), start=1):
            state = states.draw(hands, rng.random(worlds))
            held[:, seat], face_down[:, seat] = states.held[state], states.face_down[state]
        return Worlds(
            held, face_down, np.full(worlds, 1 / worlds), view.face_up.repeat(worlds, axis=0)
        )

    def _draw_hands(self, worlds: int, rng: np.random.Generator) -> tuple[Int, Int, Int]:
        """Draws the numbers of the hands dealt to seats 1, 2 and 3: int64 [worlds] each."""
        two = systematic_sample(self.marginals[1], worlds, float(rng.random()))
        one, three = np.empty_like(two), np.empty_like(two)
        uniform = rng.random(worlds)
        for start in range(0, worlds, ROWS):
            part = slice(start, start + ROWS)
            # Each hand of seat 2 is weighed once, however often it was drawn.
            hands, which = np.unique(two[part], return_inverse=True)
            # first [F]: hands of seat 1. weight, third [H, F]: of each with each hand of seat 2,
            # the weight of the deal, and the hand that is left for seat 3.
            first, weight, third = pair_weights(self.support, self.weights, hands, self.apart)
            column = sample_at(weight[which], uniform[part])
            one[part], three[part] = first[column], third[which, column]
        return one, two, three


def systematic_sample(weight: Float, count: int, number: float) -> Int:
    """Draws indices with probabilities in proportion to weights: int64 [count].

    Systematic resampling: one random number below 1 for all. Each quarter of the answer is a
    systematic sample by itself. Weights [n] that are all 0 count as all alike.
    """
    weight = weight if weight.any() else np.ones(len(weight))
    summed = weight.cumsum()
    places = (np.arange(count) + number) / count * summed[-1]
    found = summed.searchsorted(places, side="right")
    drawn: Int = np.minimum(found, np.flatnonzero(weight)[-1])
    return drawn[np.argsort(np.arange(count) % 4, kind="stable")]
