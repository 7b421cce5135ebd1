"""draft"""
from __future__ import annotations
import numpy as np
import torch as th
from sb3_contrib import MaskablePPO
from stable_baselines3.common.utils import FloatSchedule, explained_variance
from torch.nn import functional as F

class SelfPlayPPO(MaskablePPO):
    def __init__(self, policy, env, ent_coef=0.0, bfloat16=False, points_per_value=50.0, ema=0.0, **kw):
        self.entropy_schedule = FloatSchedule(ent_coef)
        self.bfloat16 = bfloat16
        self.points_per_value = points_per_value
        self.ema = ema
        super().__init__(policy, env, ent_coef=0.0, **kw)

    def _setup_model(self):
        super()._setup_model()
        self.average = [p.detach().clone() for p in self.policy.parameters()]

    def collect_rollouts(self, env, callback, rollout_buffer, n_rollout_steps, use_masking=True):
        buf = rollout_buffer
        self.policy.set_training_mode(False)
        buf.reset()
        callback.on_rollout_start()
        turn = env.turn
        points = []
        for _ in range(n_rollout_steps):
            mask = turn.action_mask
            chosen = mask.argmax(axis=1)
            rows = np.flatnonzero(np.count_nonzero(mask, axis=1) > 1)
            words, m = turn.words[rows], mask[rows]
            acts, values, logp = self._decide(words, m)
            chosen[rows] = acts
            buf.add_decisions(rows, turn.seat[rows], words, m, acts, values, logp)
            turn = env.advance(chosen)
            buf.add_rewards(turn.reward / np.float32(self.points_per_value), turn.done)
            points.append(turn.points[turn.points > 0])
            self.num_timesteps += len(rows)
            callback.update_locals(locals())
            if not callback.on_step():
                return False
        buf.compute_returns_and_advantage()
        self.logger.record("rollout/points_per_round", float(np.concatenate(points).mean()))
        callback.on_rollout_end()
        return True

    def _decide(self, words, masks):
        bits = th.from_numpy(np.unpackbits(words.view(np.uint8), axis=1, bitorder="little"))
        with th.no_grad(), th.autocast("cpu", th.bfloat16, enabled=self.bfloat16):
            logits, values = self.policy.logits_and_values(bits)
        logits.masked_fill_(~th.from_numpy(np.ascontiguousarray(masks)), -1e8)
        probs = th.softmax(logits, 1)
        cdf = probs.cumsum(1)
        u = th.rand(len(cdf), 1) * cdf[:, -1:]
        a = (cdf <= u).sum(1)
        lp = th.log(probs.gather(1, a[:, None])[:, 0])
        return a.numpy(), values.numpy(), lp.numpy()

    def train(self):
        self.policy.set_training_mode(True)
        self._update_learning_rate(self.policy.optimizer)
        clip = self.clip_range(self._current_progress_remaining)
        self.ent_coef = self.entropy_schedule(self._current_progress_remaining)
        stats = []
        for epoch in range(self.n_epochs):
            for d in self.rollout_buffer.get(self.batch_size):
                with th.autocast("cpu", th.bfloat16, enabled=self.bfloat16):
                    logits, values = self.policy.logits_and_values(d.observations)
                logits = logits.masked_fill(~d.action_masks, -1e8)
                logps = th.log_softmax(logits, 1)
                logp = logps.gather(1, d.actions)[:, 0]
                entropy = -(th.softmax(logits, 1) * logps).sum(1).mean()
                adv = d.advantages
                adv = (adv - adv.mean()) / (adv.std() + 1e-8)
                lr_ = logp - d.old_log_prob
                ratio = th.exp(lr_)
                pl = -th.min(adv * ratio, adv * ratio.clamp(1 - clip, 1 + clip)).mean()
                vl = F.mse_loss(values, d.returns)
                loss = pl - self.ent_coef * entropy + self.vf_coef * vl
                self.policy.optimizer.zero_grad()
                loss.backward()
                th.nn.utils.clip_grad_norm_(self.policy.parameters(), self.max_grad_norm)
                self.policy.optimizer.step()
                with th.no_grad():
                    stats.append(th.stack([pl, vl, entropy, (ratio - 1 - lr_).mean(), ((ratio - 1).abs() > clip).float().mean()]))
            self._n_updates += 1
        if self.ema:
            with th.no_grad():
                th._foreach_lerp_(self.average, list(self.policy.parameters()), 1 - self.ema)
        s = th.stack(stats).mean(0).tolist()
        for k, v in zip(["pl", "vl", "entropy", "kl", "clipfrac"], s):
            self.logger.record("train/" + k, v)
        self.logger.record("train/ev", explained_variance(self.rollout_buffer.values, self.rollout_buffer.returns))
