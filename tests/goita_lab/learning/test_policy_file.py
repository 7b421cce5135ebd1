"""Files of policies: that they play what the model plays, whatever the network and the game."""

import sys
from pathlib import Path

import numpy as np
import pytest
import torch as th

import training
from goita_agents import load_agent
from goita_agents.base import AgentError, plays
from goita_agents.bots.transform import UNCHANGED, Transform
from goita_env import GoitaVectorEnv, InformationStructure, MessageChannel
from goita_env.actions import MESSAGE
from goita_env.errors import SettingError
from goita_env.information import PLAIN
from goita_env.views import observation as packing
from goita_lab.learning import (
    SavedPolicy,
    SelfPlayPolicy,
    init_from,
    read_layer_widths,
    save_policy,
)
from goita_lab.learning.policy_file import load_frozen, read_policy
from network_files import described
from own_networks import TwoTrunks
from raising import refuses

PARTNER = InformationStructure(shown="partner")
BOTH = InformationStructure(shown="all", channel=MessageChannel(3, "all", cost=50))
HIDING = Transform(("events", "own_score"))


def make_model(policy=SelfPlayPolicy, layers=(16,), information=PLAIN, **settings):
    env = training.make_env(information=information)
    return training.make_model(env, policy, layers=layers, **settings).learn(200)


def turn(information=PLAIN):
    env, rng = GoitaVectorEnv(64, seed=5, information=information), np.random.default_rng(5)
    now = env.reset()
    for _ in range(9):
        now = env.step(env.sample_legal(rng))
    return now


def answers(model, observation):
    with th.no_grad():
        return [found.numpy() for found in model.policy.logits_and_values(th.tensor(observation))]


@pytest.mark.parametrize("policy", [SelfPlayPolicy, TwoTrunks])
@pytest.mark.parametrize(
    ("information", "transform"),
    [(PLAIN, UNCHANGED), (PLAIN, HIDING), (PARTNER, UNCHANGED), (BOTH, UNCHANGED)],
)
def test_a_file_and_a_snapshot_play_as_the_policy_the_game_of_its_training_and_no_other(
    tmp_path, policy, information, transform
):
    model, path = make_model(policy, information=information, transform=transform), tmp_path / "p"
    for file in (path, tmp_path / "again"):
        save_policy(model, file, "jga")
    assert path.read_bytes() == (tmp_path / "again").read_bytes()
    now, text = turn(information), f"file:{path}"
    wanted, values = answers(model, transform.view(now.view).observation())
    if policy is TwoTrunks:
        text = f"goita_lab.learning:SavedPolicy:path={path},policy=own_networks:TwoTrunks"
    state = th.get_rng_state()
    agents = load_agent(text), load_frozen(model, path)
    assert th.equal(state, th.get_rng_state())  # nothing is drawn from the training's numbers
    model.learn(600, reset_num_timesteps=False)  # neither learns with the model
    for agent, temperature in zip(agents, (0.0, 1.0), strict=True):
        np.testing.assert_allclose(agent.logits(now.view), wanted, atol=1e-5)
        np.testing.assert_allclose(agent.values(now.view), 50 * values, atol=1e-3)
        assert agent.temperature == temperature
        found = agent.probabilities(now.view, now.action_mask)
        np.testing.assert_allclose(found.sum(axis=1), 1, atol=1e-5)
        assert (found[~now.action_mask] == 0).all()
        chosen = agent.act(now.view, now.action_mask, np.random.default_rng(0))
        assert (found[np.arange(64), chosen] > 0).all()
        assert [one for one in (PLAIN, PARTNER, BOTH) if plays(agent, one)] == [information]
    best = np.where(now.action_mask, wanted, -np.inf).argmax(axis=1)
    assert np.array_equal(agents[0].act(now.view, now.action_mask, None), best)


@pytest.mark.parametrize("policy", ["own_networks:Another", "own_networks:Nothing", "os:system"])
def test_a_file_is_played_by_the_class_it_was_written_from_alone(tmp_path, policy):
    path = tmp_path / "own.safetensors"
    save_policy(make_model(TwoTrunks, policy_kwargs={"width": 4}), path, "jga")
    info, _ = read_policy(path)
    assert (info.policy, info.settings) == ("own_networks:TwoTrunks", {"layers": [16], "width": 4})
    refuses(AgentError, "TwoTrunks", SavedPolicy, str(path), policy)


def test_a_policy_learns_from_what_it_was_shown():
    model = training.make_model(transform=HIDING)
    training.rollout(model)
    words = model.rollout_buffer._store["words"][: model.rollout_buffer.pos]
    assert words.any()
    assert not packing.expand(np.ascontiguousarray(words))[:, HIDING.hidden].any()


@pytest.mark.parametrize(
    ("written", "begun", "message"),
    [
        ({"policy": TwoTrunks}, {}, "holds own_networks:TwoTrunks: .*foreign"),
        ({}, {"policy": TwoTrunks}, "missing"),
        ({"transform": HIDING}, {}, "own_score"),
        ({"information": PARTNER}, {"information": BOTH}, "or of the plain one"),
        ({"layers": (8, 12)}, {"layers": (16, 11)}, "size mismatch"),
    ],
)
def test_another_networks_file_is_no_beginning(tmp_path, written, begun, message):
    save_policy(make_model(**written), tmp_path / "own", "jga")
    with pytest.raises(SettingError, match=message):
        init_from(make_model(**begun), tmp_path / "own")


@pytest.mark.parametrize("information", [PLAIN, BOTH])
def test_a_wider_network_begins_with_the_play_of_a_narrow_one_and_learns_with_all_its_units(
    tmp_path, information
):
    narrow, wide = make_model(layers=(8, 12)), make_model(layers=(16, 24), information=information)
    save_policy(narrow, tmp_path / "narrow", "jga")
    init_from(wide, tmp_path / "narrow")
    now = turn(information).observation
    mine, theirs = answers(wide, now), answers(narrow, now[:, :512])
    np.testing.assert_allclose(mine[0][:, :MESSAGE], theirs[0], atol=1e-5)
    np.testing.assert_allclose(mine[1], theirs[1], atol=1e-5)
    first, second = wide.policy.features_extractor.layers
    assert first.weight[8:].any()
    assert not second.weight[:12, 8:].any()
    wide.learn(600, reset_num_timesteps=False)
    assert second.weight[:12, 8:].any()
    assert wide.policy.action_net.weight[:, 12:].any()


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

OWN = {"policy": "goita_lab.learning:SelfPlayPolicy"}
CLASSES = ("activation_fn", "optimizer_class", "features_extractor_class")


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
        *(OWN | {"settings": one} for one in ({"layers": "abc"}, {"layers": [0]}, {"width": 1})),
        *(OWN | {"settings": {"layers": [16], name: "evil.Network"}} for name in CLASSES),
    ],
)
def test_a_policys_file_with_another_description_is_refused_and_runs_nothing(elsewhere, changes):
    sys.modules.pop("evil", None)
    Path("evil.py").write_text(EVIL)
    file = Path("bad.safetensors")
    save_policy(make_model(), file, "jga")
    described(file, **changes)
    with pytest.raises(AgentError, match="bad") as error:
        SavedPolicy(str(file), OWN["policy"])
    assert len(str(error.value)) < 4000
    if not isinstance(changes.get("settings"), dict):  # arguments are read where the class is built
        for reader in (read_policy, read_layer_widths, lambda path: init_from(None, path)):
            with pytest.raises(AgentError, match="bad"):
                reader(file)
    assert not Path("PWNED").exists()
