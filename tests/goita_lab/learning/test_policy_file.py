"""Files of policies: that they play what the model plays, whatever the network."""

import sys
from pathlib import Path

import numpy as np
import pytest
import torch as th

import training
from goita_agents import load_agent
from goita_agents.base import AgentError
from goita_agents.bots.transform import Transform
from goita_env import GoitaVectorEnv
from goita_env.errors import SettingError
from goita_env.views import observation as packing
from goita_lab.learning import (
    SavedPolicy,
    SelfPlayPolicy,
    init_from,
    read_layer_widths,
    save_policy,
)
from goita_lab.learning.policy_agent import load_frozen, read_policy
from network_files import described
from own_networks import Forgetful, TwoTrunks
from raising import refuses


def make_model(policy=SelfPlayPolicy, layers=(16,), **settings):
    model = training.make_model(policy=policy, layers=layers, policy_kwargs=settings)
    model.learn(200)
    return model


def turn():
    return GoitaVectorEnv(64, seed=5).reset()


def test_a_network_of_ones_own_is_saved_and_played_by_its_class(tmp_path):
    path = tmp_path / "own.safetensors"
    model = make_model(TwoTrunks, width=4)
    for file in (path, tmp_path / "again"):
        save_policy(model, file, "jga")
    assert path.read_bytes() == (tmp_path / "again").read_bytes()
    info, _ = read_policy(path)
    assert info.policy == "own_networks:TwoTrunks"
    assert info.settings == {"layers": [16], "width": 4}
    now = turn()
    with th.no_grad():
        logits, values = model.policy.logits_and_values(th.from_numpy(now.observation))
    spec = f"goita_lab.learning:SavedPolicy:path={path},policy=own_networks:TwoTrunks"
    for agent in (SavedPolicy(str(path), "own_networks:TwoTrunks"), load_agent(spec)):
        np.testing.assert_allclose(agent.logits(now.view), logits.numpy(), atol=1e-5)
        np.testing.assert_allclose(agent.values(now.view), 50 * values.numpy(), atol=1e-3)
        best = np.where(now.action_mask, logits.numpy(), -np.inf).argmax(axis=1)
        rng = np.random.default_rng(0)
        assert np.array_equal(agent.act(now.view, now.action_mask, rng), best)
        assert (agent.probabilities(now.view, now.action_mask).max(axis=1) == 1).all()
    sampling = load_agent(f"{spec},temperature=1")
    shares = sampling.probabilities(now.view, now.action_mask)
    np.testing.assert_allclose(shares.sum(axis=1), 1, atol=1e-5)
    assert (shares[~now.action_mask] == 0).all()
    assert now.action_mask[np.arange(64), sampling.act(now.view, now.action_mask, rng)].all()


def test_a_file_that_would_play_or_expect_something_else_is_not_written(tmp_path):
    path = tmp_path / "policy.safetensors"
    save_policy(make_model(), path, "jga")
    played = path.read_bytes()
    forgetful = make_model(Forgetful)
    save_policy(forgetful, tmp_path / "fine", "jga")
    forgetful.policy.scale = 3.0
    refuses(SettingError, "the policy's log-probabilities", save_policy, forgetful, path, "jga")
    assert path.read_bytes() == played


@pytest.mark.parametrize(
    ("policy", "message"),
    [
        ("own_networks:Forgetful", "own_networks:TwoTrunks"),
        ("own_networks:Nothing", "own_networks:TwoTrunks"),
        ("os:system", "TwoTrunks"),
    ],
)
def test_a_file_is_played_by_the_class_it_was_written_from_alone(tmp_path, policy, message):
    path = tmp_path / "own.safetensors"
    save_policy(make_model(TwoTrunks), path, "jga")
    refuses(AgentError, message, SavedPolicy, str(path), policy)


@pytest.mark.parametrize("policy", [SelfPlayPolicy, TwoTrunks])
def test_a_snapshot_plays_in_the_pool_as_it_was_trained(tmp_path, policy):
    model = make_model(policy)
    path, now = tmp_path / "snapshot", turn()
    save_policy(model, path, "jga")
    with th.no_grad():
        before, _ = model.policy.logits_and_values(th.from_numpy(now.observation))
    state = th.get_rng_state()
    agent = load_frozen(model, path)
    assert th.equal(state, th.get_rng_state())  # nothing is drawn from the training's numbers
    model.learn(600, reset_num_timesteps=False)  # the snapshot doesn't learn with the model
    np.testing.assert_allclose(agent.logits(now.view), before.numpy(), atol=1e-5)
    assert agent.temperature == 1.0
    assert model.policy.optimizer is not None


def test_another_networks_file_is_no_beginning(tmp_path):
    save_policy(make_model(TwoTrunks), tmp_path / "own", "jga")
    with pytest.raises(SettingError, match=r"own, which holds .*:TwoTrunks: .*foreign"):
        init_from(make_model(), tmp_path / "own")
    save_policy(make_model(), tmp_path / "stack", "jga")
    refuses(SettingError, "missing", init_from, make_model(TwoTrunks), tmp_path / "stack")


