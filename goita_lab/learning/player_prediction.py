"""Predicts from the policy's features who the others are: an auxiliary loss of a training.

A policy whose features tell its partners and opponents apart can play each of them differently
(opponents' types as a second task: He et al., "Opponent Modeling in Deep Reinforcement Learning",
2016). No policy file holds the predictor.
"""

from __future__ import annotations

from typing import Final

import torch as th
from torch import nn

LEARNING_RATE: Final = 1e-3


class PlayerPredictor(nn.Module):
    """Predicts the kind of the partner and that of the opponents.

    Args:
        width: of the policy's features.
        kinds: number of kinds of players; 0 is the learner.
        weight: of the loss beside the others, at least 0.
    """

    def __init__(
        self, width: int, kinds: int, weight: float, device: th.device | str = "cpu"
    ) -> None:
        super().__init__()
        self.kinds, self.weight = kinds, weight
        self.layer = nn.Linear(width, 2 * kinds)
        self.to(device)
        self.optimizer = th.optim.Adam(self.parameters(), lr=LEARNING_RATE, eps=1e-5)

    def loss(self, features: th.Tensor, others: th.Tensor, weights: th.Tensor) -> th.Tensor:
        """Returns the cross-entropy of partner and opponents together, nats a decision: [].

        ``features`` are float32 [B, width], ``others`` the two kinds uint8 [B, 2], ``weights``
        [B] sum to 1.
        """
        guesses = self.layer(features).view(-1, self.kinds)
        nats = nn.functional.cross_entropy(guesses, others.long().flatten(), reduction="none")
        return (nats.view(-1, 2).sum(dim=1) * weights).sum()

    def step(self) -> None:
        """Moves the predictor down the gradient that the policy's step has computed."""
        self.optimizer.step()
        self.optimizer.zero_grad()
