"""A training that diverges stops at the first number that is none, and says so."""

import os
import signal
from operator import attrgetter

import pytest
import torch as th

import training
from goita_agents.bots.network import NetworkAgent
from goita_lab.learning import DivergedError, save_policy
from raising import refuses

TINY = "--n-envs 32 --n-steps 8 --total-timesteps 4000 --snapshot-every 500"
TINY = [*training.TINY, *f"{TINY} --deals 2 --measure-deals 0 --precision float32".split()]


def make_model(critic=()):
    return training.make_model(training.make_env(32), layers=(8,), critic=critic)


@pytest.mark.parametrize("more", [[], ["--critic", "8", "8"], ["--learning-rate", "1e29", "1e29"]])
def test_a_learning_rate_that_is_far_too_high_ends_the_run_with_a_sentence(elsewhere, capsys, more):
    handler = signal.getsignal(signal.SIGINT)
    assert training.main(["--name", "one", *TINY, "--learning-rate", "1e4", "1e4", *more]) == 1
    error = capsys.readouterr().err
    assert error.startswith("the training diverged in update ")
    assert " decisions (expected " in error
    assert error.count("\n") == 1
    run = elsewhere / "runs" / "one"
    snapshots = sorted((run / "snapshots").iterdir())
    assert NetworkAgent.load(snapshots[0]).info.decisions == 0
    assert (run / "checkpoint.safetensors").exists()
    assert not (run / "policy.safetensors").exists()
    assert signal.getsignal(signal.SIGINT) == handler
    assert not os.path.lexists("nan")
    assert training.main(["--resume", str(run)]) == 1  # it goes the same way again


def root_of_nothing(model):
    """Returns zero, whose slope by every weight is infinite."""
    return sum(p.sum() * 0 for p in model.policy.parameters()).abs().sqrt()


@pytest.mark.parametrize("what", ["loss", "gradient"])
def test_an_update_stops_before_a_number_that_is_none_moves_the_weights(monkeypatch, what):
    model = make_model()
    training.rollout(model)
    original = model._loss

    def loss(samples, clip):
        value, numbers = original(samples, clip)
        return value * th.nan if what == "loss" else value + root_of_nothing(model), numbers

    monkeypatch.setattr(model, "_loss", loss)
    before = [parameter.clone() for parameter in model.policy.parameters()]
    refuses(DivergedError, f"finite {what} of the policy", model.train)
    assert all(map(th.equal, before, model.policy.parameters()))
    assert model.update == 1


def test_a_weight_that_is_none_ends_the_update(monkeypatch):
    model = make_model()
    step = model.policy.optimizer.step

    def broken():
        step()
        with th.no_grad():
            model.policy.value_net.bias.fill_(th.inf)

    monkeypatch.setattr(model.policy.optimizer, "step", broken)
    monkeypatch.setattr(model, "batch_size", 10**6)
    monkeypatch.setattr(model, "n_epochs", 1)
    refuses(DivergedError, "weights of the policy", model.learn, 400)


@pytest.mark.parametrize(
    ("name", "number", "message"),
    [
        ("critic.value.bias", th.nan, "finite loss of the critic"),
        *(("policy.action_net.bias", number, "expected") for number in (th.nan, th.inf, -3e8)),
    ],
)
def test_numbers_that_are_none_end_play_or_update(name, number, message):
    model = make_model(critic=(8,))
    with th.no_grad():
        attrgetter(name)(model).fill_(number)
    refuses(DivergedError, message, model.learn, 400)


def test_a_policy_of_numbers_that_are_none_is_not_written(tmp_path):
    model = make_model()
    with th.no_grad():
        model.policy.action_net.bias.fill_(th.nan)
    refuses(DivergedError, "finite", save_policy, model, tmp_path / "policy", "jga")
    assert not (tmp_path / "policy").exists()
