"""A critic that sees all hands: what it is shown, when its values count, and what no file holds."""

import numpy as np
import pytest
import torch as th

import training
from goita_agents.bots.network import NetworkAgent
from goita_env import GoitaVectorEnv
from goita_env.views.observation import OBSERVATION_SIZE, PLAYS_WORD, TILES_WORD, pack_seat
from goita_lab.learning import save_policy
from goita_lab.learning.buffer import HIDDEN_WORDS
from goita_lab.learning.returns import hidden_words


def make_model(seed=0, **settings):
    options = {"n_steps": 16, "batch_size": 128, "critic": (32,), "seed": seed} | settings
    return training.make_model(training.make_env(64), **options)


def test_it_is_shown_what_each_other_seat_sees_of_itself():
    games, rng = GoitaVectorEnv(40, seed=3, observe=False), np.random.default_rng(3)
    turn = games.reset()
    for _ in range(9):
        turn = games.step(games.sample_legal(rng))
    rows = np.flatnonzero(turn.seat >= 0)[::3]
    hidden = hidden_words(games, rows, turn.seat[rows])
    assert hidden.shape == (len(rows), HIDDEN_WORDS)
    for number, row in enumerate(rows):
        for ahead in range(3):
            seen = pack_seat(games._match.state, (int(turn.seat[row]) + ahead + 1) % 4)[row]
            wanted = seen[[PLAYS_WORD, TILES_WORD]].tolist()
            assert hidden[number, [ahead, 3 + ahead]].tolist() == wanted


def test_the_buffer_gives_each_decision_what_its_seat_was_not_shown():
    model = make_model(seed=1)
    pairs = set()
    add = model.rollout_buffer.add_decisions

    def watched(games, seats, words, masks, actions, values, log_probs, hidden):
        pairs.update(zip(map(bytes, words), map(bytes, hidden), strict=True))
        add(games, seats, words, masks, actions, values, log_probs, hidden)

    model.rollout_buffer.add_decisions = watched
    training.rollout(model)
    for samples in model.rollout_buffer.get(64):
        words = np.packbits(samples.observations.numpy(), axis=1, bitorder="little")
        hidden = np.packbits(samples.hidden.numpy(), axis=1, bitorder="little")
        assert pairs.issuperset(zip(map(bytes, words), map(bytes, hidden), strict=True))


@pytest.mark.slow
def test_its_values_count_as_soon_as_they_are_nearer_to_what_was_earned():
    model = make_model(learning_rate=2e-3)
    model.learn(40_000)
    assert model.critic_leads
    numbers = model.logger.name_to_value
    assert numbers["train/critic_loss"] < numbers["train/value_loss"]
    model.learning_rate, model.critic_leads = 0.0, True
    model._setup_lr_schedule()
    with th.no_grad():
        model.critic.value.bias += 100  # far off from now on
    before = model.num_timesteps
    model.learn(500, reset_num_timesteps=False)
    assert model.num_timesteps > before
    assert not model.critic_leads
    assert model.rollout_buffer.values.mean() > 50  # in that rollout they still counted


def test_a_file_holds_nothing_of_it(tmp_path):
    model = make_model()
    model.learn(2_000)
    save_policy(model, tmp_path / "with", "jga")
    model.critic = None
    save_policy(model, tmp_path / "without", "jga")
    assert (tmp_path / "with").read_bytes() == (tmp_path / "without").read_bytes()
    NetworkAgent.load(tmp_path / "with")


def test_it_runs_in_bfloat16_and_its_weights_stay_as_fine_as_they_are():
    model = make_model(bfloat16=True)
    model.learn(3_000)
    assert all(p.dtype == th.float32 and p.isfinite().all() for p in model.critic.parameters())


def test_its_head_and_those_of_the_policy_stay_in_float32_where_the_trunks_run_in_bfloat16():
    model, rng, trunks = make_model(bfloat16=True), np.random.default_rng(0), []
    sizes = OBSERVATION_SIZE, 64 * HIDDEN_WORDS
    bits, hidden = (th.from_numpy(rng.integers(2, size=(64, n), dtype=np.uint8)) for n in sizes)
    for trunk in (model.policy.features_extractor, model.critic.trunk):
        trunk.register_forward_hook(lambda _, __, features: trunks.append(features))
    with th.no_grad():
        with th.autocast("cpu", th.bfloat16):
            logits, values = model.policy.logits_and_values(bits)
        predicted = model.critic(bits, hidden)
    assert [features.dtype for features in trunks] == [th.bfloat16] * 2
    for head, features, answers in (
        (model.policy.action_net, trunks[0], logits),
        (model.policy.value_net, trunks[0], values[:, None]),
        (model.critic.value, trunks[1], predicted[:, None]),
    ):
        assert answers.dtype == th.float32
        exact = features.double() @ head.weight.double().T + head.bias.double()
        th.testing.assert_close(answers.double(), exact, rtol=1e-5, atol=1e-6)
