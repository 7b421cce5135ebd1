"""Masks actions in RLlib's new API stack; ``rllib_one_seat.py`` and ``rllib_teams.py`` use it.

RLlib's own networks do not accept Dict observations. This module passes them the flat part and sets
the logits of illegal actions to a very negative number.
"""

from typing import Any

import gymnasium
import torch
from ray.rllib.algorithms.ppo.torch.default_ppo_torch_rl_module import DefaultPPOTorchRLModule
from ray.rllib.core.columns import Columns

FLAT, MASK = "observations", "action_mask"
Batch = dict[str, Any]


class MaskedModule(DefaultPPOTorchRLModule):
    """Gives probability to legal actions only; the observation contains the action mask."""

    def __init__(self, *, observation_space: gymnasium.spaces.Dict, **settings: Any) -> None:
        flat = observation_space[FLAT]
        as_floats = gymnasium.spaces.Box(0.0, 1.0, flat.shape)
        super().__init__(observation_space=as_floats, **settings)

    def _forward(self, batch: Batch, **settings: Any) -> Batch:
        return self._masked(super()._forward(_flat(batch), **settings), batch)

    def _forward_train(self, batch: Batch, **settings: Any) -> Batch:
        return self._masked(super()._forward_train(_flat(batch), **settings), batch)

    def compute_values(self, batch: Batch, embeddings: Any = None) -> torch.Tensor:
        return super().compute_values(_flat(batch), embeddings)

    def _masked(self, out: Batch, batch: Batch) -> Batch:
        illegal = batch[Columns.OBS][MASK] == 0
        logits = out[Columns.ACTION_DIST_INPUTS]
        return out | {Columns.ACTION_DIST_INPUTS: logits.masked_fill(illegal, -1e9)}


def _flat(batch: Batch) -> Batch:
    return {**batch, Columns.OBS: batch[Columns.OBS][FLAT].float()}
