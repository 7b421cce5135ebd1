"""Stores decisions and credits each with what its own seat earned until that seat's next one.

Every decision is linked to the next of the same seat in the same game, and returns and advantages
run along these links. Nothing of another seat enters them: neither its rewards nor its values.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from typing import Any, Final, NamedTuple

import numpy as np
import numpy.typing as npt
import torch as th
from gymnasium import spaces
from sb3_contrib.common.maskable.buffers import MaskableRolloutBuffer

from goita_env.errors import SettingError
from goita_env.tiles import NUM_SEATS
from goita_env.views import packing
from goita_env.views.observation import NUM_WORDS

MASK_BYTES: Final = 9
"""Bytes of 69 legal actions, one bit each."""

DECISION: Final = np.dtype(
    [
        ("words", np.uint64, NUM_WORDS),  # what the seat knew, packed
        ("next", np.int64),  # place of the seat's next decision, OPEN or ENDED
        ("value", np.float32),  # of its position, as the network saw it then
        ("log_prob", np.float32),  # of the action
        ("reward", np.float32),  # earned until the seat's next decision or the end
        ("advantage", np.float32),
        ("mask", np.uint8, MASK_BYTES),  # what the seat might do, packed
        ("action", np.uint8),
    ],
    align=True,
)
"""A decision: 104 bytes, where float32 observations and masks would take 2.3 kB."""

HIDDEN_WORDS: Final = 2 * (NUM_SEATS - 1)
"""Words that a seat isn't shown: the plays of each other as that one sees them, and its tiles."""

DECISION_WITH_HIDDEN: Final = np.dtype(
    [
        *[(name, DECISION[name]) for name in DECISION.names or ()],
        ("hidden", np.uint64, HIDDEN_WORDS),
    ],
    align=True,
)
"""A decision and what its seat was not shown, packed: 152 bytes."""

OPEN: Final = -1
"""Instead of a next decision: the seat may still have one in this episode."""
ENDED: Final = -2
"""Instead of a next decision: the episode ended."""

MOVING: Final = 1.5
"""How much moving the policy counts for a decision's chance, beside moving the values."""
LEAST: Final = 0.4
"""The least chance of a decision, as a share of ``keep``."""

OpenDecisions = tuple[npt.NDArray[np.bool_], npt.NDArray[np.void]]
"""Which seats have an open decision, [N, 4], and these decisions in that order."""


class Samples(NamedTuple):
    """Holds a minibatch: what sb3-contrib's has, under the same names, and how much a row counts.

    Attributes:
        observations: uint8 [B, 512] bits.
        actions: int64 [B, 1].
        old_values: float32 [B].
        old_log_prob: float32 [B].
        advantages: float32 [B].
        returns: float32 [B].
        action_masks: bool [B, 69].
        weights: float32 [B], at least 1: a decision's inverse probability of being here.
        hidden: uint8 [B, 384] bits of what the seats weren't shown; None: the buffer has none.
    """

    observations: th.Tensor
    actions: th.Tensor
    old_values: th.Tensor
    old_log_prob: th.Tensor
    advantages: th.Tensor
    returns: th.Tensor
    action_masks: th.Tensor
    weights: th.Tensor
    hidden: th.Tensor | None = None


