"""Features that must tell who the others are: labels, loss, checkpoints and files."""

import numpy as np
import pytest
import torch as th

import training
from goita_agents.registry import load_agent
from goita_env.errors import SettingError
from goita_lab.learning import OpponentPool, SelfPlayPolicy
from goita_lab.learning.checkpoint import load_checkpoint, save_checkpoint
from goita_lab.learning.losses import PlayerPredictor
from goita_lab.learning.pool import LEARNER
from goita_lab.learning.weighted import SELF, kinds_of
from raising import refuses

OPPONENTS, PARTNERS = ["self", "greedy", "2*random"], ["3*self", "greedy"]
KINDS = kinds_of(OPPONENTS, PARTNERS)


def make_model(weight=0.5, seed=0, **settings):
    options = {"player_kinds": len(KINDS), "player_weight": weight} if weight is not None else {}
    options |= {"n_steps": 16, "batch_size": 256, "layers": (32,), "learning_rate": 1e-3}
    model = training.make_model(training.make_env(64), seed=seed, **options | settings)
    model.pool = OpponentPool(64, share=1.0, agents=OPPONENTS, snapshots=False, partners=PARTNERS)
    return model


def test_members_of_the_population_that_were_trained_alike_are_one_kind():
    texts = ["2*population:selfplay-0", "population:selfplay-1", "heuristic"]
    assert kinds_of(texts, ["self", "population:offbelief-2", "heuristic"]) == (
        *(SELF, "population:selfplay", "heuristic", "population:offbelief"),
    )


def test_decisions_are_stored_with_who_sits_there():
    model = make_model()
    pool, buffer, seen = model.pool, model.rollout_buffer, set()
    names = [SELF if player.name == SELF else player.name for player in pool.players]
    add = buffer.add_decisions

    def watched(games, seats, *rest):
        for game, seat, kinds in zip(games, seats.astype(int), rest[-1], strict=True):
            owners = [pool.owner[game, (seat + step) % 4] for step in (2, 1, 3)]
            partner, *others = ["self" if n == LEARNER else names[n] for n in owners]
            opponent = next((name for name in others if name != SELF), SELF)
            assert [KINDS[kind] for kind in kinds] == [partner, opponent]
            seen.add((partner, opponent))
        add(games, seats, *rest)

    buffer.add_decisions = watched
    training.rollout(model, 12)
    assert {partner for partner, _ in seen} == {SELF, "greedy"}
    assert {opponent for _, opponent in seen} == {SELF, "greedy", "random"}


def test_the_loss_grows_by_the_weighted_cross_entropy():
    model, plain = make_model(), make_model(weight=None)
    training.rollout(model)
    samples = next(model.rollout_buffer.get(256))
    with th.no_grad():
        guesses = model.predictor.layer(model.policy.features(samples.observations))
        chances = guesses.view(-1, 2, len(KINDS)).double().softmax(dim=2).numpy()
        loss, numbers = model._loss(samples, 0.2)
        plain.policy.load_state_dict(model.policy.state_dict())
        without, _ = plain._loss(samples._replace(others=None), 0.2)
    others, weights = samples.others.numpy(), samples.weights.numpy()
    nats = -sum(np.log(chances[np.arange(len(others)), who, others[:, who]]) for who in range(2))
    wanted = (nats * weights).sum() / weights.sum()
    np.testing.assert_allclose(float(numbers[-1]), wanted, rtol=1e-4)
    np.testing.assert_allclose(float(loss - without), 0.5 * wanted, rtol=1e-4)


def test_minibatches_hold_who_sat_there_when_a_decision_was_made():
    model, recorded = make_model(), {}
    add = model.rollout_buffer.add_decisions

    def watched(games, seats, words, *rest):
        for word, kinds in zip(map(bytes, words), rest[-1].tolist(), strict=True):
            recorded.setdefault(word, set()).add(tuple(kinds))
        add(games, seats, words, *rest)

    model.rollout_buffer.add_decisions = watched
    training.rollout(model, 8)
    seen = set()
    for samples in model.rollout_buffer.get(256):
        words = np.packbits(samples.observations.numpy(), axis=1, bitorder="little")
        for word, kinds in zip(map(bytes, words), samples.others.tolist(), strict=True):
            assert tuple(kinds) in recorded[word]
            seen.add(tuple(kinds))
    assert len(seen) > 3
    assert sum(len(kinds) == 1 for kinds in recorded.values()) > len(recorded) / 2


def test_the_loss_reaches_the_whole_trunk():
    model = make_model()
    training.rollout(model)
    samples = next(model.rollout_buffer.get(256))
    features = model.policy.features(samples.observations)
    weights = samples.weights / samples.weights.sum()
    model.predictor.loss(features, samples.others, weights).backward()
    trunk = [*model.policy.features_extractor.parameters()]
    assert all(parameter.grad.abs().max() > 0 for parameter in trunk)


def test_with_a_weight_of_0_the_policy_learns_as_without():
    model, plain, weighed = make_model(weight=0.0), make_model(weight=None), make_model()
    for one in (model, plain, weighed):
        one.policy.load_state_dict(make_model(weight=None, seed=3).policy.state_dict())
        th.manual_seed(5)
        one.learn(800)
    assert all(map(th.equal, model.policy.parameters(), plain.policy.parameters()))
    assert not any(map(th.equal, weighed.policy.parameters(), plain.policy.parameters()))
    assert f"train/{PlayerPredictor.name}" not in plain.logger.name_to_value
    assert weighed.logger.name_to_value[f"train/{PlayerPredictor.name}"] > 0


def test_a_training_goes_on_from_its_checkpoint(tmp_path):
    model, again = make_model(), make_model()
    model.learn(1_200)
    save_checkpoint(model, tmp_path / "saved.safetensors")
    model.learn(800, reset_num_timesteps=False)
    load_checkpoint(again, tmp_path / "saved.safetensors")  # and torch's random numbers with it
    again.learn(800, reset_num_timesteps=False)
    for part in ("policy", "predictor"):
        mine, others = getattr(model, part).parameters(), getattr(again, part).parameters()
        assert all(map(th.equal, mine, others))
    refuses(
        SettingError,
        "expected a checkpoint of this training",
        load_checkpoint,
        *(make_model(weight=None), tmp_path / "saved.safetensors"),
    )


class OwnHeads(SelfPlayPolicy):
    """Overrides what the predictor's features are for."""

    def heads(self, features):
        logits, values = super().heads(features)
        return 2 * logits, values


def test_a_network_without_such_features_is_refused():
    with pytest.raises(SettingError, match="expected a policy with the features"):
        training.make_model(training.make_env(8), policy=OwnHeads, player_kinds=2)
    plain = training.make_model(training.make_env(8), policy=OwnHeads)
    assert not plain.policy.is_stack()  # no network file holds the doubled logits


def test_snapshots_are_no_kind_of_player(elsewhere):
    model = make_model()
    model.pool = OpponentPool(64, share=1.0, agents=["greedy"], first=True, partners=PARTNERS)
    model.pool.known = [0]
    model.pool.load = lambda decisions: load_agent("random")
    refuses(SettingError, "expected no snapshots", training.rollout, model, 8)


def test_options_after_a_members_name_are_no_part_of_its_kind():
    assert kinds_of(["population:selfplay-3,temperature=1e-3"]) == (SELF, "population:selfplay")
