"""Adds to the loss of PPO, takes gradient steps, and stops at a number that is not finite.

``HoldClose`` keeps a policy near another: the one that it began with, or one that follows it. No
policy file holds it.
"""

from __future__ import annotations

from collections.abc import Callable
from copy import deepcopy

import torch as th

from goita_env.errors import GoitaError
from goita_lab.learning.buffer import Samples
from goita_lab.learning.policy import MASKED, SelfPlayPolicy


class HoldClose:
    """The weighed divergence KL(policy || reference), nats a decision.

    A reference that follows the policy is a magnet of magnetic mirror descent (Sokota et al., "A
    Unified Approach to Reinforcement Learning, Quantal Response Equilibria, and Two-Player Zero-Sum
    Games", 2023): the policy itself of a while ago, or the moving average of its weights.

    Args:
        policy: the reference, as it is now.
        weight: of the loss beside the others, at least 0.
        logits: returns a network's logits [B, 69] of observations [B, 512].
        every: decisions between two moves towards the policy; 0: the reference stays.
        share: of the way to the policy's weights that a move goes, above 0 and at most 1.
    """

    name = "reference_kl"

    def __init__(
        self,
        policy: SelfPlayPolicy,
        weight: float,
        logits: Callable[[SelfPlayPolicy, th.Tensor], th.Tensor],
        every: int = 0,
        share: float = 1.0,
    ) -> None:
        self.policy, self.weight = deepcopy(policy).requires_grad_(False), weight
        self.every, self.share = every, share
        self._logits = logits

    def follow(self, policy: SelfPlayPolicy, before: int, after: int) -> None:
        """Moves towards the policy after an update, if from ``before`` to ``after`` it is due.

        Both are numbers of decisions since the beginning of the training.
        """
        if not self.every or before // self.every == after // self.every:
            return
        with th.no_grad():
            weights = self.policy.parameters(), policy.parameters()
            for mine, wanted in zip(*weights, strict=True):
                mine.lerp_(wanted, self.share)

    def loss(self, log_probs: th.Tensor, samples: Samples, weights: th.Tensor) -> th.Tensor:
        """Returns the mean divergence [] of log-probabilities [B, 69]; ``weights`` [B] sum to 1."""
        with th.no_grad():
            wanted = self._logits(self.policy, samples.observations)
            wanted = th.log_softmax(wanted.masked_fill(~samples.action_masks, MASKED), dim=1)
        apart = (log_probs.exp() * (log_probs - wanted)).sum(dim=1)
        return (apart * weights).sum()


class DivergedError(GoitaError):
    """A loss, gradient, weight or network output that is not finite."""


def gradient_step(
    loss: th.Tensor,
    network: th.nn.Module,
    optimizer: th.optim.Optimizer,
    max_grad_norm: float,
    name: str,
) -> None:
    """Moves a network down the gradient of a loss [], clipped by its norm.

    Where loss or gradient is not finite it raises a DivergedError and changes no weight.
    """
    optimizer.zero_grad()
    loss.backward()  # type: ignore[no-untyped-call]
    norm = th.nn.utils.clip_grad_norm_(network.parameters(), max_grad_norm)
    if not (loss.detach() + norm).isfinite():
        what, number = ("gradient", norm) if loss.isfinite() else ("loss", loss)
        raise DivergedError(f"expected a finite {what} of the {name}, got {number.item()}")
    optimizer.step()


def check_weights(network: th.nn.Module, name: str) -> None:
    """Checks that all weights of a network are finite, or raises ``DivergedError``."""
    if not all(bool(parameter.isfinite().all()) for parameter in network.parameters()):
        raise DivergedError(f"expected finite weights of the {name}, got others")
