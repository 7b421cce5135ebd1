"""Small trainings: their games, models, rollouts and the options of train.py."""

import json
import os
import signal
from contextlib import suppress
from dataclasses import fields
from hashlib import sha256
from pathlib import Path

from stable_baselines3.common.logger import Logger

from goita_env import GoitaVectorEnv
from goita_lab.commands import train
from goita_lab.learning import SelfPlayPolicy, SelfPlayPPO, SelfPlayVecEnv, Training
from goita_lab.learning.settings import Options

TINY = ["--n-envs", "16", "--n-steps", "4", "--layers", "16", "--batch-size", "64"]
TINY += ["--threads", "1", "--no-progress"]
RARE = {one.name for one in fields(Training)} - {one.name for one in fields(Options)}
SEVERAL = {"transform", "pool", "prefer", "against"}


def main(words):
    """Trains as the program does; rare settings among the words go by a file."""
    given, settings, name = [], {}, None
    for word in words:
        if word.startswith("--"):
            name = word.removeprefix("--").replace("-", "_")
            if name in RARE:
                settings[name] = []
        if name not in RARE:
            given.append(word)
        elif not word.startswith("--"):
            settings[name].append(word)
    for key, values in settings.items():
        if key not in SEVERAL:
            settings[key] = values[0] if values else True
            with suppress(ValueError, TypeError):
                settings[key] = json.loads(settings[key])
    if settings:
        text = json.dumps(settings)
        file = Path(f"settings-{sha256(text.encode()).hexdigest()[:8]}.json")
        file.write_text(text)
        given += ["--config", str(file)]
    return train.main(given)


def make_env(games=16, **settings):
    return SelfPlayVecEnv(GoitaVectorEnv(games, observe=False, **settings))


def make_model(env=None, policy=SelfPlayPolicy, layers=(16,), policy_kwargs=None, **settings):
    options = {"n_steps": 8, "batch_size": 64, "n_epochs": 2, "gamma": 1.0, "gae_lambda": 0.95}
    options |= {"seed": 0, "device": "cpu", "policy_kwargs": {"layers": layers}} | settings
    options["policy_kwargs"] |= policy_kwargs or {}
    model = SelfPlayPPO(policy, env or make_env(), **options)
    model.set_logger(Logger(None, []))
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
