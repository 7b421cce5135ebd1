"""Policy networks in numpy: they equal torch's, and no file can make the reader do harm."""

import json
import subprocess
import sys
from dataclasses import replace
from pathlib import Path

import numpy as np
import pytest
from safetensors.numpy import load as reference_load
from safetensors.numpy import save as reference_save

from goita_agents import AgentError, load_agent
from goita_agents.bots.network import LogitAgent, NetworkAgent
from goita_agents.bots.network_file import FORMAT, read_network, write_network
from goita_agents.identity import digest
from goita_env import JGA, GoitaVectorEnv, Rules
from goita_env.views.observation import OBSERVATION_VERSION
from goita_lab.arena.tournament import arena
from network_files import INFO, encoded, tensors
from raising import refuses


def position(steps=9, games=300):
    env = GoitaVectorEnv(games, seed=5)
    turn, rng = env.reset(), np.random.default_rng(0)
    for _ in range(steps):
        turn = env.step(env.sample_legal(rng))
    return turn


@pytest.fixture(scope="module")
def model():
    pytest.importorskip("torch").set_num_threads(1)
    import training

    settings = {"n_steps": 16, "batch_size": 128, "learning_rate": 3e-3}
    trained = training.make_model(training.make_env(64, seed=1), layers=(48, 32), **settings)
    return trained.learn(1024)


@pytest.fixture(scope="module")
def file(model, tmp_path_factory):
    from goita_lab.learning import save_policy

    path = tmp_path_factory.mktemp("network") / "policy.safetensors"
    save_policy(model, path, "jga")
    return path


def test_the_numpy_policy_equals_the_torch_policy(model, file):
    import torch as th

    agent = NetworkAgent.load(file, temperature=1.0)
    for steps in (0, 1, 9, 30):
        turn = position(steps)
        with th.no_grad():
            bits = th.from_numpy(turn.observation)
            distribution = model.policy.get_distribution(bits, turn.action_mask).distribution
            logits, values = model.policy.logits_and_values(bits)
        found = agent.probabilities(turn.view, turn.action_mask)
        np.testing.assert_allclose(found, distribution.probs.numpy(), atol=1e-5)
        np.testing.assert_allclose(agent.logits(turn.view), logits.numpy(), atol=1e-5)
        np.testing.assert_allclose(agent.values(turn.view), 50 * values.numpy(), atol=1e-3)


def test_our_reader_reads_what_safetensors_reads_and_what_the_network_is(model, file):
    agent = load_agent(f"file:{file}")
    assert agent.name == f"file:{file}"
    assert agent.info.layers == 2
    assert agent.info.decisions == model.num_timesteps
    assert agent.info.rules == JGA
    info, mine = read_network(file)
    np.testing.assert_equal(mine, reference_load(file.read_bytes()))
    assert info == agent.info
    assert write_network(info, mine) == file.read_bytes()


def test_safetensors_reads_what_our_writer_writes_and_equal_contents_give_equal_bytes():
    arrays = tensors() | {"layers.0.weight": tensors()["layers.0.weight"][::-1]}  # not contiguous
    data = write_network(INFO, arrays)
    assert data == write_network(INFO, arrays)
    np.testing.assert_equal(reference_load(data), arrays)


def test_a_file_in_half_precision_is_half_as_large_and_computed_in_float32(tmp_path):
    data = write_network(INFO, tensors(), half=True)
    halves = {name: one.astype(np.float16) for name, one in tensors().items()}
    np.testing.assert_equal(reference_load(data), halves)
    path = tmp_path / "half.safetensors"
    path.write_bytes(data)
    _, found = read_network(path)
    assert {one.dtype for one in found.values()} == {np.dtype(np.float32)}
    np.testing.assert_equal(found, halves)
    assert len(data) < 0.6 * len(write_network(INFO, tensors()))
    turn = position()
    whole, rounded = NetworkAgent(INFO, tensors()), NetworkAgent.load(path)
    assert rounded.logits(turn.view).dtype == np.float32
    np.testing.assert_allclose(rounded.logits(turn.view), whole.logits(turn.view), atol=0.5)
    large = tensors() | {"value.bias": np.full(1, -1e5, np.float32)}
    refuses(AgentError, "float16", write_network, INFO, large, half=True)


