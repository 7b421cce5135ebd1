"""Trainings that are held close to the policy that they began with, or to one that follows them."""

import numpy as np
import pytest
import torch as th

import training
from goita_lab.learning.policy import ILLEGAL_LOGIT, HoldClose


def make_model(weight=None, **settings):
    model = training.make_model(training.make_env(64), learning_rate=2e-3, **settings)
    if weight is not None:
        model.hold_close(weight)
    return model


def divergence(policy, reference, samples):
    """Returns KL(policy || reference) of each decision, in nats: [B]."""
    with th.no_grad():
        both = [
            network.logits_and_values(samples.observations)[0]
            .masked_fill(~samples.action_masks, ILLEGAL_LOGIT)
            .double()
            .softmax(dim=1)
            .numpy()
            for network in (policy, reference)
        ]
    mine, others = (np.where(samples.action_masks.numpy(), one, 1.0) for one in both)
    return (mine * np.log(mine / others)).sum(axis=1)


def samples_of(model):
    training.rollout(model)
    return next(model.rollout_buffer.get(256))


def test_a_policy_that_is_held_close_moves_less():
    apart = {}
    for weight in (0.0, 5.0):
        model = make_model(weight)
        model.learn(4_000)
        apart[weight] = divergence(model.policy, model.reference.policy, samples_of(model)).mean()
        assert 0 < model.logger.name_to_value[f"train/{HoldClose.name}"] < 2 * apart[0.0]
    assert apart[5.0] < apart[0.0] / 4


def test_the_loss_grows_by_the_weighted_divergence():
    model = make_model(0.0)
    model.learn(2_000)
    samples = samples_of(model)
    weights = samples.weights.numpy() / samples.weights.numpy().sum()
    wanted = (divergence(model.policy, model.reference.policy, samples) * weights).sum()
    without, _ = model._loss(samples, 0.2)
    model.reference.weight = 3.0
    held, statistics = model._loss(samples, 0.2)
    assert wanted > 1e-4
    np.testing.assert_allclose(float((held - without).detach()), 3 * wanted, rtol=1e-3)
    np.testing.assert_allclose(float(statistics[model.reference.name]), wanted, rtol=1e-3)


def test_the_reference_stays_as_it_was():
    model = make_model(0.1)
    before = [parameter.clone() for parameter in model.policy.parameters()]
    model.learn(3_000)
    assert all(map(th.equal, before, model.reference.policy.parameters()))
    assert not all(map(th.equal, before, model.policy.parameters()))


def test_a_reference_follows_when_enough_decisions_were_made():
    model = make_model()
    model.hold_close(0.1, interval=1_000, share=0.25)
    first = [parameter.clone() for parameter in model.reference.policy.parameters()]
    model.learn(2_000)
    last = [parameter.clone() for parameter in model.policy.parameters()]
    start = [parameter.clone() for parameter in model.reference.policy.parameters()]
    assert not all(map(th.equal, first, start))
    model.reference.follow(model.policy, 2_100, 2_900)
    assert all(map(th.equal, start, model.reference.policy.parameters()))
    model.reference.follow(model.policy, 2_900, 3_000)
    for moved, before, wanted in zip(model.reference.policy.parameters(), start, last, strict=True):
        th.testing.assert_close(moved, 0.75 * before + 0.25 * wanted)


@pytest.mark.parametrize("every", [1, 10_000])
def test_a_reference_that_is_refreshed_is_the_policy_of_then(every):
    model = make_model()
    model.hold_close(0.1, interval=every)
    model.learn(3_000)
    same = map(th.equal, model.policy.parameters(), model.reference.policy.parameters())
    assert all(same) == (every == 1)
