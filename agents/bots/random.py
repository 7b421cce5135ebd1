"""The bot that knows the rules and nothing else: the zero of every rating."""

from __future__ import annotations

import numpy as np

from agents.base import Bool, Float, Int, sample
from goita_env import View


class RandomAgent:
    """Plays every legal action with the same probability."""

    def __init__(self) -> None:
        self.name = "random"

    def act(self, view: View, legal: Bool, rng: np.random.Generator) -> Int:
        """Returns an action in each row, uniform over the legal ones: int64 [N]."""
        return sample(self.probabilities(view, legal), rng)

    def probabilities(self, view: View, legal: Bool) -> Float:
        """Returns the same probability for every legal action: float64 [N, 69]."""
        return legal / np.count_nonzero(legal, axis=1, keepdims=True)