class SeatRolloutBuffer(MaskableRolloutBuffer):
    """Holds the decisions of a rollout, linked by seat.

    The last decision of a seat whose episode goes on beyond the rollout stays open: it isn't learnt
    from yet, ``reset`` carries it into the next rollout, and there it earns what comes. Its value
    bootstraps the seat's decision before it, as a last value does in a common rollout buffer.

    Args:
        buffer_size: steps of all games in a rollout.
        observation_space: 512 bits.
        action_space: 69 actions.
        device: where minibatches are built.
        gae_lambda: weight of longer horizons in the advantages, 0 to 1.
        gamma: discount from one decision of a seat to its next.
        n_envs: number of games, N.
        keep: share of the decisions of average size that is learnt from, see ``chances``; 1: all.
        hidden: store what a decision's seat was not shown, too, for a critic.

    Attributes:
        last: int64 [N, 4] place of each seat's last decision in this episode, OPEN if none.
        closed: int64 [n] places of the decisions to learn from, after
            ``compute_returns_and_advantage``.
        values: float32 [n] their values.
        returns: float32 [n] their lambda-returns.
        advantages: float32 [n] their advantages.
    """

    action_space: spaces.Discrete

    def __init__(
        self,
        buffer_size: int,
        observation_space: spaces.Space[Any],
        action_space: spaces.Space[Any],
        device: th.device | str = "auto",
        gae_lambda: float = 0.95,
        gamma: float = 1.0,
        n_envs: int = 1,
        keep: float = 1.0,
        hidden: bool = False,
    ) -> None:
        self.pos = 0
        self.keep = keep
        kind = DECISION_WITH_HIDDEN if hidden else DECISION
        self._store = np.zeros((buffer_size + NUM_SEATS) * n_envs, kind)
        self.last = np.full((n_envs, NUM_SEATS), OPEN, np.int64)
        super().__init__(
            buffer_size, observation_space, action_space, device, gae_lambda, gamma, n_envs
        )

    def reset(self) -> None:
        """Begins a rollout with the decisions that are still open."""
        self.take_up(self.open_decisions())
        self.pos = int(np.count_nonzero(self.last != OPEN))
        self._starts = [0, self.pos]  # where each step's decisions begin; the carried come first
        self.full = False
        self.closed = np.zeros(0, np.int64)

    def forget(self) -> None:
        """Drops the open decisions, for games that begin anew."""
        self.last[:] = OPEN

    def open_decisions(self) -> OpenDecisions:
        """Returns the open decisions: which there are, and they themselves."""
        waiting = self.last != OPEN
        return waiting, self._store[self.last[waiting]]

    def take_up(self, decisions: OpenDecisions) -> None:
        """Takes open decisions back."""
        waiting, rows = decisions
        self._store[: len(rows)] = rows
        self.last[:] = OPEN
        self.last[waiting] = np.arange(len(rows))

    def open_arrays(self) -> dict[str, npt.NDArray[Any]]:
        """Returns the open decisions as arrays for a checkpoint, named "open.FIELD"."""
        waiting, rows = self.open_decisions()
        columns = {f"open.{name}": np.ascontiguousarray(rows[name]) for name in self._kept()}
        return {"open.waiting": waiting, **columns}

    def take_up_arrays(self, arrays: Mapping[str, npt.NDArray[Any]]) -> None:
        """Takes open decisions of a checkpoint back.

        Args:
            arrays: of ``open_arrays``, by field. They may come from somebody else's file.

        Raises:
            SettingError: if they are none of this buffer's; nothing has changed then.
        """
        shape, found = (len(self.last), NUM_SEATS), arrays.get("waiting", np.zeros(0))
        many = int(np.count_nonzero(found)) if found.dtype == np.bool_ else 0
        rows = np.zeros(many, self._store.dtype)
        wanted: dict[str, Any] = {"waiting": ("bool", shape)}
        wanted |= {name: (rows[name].dtype.name, rows[name].shape) for name in self._kept()}
        shown = {name: (array.dtype.name, array.shape) for name, array in arrays.items()}
        if shown != wanted:
            raise SettingError(f"expected open decisions as {wanted}, got {shown}")
        for name in self._kept():
            rows[name] = arrays[name]
        rows["next"] = OPEN
        legal = np.unpackbits(rows["mask"], axis=1, bitorder="little")
        numbers = [rows[name] for name in ("value", "log_prob", "reward")]
        if (
            (rows["action"] >= self.action_space.n).any()
            or not legal[np.arange(many), rows["action"]].all()
            or not all(np.isfinite(column).all() for column in numbers)
        ):
            raise SettingError("expected open decisions with legal actions and finite numbers")
        self.take_up((arrays["waiting"], rows))

    def _kept(self) -> list[str]:
        """Returns the fields of an open decision that say something yet."""
        names = self._store.dtype.names or ()
        return [name for name in names if name not in ("next", "advantage")]

    # ---------------------------------------------------------------------------------- recording

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

        Args:
            games: [n] which game.
            seats: [n] who decides.
            words: uint64 [n, 8] what it knows, packed.
            masks: bool [n, 69] what it may do.
            actions: [n] what it does.
            values: [n] values of its positions.
            log_probs: [n] logarithms of the actions' probabilities.
            hidden: uint64 [n, 6] what it is not shown, packed, in a buffer that stores it.
        """
        places = np.arange(self.pos, self.pos + len(games))
        rows = self._store[self.pos : self.pos + len(games)]
        rows["words"], rows["mask"] = words, np.packbits(masks, axis=1, bitorder="little")
        rows["action"], rows["value"], rows["log_prob"] = actions, values, log_probs
        rows["reward"], rows["next"] = 0.0, OPEN
        if hidden is not None:
            rows["hidden"] = hidden
        before = self.last[games, seats]
        linked = before != OPEN
        self._store["next"][before[linked]] = places[linked]
        self.last[games, seats] = places
        self.pos += len(games)
        self._starts.append(self.pos)

    def add_rewards(self, rewards: npt.NDArray[np.float32], done: npt.NDArray[np.bool_]) -> None:
        """Credits what a step earned each seat to that seat's last decision, whoever moved.

        A seat without a decision in this episode has nothing to credit.

        Args:
            rewards: [N, 4] by seat.
            done: [N] the step ended the episode.
        """
        games = np.flatnonzero(done | rewards.any(axis=1))
        last = self.last[games]
        decided = last != OPEN
        self._store["reward"][last[decided]] += rewards[games][decided]
        self._store["next"][last[decided & done[games, None]]] = ENDED
        self.last[done] = OPEN

    def compute_returns_and_advantage(
        self, last_values: th.Tensor | None = None, dones: npt.NDArray[np.bool_] | None = None
    ) -> None:
        """Works out advantages backwards along the links, a whole step of all games at a time.

        Args:
            last_values: not used: open decisions wait instead of being bootstrapped.
            dones: not used.
        """
        store = self._store[: self.pos]
        value, advantage, following = store["value"], store["advantage"], store["next"]
        for start, stop in zip(self._starts[-2::-1], self._starts[:0:-1], strict=True):
            after = following[start:stop]
            # What the seat expects from its next decision on; an open one has no advantage yet.
            ahead = value[after.clip(0)] + self.gae_lambda * advantage[after.clip(0)]
            earned = store["reward"][start:stop] + self.gamma * np.where(after >= 0, ahead, 0)
            advantage[start:stop] = np.where(after == OPEN, 0, earned - value[start:stop])
        self.closed = np.flatnonzero(following != OPEN)
        self.values, self.advantages = value[self.closed], advantage[self.closed]
        self.returns = self.advantages + self.values
        self.full = True

    # ----------------------------------------------------------------------------------- learning

    def get(self, batch_size: int | None = None) -> Iterator[Samples]:  # type: ignore[override]
        """Yields the closed decisions in random order, in minibatches of equal size.

        Two at least make one: a single decision has no advantage over others. So a rollout of
        fewer, in which hardly a seat was asked again, yields none. With ``keep`` below 1 decisions
        are drawn first; there are as many minibatches then, and they are smaller.

        Args:
            batch_size: how many decisions there are for each minibatch, about; None: all for one.
        """
        order = th.randperm(len(self.closed)).numpy()
        if len(order) < 2:
            return
        chances = self.chances()
        wanted = 1 if batch_size is None else round(len(order) / batch_size)
        if self.keep < 1:
            order = order[th.rand(len(order)).numpy() < chances[order]]
        batches = min(max(1, wanted), len(order) // 2)
        for part in np.array_split(order, batches) if batches else ():
            yield self._samples(self._store[self.closed[part]], self.returns[part], chances[part])

    def chances(self) -> npt.NDArray[np.float32]:
        """Returns the probability with which each closed decision is learnt from, float32 [n].

        A decision moves the policy by about its advantage times the probability of what was not
        done, and the values by about its advantage. Where a policy is sure of most of its actions,
        a tenth of the decisions makes nearly all of its gradient. So a decision is drawn with a
        chance that grows with both, and counts by the inverse: the expected gradient stays that of
        all, for a fraction of the work. (Importance sampling by a bound of the gradient's norm, as
        Katharopoulos and Fleuret, "Not all samples are created equal", 2018.)
        """
        if self.keep == 1:
            return np.ones(len(self.closed), np.float32)
        size: npt.NDArray[np.float32] = np.abs(self.advantages)
        moves = size * -np.expm1(self._store["log_prob"][self.closed])
        shares = [part / max(part.mean(), np.finfo(np.float32).tiny) for part in (moves, size)]
        chances: npt.NDArray[np.float32] = self.keep * (MOVING * shares[0] + shares[1])
        return chances.clip(LEAST * self.keep, 1)

    def _samples(
        self,
        rows: npt.NDArray[np.void],
        returns: npt.NDArray[np.float32],
        chances: npt.NDArray[np.float32],
    ) -> Samples:
        """Returns decisions as tensors; observations and masks are unpacked here."""
        masks = np.unpackbits(
            rows["mask"], axis=1, count=int(self.action_space.n), bitorder="little"
        )
        arrays = [
            packing.expand(np.ascontiguousarray(rows["words"])),
            rows["action"].astype(np.int64)[:, None],
            rows["value"],
            rows["log_prob"],
            rows["advantage"],
            returns,
            masks.view(bool),
            1 / chances,
        ]
        if "hidden" in (rows.dtype.names or ()):
            arrays.append(packing.expand(np.ascontiguousarray(rows["hidden"])))
        tensors = [th.from_numpy(np.ascontiguousarray(a)).to(self.device) for a in arrays]
        return Samples(*tensors)
