"""Defines the network in torch: a trunk shared by policy and value."""

from __future__ import annotations

from collections.abc import Sequence
from itertools import pairwise
from typing import Any, Final

import numpy as np
import numpy.typing as npt
import torch as th
from gymnasium import spaces
from sb3_contrib.common.maskable.policies import MaskableActorCriticPolicy
from stable_baselines3.common.torch_layers import BaseFeaturesExtractor
from stable_baselines3.common.type_aliases import Schedule
from torch import nn

MASKED: Final = -1e8  # Logit of an illegal action, as in sb3-contrib.

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
