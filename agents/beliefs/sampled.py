"""Listens by drawing worlds, for policies that are too slow to be asked about every hand.

Worlds are drawn as hard facts leave them, and weighed by how likely the policies would have done
what was done (importance sampling). The more was said, the fewer of them count: the effective
sample size (Kong 1992), the square of the weights' sum over the sum of their squares, tells.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from functools import partial
from math import factorial
from typing import Final

import numpy as np
import numpy.typing as npt

from agents.base import Float, Int
from agents.beliefs.assumed import FACTS, Assumption, UnexplainedError
from agents.beliefs.filtering import SeatFilter, Table
from agents.beliefs.hand_belief import HandBelief, read_counts
from agents.beliefs.history import Answers, Deed, deeds
from agents.beliefs.listener import Listener, Seat, each_seat, own_tiles, seat_number
from agents.beliefs.supports import support
from goita_env import View
from goita_env.tiles import COUNTS, HAND_SIZE, NUM_KINDS, NUM_SEATS
from goita_env.worlds import Worlds, sample

_FACTORIAL: Final = np.array([factorial(n) for n in range(HAND_SIZE + 1)], np.float64)


def dealt_prior(worlds: Worlds) -> Float:
    """Returns what drawn or listed worlds count before a policy is asked, beside their weight: [n].

    Worlds count each way to lay distinct tiles as one, as if which of two tiles alike was shown
    were known. A policy chooses kinds: a hand with more tiles of a kind isn't likelier for it.

    Args:
        worlds: n worlds.
    """
    held, dealt = worlds.hands[:, 1:], worlds.dealt[:, 1:]
    prior: Float = (_FACTORIAL[held] / _FACTORIAL[dealt]).prod(axis=(1, 2))
    return prior


class SampledListener:
    """Follows one round through the eyes of one seat, by drawn worlds.

    Each time it hears, it draws afresh: what is known by then rules out more from the start.

    Args:
        view: what the seat sees at any moment of a round under way: one row.
        assumed: how the others are supposed to play, as ``Listener`` takes it; ``Acting`` is an
            agent whose actions alone are known.
        worlds: how many are drawn.
        seed: of what is drawn.

    Raises:
        SettingError: if the view is not one row in a round under way, or a seat is none.
        UnexplainedError: if no drawn world explains what happened.

    Attributes:
        effective: effective sample size, from 1 to ``worlds``.
    """

    def __init__(
        self,
        view: View,
        assumed: Assumption | Mapping[Seat, Assumption],
        worlds: int = 1_024,
        seed: int = 0,
    ) -> None:
        self._assumed = each_seat(assumed)
        self._rng, self._number = np.random.default_rng(seed), worlds
        self.hear(view)

    @property
    def assumed(self) -> tuple[str, str, str]:
        """Returns what is assumed of the relative seats 1, 2 and 3."""
        one, two, three = (assumption.name for assumption in self._assumed)
        return one, two, three

    def hear(self, view: View) -> None:
        """Draws worlds of what the seat sees now, and weighs them; the view is one row.

        Raises:
            SettingError: if it is not in a round under way.
            UnexplainedError: if no drawn world explains what happened.
        """
        worlds = sample(view, self._number, self._rng)
        made = deeds(view)
        answers, (own, other) = Answers.read(view), view.scores[0].tolist()
        table = Table(view.rules, int(view.dealer[0]), (own, other), answers)
        dealt = worlds.dealt.astype(np.int64)
        weight = dealt_prior(worlds)
        for seat, assumption in enumerate(self._assumed, start=1):
            if assumption is FACTS:
                # Within a deal, any of the tiles that it never showed lie under its blocks.
                unshown = dealt[:, seat] - worlds.face_up[:, seat]
                weight *= (_FACTORIAL[unshown] / _FACTORIAL[worlds.hands[:, seat]]).prod(axis=1)
                continue
            rows = np.column_stack((dealt[:, seat], worlds.face_down[:, seat]))
            rows, which = np.unique(rows, axis=0, return_inverse=True)
            drawn = DrawnFilter(table, seat, rows, assumption)
            for deed in made:
                if deed.seat == seat:
                    drawn.decide(deed)
                else:
                    drawn.see(deed)
            weight *= drawn.by_hand()[which.ravel()]
        if not weight.any():
            raise UnexplainedError(
                f"expected a world of {self._number} drawn that explains what the others did, got "
                f"none; assumed: {', '.join(self.assumed)}"
            )
        weight /= weight.sum()
        self._view, self._worlds, self._weight = view, worlds, weight
        self.effective = float(1 / (weight**2).sum())

    @property
    def seat(self) -> int:
        """Returns the seat that plays or passes next, relative to the viewer."""
        return (int(self._view.dealer[0]) + len(deeds(self._view))) % NUM_SEATS

    def posterior(self, of: Seat = "partner") -> HandBelief:
        """Returns what is believed of a seat's hand.

        Raises:
            SettingError: if it is none of the three seats.
        """
        seat = seat_number(of)
        held = support(np.array(COUNTS) - own_tiles(self._view))
        hands = held.numbers(self._worlds.dealt[:, seat].astype(np.int64))
        probability: Float = np.bincount(hands, self._weight, len(held)).astype(np.float64)
        return HandBelief(
            held.hands, probability, held.prior, self.assumed, partial(_facts, self._view, of)
        )

    def deals(self) -> DrawnDeals:
        """Returns what is believed of all three hands together."""
        return DrawnDeals(self._worlds, self._weight, self.assumed)


@dataclass(frozen=True)
class DrawnDeals:
    """Holds drawn worlds and their weights: a belief about all hidden hands together."""

    worlds: Worlds
    """Those drawn."""
    weight: Float
    """Of each; they sum to 1."""
    assumed: tuple[str, str, str]
    """What was assumed of seats 1, 2 and 3."""

    def log_probability(self, hands: Sequence[str | npt.ArrayLike]) -> float:
        """Returns the logarithm of a deal's probability in nats, minus infinity if none was drawn.

        Args:
            hands: [3, 8] tiles of each kind dealt to seats 1, 2 and 3, or three hands of digits.
        """
        counts = np.array([read_counts(hand) for hand in hands])
        same = (self.worlds.dealt[:, 1:] == counts).all(axis=(1, 2))
        found = self.weight[same].sum()
        return float(np.log(found)) if found > 0 else -np.inf

    def sample(self, worlds: int, rng: np.random.Generator) -> Worlds:
        """Draws from the drawn worlds by their weights: so many, which may repeat."""
        chosen = rng.choice(len(self.weight), size=worlds, p=self.weight)
        drawn = self.worlds[chosen]
        return Worlds(drawn.hands, drawn.face_down, np.full(worlds, 1 / worlds), drawn.face_up)


class DrawnFilter(SeatFilter):
    """Keeps the likelihood of given hands with given tiles under the blocks.

    Args:
        table: the round as it begins.
        seat: the seat followed, relative to the viewer: 1 to 3.
        rows: [n, 12] tiles of each kind in a hand, and the kind under the block of each play.
        assumed: how it is supposed to play.
    """

    def __init__(self, table: Table, seat: int, rows: Int, assumed: Assumption) -> None:
        hands, self._under = rows[:, :NUM_KINDS], rows[:, NUM_KINDS:]
        super().__init__(table, seat, hands, (hands.min(axis=0) * 0, hands.max(axis=0)), assumed)

    def _candidates(self, deed: Deed) -> tuple[Int, Int]:
        """Returns states and what they would have to play for a deed: int64 [k], [k]."""
        if not deed.hidden:
            return super()._candidates(deed)
        block = self._under[self.hand, self._plays]
        played = deed.action + NUM_KINDS * block
        state = np.flatnonzero(self._replay.choices().allow(played))
        return state, played[state]


def _facts(view: View, of: Seat) -> Float:
    """Returns the probability of each hand of a seat by hard facts alone: [M]."""
    return Listener(view, FACTS).posterior(of).probability
