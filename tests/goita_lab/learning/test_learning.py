"""Self-play learning: who is credited with what, and that it is still MaskablePPO."""

from collections import defaultdict

import numpy as np
import pytest
import torch as th
from sb3_contrib import MaskablePPO

from goita_env import GoitaVectorEnv
from goita_env.views import observation as packing
from goita_lab.learning import SelfPlayPPO, SelfPlayVecEnv
from goita_lab.learning.buffer import decision_type
from raising import refuses
from training import make_env, make_model, rollout

REWARD_SCALE = 0.02


class Watched(SelfPlayVecEnv):
    """Keeps what happens in every game, for the reference."""

    def begin(self):
        self.story = []
        return super().begin()

    def advance(self, actions):
        before = self.turn
        turn = super().advance(actions)
        self.story.append((before.seat, before.action_mask, actions, turn.reward, turn.done))
        return turn


class Scripted(SelfPlayPPO):
    """Decides at random, with values that are all different, and so name their decisions."""

    def _decide(self, words, masks):
        values = self.rng.random(len(words)).astype(np.float32)
        chosen = np.array([self.rng.choice(np.flatnonzero(mask)) for mask in masks])
        self.values += values.tolist()
        return chosen, values, -self.rng.random(len(words)).astype(np.float32)


def scripted(env, steps, **settings):
    model = make_model(env, n_steps=steps, **settings)
    model.__class__ = Scripted
    model.rng, model.values = np.random.default_rng(3), []
    _, callback = model._setup_learn(10**9)
    return model, callback


class Reference:
    """Follows every seat of every game with lists, one decision after the other."""

    def __init__(self, values, gamma, lam):
        self.values, self.gamma, self.lam = iter(values), gamma, lam
        self.trajectories, self.finished = defaultdict(list), []
        self.learnt = set()

    def rollout(self, story):
        """Takes a rollout in; returns {value: (reward, return, advantage)} to learn from it."""
        for seat, mask, _, reward, done in story:
            for game in range(len(seat)):
                if mask[game].sum() > 1:
                    decision = {"value": next(self.values), "reward": 0.0}
                    self.trajectories[game, int(seat[game])].append(decision)
            for game in range(len(seat)):
                for one in range(4):
                    if trajectory := self.trajectories[game, one]:
                        trajectory[-1]["reward"] += reward[game, one] * REWARD_SCALE
                        if done[game]:
                            self.finished.append(self.trajectories.pop((game, one)))
        found = {}
        for trajectory in self.finished:
            found |= self.credit(trajectory, ended=True)
        for trajectory in self.trajectories.values():
            found |= self.credit(trajectory, ended=False)
        self.finished = []
        fresh = {value: numbers for value, numbers in found.items() if value not in self.learnt}
        self.learnt |= fresh.keys()
        return fresh

    def credit(self, trajectory, ended):
        """Generalised advantages along one seat's decisions; an open one at the end waits."""
        found, next_value, next_advantage = {}, 0.0, 0.0
        for place, decision in reversed([*enumerate(trajectory)]):
            value = decision["value"]
            if not ended and place == len(trajectory) - 1:
                next_value = value
                continue
            delta = decision["reward"] + self.gamma * next_value - value
            advantage = delta + self.gamma * self.lam * next_advantage
            found[value] = (decision["reward"], advantage + value, advantage)
            next_value, next_advantage = value, advantage
        return found


def played(env, steps):
    """Collects one rollout of chance decisions."""
    model, callback = scripted(env, steps)
    model.collect_rollouts(env, callback, model.rollout_buffer, steps)
    return model, callback


