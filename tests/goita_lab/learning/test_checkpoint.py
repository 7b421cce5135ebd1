"""Checkpoints that somebody else wrote: none runs code, each ends in one clear error."""

import json
import pickle
import struct

import msgspec
import numpy as np
import pytest
import torch as th
import training
from goita_agents.bots.network_file import open_tensors
from goita_agents.registry import load_agent
from safetensors.numpy import load, save

from goita_env.errors import GoitaError, SettingError
from goita_lab.learning import Pool
from goita_lab.learning.checkpoint import load_checkpoint, save_checkpoint
from goita_lab.learning.measuring import History


class Bomb:
    """Runs code where it is unpickled."""

    def __reduce__(self):
        return exec, ("raise SystemExit('code of a file was run')",)


class TalkativeAdam(th.optim.Adam):
    """Keeps a number that is no tensor."""

    def step(self, closure=None):
        super().step(closure)
        for state in self.state.values():
            state["more"] = "text"


def make_model(seed=0, **settings):
    options = {"n_epochs": 1, "critic": (8,), "layers": (8,), "seed": seed} | settings
    model = training.make_model(training.make_env(seed=seed), **options)
    model.pool = Pool(16, share=0.5, agents=["greedy"], seed=seed)
    model.pool.load = lambda decisions: load_agent("random")
    return model


@pytest.fixture(scope="module")
def saved(tmp_path_factory):
    """A model in training, and its checkpoint as metadata and arrays."""
    th.set_num_threads(1)
    model = make_model()
    model.pool.known = [100, 200]
    model.learn(1500)
    path = tmp_path_factory.mktemp("checkpoint") / "checkpoint.safetensors"
    save_checkpoint(model, path, History([], [0, 100]))
    with open_tensors(path) as file:
        return model, file.metadata(), load(path.read_bytes())


def test_a_restored_training_goes_on_to_the_bit(saved, tmp_path):
    _, metadata, arrays = saved
    model, again = make_model(seed=3), make_model(seed=4)
    path = tmp_path / "checkpoint"
    path.write_bytes(save(arrays, metadata))
    for one in (model, again):
        assert load_checkpoint(one, path) == History([], [0, 100])
        one.pool.known = [100, 200]
        one.learn(1500, reset_num_timesteps=False)
        save_checkpoint(one, tmp_path / "later")
        numbers = load((tmp_path / "later").read_bytes())
        arrays = numbers if one is model else arrays
    assert model.num_timesteps == again.num_timesteps > 3000
    assert arrays.keys() == numbers.keys()
    for name, array in arrays.items():
        assert np.array_equal(array, numbers[name]), name


def test_nothing_is_pickled_or_unpickled(saved, tmp_path, monkeypatch):
    model, metadata, _ = saved
    assert len(msgspec.json.decode(metadata["standing"])["pool"]["players"]) > 1
    assert "greedy" not in metadata["standing"]  # it names no agent

    def forbidden(*args, **kwargs):
        raise AssertionError("pickled")

    for module, name in ((pickle, "loads"), (pickle, "load"), (pickle, "dumps"), (th, "load")):
        monkeypatch.setattr(module, name, forbidden)
    save_checkpoint(model, tmp_path / "checkpoint")
    load_checkpoint(make_model(), tmp_path / "checkpoint")


def refused(path, match=None, **settings):
    model = make_model(**settings)
    with pytest.raises(SettingError, match=match) as error:
        load_checkpoint(model, path)
    assert str(path) in str(error.value)
    assert len(str(error.value)) < 3000


@pytest.mark.parametrize(
    "data",
    [
        b"",
        b"PK\x03\x04" + bytes(100),
        struct.pack("<Q", 1 << 62) + b"{}",
        struct.pack("<Q", 90_000_000) + b" " * 90_000_000,
        struct.pack("<Q", 2) + b"{}" + bytes(1 << 28),
        pickle.dumps(Bomb()),
        struct.pack("<Q", len(pickle.dumps(Bomb()))) + pickle.dumps(Bomb()),
    ],
    ids=["empty", "zip", "length", "header", "size", "pickle", "pickle as header"],
)
def test_files_of_another_kind_or_size_are_refused(tmp_path, data):
    refused(tmp_path, "no file")
    refused(tmp_path / "nothing")
    (tmp_path / "file").write_bytes(data)
    refused(tmp_path / "file", "safetensors")


HISTORY, POOL = {"rows": [], "snapshots": []}, {"players": [], "rollouts": 1, "anew": True}
TEXT = {"decisions": 1, "updates": 1, "critic_leads": False, "pool": None, "history": HISTORY}
ROW = {"decisions": 5, "opponent": "greedy", "opponent_decisions": None, "deals": 4}
ROW |= {"points_per_round": 1.0, "low": 0.0, "high": 2.0, "round_win_rate": 0.5}


