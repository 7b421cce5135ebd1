"""Files of policies: that they play what the model plays, whatever the network."""

import json
import sys

import numpy as np
import pytest
import torch as th

import train
from agents import load_agent
from agents.base import AgentError
from agents.learning import GoitaVecEnv, SavedPolicy, SelfPlayPolicy, SelfPlayPPO, save_policy
from agents.learning.player import frozen
from agents.learning.policy_file import begin_from
from agents.learning.storage import read
from goita_env import GoitaVectorEnv
from goita_env.errors import SettingError

OWN = """
import torch as th
from agents.learning import SelfPlayPolicy


class TwoTrunks(SelfPlayPolicy):
    # Keeps the value's layers apart from the policy's.
    def __init__(self, *args, width=8, **kwargs):
        super().__init__(*args, **kwargs)
        self.critic = th.nn.Sequential(
            th.nn.Linear(512, width), th.nn.ReLU(), th.nn.Linear(width, 1)
        )
        self.optimizer.add_param_group({"params": self.critic.parameters()})

    def logits_and_values(self, bits):
        logits, _ = super().logits_and_values(bits)
        return logits, self.critic(bits.float())[:, 0]


class Forgetful(TwoTrunks):
    # Plays by a number that no file knows.
    scale = 1.0

    def logits_and_values(self, bits):
        logits, values = super().logits_and_values(bits)
        return logits * self.scale, values


class OnlyInTraining(TwoTrunks):
    # Says that its file is the stack alone, though its values are the critic's.
    def tensors(self):
        return super().tensors()
"""


@pytest.fixture(autouse=True)
def own(tmp_path, monkeypatch):
    th.set_num_threads(1)
    monkeypatch.chdir(tmp_path)
    monkeypatch.syspath_prepend(tmp_path)
    (tmp_path / "my_networks.py").write_text(OWN)
    sys.modules.pop("my_networks", None)
    import my_networks

    return my_networks


def make_model(policy=SelfPlayPolicy, **settings):
    env = GoitaVecEnv(GoitaVectorEnv(16, observe=False))
    model = SelfPlayPPO(
        policy,
        env,
        n_steps=8,
        batch_size=64,
        device="cpu",
        seed=0,
        policy_kwargs={"layers": (16,), **settings},
    )
    model.learn(200)
    return model


def turn():
    return GoitaVectorEnv(64, seed=5).reset()


def test_a_network_of_ones_own_is_saved_and_played_by_its_class(own, tmp_path):
    path = tmp_path / "own.safetensors"
    model = make_model(own.TwoTrunks, width=4)
    save_policy(model, path, "jga")
    metadata, _ = read(path)
    assert metadata["policy"] == "my_networks:TwoTrunks"
    assert json.loads(metadata["settings"]) == {"layers": [16], "width": 4}
    now = turn()
    with th.no_grad():
        logits, values = model.policy.logits_and_values(th.from_numpy(now.observation))
    spec = f"agents.learning:SavedPolicy:path={path},policy=my_networks:TwoTrunks"
    for agent in (SavedPolicy(str(path), "my_networks:TwoTrunks"), load_agent(spec)):
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


def test_the_same_policy_gives_the_same_file(own, tmp_path):
    model = make_model(own.TwoTrunks)
    for name in ("a", "b"):
        save_policy(model, tmp_path / name, "jga")
    assert (tmp_path / "a").read_bytes() == (tmp_path / "b").read_bytes()


def test_a_file_that_would_play_or_expect_something_else_is_not_written(own, tmp_path):
    path = tmp_path / "policy.safetensors"
    save_policy(make_model(), path, "jga")
    played = path.read_bytes()
    forgetful = make_model(own.Forgetful)
    save_policy(forgetful, tmp_path / "fine", "jga")
    forgetful.policy.scale = 3.0
    for model, what in (
        (forgetful, "log-probabilities"),
        (make_model(own.OnlyInTraining), "values"),
    ):
        with pytest.raises(SettingError, match=f"the policy's {what}"):
            save_policy(model, path, "jga")
        assert path.read_bytes() == played


def test_classes_that_others_cannot_import_are_refused(tmp_path):
    class Local(SelfPlayPolicy):
        def logits_and_values(self, bits):
            return super().logits_and_values(bits)

    with pytest.raises(SettingError, match="Local"):
        save_policy(make_model(Local), tmp_path / "x", "jga")


