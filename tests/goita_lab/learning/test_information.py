"""Trainings in games with shown hands and messages, their files, and muted teams."""

import json
from pathlib import Path

import numpy as np
import pytest
import torch as th

import training
from goita_agents import load_agent
from goita_agents.base import AgentError, plays
from goita_env import GoitaVectorEnv, InformationStructure, MessageChannel
from goita_env.actions import MESSAGE
from goita_env.errors import SettingError
from goita_env.information import PLAIN
from goita_lab.learning import (
    OpponentPool,
    SelfPlayPolicy,
    SelfPlayPPO,
    init_from,
    policy_bytes,
    save_policy,
)
from goita_lab.learning.policy_agent import load_frozen
from own_networks import TwoTrunks
from programs import refusal
from raising import refuses

PARTNER = InformationStructure(shown="partner")
PRIVATE = InformationStructure(channel=MessageChannel(2))
BOTH = InformationStructure(shown="all", channel=MessageChannel(3, "all", cost=50))
OPTIONS = [PARTNER, PRIVATE, BOTH]


def make_model(information, policy=SelfPlayPolicy, games=16, **settings):
    env = training.make_env(games, information=information)
    return training.make_model(env, policy, **settings)


def turn(information):
    env, rng = GoitaVectorEnv(64, seed=5, information=information), np.random.default_rng(5)
    now = env.reset()
    for _ in range(9):
        now = env.step(env.sample_legal(rng))
    return now


@pytest.mark.parametrize("information", OPTIONS)
@pytest.mark.parametrize("critic", [(), (8,)], ids=["alone", "critic"])
def test_it_learns_from_whole_observations_and_all_actions(information, critic):
    model = make_model(information, critic=critic)
    training.rollout(model)
    buffer, sizes = model.rollout_buffer, (information.observation_size, information.num_actions)
    samples = next(buffer.get(64))
    assert (samples.observations.shape[1], samples.action_masks.shape[1]) == sizes
    chosen = samples.action_masks.gather(1, samples.actions)
    assert chosen.all()
    assert ((samples.actions >= MESSAGE).any()) == (information.channel is not None)
    assert samples.observations[:, 512:].any() == (information.shown is not None)
    model.train()


@pytest.mark.parametrize("policy", [SelfPlayPolicy, TwoTrunks])
@pytest.mark.parametrize("information", OPTIONS)
def test_a_file_plays_the_game_of_its_training_and_no_other(tmp_path, policy, information):
    model, now, path = make_model(information, policy).learn(200), turn(information), tmp_path / "p"
    save_policy(model, path, "jga")
    with th.no_grad():
        logits, _ = model.policy.logits_and_values(th.from_numpy(now.observation))
    text = f"file:{path}"
    if policy is TwoTrunks:
        text = f"goita_lab.learning:SavedPolicy:path={path},policy=own_networks:TwoTrunks"
    for agent in (load_agent(text), load_frozen(model, path)):
        np.testing.assert_allclose(agent.logits(now.view), logits.numpy(), atol=1e-5)
        assert [one for one in (PLAIN, *OPTIONS) if plays(agent, one)] == [information]
        found = agent.probabilities(now.view, now.action_mask)
        assert found.shape == now.action_mask.shape


def test_a_training_may_begin_with_a_policy_of_the_plain_game(tmp_path):
    plain, now = training.make_model().learn(200), turn(BOTH)
    save_policy(plain, tmp_path / "plain", "jga")
    informed = make_model(BOTH)
    init_from(informed, tmp_path / "plain")
    with th.no_grad():
        found, values = informed.policy.logits_and_values(th.from_numpy(now.observation))
        wanted, same = plain.policy.logits_and_values(th.from_numpy(now.observation[:, :512]))
    np.testing.assert_allclose(found[:, :MESSAGE], wanted, atol=1e-5)
    np.testing.assert_allclose(values, same, atol=1e-5)
    save_policy(make_model(PARTNER).learn(200), tmp_path / "partner", "jga")
    refuses(SettingError, "or of the plain one", init_from, informed, tmp_path / "partner")


