"""Says what decisions are worth in other ways than by the policy's own values.

A critic values positions from all four hands, for advantages in training only. It takes luck out of
them: a decision gets less credit for what the other seats happened to hold (the centralised critic
of Lowe et al. 2017, here in addition to the policy's own values, which see a view). No file of a
policy holds it.

Off-belief learning (Hu et al. 2021), level 1, fitted to this game, replaces what decisions of a
rollout earned by what they would earn in worlds of the rule constraints. For each decision, one
world that its seat cannot rule out is drawn uniformly from the deals that the rules allow; the
actions of others only rule out what was illegal. The action is played there, and all seats play the
present policy until the same seat has a choice again, or the round ends. The return is the points
of the end, or the policy's value at that choice. So the policy learns to play well if the past had
no meaning beyond the rules, while its actions in the worlds are answered by players like itself.
(Hu et al. take the posterior of a policy, at level 1 of a uniformly random one. The worlds here are
those of ``LEGAL_MODEL`` in ``goita_agents.models``, theirs those of ``UNIFORM_MODEL``.)
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from typing import Final

import numpy as np
import numpy.typing as npt
import torch as th
from gymnasium.spaces import Box
from torch import nn

from goita_agents.base import Bool, Float, Int
from goita_env import GoitaVectorEnv, View
from goita_env.rounds import Rounds
from goita_env.rules import Rules
from goita_env.tiles import NUM_SEATS
from goita_env.views import observation as packing
from goita_env.views.observation import OBSERVATION_SIZE, Words
from goita_env.worlds import determinize, sample
from goita_lab.learning.buffer import HIDDEN_WORDS, Samples, SeatRolloutBuffer
from goita_lab.learning.policy import Trunk, gradient_step


class Critic(nn.Module):
    """A critic: it predicts what a seat will earn from observation, hidden tiles and plays.

    With ``bfloat16`` all layers but the last run in it. ``size`` is that of an observation.
    """

    def __init__(
        self,
        layers: Sequence[int],
        device: th.device | str = "cpu",
        bfloat16: bool = False,
        size: int = OBSERVATION_SIZE,
    ) -> None:
        super().__init__()
        self._device, self._bfloat16 = th.device(device), bfloat16
        self.trunk = Trunk(Box(0, 1, (size + 64 * HIDDEN_WORDS,), np.uint8), layers)
        self.value = nn.Linear(self.trunk.features_dim, 1)
        for layer in self.trunk.layers:
            nn.init.orthogonal_(layer.weight, 2**0.5)  # type: ignore[arg-type]
            nn.init.zeros_(layer.bias)  # type: ignore[arg-type]
        nn.init.orthogonal_(self.value.weight)
        nn.init.zeros_(self.value.bias)
        self.to(device)
        self.optimizer = th.optim.Adam(self.parameters(), eps=1e-5, fused=True)

    def forward(self, bits: th.Tensor, hidden: th.Tensor) -> th.Tensor:
        """Returns values float32 [B] of observations uint8 [B, 512] and hidden bits [B, 384]."""
        features = th.cat([bits, hidden], dim=1)
        features = features.to(th.bfloat16 if self._bfloat16 else th.float32)
        with th.autocast(self._device.type, th.bfloat16, enabled=self._bfloat16):
            features = self.trunk(features)
        values: th.Tensor = self.value(features.float())[:, 0]
        return values

    def predict(self, words: packing.Words, hidden: packing.Words) -> npt.NDArray[np.float32]:
        """Returns values [n] of packed observations [n, 8] and hidden words [n, 6]."""
        bits, hidden_bits = (
            th.from_numpy(packing.expand(w)).to(self._device) for w in (words, hidden)
        )
        with th.no_grad():
            values: npt.NDArray[np.float32] = self(bits, hidden_bits).numpy(force=True)
        return values

    def learn(self, samples: Samples, max_grad_norm: float) -> th.Tensor:
        """Takes a gradient step on a minibatch; returns the mean squared error before it: []."""
        assert samples.hidden is not None
        values = self(samples.observations, samples.hidden)
        errors = (values - samples.returns).square() * samples.weights
        loss: th.Tensor = errors.sum() / samples.weights.sum()
        gradient_step(loss, self, self.optimizer, max_grad_norm, "critic")
        return loss.detach()


def hidden_words(
    games: GoitaVectorEnv, rows: npt.NDArray[np.int64], seats: npt.NDArray[np.int8]
) -> packing.Words:
    """Returns what acting seats do not see: uint64 [n, 6].

    Words 0 to 2 are the plays of the next seat, the partner and the previous seat as they see
    them, words 3 to 5 their tiles. ``rows`` are the games in which ``seats`` act.
    """
    other_seats = (seats[:, None].astype(np.int64) + np.arange(1, NUM_SEATS)) % NUM_SEATS
    places = [packing.STATE_PLAYS_WORD + other_seats, packing.STATE_TILES_WORD + other_seats]
    return np.take_along_axis(games.packed_state()[rows], np.concatenate(places, axis=1), axis=1)


CHUNK: Final = 8_192
"""Decisions that are played out side by side."""

Decide = Callable[[Words, Bool], tuple[Int, npt.NDArray[np.float32], npt.NDArray[np.float32]]]
"""Returns sampled actions [n], values [n] and log-probabilities [n] of words [n, 8] and masks."""


def credit_in_worlds(
    buffer: SeatRolloutBuffer,
    rules: Rules,
    decide: Decide,
    rng: np.random.Generator,
    reward_scale: float,
) -> None:
    """Credits a sample of a buffer's decisions with what each earns in a world of its own.

    ``rules`` are those of the games; the others are as for ``returns_in_worlds``.
    """
    index = buffer.draw_sample(rng)
    stored = buffer.decisions(index)
    view = View(np.ascontiguousarray(stored["words"]), rules=rules)
    actions = stored["action"].astype(np.int64)
    buffer.set_returns(index, returns_in_worlds(view, actions, decide, rng, reward_scale))


def returns_in_worlds(
    view: View, actions: Int, decide: Decide, rng: np.random.Generator, reward_scale: float
) -> npt.NDArray[np.float32]:
    """Returns what each decision earns in a world of its own: float32 [n].

    Args:
        view: n positions, each seen by the seat that decides; nothing else is known of them.
        actions: int64 [n] what the seats choose.
        decide: the policy, which plays all seats from then on.
        rng: of worlds and of deals after redeals.
        reward_scale: factor of the points.
    """
    returns = np.zeros(len(view), np.float32)
    for first in range(0, len(view), CHUNK):
        part = slice(first, first + CHUNK)
        returns[part] = _play_out(view[part], actions[part], decide, rng, reward_scale)
    return returns


def _play_out(
    view: View, actions: Int, decide: Decide, rng: np.random.Generator, reward_scale: float
) -> Float:
    """Returns what the decisions of one chunk earn, all played out at once: float64 [n].

    A decision's return is known when the round ends, or when the seat that made it has its next
    choice: then it is the policy's value there.
    """
    returns, is_open = np.zeros(len(view)), np.ones(len(view), bool)
    positions = determinize(view, sample(view, 1, rng))
    keys = rng.integers(2**64, size=len(view), dtype=np.uint64)
    rounds = Rounds.from_positions(positions, keys=keys, actions=actions)
    decisions = rounds.decisions
    while True:
        if decisions.ended is not None:
            # A redeal gains nothing, and the game continues.
            counts = is_open[decisions.ended.rows]
            rows = decisions.ended.rows[counts]
            returns[rows] = decisions.ended.gained[counts] * reward_scale
            is_open[rows[decisions.ended.done[counts]]] = False
        # All games step together: where a return is known, any legal action will do.
        chosen = decisions.legal.argmax(axis=1)
        undecided = np.flatnonzero(is_open[decisions.rows])
        if len(undecided):
            rows = decisions.rows[undecided]
            words, legal = decisions.view[undecided].words, decisions.legal[undecided]
            chosen[undecided], values, _ = decide(words, legal)
            is_next = decisions.seats[undecided] == 0  # the seat whose decision is credited
            returns[rows[is_next]] = values[is_next]
            is_open[rows[is_next]] = False
        if not is_open.any():
            return returns
        decisions = rounds.step(chosen)