@pytest.mark.parametrize(
    ("policy", "message"),
    [
        ("my_networks:Forgetful", "my_networks:TwoTrunks"),
        ("my_networks:Nothing", "my_networks:TwoTrunks"),
        ("os:system", "TwoTrunks"),
    ],
)
def test_a_file_is_played_by_the_class_it_was_written_from_alone(own, tmp_path, policy, message):
    path = tmp_path / "own.safetensors"
    save_policy(make_model(own.TwoTrunks), path, "jga")
    with pytest.raises(AgentError, match=message):
        SavedPolicy(str(path), policy)


def test_files_that_are_no_policies_are_refused(own, tmp_path):
    path = tmp_path / "own.safetensors"
    save_policy(make_model(own.TwoTrunks), path, "jga")
    data = path.read_bytes()
    for wrong in (b"", data[:100], data[:-4], data.replace(b"goita-policy-1", b"goita-policy-9")):
        path.write_bytes(wrong)
        with pytest.raises(SettingError, match="polic"):
            read(path)
        with pytest.raises(AgentError):
            SavedPolicy(str(path), "my_networks:TwoTrunks")
    with pytest.raises(SettingError):
        read(tmp_path / "none")


@pytest.mark.parametrize("policy", [None, "TwoTrunks"])
def test_a_snapshot_plays_in_the_pool_as_it_was_trained(own, tmp_path, policy):
    model = make_model(getattr(own, policy) if policy else SelfPlayPolicy)
    path, now = tmp_path / "snapshot", turn()
    save_policy(model, path, "jga")
    with th.no_grad():
        before, _ = model.policy.logits_and_values(th.from_numpy(now.observation))
    state = th.get_rng_state()
    agent = frozen(model, path)
    assert th.equal(state, th.get_rng_state())  # nothing is drawn from the training's numbers
    model.learn(600, reset_num_timesteps=False)  # the snapshot doesn't learn with the model
    np.testing.assert_allclose(agent.logits(now.view), before.numpy(), atol=1e-5)
    assert agent.temperature == 1.0
    assert model.policy.optimizer is not None


def test_another_networks_file_is_no_beginning(own, tmp_path):
    save_policy(make_model(own.TwoTrunks), tmp_path / "own", "jga")
    with pytest.raises(SettingError, match=r"own, which holds .*:TwoTrunks: .*foreign"):
        begin_from(make_model(), tmp_path / "own")
    save_policy(make_model(), tmp_path / "stack", "jga")
    with pytest.raises(SettingError, match="missing"):
        begin_from(make_model(own.TwoTrunks), tmp_path / "stack")


def test_a_wider_network_begins_with_the_play_of_a_narrow_one_and_learns_with_all_its_units(
    tmp_path,
):
    narrow, wide = make_model(layers=(8, 12)), make_model(layers=(16, 24))
    save_policy(narrow, tmp_path / "narrow", "jga")
    begin_from(wide, tmp_path / "narrow")
    bits = th.from_numpy(turn().observation)
    with th.no_grad():
        for mine, theirs in zip(
            wide.policy.logits_and_values(bits),
            narrow.policy.logits_and_values(bits),
            strict=True,
        ):
            np.testing.assert_allclose(mine, theirs, atol=1e-5)
    first, second = wide.policy.features_extractor.layers
    assert first.weight[8:].any()
    assert not second.weight[:12, 8:].any()
    wide.learn(600, reset_num_timesteps=False)
    assert second.weight[:12, 8:].any()
    assert wide.policy.action_net.weight[:, 12:].any()
    with pytest.raises(SettingError, match="size mismatch"):
        begin_from(make_model(layers=(16, 11)), tmp_path / "narrow")


def test_a_network_of_ones_own_is_trained_by_the_program(own, tmp_path):
    options = "--games 16 --steps 4 --layers 16 --batch 64 --decisions 1200 --snapshot-every 400"
    options += " --measure-deals 4 --threads 1 --deals 4 --no-progress --pool-share 0.5"
    command = ["--name", "own", "--policy", "my_networks:TwoTrunks", *options.split()]
    assert train.main(command) == 0
    run = tmp_path / "runs" / "own"
    assert read(run / "best.safetensors")[0]["policy"] == "my_networks:TwoTrunks"
    assert "past" in (run / "strength.csv").read_text()
    with pytest.raises(SystemExit, match="2"):  # the run's file may not name the class
        train.main(["--resume", "runs/own", "--decisions", "1600"])
    again = ["--resume", "runs/own", "--policy", "my_networks:TwoTrunks"]
    assert train.main([*again, "--decisions", "1600"]) == 0
    for wrong in ("my_networks:Nothing", "my_networks:OnlyInTraining"):
        with pytest.raises(SystemExit, match="2"):
            train.main(["--name", "two", "--policy", wrong, *options.split()])
    assert not (tmp_path / "runs" / "two").exists()