def test_a_message_is_paid_for_by_the_decision_that_sends_it_and_its_team():
    model = make_model(InformationStructure(channel=MessageChannel(2, cost=50)))
    model._setup_learn(10**6)
    buffer, owed = model.rollout_buffer, {}
    buffer.reset()
    for _ in range(4):  # every game begins with four questions
        start, seats = buffer.pos, model.env.turn.seat.copy()
        model._step(model.env, buffer)
        sent = buffer._store["action"][start : buffer.pos] != MESSAGE
        for game, (seat, speaks) in enumerate(zip(seats.tolist(), sent, strict=True)):
            owed[game, seat] = [start + game, 0.0]
            for (other, hearer), entry in owed.items():
                if other == game and speaks:
                    entry[1] += -1.0 if (hearer - seat) % 2 == 0 else 1.0  # 50 points at 0.02
    assert len(owed) == 64
    for place, reward in owed.values():
        assert buffer._store["reward"][place] == reward
    assert len({reward for _, reward in owed.values()}) > 2


def test_muted_seats_have_no_choice_and_all_others_do():
    model = make_model(PRIVATE, games=64, mute_share=0.75)
    assert model.muting.team.tolist() == [-1] * 16 + [1] * 16 + [0] * 16 + [1] * 16
    model._setup_learn(10**6)
    buffer = model.rollout_buffer
    buffer.reset()
    for _ in range(4):
        asked = np.flatnonzero((model.env.turn.seat & 1) != model.muting.team)
        start = buffer.pos
        model._step(model.env, buffer)
        assert buffer.pos - start == len(asked)
        assert (buffer.last[asked] != -1).any(axis=1).all()
    view = model.env.turn.view
    heard = view.messages[np.arange(64), :]
    muted = model.muting.team[:, None] == (model.env.turn.seat[:, None] + np.arange(4)) % 2
    assert not heard[muted].any()
    assert heard[~muted].any()


def test_frozen_players_must_play_the_game():
    given = {"share": 0.5, "information": PRIVATE}
    refuses(
        AgentError, "plain:base=greedy plays there", OpponentPool, 8, agents=["greedy"], **given
    )
    OpponentPool(8, agents=["plain:base=greedy", "random"], **given)


def test_a_saved_model_knows_its_games_without_them(elsewhere):
    model = make_model(PRIVATE, mute_share=0.5).learn(200)
    model.save("model")
    again = SelfPlayPPO.load("model")
    assert again.information == PRIVATE
    assert policy_bytes(again, "jga") == policy_bytes(model, "jga")


def test_the_program_trains_resumes_and_measures_in_such_games(elsewhere, monkeypatch, capsys):
    settings = {"deals": 2, "measure_deals": 2, "pool_share": 0.5, "mute_share": 0.5}
    settings |= {"against": ["greedy"]}
    tiny = [*training.TINY, "--snapshot-every", "100"]
    Path("begun.json").write_text(json.dumps(settings | PRIVATE.to_keys()))
    begun = ["--config", "begun.json", "--total-timesteps"]
    assert training.main(["--name", "whole", *tiny, *begun, "300"]) == 0
    with monkeypatch.context() as patch:
        training.stop_after(patch, 3)
        assert training.main(["--name", "one", *tiny, *begun, "300"]) == 130
    config = json.loads(Path("runs/one/config.json").read_text())
    assert (config["information"], config["mute_share"]) == (PRIVATE.to_keys()["information"], 0.5)
    assert training.main(["--resume", "runs/one"]) == 0
    policies = [Path("runs", name, "policy.safetensors") for name in ("one", "whole")]
    assert policies[0].read_bytes() == policies[1].read_bytes()
    assert load_agent(f"file:{policies[0]}").information == PRIVATE
    assert "plain:base=greedy" in capsys.readouterr().out
    wrong = refusal(capsys, training.main, ["--name", "two", *tiny, "--mute-share", "0.5"])
    assert "expected messages" in wrong
    Path("begun.json").write_text('{"information": {"shown": "me"}}')
    assert "shown" in refusal(capsys, training.main, ["--name", "two", *tiny, *begun, "300"])
    assert not Path("runs/two").exists()