def test_it_plays_without_torch_and_without_unpickling(file):
    program = f"""
import sys, pickle
def refuse(*_): raise SystemExit("unpickled")
pickle.load = pickle.loads = pickle.Unpickler = refuse
from goita_agents import load_agent
from goita_lab.arena.tournament import arena
arena.play_pair("file:{file}", "random", 4, seed=1)
heavy = {{"torch", "stable_baselines3", "sb3_contrib"}} & sys.modules.keys()
assert not heavy, heavy
"""
    subprocess.run([sys.executable, "-c", program], check=True)


def test_at_temperature_zero_it_plays_the_likeliest_action_and_draws_nothing():
    turn = position()
    agent = NetworkAgent(INFO, tensors())
    warm = NetworkAgent(INFO, tensors(), temperature=1.0)
    likely = warm.probabilities(turn.view, turn.action_mask)
    rng = np.random.default_rng(1)
    chosen = agent.act(turn.view, turn.action_mask, rng)
    assert rng.random() == np.random.default_rng(1).random()
    assert np.array_equal(chosen, likely.argmax(axis=1))
    sure = agent.probabilities(turn.view, turn.action_mask)
    assert np.array_equal(sure.argmax(axis=1), chosen)
    assert np.array_equal(sure.sum(axis=1), np.ones(len(chosen)))


def test_at_other_temperatures_it_samples_from_its_probabilities():
    turn = position(games=1)
    view, legal = turn.view[np.zeros(20_000, int)], np.repeat(turn.action_mask, 20_000, axis=0)
    assert legal[0].sum() > 1
    agent = NetworkAgent(INFO, tensors(), temperature=8.0)
    chosen = agent.act(view, legal, np.random.default_rng(2))
    wanted = agent.probabilities(view[:1], legal[:1])[0]
    assert np.abs(np.bincount(chosen, minlength=69) / 20_000 - wanted).max() < 0.015
    assert (wanted[~legal[0]] == 0).all()
    assert wanted.sum() == pytest.approx(1)
    cold = NetworkAgent(INFO, tensors(), temperature=1e-3).probabilities(view[:1], legal[:1])[0]
    assert cold.max() > wanted.max()


def refused(tmp_path, data, match):
    path = tmp_path / "bad.safetensors"
    path.write_bytes(data)
    with pytest.raises(AgentError, match=match) as error:
        load_agent(f"file:{path}")
    assert str(path) in str(error.value)


def with_header(data, text):
    length = int.from_bytes(data[:8], "little")
    return len(text).to_bytes(8, "little") + text + data[8 + length :]


def test_a_file_that_is_cut_off_or_no_network_is_refused(tmp_path):
    data = encoded()
    for length in [0, 7, 8, 9, 40, *range(41, len(data), 5003), len(data) - 1]:
        refused(tmp_path, data[:length], "expected")
    headers = (b"[1, 2]", b'{"a": 3}', b'{"__metadata__": 7}', b"[" * 5000, b'{"a": {}, "b": []}')
    for foreign in (
        *(b"\x80\x04pickle" * 9, bytes(100), (2**62).to_bytes(8, "little") + bytes(50)),
        *(data + b"\0", *(with_header(b"", text) for text in headers)),
    ):
        refused(tmp_path, foreign, "expected")
    refuses(AgentError, "nothing", load_agent, f"file:{tmp_path / 'nothing.safetensors'}")