def compare(env, steps, rollouts, gamma=1.0, lam=0.95):
    """Runs rollouts, holds each one's buffer against the reference, and returns what they held."""
    model, callback = scripted(env, steps, gamma=gamma, gae_lambda=lam)
    reference, seen, rows = None, 0, []
    for _ in range(rollouts):
        assert model.collect_rollouts(env, callback, model.rollout_buffer, steps)
        if reference is None:
            reference = Reference([], gamma, lam)
        reference.values = iter(model.values[seen:])
        seen = len(model.values)
        story, env.story = env.story, []
        wanted = reference.rollout(story)
        buffer = model.rollout_buffer
        assert set(buffer.values.tolist()) == wanted.keys()
        table = np.array([wanted[value] for value in buffer.values.tolist()]).reshape(-1, 3)
        closed = buffer._store[buffer.closed]
        np.testing.assert_allclose(closed["reward"], table[:, 0], atol=1e-6)
        np.testing.assert_allclose(buffer.returns, table[:, 1], atol=1e-5)
        np.testing.assert_allclose(buffer.advantages, table[:, 2], atol=1e-5)
        rows.append(closed.copy())
    assert model.num_timesteps == len(model.values)
    return model, rows


@pytest.mark.parametrize(
    ("steps", "episode", "gamma", "lam"),
    [
        *((steps, episode, 1.0, 0.95) for steps in (1, 5, 37) for episode in ("round", "match")),
        *((11, "round", gamma, lam) for gamma, lam in ((1.0, 1.0), (1.0, 0.0), (0.9, 0.7))),
    ],
)
def test_returns_and_advantages_equal_a_plain_reference_seat_by_seat(steps, episode, gamma, lam):
    # 5 and 37 steps cut most rounds in the middle; a rollout of one step closes hardly anything.
    env = Watched(GoitaVectorEnv(7, episode=episode, seed=steps))
    _, rows = compare(env, steps, 120 // steps, gamma, lam)
    assert sum(map(len, rows)) > 300


def test_only_decisions_with_a_choice_are_stored_and_counted_and_packed():
    env = Watched(GoitaVectorEnv(9, seed=5))
    model, _ = played(env, 50)
    choices = sum(int((mask.sum(axis=1) > 1).sum()) for _, mask, *_ in env.story)
    assert model.num_timesteps == choices == model.rollout_buffer.pos < 9 * 50
    assert decision_type(8, 69).itemsize <= 104
    sizes = [len(samples.actions) for samples in model.rollout_buffer.get(50)]
    assert max(sizes) - min(sizes) <= 1
    assert sum(sizes) == len(model.rollout_buffer.closed)
    samples = next(model.rollout_buffer.get(10**9))
    assert samples.observations.dtype == th.uint8
    assert samples.action_masks.dtype == th.bool
    assert (samples.action_masks.sum(dim=1) > 1).all()
    assert samples.action_masks.gather(1, samples.actions).all()
    rows = model.rollout_buffer._store[model.rollout_buffer.closed]
    assert sorted(samples.old_values.tolist()) == sorted(rows["value"].tolist())
    place = {value: place for place, value in enumerate(rows["value"].tolist())}
    order = [place[value] for value in samples.old_values.tolist()]
    bits = packing.expand(np.ascontiguousarray(rows["words"][order]))
    assert np.array_equal(samples.observations.numpy(), bits)


def test_decisions_drawn_by_their_size_count_as_all_of_them_would():
    kwargs = {"sample_fraction": 0.3}
    model = make_model(make_env(64, seed=6), n_steps=24, rollout_buffer_kwargs=kwargs)
    rollout(model)
    buffer = model.rollout_buffer
    chances = buffer.sampling_probabilities()
    assert chances.min() >= 0.4 * 0.3
    assert chances.max() == 1
    assert chances.mean() < 0.8
    order = np.abs(buffer.advantages).argsort()
    small, large = order[:50], order[-50:]
    assert chances[small].mean() < 0.3 < chances[large].mean()

    def gradients(rounds):
        total, counted = 0, 0.0
        for _ in range(rounds):
            for samples in buffer.get(None):
                logits, values = model._evaluate(model.policy, samples.observations)
                gain = logits.gather(1, samples.actions)[:, 0] * samples.advantages + values
                model.policy.zero_grad()
                (gain * samples.weights).sum().backward()
                total = total + model.policy.action_net.weight.grad / rounds
                counted += float(samples.weights.sum()) / rounds
        return total, counted

    drawn, counted = gradients(200)
    buffer.sample_fraction = 1.0
    wanted, every = gradients(1)
    assert every == len(buffer.closed)
    assert counted == pytest.approx(every, rel=0.02)
    assert float((drawn - wanted).norm() / wanted.norm()) < 0.1
    buffer.sample_fraction = 0.3
    before = model.policy.action_net.weight.clone()
    model.train()
    assert not th.equal(before, model.policy.action_net.weight)


def test_an_update_equals_that_of_maskable_ppo():
    models = []
    for train in (SelfPlayPPO.train, MaskablePPO.train):
        model = make_model(make_env(32, seed=8), vf_coef=0.7, ent_coef=0.02, n_epochs=3)
        _, callback = model._setup_learn(1000)
        for _ in range(3):
            model.collect_rollouts(model.env, callback, model.rollout_buffer, 8)
            model.ent_coef = 0.02
            train(model)
        models.append(model)
    mine, theirs = (list(model.policy.parameters()) for model in models)
    assert all(th.allclose(a, b, atol=2e-6) for a, b in zip(mine, theirs, strict=True))
    logs = [model.logger.name_to_value for model in models]
    for name in ("policy_gradient_loss", "value_loss", "entropy_loss", "approx_kl"):
        assert logs[0][f"train/{name}"] == pytest.approx(logs[1][f"train/{name}"], abs=1e-5)


def test_decisions_are_drawn_from_the_policy_that_maskable_ppo_predicts_with():
    model = make_model(make_env(4, seed=9))
    with th.no_grad():
        model.policy.action_net.weight.mul_(100)  # far from uniform
    turn = model.env.begin()
    row = int(turn.action_mask.sum(axis=1).argmax())
    mask = np.repeat(turn.action_mask[row : row + 1], 20_000, axis=0)
    words = np.repeat(turn.words[row : row + 1], 20_000, axis=0)
    chosen, values, log_probs = model._decide(words, mask)
    bits = th.from_numpy(turn.observation[row : row + 1])
    wanted = model.policy.get_distribution(bits, mask[:1]).distribution.probs[0].detach().numpy()
    share = np.bincount(chosen, minlength=69) / 20_000
    assert np.abs(share - wanted).max() < 0.015
    assert (share[~mask[0]] == 0).all()
    np.testing.assert_allclose(log_probs, np.log(wanted[chosen]), atol=1e-4)
    np.testing.assert_allclose(values, model.policy.predict_values(bits).item(), atol=1e-5)
    best, _ = model.predict(turn.observation, action_masks=turn.action_mask, deterministic=True)
    assert best[row] == wanted.argmax()


def test_it_learns_to_beat_random_play_by_far():
    from goita_agents import load_agent
    from goita_agents.bots.network import NetworkAgent
    from goita_agents.bots.network_file import NetworkInfo
    from goita_lab.arena.tournament import arena

    settings = {"n_steps": 16, "batch_size": 512, "learning_rate": 2e-3, "layers": (64,)}
    model = make_model(make_env(256, seed=10), **settings)
    model.learn(40_000)
    agent = NetworkAgent(NetworkInfo(1, model.num_timesteps, 0.02, "jga"), model.policy.tensors())
    assert arena.play_pair(agent, load_agent("random"), 150, seed=3).ci95[0] > 5


def test_seeds_count_at_the_next_reset_and_stock_algorithms_are_refused():
    env, other = make_env(12), make_env(12, seed=77)
    env.seed(77)
    first = env.reset()
    assert np.array_equal(first, other.reset())
    assert np.array_equal(env.reset(), other.reset())  # the next episode of the same seed
    assert not np.array_equal(first, other.reset())
    model = MaskablePPO("MlpPolicy", env, n_steps=8, batch_size=32, device="cpu")
    refuses(RuntimeError, "expected SelfPlayPPO", model.learn, 128)
