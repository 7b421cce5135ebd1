"""Small trainings: their games, models, rollouts and the options of train.py."""

import os
import signal

from stable_baselines3.common.logger import configure

from goita_env import GoitaVectorEnv
from goita_lab.learning import SelfPlayPolicy, SelfPlayPPO, SelfPlayVecEnv

TINY = ["--games", "16", "--steps", "4", "--layers", "16", "--batch", "64", "--threads", "1"]
TINY += ["--no-progress"]


def make_env(games=16, **settings):
    return SelfPlayVecEnv(GoitaVectorEnv(games, observe=False, **settings))


def make_model(env=None, policy=SelfPlayPolicy, layers=(16,), policy_kwargs=None, **settings):
    options = {"n_steps": 8, "batch_size": 64, "n_epochs": 2, "gamma": 1.0, "gae_lambda": 0.95}
    options |= {"seed": 0, "device": "cpu", "policy_kwargs": {"layers": layers}} | settings
    options["policy_kwargs"] |= policy_kwargs or {}
    model = SelfPlayPPO(policy, env or make_env(), **options)
    model.set_logger(configure(None, []))
    return model


def rollout(model, times=1):
    """Begins the games anew and collects rollouts."""
    _, callback = model._setup_learn(10**6)
    for _ in range(times):
        assert model.collect_rollouts(model.env, callback, model.rollout_buffer, model.n_steps)
    return callback


def stop_after(monkeypatch, updates, number=signal.SIGINT):
    """Sends a signal to this process in the middle of the n-th update."""
    original, count = SelfPlayPPO._loss, [0]

    def loss(self, *samples):
        count[0] += 1
        if count[0] == updates:
            os.kill(os.getpid(), number)
        return original(self, *samples)

    monkeypatch.setattr(SelfPlayPPO, "_loss", loss)
