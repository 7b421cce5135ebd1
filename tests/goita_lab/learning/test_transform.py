"""Trainings on transformed observations, and the policies' files that name the transform."""

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
from goita_lab.imitate.clone import check_start
from goita_lab.learning import SelfPlayPolicy, init_from, save_policy
from goita_lab.learning.policy_agent import load_frozen
from network_files import described
from own_networks import TwoTrunks, refused_whole
from programs import refusal
from raising import refuses

TINY = [*training.TINY, "--total-timesteps", "200", "--deals", "2", "--against", "random"]
TINY += ["--snapshot-every", "100", "--measure-deals", "0", "--pool-share", "0.5"]

HIDING = Transform(("events", "own_score"))


def make_model(transform, policy=SelfPlayPolicy, **settings):
    model = training.make_model(policy=policy, transform=transform, **settings)
    return model.learn(200)


def turn():
    env, rng = GoitaVectorEnv(64, seed=5), np.random.default_rng(5)
    now = env.reset()
    for _ in range(9):
        now = env.step(env.sample_legal(rng))
    return now


def test_the_policy_learns_from_what_it_was_shown():
    transform = HIDING
    model = training.make_model(transform=transform)
    training.rollout(model)
    words = model.rollout_buffer._store["words"][: model.rollout_buffer.pos]
    assert words.any()
    assert not packing.expand(np.ascontiguousarray(words))[:, transform.hidden].any()
    assert np.array_equal(transform.words(words), words)


@pytest.mark.parametrize("policy", [SelfPlayPolicy, TwoTrunks])
def test_a_file_and_a_snapshot_play_what_the_policy_makes_of_it(tmp_path, policy):
    transform = HIDING
    model, now, path = make_model(transform, policy), turn(), tmp_path / "policy"
    save_policy(model, path, "jga")
    shown = th.from_numpy(transform.view(now.view).observation())
    with th.no_grad():
        logits, _ = model.policy.logits_and_values(shown)
    text = f"file:{path}"
    if policy is TwoTrunks:
        text = f"goita_lab.learning:SavedPolicy:path={path},policy=own_networks:TwoTrunks"
    for agent in (load_agent(text), load_frozen(model, path)):
        np.testing.assert_allclose(agent.logits(now.view), logits.numpy(), atol=1e-5)


@pytest.mark.parametrize("wrong", [{}, [3], ["evnts"], ["a:b", "events"], "events", ["a:b:c"]])
@pytest.mark.parametrize("policy", [SelfPlayPolicy, TwoTrunks])
def test_a_file_that_names_no_transform_is_refused_and_runs_nothing(tmp_path, policy, wrong):
    path = tmp_path / "policy"
    save_policy(make_model(HIDING, policy), path, "jga")
    described(path, transform=wrong)
    refused_whole(path, policy)


def test_a_training_that_sees_more_begins_with_the_play_of_one_that_saw_less(tmp_path):
    hidden, now = make_model(HIDING), turn()
    save_policy(hidden, tmp_path / "hidden", "jga")
    whole = make_model(Transform(), layers=(24,))
    init_from(whole, tmp_path / "hidden")
    with th.no_grad():
        found, _ = whole.policy.logits_and_values(th.from_numpy(now.observation))
    np.testing.assert_allclose(
        found, load_frozen(hidden, tmp_path / "hidden").logits(now.view), atol=1e-5
    )
    save_policy(make_model(HIDING, TwoTrunks), tmp_path / "own", "jga")
    other = make_model(Transform(), TwoTrunks)
    refuses(SettingError, "own_score", init_from, other, tmp_path / "own")


def test_a_clone_begins_with_no_network_that_saw_less(tmp_path):
    save_policy(make_model(HIDING), tmp_path / "hidden", "jga")
    agent = load_agent(f"file:{tmp_path / 'hidden'}")
    refuses(AgentError, "whole observations", check_start, agent, agent.name)


def test_the_program_trains_with_slices_hidden_and_goes_on_with_them(elsewhere, capsys):
    assert training.main(["--name", "one", *TINY, "--transform", "events", "own_score"]) == 0
    agent = load_agent("file:runs/one/policy.safetensors")
    assert agent.info.transform == ("events", "own_score")
    assert training.main(["--resume", "runs/one", "--total-timesteps", "300"]) == 0
    wrong = refusal(capsys, training.main, ["--name", "two", *TINY, "--transform", "evnts"])
    assert "expected names of slices" in wrong
    assert not Path("runs/two").exists()
