"""Expects points from all four hands, which only a training may see; no policy's file holds it.

A critic that sees more than the policy takes luck out of the advantages: of a decision that turned
out well because of what the others held, less is credited to the decision (the centralised critic
of Lowe et al. 2017, here beside the policy's own values, which see a view).
"""

from __future__ import annotations

from collections.abc import Sequence

import numpy as np
import numpy.typing as npt
import torch as th
from gymnasium.spaces import Box
from torch import nn

from agents.learning.buffer import HIDDEN_WORDS, Samples
from agents.learning.divergence import check_step
from agents.learning.policy import Trunk
from goita_env import GoitaVectorEnv
from goita_env.tiles import NUM_SEATS
from goita_env.views import packing
from goita_env.views.observation import OBSERVATION_SIZE


class Critic(nn.Module):
    """Expects what a seat will earn, from its observation and from what it isn't shown.

    Args:
        layers: width of each layer.
        device: where it runs.
        bfloat16: run all layers but the last in bfloat16.

    Attributes:
        optimizer: moves its weights alone.
    """

    def __init__(
        self, layers: Sequence[int], device: th.device | str = "cpu", bfloat16: bool = False
    ) -> None:
        super().__init__()
        self._device, self._narrow = th.device(device), bfloat16
        self.trunk = Trunk(Box(0, 1, (OBSERVATION_SIZE + 64 * HIDDEN_WORDS,), np.uint8), layers)
        self.value = nn.Linear(self.trunk.features_dim, 1)
        for layer in self.trunk.layers:
            nn.init.orthogonal_(layer.weight, 2**0.5)  # type: ignore[arg-type]
            nn.init.zeros_(layer.bias)  # type: ignore[arg-type]
        nn.init.orthogonal_(self.value.weight)
        nn.init.zeros_(self.value.bias)
        self.to(device)
        self.optimizer = th.optim.Adam(self.parameters(), eps=1e-5, fused=True)

    def forward(self, bits: th.Tensor, hidden: th.Tensor) -> th.Tensor:
        """Returns values float32 [B], in the unit of the policy's.

        Args:
            bits: uint8 [B, 512] observations.
            hidden: uint8 [B, 384] bits of what the seats aren't shown.
        """
        features = th.cat([bits, hidden], dim=1)
        features = features.to(th.bfloat16 if self._narrow else th.float32)
        with th.autocast(self._device.type, th.bfloat16, enabled=self._narrow):
            features = self.trunk(features)
        values: th.Tensor = self.value(features.float())[:, 0]
        return values

    def foretell(self, words: packing.Words, hidden: packing.Words) -> npt.NDArray[np.float32]:
        """Returns values [n] of packed observations [n, 8] and of what isn't shown [n, 6]."""
        bits, more = (th.from_numpy(packing.expand(w)).to(self._device) for w in (words, hidden))
        with th.no_grad():
            values: npt.NDArray[np.float32] = self(bits, more).numpy(force=True)
        return values

    def learn(self, samples: Samples, max_grad_norm: float) -> th.Tensor:
        """Moves towards what a minibatch earned; returns the mean squared error before: [].

        Raises:
            DivergedError: if the error or its gradient is not finite.
        """
        assert samples.hidden is not None
        values = self(samples.observations, samples.hidden)
        errors = (values - samples.returns).square() * samples.weights
        loss: th.Tensor = errors.sum() / samples.weights.sum()
        self.optimizer.zero_grad()
        loss.backward()  # type: ignore[no-untyped-call]
        norm = th.nn.utils.clip_grad_norm_(self.parameters(), max_grad_norm)
        check_step(loss.detach(), norm, "critic")
        self.optimizer.step()
        return loss.detach()


def hidden_words(
    games: GoitaVectorEnv, rows: npt.NDArray[np.int64], seats: npt.NDArray[np.int8]
) -> packing.Words:
    """Returns what asked seats aren't shown: uint64 [n, 6].

    Words 0 to 2 are the plays of the next seat, the partner and the previous one as they themselves
    see them, 3 to 5 their tiles.

    Args:
        games: between two steps.
        rows: [n] which games.
        seats: [n] who is asked in them.
    """
    others = (seats[:, None].astype(np.int64) + np.arange(1, NUM_SEATS)) % NUM_SEATS
    places = [packing.STATE_PLAYS_WORD + others, packing.STATE_TILES_WORD + others]
    return np.take_along_axis(games.packed_state()[rows], np.concatenate(places, axis=1), axis=1)
