"""Sums the weighted features of each action."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

import numpy as np
import numpy.typing as npt

from goita_agents.base import Bool, Float
from goita_env.actions import NUM_ACTIONS, PASS
from goita_env.tiles import NUM_KINDS

Weights = Mapping[str, Float]
"""Weight by name of the feature: one number [], or one for each kind [8]."""

Feature = npt.NDArray[Any]


class Tally:
    """Scores of passing [N], of kinds as block and attack [N, 8], and of pairs [N, 8, 8]."""

    def __init__(self, rows: int, weights: Weights) -> None:
        self.weights = weights
        self.passing = np.zeros(rows)
        self.block = np.zeros((rows, NUM_KINDS))
        self.attack = np.zeros((rows, NUM_KINDS))
        self.pair = np.zeros((rows, NUM_KINDS, NUM_KINDS))

    def to_pass(self, name: str, feature: Feature) -> None:
        self.passing += self.weights[name] * feature

    def to_block(self, name: str, feature: Feature) -> None:
        self.block += self.weights[name] * feature

    def to_attack(self, name: str, feature: Feature) -> None:
        self.attack += self.weights[name] * feature

    def to_pair(self, name: str, feature: Feature) -> None:
        self.pair += self.weights[name] * feature

    def scores(self, legal: Bool, more: Float | None = None) -> Float:
        """Returns the score of passing and of every pair, minus infinity where illegal: [N, 69].

        ``more``: what is added to it, of the same shape.
        """
        found = np.full((len(self.passing), NUM_ACTIONS), -np.inf)
        found[:, PASS] = self.passing
        pairs = self.pair + self.block[:, :, None] + self.attack[:, None, :]
        found[:, 1 : 1 + NUM_KINDS**2] = pairs.reshape(len(pairs), -1)
        if more is not None:
            found += more
        # The last bits of a sum differ between machines; they must not decide.
        return np.where(legal, found.round(6), -np.inf)
