"""The belief about all hidden hands where messages were sent that the viewer does not observe.

Given all messages a deal's weight is a product of one number for each seat. The messages between
the two opponents couple their hands, so the whole belief is a mixture of products.
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import dataclass, replace
from functools import cached_property

import numpy as np
import numpy.typing as npt

from goita_agents.base import Float
from goita_agents.beliefs.deal_belief import DealBelief, systematic_sample
from goita_agents.beliefs.summing import PerSeat
from goita_env import View
from goita_env.checks import check_count
from goita_env.errors import SettingError
from goita_env.worlds import Worlds


@dataclass(frozen=True)
class DealMixture:
    """A mixture of beliefs, one for each combination of messages that may have been sent."""

    probability: Float  #: [P] Probability of each way.
    beliefs: tuple[DealBelief, ...]  #: P beliefs about the same moment.

    def parts(self) -> Iterator[tuple[float, DealBelief]]:
        """Yields the probability of each way and the belief given it."""
        return zip(self.probability.tolist(), self.beliefs, strict=True)

    @property
    def view(self) -> View:
        """The moment: one row."""
        return self.beliefs[0].view

    @cached_property
    def marginals(self) -> PerSeat:
        """[M] Probabilities of the hands of seats 1, 2 and 3."""
        following, partner, previous = (
            np.asarray(sum(chance * belief.marginals[seat] for chance, belief in self.parts()))
            for seat in range(3)
        )
        return following, partner, previous

    def log_probability(self, hands: Sequence[str | npt.ArrayLike]) -> float:
        """Returns the logarithm of a deal's probability in nats, minus infinity if it has none.

        Args:
            hands: as in ``DealBelief.log_probability``.

        Raises:
            HandsError: if they are not a deal of the unseen tiles.
        """
        log_chances = [belief.log_probability(hands) for belief in self.beliefs]
        with np.errstate(divide="ignore"):
            return float(np.logaddexp.reduce(np.log(self.probability) + log_chances))

    def sample(self, worlds: int, rng: np.random.Generator) -> Worlds:
        """Draws worlds, as ``DealBelief.sample`` does; the ways are a systematic sample.

        Raises:
            SettingError: if ``worlds`` is not a whole number from 1 on.
        """
        check_count(worlds, "worlds")
        ways = systematic_sample(self.probability, worlds, float(rng.random()))
        return sample_of(self.beliefs, ways, rng)


def sample_of(
    beliefs: Sequence[DealBelief | DealMixture],
    index: npt.NDArray[np.int64],
    rng: np.random.Generator,
) -> Worlds:
    """Draws n worlds of the same weight, each from the belief with an index [n]."""
    counts = np.bincount(index, minlength=len(beliefs)).tolist()
    parts = [b.sample(count, rng) for count, b in zip(counts, beliefs, strict=True) if count]
    # The parts lie belief by belief; the rank of a world's index is its place among them.
    rank = np.argsort(np.argsort(index, kind="stable"))
    return replace(Worlds.join(parts)[rank], weight=np.full(len(index), 1 / len(index)))


def product_of(belief: DealBelief | DealMixture) -> DealBelief:
    """Returns a belief that is a product of one factor for each seat."""
    if isinstance(belief, DealMixture):
        raise SettingError(
            "expected a game in which seats observe all messages, for a measure that splits "
            f"beliefs into factors, got one with {len(belief.beliefs)} ways to send them"
        )
    return belief
