"""Learns by self-play: ``MaskablePPO`` with four seats in every game and one network for all.

Differences from ``MaskablePPO``:

- ``collect_rollouts`` follows the seats. All games step together; only rows in which the acting
  seat has a choice are evaluated, stored and counted as timesteps.
- Frozen players may hold seats (``OpponentPool``); their decisions are neither stored nor counted.
- ``train`` computes the losses of ``MaskablePPO.train`` with fewer operations: no distribution
  objects, no numbers fetched from tensors in between. A test holds the two updates equal.
- The entropy coefficient may follow a schedule, as the learning rate may.
- A critic that sees all hands replaces the policy's own values in the advantages once it predicts
  better than they do (``Critic``).
- By Other-Play each seat may see the game under a symmetry of its own (``rollout``).
- By off-belief learning decisions earn what they would in worlds of the rule constraints
  (``returns``).
- The policy may be held close to the one that it began with (``HoldClose``).
- Networks may run in bfloat16, where the processor multiplies it several times faster. Weights,
  losses and the optimizer stay float32.
"""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any, Literal

import numpy as np
import numpy.typing as npt
import torch as th
from sb3_contrib import MaskablePPO
from stable_baselines3.common.buffers import RolloutBuffer
from stable_baselines3.common.callbacks import BaseCallback
from stable_baselines3.common.type_aliases import Schedule
from stable_baselines3.common.utils import FloatSchedule, explained_variance
from stable_baselines3.common.vec_env import VecEnv

from goita_agents.bots.transform import UNCHANGED, Transform
from goita_env.envs.vector import StepResult
from goita_env.errors import SettingError
from goita_env.information import PLAIN
from goita_env.views import observation as packing
from goita_lab.learning.buffer import Samples, SeatRolloutBuffer
from goita_lab.learning.policy import (
    ILLEGAL_LOGIT,
    DivergedError,
    HoldClose,
    SelfPlayPolicy,
    check_weights,
    gradient_step,
)
from goita_lab.learning.pool import OpponentPool
from goita_lab.learning.returns import Critic, credit_in_worlds, hidden_words
from goita_lab.learning.symmetries import (
    ACTION_IMAGES,
    Muting,
    elements_of,
    exchange_masks,
    exchange_words,
    read_preferences,
)
from goita_lab.learning.vec_env import SelfPlayVecEnv