@pytest.mark.parametrize(
    "standing",
    [
        *("", "[]", "[" * 100_000),
        *(json.dumps(TEXT | {"decisions": number}) for number in (-1, 1 << 60, "../../x")),
        *(json.dumps(TEXT | {"history": HISTORY | {"snapshots": [n, 3]}}) for n in (5, "../x")),
        json.dumps(TEXT | {"history": HISTORY | {"rows": [ROW | {"low": -1e6}]}}),
        *(
            json.dumps(TEXT | {"pool": POOL | {"players": [p]}})
            for p in (["x:Y", 1, 0.0, 1], [1, 1e5, 1])
        ),
        json.dumps(TEXT | {"more": 1}),
    ],
)
def test_json_that_is_none_of_a_checkpoint_is_refused(saved, tmp_path, standing):
    _, metadata, arrays = saved
    path = tmp_path / "checkpoint"
    path.write_bytes(save(arrays, metadata | {"standing": standing}))
    refused(path)
    path.write_bytes(save(arrays, {"format": "goita-checkpoint-9"}))
    refused(path, "goita-checkpoint-1")


@pytest.mark.parametrize(
    ("name", "change"),
    [
        ("policy.action_net.weight", lambda a: a[:-1]),
        ("policy.action_net.weight", lambda a: a.astype(np.float64)),
        ("policy.action_net.weight", lambda a: a * np.float32(np.nan)),
        ("policy.optimizer.0.exp_avg", lambda a: a[0]),
        ("policy.optimizer.0.step", lambda a: a.astype(np.int64)),
        ("critic.value.bias", lambda a: np.zeros(0, np.float32)),
        ("games.state", lambda a: a + 1),
        ("games.clock", lambda a: a + 7),
        ("open.action", lambda a: a | 0x80),
        ("open.action", lambda a: (a + 1) % 69),
        ("open.value", lambda a: a / np.float32(0)),
        ("open.waiting", np.logical_not),
        ("open.words", lambda a: a[:, :-1]),
        ("pool.owner", lambda a: a + 1000),
        ("pool.owner", lambda a: a - 5),
        ("pool.now", lambda a: a[:2]),
        ("pool.random", lambda a: np.full(6, 2**63, np.uint64)),
        ("random.0", lambda a: a[:-8]),
        ("random.0", lambda a: np.full_like(a, 255)),
    ],
)
@pytest.mark.filterwarnings("ignore:divide by zero", "ignore:invalid value")
def test_tensors_of_another_training_are_refused(saved, tmp_path, name, change):
    _, metadata, arrays = saved
    path = tmp_path / "checkpoint"
    path.write_bytes(save(arrays | {name: change(arrays[name])}, metadata))
    refused(path)
    path.write_bytes(save({k: v for k, v in arrays.items() if k != name}, metadata))
    refused(path)


@pytest.mark.parametrize(
    "name",
    [
        *("more", "policy.more", "policy.optimizer.99.exp_avg", "policy.optimizer.0.more"),
        *("policy.optimizer", "policy.optimizer.x.y", "games.more", "open.next", "random.1"),
        *("../../x", ""),
    ],
)
def test_a_tensor_too_many_is_refused(saved, tmp_path, name):
    _, metadata, arrays = saved
    path = tmp_path / "checkpoint"
    path.write_bytes(save(arrays | {name: np.zeros(3, np.float32)}, metadata))
    refused(path)


def test_numbers_that_numpy_does_not_know_are_refused(saved, tmp_path):
    _, metadata, arrays = saved
    data = save(arrays, metadata)
    for kind in (b'"BF16"', b'"F8_E4M3"', b'"F128"'):
        path = tmp_path / "checkpoint"
        path.write_bytes(data.replace(b'"I64"', kind + b" " * (5 - len(kind))))
        refused(path)


def test_a_checkpoint_of_other_settings_is_refused(saved, tmp_path):
    _, metadata, arrays = saved
    path = tmp_path / "checkpoint"
    path.write_bytes(save(arrays, metadata))
    refused(path, critic=())
    refused(path, critic=(9,))
    without, other = make_model(), make_model()
    without.pool, other.pool._agents = None, ["greedy", *["random"] * 5]
    for model, words in ((without, "frozen players"), (other, "agents")):
        with pytest.raises(SettingError, match=words):
            load_checkpoint(model, path)


def test_what_is_written_over_at_random_is_refused_or_goes_on(saved, tmp_path):
    """Bytes anywhere behind the header are others; a training then fails clearly or not at all."""
    _, metadata, arrays = saved
    data = bytearray(save(arrays, metadata))
    start, rng = 8 + int.from_bytes(data[:8], "little"), np.random.default_rng(0)
    path, refusals = tmp_path / "checkpoint", 0
    for _ in range(40):
        other = data.copy()
        for place in rng.integers(start, len(data), 20):
            other[place] = rng.integers(256)
        path.write_bytes(other)
        model = make_model()
        try:
            load_checkpoint(model, path)
            model.learn(100, reset_num_timesteps=False)
        except GoitaError:
            refusals += 1
    assert refusals > 10


def test_an_optimizer_of_other_things_than_tensors_is_no_checkpoints(tmp_path):
    model = make_model()
    model.policy.optimizer = TalkativeAdam(model.policy.parameters(), lr=1e-3)
    model.learn(200)
    with pytest.raises(SettingError, match="more"):
        save_checkpoint(model, tmp_path / "checkpoint")
    assert not (tmp_path / "checkpoint").exists()
