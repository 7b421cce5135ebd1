"""Fits a policy network to actions in numpy: the gradient by hand, steps by Adam."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Final

import numpy as np

from goita_agents.base import Bool
from goita_agents.bots.network import NetworkAgent
from goita_agents.bots.network_file import Array
from goita_env.views import observation as packing
from goita_env.views.observation import Words

BATCH: Final = 256

DROPOUT: Final = 0.2
"""Share of the shared layers' units that a step of learning leaves out (Srivastava et al. 2014).
On 2,000 rounds of a rule bot it halves the log loss of other rounds."""

MASKED: Final = np.float32(-1e9)  # Logit of an illegal action.


@dataclass
class _Moments:
    """Adam's averages of a tensor's gradient (Kingma & Ba 2015)."""

    mean: Array
    square: Array


class PolicyLearner:
    """The layers of a network, changed by the gradient of a cross-entropy.

    The value's layer stays as it is.

    Args:
        start: whose weights are copied.
        seed: of the units that are left out.
        dropout: share of the units that each step leaves out.
    """

    def __init__(self, start: NetworkAgent, seed: int = 0, dropout: float = DROPOUT) -> None:
        self._rng, self._dropout = np.random.default_rng(seed), dropout
        self._tensors = {name: array.copy() for name, array in start.tensors().items()}
        self._names = [*(f"layers.{layer}" for layer in range(start.info.layers)), "policy"]
        self._moments = {
            f"{name}.{part}": _Moments(
                np.zeros_like(self._tensors[f"{name}.{part}"]),
                np.zeros_like(self._tensors[f"{name}.{part}"]),
            )
            for name in self._names
            for part in ("weight", "bias")
        }
        self._steps = 0

    def tensors(self) -> dict[str, Array]:
        """Returns a copy of the weights, as a network's file names them."""
        return {name: array.copy() for name, array in self._tensors.items()}

    def log_probabilities(self, words: Words, legal: Bool) -> Array:
        """Returns the log-probability of each action: float32 [N, 69]."""
        return _log_softmax(self._forward(words, 0)[-1], legal)

    def gradient(self, words: Words, legal: Bool, targets: Array) -> dict[str, Array]:
        """Returns the gradient of the mean cross-entropy of the policy to targets [N, 69]."""
        outputs = self._forward(words, self._dropout)
        error = np.exp(_log_softmax(outputs[-1], legal))
        error -= targets
        error /= np.float32(len(words))
        found: dict[str, Array] = {}
        for number in range(len(self._names) - 1, -1, -1):
            name, inputs = self._names[number], outputs[number]
            found[f"{name}.weight"] = error.T @ inputs
            found[f"{name}.bias"] = error.sum(axis=0)
            if number:
                error = error @ self._tensors[f"{name}.weight"]
                error *= (inputs > 0) / np.float32(1 - self._dropout)
        return found

    def step(self, words: Words, legal: Bool, targets: Array, rate: float) -> None:
        """Takes one step of Adam down the gradient."""
        self._steps += 1
        fast, slow = 0.9, 0.999
        scale = rate * np.sqrt(1 - slow**self._steps) / (1 - fast**self._steps)
        for name, slope in self.gradient(words, legal, targets).items():
            moments = self._moments[name]
            moments.mean += (1 - fast) * (slope - moments.mean)
            moments.square += (1 - slow) * (slope * slope - moments.square)
            change = moments.mean / (np.sqrt(moments.square) + np.float32(1e-8))
            self._tensors[name] -= np.float32(scale) * change

    def _forward(self, words: Words, dropout: float) -> list[Array]:
        """Returns the observations, the outputs of each shared layer, and the logits."""
        outputs: list[Array] = [packing.expand(words).astype(np.float32)]
        for name in self._names:
            weight, bias = self._tensors[f"{name}.weight"], self._tensors[f"{name}.bias"]
            found = outputs[-1] @ weight.T
            found += bias
            if name != "policy":
                np.maximum(found, 0, out=found)
                if dropout:
                    kept = self._rng.random(found.shape, dtype=np.float32) >= dropout
                    found *= kept / np.float32(1 - dropout)
            outputs.append(found)
        return outputs


def _log_softmax(logits: Array, legal: Bool) -> Array:
    masked = np.where(legal, logits, MASKED)
    masked -= masked.max(axis=1, keepdims=True)
    masked -= np.log(np.exp(masked).sum(axis=1, keepdims=True))
    return masked
