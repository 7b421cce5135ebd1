"""Trainings in games with shown hands and messages, their resuming, and muted teams."""

import json
from pathlib import Path

import numpy as np
import pytest

import training
from goita_agents import load_agent
from goita_env import InformationStructure, MessageChannel
from goita_env.actions import MESSAGE
from programs import refusal

PARTNER = InformationStructure(shown="partner")
PRIVATE = InformationStructure(channel=MessageChannel(2))
BOTH = InformationStructure(shown="all", channel=MessageChannel(3, "all", cost=50))


def make_model(information, games=16, **settings):
    return training.make_model(training.make_env(games, information=information), **settings)


@pytest.mark.parametrize("information", [PARTNER, PRIVATE, BOTH])
@pytest.mark.parametrize("critic", [(), (8,)], ids=["alone", "critic"])
def test_it_learns_from_whole_observations_and_all_actions(information, critic):
    model = make_model(information, critic=critic)
    training.rollout(model)
    buffer, sizes = model.rollout_buffer, (information.observation_size, information.num_actions)
    samples = next(buffer.get(64))
    assert (samples.observations.shape[1], samples.action_masks.shape[1]) == sizes
    assert samples.action_masks.gather(1, samples.actions).all()
    assert ((samples.actions >= MESSAGE).any()) == (information.channel is not None)
    assert samples.observations[:, 512:].any() == (information.shown is not None)
    model.train()


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
    assert training.main(["--resume", "runs/one"]) == 0
    policies = [Path("runs", name, "policy.safetensors") for name in ("one", "whole")]
    assert policies[0].read_bytes() == policies[1].read_bytes()
    assert load_agent(f"file:{policies[0]}").information == PRIVATE
    assert "plain:base=greedy" in capsys.readouterr().out
    for wrong, message in (
        (["--mute-share", "0.5"], "expected messages"),
        ([*begun, "300", "--partners", "greedy"], "plain:base=greedy plays there"),
    ):
        assert message in refusal(capsys, training.main, ["--name", "two", *tiny, *wrong])
    Path("begun.json").write_text('{"information": {"shown": "me"}}')
    assert "shown" in refusal(capsys, training.main, ["--name", "two", *tiny, *begun, "300"])
    assert not Path("runs/two").exists()
