"""Stores decisions and credits each with what its seat earned until that seat's next decision.

Each decision is linked to the next of the same seat in the same game; returns and advantages run
along these links, so no other seat's rewards or values enter them.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from typing import Any, Final, NamedTuple

import numpy as np
import numpy.typing as npt
import torch as th
from gymnasium import spaces

from goita_env.tiles import NUM_SEATS
from goita_env.views import observation as packing

HIDDEN_WORDS: Final = 2 * (NUM_SEATS - 1)
"""Words that a seat does not see: the other seats' plays as they see them, and their tiles."""


def decision_type(words: int, actions: int, *, hidden: bool = False) -> np.dtype[np.void]:
    """Returns the type of a stored decision.

    With 8 words and 69 actions it has 104 bytes, where float32 observations and masks would take
    2.3 kB.

    Args:
        words: of a packed observation.
        actions: size of the action space.
        hidden: whether it holds what its seat does not see, 48 bytes more.
    """
    columns: list[tuple[Any, ...]] = [
        ("words", np.uint64, words),  # the observation, packed
        ("next", np.int64),  # index of the seat's next decision, OPEN_DECISION or EPISODE_ENDED
        ("value", np.float32),  # predicted when the decision was made
        ("log_prob", np.float32),  # of the action
        ("reward", np.float32),  # earned until the seat's next decision or the end
        ("advantage", np.float32),
        ("mask", np.uint8, (actions + 7) // 8),  # legal actions, packed
        ("action", np.uint8),
    ]
    if hidden:
        columns.append(("hidden", np.uint64, HIDDEN_WORDS))
    return np.dtype(columns, align=True)


# Instead of the index of a next decision: the seat may still have one; the episode ended.
OPEN_DECISION: Final = -1
EPISODE_ENDED: Final = -2

# Of sampling probabilities: the weight of a decision's policy gradient, next to 1 for its value
# error, and the smallest probability as a share of ``sample_fraction``.
POLICY_WEIGHT: Final = 1.5
LEAST_SHARE: Final = 0.4

OpenDecisions = tuple[npt.NDArray[np.bool_], npt.NDArray[np.void]]
"""Which seats have an open decision, [N, 4], and these decisions in that order."""


class Samples(NamedTuple):
    """A minibatch, with the names of sb3-contrib's and some more."""

    observations: th.Tensor  # uint8 [B, 512] bits
    actions: th.Tensor  # int64 [B, 1]
    old_values: th.Tensor  # float32 [B], as the next three
    old_log_prob: th.Tensor
    advantages: th.Tensor
    returns: th.Tensor
    action_masks: th.Tensor  # bool [B, 69]
    weights: th.Tensor  # float32 [B], inverse sampling probabilities, at least 1
    hidden: th.Tensor | None = None  # uint8 [B, 384] bits that the seats do not see


class SeatRolloutBuffer:
    """The decisions of a rollout, linked by seat.

    The last decision of a seat whose episode continues after the rollout stays open: ``reset``
    carries it into the next rollout, where it is credited and learnt from. Its value bootstraps the
    seat's decision before it, as a last value does in SB3's ``RolloutBuffer``.

    Arguments that are not listed are those of ``RolloutBuffer``.

    Args:
        gamma: discount from one decision of a seat to its next.
        sample_fraction: scale of the probabilities with which decisions are drawn for an update,
            see ``sampling_probabilities``; 1: all decisions.
        hidden: store what a decision's seat does not see, too, for a critic.

    Attributes:
        last: int64 [N, 4] index of each seat's last decision in this episode; OPEN_DECISION if it
            has made none.
        closed: int64 [n] indices of the decisions to learn from, after
            ``compute_returns_and_advantage``.
        values: float32 [n] their values.
        returns: float32 [n] their lambda-returns.
        advantages: float32 [n] their advantages.
    """

    def __init__(
        self,
        buffer_size: int,
        observation_space: spaces.Box,
        action_space: spaces.Discrete,
        device: th.device | str = "cpu",
        gae_lambda: float = 0.95,
        gamma: float = 1.0,
        n_envs: int = 1,
        sample_fraction: float = 1.0,
        hidden: bool = False,
    ) -> None:
        self.num_actions = int(action_space.n)
        self.device, self.gae_lambda, self.gamma = device, gae_lambda, gamma
        self.sample_fraction = sample_fraction
        words = observation_space.shape[0] // 64
        dtype = decision_type(words, self.num_actions, hidden=hidden)
        self._store = np.zeros((buffer_size + NUM_SEATS) * n_envs, dtype)
        # An open decision has neither a next one nor an advantage yet.
        self._open_fields = [n for n in dtype.names or () if n not in ("next", "advantage")]
        self.last = np.full((n_envs, NUM_SEATS), OPEN_DECISION, np.int64)
        self.reset()

    def reset(self) -> None:
        """Begins a rollout with the decisions that are still open."""
        self._carry(self.open_decisions())
        self.pos = int(np.count_nonzero(self.last != OPEN_DECISION))
        self._starts = [0, self.pos]  # where each step's decisions begin; the carried come first
        self.closed = np.zeros(0, np.int64)
        self._drawn_probabilities: npt.NDArray[np.float32] | None = None
        """[n] Sampling probabilities of the decisions of ``draw_sample``; None: none are drawn."""

    def drop_open(self) -> None:
        """Drops the open decisions, for games that begin anew."""
        self.last[:] = OPEN_DECISION

    def open_decisions(self) -> OpenDecisions:
        """Returns which seats have an open decision, and these decisions."""
        waiting = self.last != OPEN_DECISION
        return waiting, self._store[self.last[waiting]]

    def _carry(self, decisions: OpenDecisions) -> None:
        waiting, rows = decisions
        self._store[: len(rows)] = rows
        self.last[:] = OPEN_DECISION
        self.last[waiting] = np.arange(len(rows))

    def state_arrays(self) -> dict[str, npt.NDArray[Any]]:
        """Returns the open decisions as arrays, by field."""
        waiting, rows = self.open_decisions()
        columns = {name: np.ascontiguousarray(rows[name]) for name in self._open_fields}
        return {"waiting": waiting, **columns}

    def load_state_arrays(self, arrays: Mapping[str, npt.NDArray[Any]]) -> None:
        """Restores open decisions from ``state_arrays``."""
        waiting = arrays["waiting"]
        rows = np.zeros(np.count_nonzero(waiting), self._store.dtype)
        for name in self._open_fields:
            rows[name] = arrays[name]
        rows["next"] = OPEN_DECISION
        self._carry((waiting, rows))

    def add_decisions(
        self,
        games: npt.NDArray[np.int64],
        seats: npt.NDArray[np.int8],
        words: packing.Words,
        masks: npt.NDArray[np.bool_],
        actions: npt.NDArray[np.int64],
        values: npt.NDArray[np.float32],
        log_probs: npt.NDArray[np.float32],
        hidden: packing.Words | None = None,
    ) -> None:
        """Adds one step's decisions, at most one a game.

        ``words`` are packed observations, [n, 8] in the base game. A buffer that stores them also
        takes what the seats do not see, ``hidden`` [n, 6].
        """
        places = np.arange(self.pos, self.pos + len(games))
        rows = self._store[self.pos : self.pos + len(games)]
        rows["words"], rows["mask"] = words, np.packbits(masks, axis=1, bitorder="little")
        rows["action"], rows["value"], rows["log_prob"] = actions, values, log_probs
        rows["reward"], rows["next"] = 0.0, OPEN_DECISION
        if hidden is not None:
            rows["hidden"] = hidden
        # The seat's decision before, if any, now has a next one.
        before = self.last[games, seats]
        linked = before != OPEN_DECISION
        self._store["next"][before[linked]] = places[linked]
        self.last[games, seats] = places
        self.pos += len(games)
        self._starts.append(self.pos)

    def add_rewards(self, rewards: npt.NDArray[np.float32], done: npt.NDArray[np.bool_]) -> None:
        """Credits what a step earned each seat to that seat's last decision, no matter who moved.

        A seat without a decision in this episode gets no credit; ``rewards`` are [N, 4].
        """
        games = np.flatnonzero(done | rewards.any(axis=1))
        last = self.last[games]
        decided = last != OPEN_DECISION
        self._store["reward"][last[decided]] += rewards[games][decided]
        self._store["next"][last[decided & done[games, None]]] = EPISODE_ENDED
        self.last[done] = OPEN_DECISION

    def draw_sample(self, rng: np.random.Generator) -> npt.NDArray[np.int64]:
        """Draws the decisions of this rollout to learn from, before what they earn is known.

        Sure decisions are drawn less often, as in ``sampling_probabilities``, and weigh more.

        Returns:
            Their indices, ascending: int64 [n], for ``decisions`` and ``set_returns``.
        """
        decisions = np.arange(self._starts[1], self.pos)
        size = np.ones(len(decisions), np.float32)  # advantages are not known: all count alike
        probabilities = self._probabilities(size, self._store["log_prob"][decisions])
        chosen = rng.random(len(decisions)) < probabilities
        self._drawn_probabilities = probabilities[chosen]
        return decisions[chosen]

    def decisions(self, index: npt.NDArray[np.int64]) -> npt.NDArray[np.void]:
        """Returns stored decisions, with the fields of ``decision_type``."""
        return self._store[index]

    def set_returns(self, index: npt.NDArray[np.int64], returns: npt.NDArray[np.float32]) -> None:
        """Sets what the drawn decisions earned; only these are learned from, each drawn once."""
        self.closed, self.returns = index, returns
        self.values = self._store["value"][index]
        self.advantages = returns - self.values
        self._store["advantage"][index] = self.advantages

    def compute_returns_and_advantage(self) -> None:
        """Computes advantages backwards along the links, a step of all games at a time."""
        store = self._store[: self.pos]
        value, advantage, following = store["value"], store["advantage"], store["next"]
        # The bounds of each step's decisions, from the last step to the carried decisions.
        for start, stop in zip(self._starts[-2::-1], self._starts[:0:-1], strict=True):
            after = following[start:stop]
            # What the seat expects from its next decision on; an open one has no advantage yet.
            # Where there is no next decision, ``clip`` reads decision 0, and ``where`` drops it.
            ahead = value[after.clip(0)] + self.gae_lambda * advantage[after.clip(0)]
            earned = store["reward"][start:stop] + self.gamma * np.where(after >= 0, ahead, 0)
            advantage[start:stop] = np.where(after == OPEN_DECISION, 0, earned - value[start:stop])
        self.closed = np.flatnonzero(following != OPEN_DECISION)
        self.values, self.advantages = value[self.closed], advantage[self.closed]
        self.returns = self.advantages + self.values

    def get(self, batch_size: int | None = None) -> Iterator[Samples]:
        """Yields the closed decisions in random order, in minibatches of equal size.

        A rollout with fewer than two yields none, since advantages are relative. With a
        ``sample_fraction`` below 1 decisions are drawn first: there are as many minibatches then,
        and they are smaller.

        ``batch_size`` counts decisions before any are left out; None: all in one.
        """
        order = th.randperm(len(self.closed)).numpy()
        if len(order) < 2:
            return
        if self._drawn_probabilities is None:
            available, probabilities = len(order), self.sampling_probabilities()
            if self.sample_fraction < 1:
                order = order[th.rand(len(order)).numpy() < probabilities[order]]
        else:  # ``draw_sample`` has drawn the closed decisions from all of the rollout
            available, probabilities = self.pos - self._starts[1], self._drawn_probabilities
        minibatches = 1 if batch_size is None else round(available / batch_size)
        minibatches = min(max(1, minibatches), len(order) // 2)  # of two decisions or more
        for part in np.array_split(order, minibatches) if minibatches else ():
            rows = self._store[self.closed[part]]
            yield self._samples(rows, self.returns[part], probabilities[part])

    def sampling_probabilities(self) -> npt.NDArray[np.float32]:
        """Returns the probability with which each closed decision is learnt from, float32 [n].

        A decision moves the policy by about its advantage times the probability of all other
        actions, and the values by about its advantage. Where a policy is sure of most actions, a
        tenth of the decisions makes nearly all of its gradient. So a decision is drawn with a
        probability that grows with both, and weighed by the inverse: the expected gradient is that
        of all, for a fraction of the work. (Importance sampling by a bound of the gradient's norm:
        Katharopoulos and Fleuret, "Not all samples are created equal", 2018.)
        """
        if self.sample_fraction == 1:
            return np.ones(len(self.closed), np.float32)
        return self._probabilities(np.abs(self.advantages), self._store["log_prob"][self.closed])

    def _probabilities(
        self, size: npt.NDArray[np.float32], log_prob: npt.NDArray[np.float32]
    ) -> npt.NDArray[np.float32]:
        """Returns sampling probabilities of decisions, float32 [n].

        ``size`` [n] are their absolute advantages.
        """
        tiny = np.finfo(np.float32).tiny
        # How much a decision moves the policy and the values (``sampling_probabilities``).
        moves = size * -np.expm1(log_prob), size
        policy_share, value_share = (part / max(part.mean(), tiny) for part in moves)
        probabilities: npt.NDArray[np.float32] = self.sample_fraction * (
            POLICY_WEIGHT * policy_share + value_share
        )
        return probabilities.clip(LEAST_SHARE * self.sample_fraction, 1)

    def _samples(
        self,
        rows: npt.NDArray[np.void],
        returns: npt.NDArray[np.float32],
        probabilities: npt.NDArray[np.float32],
    ) -> Samples:
        """Returns stored decisions with their returns and sampling probabilities as tensors."""
        masks = np.unpackbits(rows["mask"], axis=1, count=self.num_actions, bitorder="little")
        arrays = {
            "observations": packing.expand(np.ascontiguousarray(rows["words"])),
            "actions": rows["action"].astype(np.int64)[:, None],
            "old_values": rows["value"],
            "old_log_prob": rows["log_prob"],
            "advantages": rows["advantage"],
            "returns": returns,
            "action_masks": masks.view(bool),
            "weights": 1 / probabilities,
        }
        if "hidden" in self._open_fields:
            arrays["hidden"] = packing.expand(np.ascontiguousarray(rows["hidden"]))
        tensors = {
            name: th.from_numpy(np.ascontiguousarray(array)).to(self.device)
            for name, array in arrays.items()
        }
        return Samples(**tensors)