class SelfPlayPPO(MaskablePPO):
    """PPO of one policy for all four seats by self-play.

    Args:
        policy: a ``SelfPlayPolicy``.
        env: a ``SelfPlayVecEnv``.
        ent_coef: weight of the entropy in the loss, or its schedule by progress remaining.
        bfloat16: run the trunk in bfloat16.
        reward_scale: factor of the games' rewards: 0.02 makes 50 points a reward of 1.
        critic: widths of the layers of a critic that sees all hands; empty: no critic.
        transform: of the observations of the policy, and of the critic, which also sees the hands.
        mute_share: share of the games in which one team sends only message 0 (``Muting``).
        other_play: exchange tiles with equal rules at random in what each seat sees.
        off_belief: compute each return in a deal drawn from all deals that the rules allow.
        prefer: what decisions earn in addition to points (``read_preferences``).
        kwargs: of ``MaskablePPO``. Timesteps are decisions with a choice.

    Attributes:
        critic: the network of values; None if the policy's own values are used.
        critic_leads: advantages use the critic's values, which in the last update predicted better
            than the policy's own.
        information: shown tiles and messages in the games.
        pool: frozen players, or None; may be set before training.
        reference: holds this policy close to another; None: it is free.
    """

    policy: SelfPlayPolicy
    rollout_buffer: SeatRolloutBuffer  # type: ignore[assignment]

    def __init__(
        self,
        policy: type[SelfPlayPolicy],
        env: VecEnv | None,
        ent_coef: float | Schedule = 0.0,
        bfloat16: bool = False,
        reward_scale: float = 0.02,
        critic: Sequence[int] = (),
        transform: Transform = UNCHANGED,
        mute_share: float = 0.0,
        other_play: bool = False,
        off_belief: bool = False,
        prefer: Sequence[str] = (),
        **kwargs: Any,
    ) -> None:
        if other_play and critic:
            raise SettingError("expected no critic with other-play, whose seats see other tiles")
        if off_belief and (critic or other_play or mute_share or transform):
            raise SettingError(
                "expected off-belief without critic, other-play, mute share and transform, which "
                "worlds of its own do not have"
            )
        self.other_play, self.off_belief = other_play, off_belief
        self.preferred = read_preferences(prefer) * np.float32(reward_scale)
        """[77] Reward that a decision earns by its action, in addition to the games' rewards."""
        self.critic_layers = tuple(critic)
        self.critic: Critic | None = None
        self.critic_leads = False
        if critic:
            buffered = kwargs.get("rollout_buffer_kwargs") or {}
            kwargs["rollout_buffer_kwargs"] = buffered | {"hidden": True}
        self.entropy_schedule = FloatSchedule(ent_coef)
        self.bfloat16 = bfloat16
        self.reward_scale = reward_scale
        self.transform = transform
        self.mute_share = mute_share
        self.information = PLAIN
        self._last_turn: StepResult | None = None
        self._began = 0  # Decisions made before the current rollout.
        self.pool: OpponentPool | None = None
        self.reference: HoldClose | None = None
        kwargs.setdefault("rollout_buffer_class", SeatRolloutBuffer)
        super().__init__(policy, env, **kwargs)  # type: ignore[arg-type]

    def _setup_model(self) -> None:
        super()._setup_model()
        if self.env is not None:  # else a saved model was loaded, which keeps its own
            self.information = self.env.get_attr("information")[0]
        if self.critic_layers:
            (size,) = self.observation_space.shape or ()
            self.critic = Critic(self.critic_layers, self.device, self.bfloat16, size)
        self.muting = Muting(self.n_envs, self.mute_share, self.information)
        if self.other_play and self.information.shown is not None:
            raise SettingError(f"expected no shown tiles with other-play, got {self.information!r}")
        self._elements = elements_of(self.n_envs)
        if self.off_belief and (self.reward != "points" or self.information != PLAIN):
            raise SettingError(
                "expected off-belief in rounds of the base game, rewarded by points, "
                f"got {self.reward!r}, {self.information!r}"
            )

    def set_random_seed(self, seed: int | None = None) -> None:
        """Seeds the generators of a training.

        Torch's and numpy's take 32 bits, so longer seeds are folded for them; the games' take 64.
        """
        if seed is None or seed < 1 << 32:
            super().set_random_seed(seed)
            return
        super().set_random_seed(int(np.random.SeedSequence(seed).generate_state(1)[0]))
        if self.env is not None:
            self.env.seed(seed)

    def hold_close(self, weight: float, interval: int = 0, share: float = 1.0) -> None:
        """Holds the policy close to what it is now, or to a reference that follows it.

        ``weight`` times the divergence from there, KL(policy || reference) in nats a decision, is
        added to the loss. ``interval`` and ``share`` are those of ``HoldClose``. A restored
        training is held close before its weights are restored.
        """
        self.reference = HoldClose(
            self.policy, weight, lambda *given: self._evaluate(*given)[0], interval, share
        )

    @property
    def update(self) -> int:
        """Returns the number of the current update, or of the next one during a rollout."""
        return self._n_updates // self.n_epochs + 1

    @property
    def reward(self) -> Literal["points", "win"]:
        """Returns the unit of values: "points" or "win"."""
        wins = self.env is not None and self.env.get_attr("reward")[0] == "win"
        return "win" if wins else "points"

    def collect_rollouts(
        self,
        env: VecEnv,
        callback: BaseCallback,
        rollout_buffer: RolloutBuffer | SeatRolloutBuffer,
        n_rollout_steps: int,
        use_masking: bool = True,
    ) -> bool:
        """Steps all games and fills the buffer with the decisions of all seats.

        Returns:
            False if the callback ended the training; the unfinished rollout does not count then.
        """
        games = env.unwrapped
        if not isinstance(games, SelfPlayVecEnv) or not isinstance(
            rollout_buffer, SeatRolloutBuffer
        ):
            raise TypeError(
                "expected a SelfPlayVecEnv and a SeatRolloutBuffer, "
                f"got {type(games).__name__} and {type(rollout_buffer).__name__}"
            )
        if games.turn is not self._last_turn:  # the games began anew: no decision is open
            rollout_buffer.drop_open()
            if self.pool is not None:
                self.pool.begin()
        if not use_masking:
            raise ValueError("expected use_masking=True: an illegal action ends in an error")
        self.policy.set_training_mode(False)
        rollout_buffer.reset()
        callback.on_rollout_start()
        if self.pool is not None:
            self.pool.draw_opponents()
        self._began = before = self.num_timesteps
        points, rounds = 0, 0
        for _ in range(n_rollout_steps):
            turn = self._step(games, rollout_buffer)
            points += int(turn.points.sum())
            rounds += int(np.count_nonzero(turn.winner >= 0))
            callback.update_locals(locals())
            if not callback.on_step():
                self.num_timesteps = before
                return False
        if self.off_belief:
            rng = np.random.default_rng((self.seed or 0, self.update))
            rules = games.turn.view.rules
            credit_in_worlds(rollout_buffer, rules, self._decide, rng, self.reward_scale)
        else:
            rollout_buffer.compute_returns_and_advantage()
        decisions = self.num_timesteps - before
        self.logger.record("rollout/points_per_round", points / max(rounds, 1))
        self.logger.record("rollout/decisions_per_round", decisions / max(rounds, 1))
        self.logger.record("rollout/decisions", decisions)
        if self.pool is not None:
            pool_points, pool_rounds = self.pool.pop_results()
            self.logger.record("pool/rounds", pool_rounds)
            self.logger.record("pool/points_per_round", pool_points)
        self.logger.record("time/planned_decisions", self._total_timesteps)
        callback.update_locals(locals())
        callback.on_rollout_end()
        return True

    def _step(self, games: SelfPlayVecEnv, buffer: SeatRolloutBuffer) -> StepResult:
        """Makes one decision in every game and stores those of the learner that are a choice."""
        turn = games.turn
        legal = self.muting.legal(turn) if self.mute_share else turn.action_mask
        chosen = legal.argmax(axis=1)  # right where only one action is legal
        rows = np.flatnonzero(np.count_nonzero(legal, axis=1) > 1)  # Games with a choice.
        if self.pool is not None:
            rows, frozen_rows = self.pool.split(turn, rows)
            chosen[frozen_rows] = self.pool.act(turn, legal, frozen_rows)
        seats = turn.seat[rows]
        chosen[rows] = self._choose(games, rows, legal[rows], buffer)
        self.num_timesteps += len(rows)
        self._last_turn = turn = games.advance(chosen)
        # Multiplied in float64, so that only the product is rounded: ten points at 0.02 are the
        # float32 of 0.2, which ten times the float32 of 0.02 are not.
        rewards = (turn.reward * np.float64(self.reward_scale)).astype(np.float32)
        rewards[rows, seats] += self.preferred[chosen[rows]]
        buffer.add_rewards(rewards, turn.done)
        if self.pool is not None:
            self.pool.after_step(turn)
        return turn

    def _choose(
        self,
        games: SelfPlayVecEnv,
        rows: npt.NDArray[np.int64],
        masks: npt.NDArray[np.bool_],
        buffer: SeatRolloutBuffer,
    ) -> npt.NDArray[np.int64]:
        """Returns the actions of the learner in n games, int64 [n], and stores its decisions.

        The policy sees a position, the buffer keeps it, and the critic values it under the symmetry
        of the seat and after the transform; the actions that are returned are those of the game.

        Args:
            games: all games.
            rows: the n games.
            masks: bool [n, A], their legal actions.
            buffer: of decisions.
        """
        words, seats = games.turn.words[rows], games.turn.seat[rows]
        element = self._elements[rows, seats] if self.other_play else None
        if element is not None:
            words, masks = exchange_words(words, element), exchange_masks(masks, element)
        words = self.transform.words(words)
        actions, values, log_probs = self._decide(words, masks)
        hidden = None
        if self.critic is not None:
            hidden = hidden_words(games.games, rows, seats)
            if self.critic_leads:
                values = self.critic.predict(words, hidden)
        buffer.add_decisions(rows, seats, words, masks, actions, values, log_probs, hidden)
        return actions if element is None else ACTION_IMAGES[element, actions]

    def _decide(
        self, words: packing.Words, masks: npt.NDArray[np.bool_]
    ) -> tuple[npt.NDArray[np.int64], npt.NDArray[np.float32], npt.NDArray[np.float32]]:
        """Returns sampled actions [n], values [n] and the actions' log-probabilities [n]."""
        bits = th.from_numpy(packing.expand(words)).to(self.device)
        with th.no_grad():
            logits, values = self._evaluate(self.policy, bits)
        logits.masked_fill_(~th.as_tensor(masks, device=self.device), ILLEGAL_LOGIT)
        probabilities = th.softmax(logits, dim=1)
        summed = probabilities.cumsum(dim=1)
        # A number below 1 times the sum stays below the sum, so no illegal action is drawn.
        drawn = th.rand(len(bits), 1, device=self.device) * summed[:, -1:]
        actions = (summed <= drawn).sum(dim=1)
        log_probs = probabilities.gather(1, actions[:, None])[:, 0].log()
        decisions = actions.numpy(force=True), values.numpy(force=True), log_probs.numpy(force=True)
        if not np.isfinite(decisions[1:]).all():
            raise DivergedError("expected finite probabilities and values, got others in play")
        if not masks[np.arange(len(masks)), decisions[0]].all():
            raise DivergedError(
                f"expected logits above {ILLEGAL_LOGIT:.0e}, got legal actions below it"
            )
        return decisions

    def train(self) -> None:
        """Updates policy, values and critic on the closed decisions of the buffer."""
        self.policy.set_training_mode(True)
        critic = [] if self.critic is None else [self.critic.optimizer]
        self._update_learning_rate([self.policy.optimizer, *critic])
        clip_range = self.clip_range(self._current_progress_remaining)  # type: ignore[operator]
        self.ent_coef = self.entropy_schedule(self._current_progress_remaining)
        statistics, critic_losses = list[dict[str, th.Tensor]](), list[th.Tensor]()
        for _ in range(self.n_epochs):
            for samples in self.rollout_buffer.get(self.batch_size):
                loss, numbers = self._loss(samples, clip_range)
                gradient_step(
                    loss, self.policy, self.policy.optimizer, self.max_grad_norm, "policy"
                )
                statistics.append(numbers)
                if self.critic is not None:
                    critic_losses.append(self.critic.learn(samples, self.max_grad_norm))
            check_weights(self.policy, "policy")
            if self.critic is not None:
                check_weights(self.critic, "critic")
            self._n_updates += 1
        if not statistics:
            return
        if self.reference is not None:
            self.reference.follow(self.policy, self._began, self.num_timesteps)
        means = {
            name: float(th.stack([batch[name] for batch in statistics]).mean())
            for name in statistics[0]
        }
        for name, mean in means.items():
            self.logger.record(f"train/{name}", mean)
        if critic_losses:
            critic_loss = float(th.stack(critic_losses).mean())
            self.critic_leads = critic_loss < means["value_loss"]
            self.logger.record("train/critic_loss", critic_loss)
        explained = explained_variance(self.rollout_buffer.values, self.rollout_buffer.returns)
        self.logger.record("train/explained_variance", float(explained))
        self.logger.record("train/n_updates", self._n_updates, exclude="tensorboard")
        self.logger.record("train/clip_range", clip_range)
        self.logger.record("train/ent_coef", self.ent_coef)

    def _loss(self, samples: Samples, clip_range: float) -> tuple[th.Tensor, dict[str, th.Tensor]]:
        """Returns the loss of a minibatch, as in ``MaskablePPO.train``, and the figures to log.

        The figures have the names of ``MaskablePPO``. Where there is a reference, the divergence
        from it is added to the loss and to the figures.
        """
        logits, values = self._evaluate(self.policy, samples.observations)
        logits = logits.masked_fill(~samples.action_masks, ILLEGAL_LOGIT)
        log_probs = th.log_softmax(logits, dim=1)
        weights = samples.weights / samples.weights.sum()  # so that a weighted sum is a mean
        entropy_loss = ((th.softmax(logits, dim=1) * log_probs).sum(dim=1) * weights).sum()

        advantages = samples.advantages
        if self.normalize_advantage:
            advantages = advantages - (advantages * weights).sum()
            variance = (advantages.square() * weights).sum() * len(weights) / (len(weights) - 1)
            advantages = advantages / (variance.sqrt() + 1e-8)
        log_ratio = log_probs.gather(1, samples.actions)[:, 0] - samples.old_log_prob
        ratio = log_ratio.exp()
        clipped = ratio.clamp(1 - clip_range, 1 + clip_range)
        policy_loss = -(th.min(advantages * ratio, advantages * clipped) * weights).sum()
        value_loss = ((values - samples.returns).square() * weights).sum()
        loss = policy_loss + self.ent_coef * entropy_loss + self.vf_coef * value_loss
        with th.no_grad():
            kl = ((ratio - 1 - log_ratio) * weights).sum()
            clip_fraction = (((ratio - 1).abs() > clip_range) * weights).sum()
        statistics = {
            "policy_gradient_loss": policy_loss,
            "value_loss": value_loss,
            "entropy_loss": entropy_loss,
            "loss": loss,
            "approx_kl": kl,
            "clip_fraction": clip_fraction,
        }
        if self.reference is not None:
            divergence = self.reference.loss(log_probs, samples, weights)
            statistics[self.reference.name] = divergence
            loss = loss + self.reference.weight * divergence
        return loss, {name: value.detach() for name, value in statistics.items()}

    def _evaluate(self, policy: SelfPlayPolicy, bits: th.Tensor) -> tuple[th.Tensor, th.Tensor]:
        """Returns logits float32 [B, 69] and values float32 [B] of observations [B, 512]."""
        with th.autocast(bits.device.type, th.bfloat16, enabled=self.bfloat16):
            logits, values = policy.logits_and_values(bits)
        return logits.float(), values.float()

    def load_state(
        self, turn: StepResult, *, decisions: int, updates: int, critic_leads: bool
    ) -> None:
        """Continues with restored games, whose open decisions the buffer has.

        ``updates`` are epochs of updates, as SB3 counts them.
        """
        self._last_turn, self._last_obs = turn, turn.observation
        self.num_timesteps, self._n_updates = decisions, updates
        self.critic_leads = critic_leads
