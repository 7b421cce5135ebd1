"""Defines the network in torch, a trunk shared by policy and value; where it runs, how it learns.

``HoldClose`` keeps a policy near another: the one that it began with, or one that follows it. No
policy file holds it. Learning stops at a number that is not finite.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from copy import deepcopy
from itertools import pairwise
from typing import Any, Final, Literal

import numpy as np
import numpy.typing as npt
import torch as th
from gymnasium import spaces
from sb3_contrib.common.maskable.policies import MaskableActorCriticPolicy
from stable_baselines3.common.torch_layers import BaseFeaturesExtractor
from stable_baselines3.common.type_aliases import Schedule
from threadpoolctl import threadpool_limits
from torch import nn

from goita_env.errors import GoitaError, SettingError
from goita_lab.learning.buffer import Samples

ILLEGAL_LOGIT: Final = -1e8  # Logit of an illegal action, as in sb3-contrib.

STACK_NAMES: Final = {
    "features_extractor.layers.": "layers.",
    "action_net.": "policy.",
    "value_net.": "value.",
}
"""Prefixes of tensors here and in a network file (``goita_agents.bots.network``)."""


class Trunk(BaseFeaturesExtractor):
    """The layers that policy and value share, of these widths."""

    def __init__(self, observation_space: spaces.Box, layers: Sequence[int]) -> None:
        super().__init__(observation_space, layers[-1])
        widths = [observation_space.shape[0], *layers]
        self.layers = nn.ModuleList(nn.Linear(*sizes) for sizes in pairwise(widths))

    def forward(self, bits: th.Tensor) -> th.Tensor:
        """Returns features float [B, width] of observations float [B, 512]."""
        features = bits
        for layer in self.layers:
            features = nn.functional.relu(layer(features), inplace=True)
        return features


class SelfPlayPolicy(MaskableActorCriticPolicy):
    """A policy with logits and values from one trunk.

    Args:
        layers: width of each layer of the trunk.
        kwargs: of ``MaskableActorCriticPolicy``, as all other arguments.
    """

    def __init__(
        self,
        observation_space: spaces.Box,
        action_space: spaces.Discrete,
        lr_schedule: Schedule,
        layers: Sequence[int] = (256, 256, 256),
        **kwargs: Any,
    ) -> None:
        settings: dict[str, Any] = {
            "net_arch": [],
            "features_extractor_class": Trunk,
            "features_extractor_kwargs": {"layers": tuple(layers)},
            "normalize_images": False,
            "optimizer_kwargs": {"eps": 1e-5, "fused": True},
        }
        super().__init__(observation_space, action_space, lr_schedule, **settings | kwargs)

    def logits_and_values(self, bits: th.Tensor) -> tuple[th.Tensor, th.Tensor]:
        """Returns unmasked logits float32 [B, 69] and values float32 [B].

        ``bits`` are observations uint8 [B, 512].
        """
        device = bits.device.type
        narrow = th.is_autocast_enabled(device)
        dtype = th.get_autocast_dtype(device) if narrow else th.float32
        features = self.features_extractor(bits.to(dtype)).float()
        # The two heads, a few per cent of the work, stay in float32 under autocast, so that
        # probabilities and values keep their precision.
        with th.autocast(device, enabled=False):
            return self.action_net(features), self.value_net(features)[:, 0]

    def tensors(self) -> dict[str, npt.NDArray[np.float32]]:
        """Returns the weights under the names that a network file gives them."""
        return {
            new + name.removeprefix(old): tensor.numpy(force=True).copy()
            for name, tensor in self.state_dict().items()
            for old, new in STACK_NAMES.items()
            if name.startswith(old)
        }

    def is_stack(self) -> bool:
        """Returns whether ``tensors`` holds the whole network: a stack of layers with two heads."""
        plain = type(self).logits_and_values is SelfPlayPolicy.logits_and_values
        return plain and type(self.features_extractor) is Trunk


def use_threads(threads: int) -> None:
    """Sets the threads of torch for one operation; results depend on their number.

    Numpy, which plays small batches here, is limited to one: its threads would spin.
    """
    th.set_num_threads(threads)
    threadpool_limits(1, user_api="blas")


def has_fast_bfloat16(device: str = "cpu") -> bool:
    """Returns whether the device multiplies bfloat16, several times faster than float32."""
    if device == "cuda":
        return bool(th.cuda.is_bf16_supported())
    able = th.cpu.get_capabilities()
    return bool(able.get("avx512_bf16") or able.get("amx_bf16") or able.get("bf16"))


def find_device(name: str) -> Literal["cpu", "cuda"]:
    """Returns "cpu" or "cuda"; "auto" is a GPU where there is one, "cuda" needs one."""
    able = th.cuda.is_available()
    if name == "cuda" and not able:
        raise SettingError("expected a device that torch can use, got 'cuda' without one")
    return "cuda" if able and name != "cpu" else "cpu"


class HoldClose:
    """The weighed divergence KL(policy || reference), nats a decision.

    A reference that follows the policy is a magnet of magnetic mirror descent (Sokota et al., "A
    Unified Approach to Reinforcement Learning, Quantal Response Equilibria, and Two-Player Zero-Sum
    Games", 2023): the policy itself of a while ago, or the moving average of its weights.

    Args:
        policy: the reference, as it is now.
        weight: of this loss relative to the other losses, at least 0.
        logits: returns a network's logits [B, 69] of observations [B, 512].
        interval: decisions between two moves towards the policy; 0: the reference stays.
        share: of the way to the policy's weights that a move goes, above 0 and at most 1.
    """

    name = "reference_kl"

    def __init__(
        self,
        policy: SelfPlayPolicy,
        weight: float,
        logits: Callable[[SelfPlayPolicy, th.Tensor], th.Tensor],
        interval: int = 0,
        share: float = 1.0,
    ) -> None:
        self.policy, self.weight = deepcopy(policy).requires_grad_(False), weight
        self.interval, self.share = interval, share
        self._logits = logits

    def follow(self, policy: SelfPlayPolicy, before: int, after: int) -> None:
        """Moves towards the policy after an update, if from ``before`` to ``after`` it is due.

        Both are numbers of decisions since the beginning of the training.
        """
        if not self.interval or before // self.interval == after // self.interval:
            return
        with th.no_grad():
            weights = self.policy.parameters(), policy.parameters()
            for own, target in zip(*weights, strict=True):
                own.lerp_(target, self.share)

    def loss(self, log_probs: th.Tensor, samples: Samples, weights: th.Tensor) -> th.Tensor:
        """Returns the mean divergence [] of log-probabilities [B, 69]; ``weights`` [B] sum to 1."""
        with th.no_grad():
            reference = self._logits(self.policy, samples.observations)
            reference = th.log_softmax(
                reference.masked_fill(~samples.action_masks, ILLEGAL_LOGIT), dim=1
            )
        apart = (log_probs.exp() * (log_probs - reference)).sum(dim=1)
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