def test_a_wider_network_begins_with_the_play_of_a_narrow_one_and_learns_with_all_its_units(
    tmp_path,
):
    narrow, wide = make_model(layers=(8, 12)), make_model(layers=(16, 24))
    save_policy(narrow, tmp_path / "narrow", "jga")
    init_from(wide, tmp_path / "narrow")
    bits = th.from_numpy(turn().observation)
    with th.no_grad():
        mine, theirs = (model.policy.logits_and_values(bits) for model in (wide, narrow))
        for one, other in zip(mine, theirs, strict=True):
            np.testing.assert_allclose(one, other, atol=1e-5)
    first, second = wide.policy.features_extractor.layers
    assert first.weight[8:].any()
    assert not second.weight[:12, 8:].any()
    wide.learn(600, reset_num_timesteps=False)
    assert second.weight[:12, 8:].any()
    assert wide.policy.action_net.weight[:, 12:].any()
    with pytest.raises(SettingError, match="size mismatch"):
        init_from(make_model(layers=(16, 11)), tmp_path / "narrow")


def test_a_network_of_ones_own_is_trained_by_the_program_with_slices_hidden(tmp_path):
    options = (
        "--total-timesteps 400 --snapshot-every 150 --measure-deals 2 --deals 2 --pool-share 0.5"
    )
    options = [*training.TINY, *options.split(), "--transform", "events"]
    command = ["--name", "own", "--policy", "own_networks:TwoTrunks", *options]
    assert training.main(command) == 0
    run = tmp_path / "runs" / "own"
    info, _ = read_policy(run / "best.safetensors")
    assert (info.policy, info.transform) == ("own_networks:TwoTrunks", ("events",))
    assert "past" in (run / "strength.csv").read_text()
    assert training.main(["--resume", "runs/own", "--total-timesteps", "500"]) == 0
    for wrong in (["--policy", "own_networks:Nothing", *options], [*options[:-1], "evnts"]):
        refuses(SystemExit, "2", training.main, ["--name", "two", *wrong])
    assert not (tmp_path / "runs" / "two").exists()


EVIL = """
from pathlib import Path
Path("PWNED").touch()
from goita_lab.learning import SelfPlayPolicy
class Network(SelfPlayPolicy): pass
"""


@pytest.fixture
def copied(elsewhere):
    """A policy's file, to be written again with another description."""
    sys.modules.pop("evil", None)
    Path("evil.py").write_text(EVIL)
    save_policy(make_model(), "bad.safetensors", "jga")
    return Path("bad.safetensors")


@pytest.mark.parametrize(
    "changes",
    [
        *({"reward_scale": wrong} for wrong in (0, -5, None)),
        *({"decisions": wrong} for wrong in (10**400, "7", -1)),
        *({"rules": "mine", "rules_fields": [[]]}, {"rules": "../rules.json"}, {"layers": 99}),
        *({"policy": "evil:Network", "settings": settings} for settings in ([], "x", {})),
        *({"transform": wrong} for wrong in ({}, [3], "events")),
        *({"information": wrong} for wrong in ([], {"token": {"bits": 9}})),
        {"unknown": 3},
    ],
)
def test_a_policys_file_with_another_description_is_refused_and_runs_nothing(copied, changes):
    described(copied, **changes)
    with pytest.raises(AgentError, match="bad") as error:
        SavedPolicy(str(copied), "goita_lab.learning:SelfPlayPolicy")
    assert len(str(error.value)) < 4000
    if "policy" not in changes or changes["settings"] != {}:
        for reader in (read_policy, read_layer_widths, lambda path: init_from(None, path)):
            with pytest.raises(AgentError, match="bad"):
                reader(copied)
    assert not Path("PWNED").exists()


@pytest.mark.parametrize(
    "settings",
    [
        *({"layers": "abc"}, {"layers": [0]}, {"observation_space": 1}),
        *(
            {"layers": [16], name: "evil.Network"}
            for name in ("activation_fn", "optimizer_class", "features_extractor_class")
        ),
    ],
)
def test_arguments_in_a_policys_file_are_values_and_run_nothing(copied, settings):
    name = "goita_lab.learning:SelfPlayPolicy"
    described(copied, policy=name, settings=settings)
    with pytest.raises(AgentError, match="bad"):
        SavedPolicy(str(copied), name)
    assert not Path("PWNED").exists()


HIDING = Transform(("events", "own_score"))


def test_a_policy_learns_from_what_it_was_shown():
    model = training.make_model(transform=HIDING)
    training.rollout(model)
    words = model.rollout_buffer._store["words"][: model.rollout_buffer.pos]
    assert words.any()
    assert not packing.expand(np.ascontiguousarray(words))[:, HIDING.hidden].any()
    assert np.array_equal(HIDING.words(words), words)


@pytest.mark.parametrize("policy", [SelfPlayPolicy, TwoTrunks])
def test_a_file_and_a_snapshot_are_shown_what_the_policy_was(tmp_path, policy):
    model, now = training.make_model(policy=policy, transform=HIDING).learn(200), turn()
    path, text = tmp_path / "policy", f"file:{tmp_path / 'policy'}"
    save_policy(model, path, "jga")
    shown = th.from_numpy(HIDING.view(now.view).observation())
    with th.no_grad():
        logits, _ = model.policy.logits_and_values(shown)
    if policy is TwoTrunks:
        text = f"goita_lab.learning:SavedPolicy:path={path},policy=own_networks:TwoTrunks"
    for agent in (load_agent(text), load_frozen(model, path)):
        np.testing.assert_allclose(agent.logits(now.view), logits.numpy(), atol=1e-5)
    plain = training.make_model(policy=policy)
    refuses(SettingError, "own_score", init_from, plain, path)