def test_a_network_for_something_else_is_refused(tmp_path):
    for described, match in (
        (
            {"observation_version": OBSERVATION_VERSION + 1},
            r"made for version 2 of the observation, this is version 1: `python tools/widen\.py`",
        ),
        *(({"activation": "gelu"}, "activation"), ({"reward_scale": 0}, "reward_scale")),
        *(({"layers": 1}, "foreign"), ({"layers": 3}, "missing"), ({"layers": 0}, "a stack")),
        *(({"layers": "many"}, "layers"), ({"rules": "mine"}, "'mine'")),
        ({"rules": "mine", "rules_fields": {"last_kong": True}}, "last_kong"),
    ):
        refused(tmp_path, encoded(**described), match)
    for kind, match in (
        ("goita-network-3", "expected a network of the format"),
        ("somebody-elses", "'somebody-elses'$"),
    ):
        refused(tmp_path, reference_save(tensors(), {"format": kind, "layers": "2"}), match)
    for text in ("", "[]", "[" * 100_000, '{"layers": 2}'):
        described = {"format": FORMAT, "network": text}
        refused(tmp_path, reference_save(tensors(), described), "expected")


@pytest.mark.parametrize(
    ("name", "array", "match"),
    [
        ("policy.weight", np.zeros((68, 9), np.float32), "policy of shape"),
        ("policy.weight", np.zeros((69, 9), np.float64), "float32"),
        ("layers.0.weight", np.zeros((12, 511), np.float32), r"layers\.0"),
        ("layers.1.weight", np.zeros((9, 13), np.float32), r"layers\.1"),
        ("value.bias", np.full(1, np.nan, np.float32), "finite"),
        ("extra", np.zeros(3, np.float32), "extra"),
    ],
)
def test_a_network_with_a_wrong_tensor_is_refused(tmp_path, name, array, match):
    refused(tmp_path, encoded(tensors() | {name: array}), match)


@pytest.mark.parametrize(
    "change",
    [
        *({"shape": shape} for shape in ([69, 10], [-69, -9], [69, 9.0], [2**40, 2**40], "69")),
        *({"data_offsets": offsets} for offsets in ([0, 4], [4], None)),
        *({"dtype": dtype, "shape": [69, 18]} for dtype in ("F16", "BF16")),
    ],
)
def test_a_header_that_lies_is_refused(tmp_path, change):
    data = encoded()
    header = json.loads(data[8 : 8 + int.from_bytes(data[:8], "little")])
    header["policy.weight"] |= change
    refused(tmp_path, with_header(data, json.dumps(header).encode()), "expected")


def test_logits_that_are_not_finite_are_the_agents_error_not_an_illegal_action():
    class Diverged(LogitAgent):
        def logits(self, view):
            return np.full((len(view), 69), np.nan, np.float32)

    for temperature in (0, 1):
        with pytest.raises(AgentError, match="finite logits from 'mine'"):
            arena.play_pair(Diverged("mine", temperature), "random", 2)


def test_a_file_takes_a_temperature_and_its_path_may_hold_commas_and_colons(tmp_path, monkeypatch):
    monkeypatch.chdir(tmp_path)
    for path in ("a.safetensors", "a,b:c=d.safetensors", "warm,temperature=2.safetensors"):
        Path(path).write_bytes(encoded())
        assert load_agent(f"file:{path}").temperature == 0
        agent = load_agent(f"mine=file:{path},temperature=1.5")
        assert (agent.name, agent.temperature) == ("mine", 1.5)
        for spec in (f"file:{path}", f"mine=file:{path},temperature=1.5"):
            assert digest(spec) == agent.digest
    base = load_agent("rollout:base=(file:a.safetensors,temperature=1),worlds=4")
    assert base.name.startswith("rollout")
    for wrong, words in (
        ("temperature=hot", "temperature=float"),
        *((f"temperature={wrong}", "of 0, or of 0.001") for wrong in ("-1", "inf", "nan", "1e9")),
        *(("temprature=1", "temprature=1"), ("temperature=1,temperature=1", "twice")),
    ):
        refuses(AgentError, words, load_agent, f"file:a.safetensors,{wrong}")


def test_a_file_knows_a_rule_set_of_ones_own(tmp_path):
    mine = Rules(name="mine", last_king=False, call_five="duty")
    path = tmp_path / "mine.safetensors"
    path.write_bytes(encoded(**replace(INFO, rules=mine).description()))
    assert load_agent(f"file:{path}").info.rules == mine
