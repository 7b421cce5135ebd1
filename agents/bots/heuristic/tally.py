"""Adds up what the rules say of each action: a rule names a feature, the table weighs it."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

import numpy as np
import numpy.typing as npt

from agents.base import Bool, Float
from goita_env.actions import NUM_ACTIONS, PASS
from goita_env.tiles import NUM_KINDS

Weights = Mapping[str, Float]
"""Weight by name of the feature: one number [], or one for each kind [8]."""

Feature = npt.NDArray[Any]


class Tally:
    """Holds the scores of N rows as separable terms and joint corrections.

    Attributes:
        stay: [N] score of passing.
        block: [N, 8] score of each kind as the block.
        attack: [N, 8] score of each kind as the attack.
        pair: [N, 8, 8] what is to be added for the two together.
    """

    def __init__(self, rows: int, weights: Weights) -> None:
        self.weights = weights
        self.stay = np.zeros(rows)
        self.block = np.zeros((rows, NUM_KINDS))
        self.attack = np.zeros((rows, NUM_KINDS))
        self.pair = np.zeros((rows, NUM_KINDS, NUM_KINDS))

    def to_pass(self, name: str, feature: Feature) -> None:
        """Adds a weighed feature [N] to passing."""
        self.stay += self.weights[name] * feature

    def to_block(self, name: str, feature: Feature) -> None:
        """Adds a weighed feature [N, 8] to each kind as the block."""
        self.block += self.weights[name] * feature

    def to_attack(self, name: str, feature: Feature) -> None:
        """Adds a weighed feature [N, 8] to each kind as the attack."""
        self.attack += self.weights[name] * feature

    def to_pair(self, name: str, feature: Feature) -> None:
        """Adds a weighed feature [N, 8, 8] to each pair (block, attack)."""
        self.pair += self.weights[name] * feature

    def scores(self, legal: Bool) -> Float:
        """Returns the score of passing and of every pair, minus infinity where illegal: [N, 69]."""
        found = np.full((len(self.stay), NUM_ACTIONS), -np.inf)
        found[:, PASS] = self.stay
        pairs = self.pair + self.block[:, :, None] + self.attack[:, None, :]
        found[:, 1 : 1 + NUM_KINDS**2] = pairs.reshape(len(pairs), -1)
        # The last bits of a sum differ between machines; they are not to decide.
        return np.where(legal, found.round(6), -np.inf)
