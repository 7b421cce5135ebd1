"""Defines the network: a trunk shared by policy and value, and its way into a file without torch."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

import torch as th
from gymnasium import spaces
from sb3_contrib.common.maskable.policies import MaskableActorCriticPolicy
from stable_baselines3.common.torch_layers import BaseFeaturesExtractor
from stable_baselines3.common.type_aliases import Schedule
from torch import nn


class Trunk(BaseFeaturesExtractor):
    """Runs the hidden layers that policy and value share.

    Args:
        observation_space: the bits.
        layers: width of each hidden layer.
    """

    def __init__(self, observation_space: spaces.Box, layers: Sequence[int]) -> None:
        super().__init__(observation_space, layers[-1])
        widths = [observation_space.shape[0], *layers]
        self.layers = nn.ModuleList(
            nn.Linear(width, after) for width, after in zip(widths, widths[1:], strict=False)
        )

    def forward(self, bits: th.Tensor) -> th.Tensor:
        """Returns features [B, F] of observations [B, 512]."""
        for layer in self.layers:
            bits = nn.functional.relu(layer(bits), inplace=True)
        return bits


class SelfPlayPolicy(MaskableActorCriticPolicy):
    """Chooses among the legal actions and expects points, from one trunk.

    Args:
        observation_space: the bits.
        action_space: the actions.
        lr_schedule: learning rate by progress remaining.
        layers: width of each hidden layer.
        kwargs: handed on.
    """

    def __init__(
        self,
        observation_space: spaces.Box,
        action_space: spaces.Discrete,
        lr_schedule: Schedule,
        layers: Sequence[int] = (256, 256, 256),
        **kwargs: Any,
    ) -> None:
        self.layers = tuple(layers)
        super().__init__(
            observation_space,
            action_space,
            lr_schedule,
            net_arch=[],
            features_extractor_class=Trunk,
            features_extractor_kwargs={"layers": self.layers},
            normalize_images=False,
            optimizer_kwargs={"eps": 1e-5, "fused": True},
            **kwargs,
        )

    def logits_and_values(self, bits: th.Tensor) -> tuple[th.Tensor, th.Tensor]:
        """Returns unmasked logits [B, 69] and values [B] of observations uint8 [B, 512].

        The two small last layers run in float32 even where the trunk runs in bfloat16.
        """
        dtype = th.get_autocast_dtype("cpu") if th.is_autocast_enabled("cpu") else th.float32
        features = self.features_extractor(bits.to(dtype))
        with th.autocast("cpu", enabled=False):
            features = features.float()
            return self.action_net(features), self.value_net(features)[:, 0]
