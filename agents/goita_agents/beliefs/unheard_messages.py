"""The belief about all hidden hands where messages were sent that the viewer doesn't hear.

Given all messages a deal's weight is a product of one number for each seat. What each of the two
opponents heard from the other couples their hands, so the whole belief is a mixture of products.
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import dataclass, replace
from functools import cached_property

import numpy as np
import numpy.typing as npt

from goita_agents.base import Float
from goita_agents.beliefs.deal_belief import DealBelief, systematic_sample
from goita_agents.beliefs.summing import Three
from goita_env import View
from goita_env.checks import check_count
from goita_env.errors import SettingError
from goita_env.worlds import Worlds


@dataclass(frozen=True)
class DealMixture:
    """A belief for each way in which messages may have been sent."""

    probability: Float  #: [P] Of each way.
    beliefs: tuple[DealBelief, ...]  #: P beliefs about the same moment.

    def parts(self) -> Iterator[tuple[float, DealBelief]]:
        """Yields the probability of each way and the belief given it."""
        return zip(self.probability.tolist(), self.beliefs, strict=True)

    @property
    def view(self) -> View:
        """The moment: one row."""
        return self.beliefs[0].view

    @cached_property
    def marginals(self) -> Three:
        """[M] Probabilities of the hands of seats 1, 2 and 3."""
        one, two, three = (
            np.asarray(sum(chance * belief.marginals[seat] for chance, belief in self.parts()))
            for seat in range(3)
        )
        return one, two, three

    def log_probability(self, hands: Sequence[str | npt.ArrayLike]) -> float:
        """Returns the logarithm of a deal's probability in nats, minus infinity if it has none.

        Args:
            hands: as in ``DealBelief.log_probability``.

        Raises:
            HandsError: if they are not a deal of the unseen tiles.
        """
        each = [belief.log_probability(hands) for belief in self.beliefs]
        with np.errstate(divide="ignore"):
            return float(np.logaddexp.reduce(np.log(self.probability) + each))

    def sample(self, worlds: int, rng: np.random.Generator) -> Worlds:
        """Draws worlds, as ``DealBelief.sample`` does; the ways are a systematic sample.

        Raises:
            SettingError: if it is no whole number of worlds from 1 on.
        """
        check_count(worlds, "worlds")
        which = systematic_sample(self.probability, worlds, float(rng.random()))
        return sample_of(self.beliefs, which, rng)


def sample_of(
    beliefs: Sequence[DealBelief | DealMixture],
    which: npt.NDArray[np.int64],
    rng: np.random.Generator,
) -> Worlds:
    """Draws a world from each of some beliefs, by their numbers [n], all of the same weight."""
    many = np.bincount(which, minlength=len(beliefs)).tolist()
    parts = [b.sample(number, rng) for number, b in zip(many, beliefs, strict=True) if number]
    order = np.argsort(np.argsort(which, kind="stable"))
    return replace(Worlds.join(parts)[order], weight=np.full(len(which), 1 / len(which)))


def product_of(belief: DealBelief | DealMixture) -> DealBelief:
    """Returns a belief that is a product of one factor for each seat."""
    if isinstance(belief, DealMixture):
        raise SettingError(
            "expected a game without messages that a seat doesn't hear, for a measure that splits "
            f"beliefs into factors, got one with {len(belief.beliefs)} ways to send them"
        )
    return belief
