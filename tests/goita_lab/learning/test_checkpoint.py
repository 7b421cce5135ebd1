"""Checkpoints: a training goes on from one to the bit, and a damaged one ends in one error."""

import json
import pickle
import struct

import numpy as np
import pytest
import torch as th
from safetensors import safe_open
from safetensors.numpy import load, save

import training
from goita_agents.registry import load_agent
from goita_env.errors import SettingError
from goita_lab.learning import OpponentPool
from goita_lab.learning.measuring import History
from goita_lab.learning.saving import load_checkpoint, save_checkpoint


def make_model(seed=0, **settings):
    options = {"n_epochs": 1, "critic": (8,), "layers": (8,), "seed": seed} | settings
    model = training.make_model(training.make_env(seed=seed), **options)
    model.pool = OpponentPool(16, share=0.5, agents=["greedy"], seed=seed)
    model.pool.load = lambda decisions: load_agent("random")
    return model


@pytest.fixture(scope="module")
def saved(tmp_path_factory):
    """A model in training, and its checkpoint as metadata and arrays."""
    th.set_num_threads(1)
    model = make_model()
    model.pool.known = [100, 200]
    model.learn(600)
    path = tmp_path_factory.mktemp("checkpoint") / "checkpoint.safetensors"
    save_checkpoint(model, path, History([], [0, 100]))
    with safe_open(path, "numpy") as file:
        return model, file.metadata(), load(path.read_bytes())


def test_a_restored_training_goes_on_to_the_bit(saved, tmp_path):
    _, metadata, arrays = saved
    model, again = make_model(seed=3), make_model(seed=4)
    path = tmp_path / "checkpoint"
    path.write_bytes(save(arrays, metadata))
    for one in (model, again):
        assert load_checkpoint(one, path) == History([], [0, 100])
        one.pool.known = [100, 200]
        one.learn(600, reset_num_timesteps=False)
        save_checkpoint(one, tmp_path / "later")
        numbers = load((tmp_path / "later").read_bytes())
        arrays = numbers if one is model else arrays
    assert model.num_timesteps == again.num_timesteps > 1200
    assert arrays.keys() == numbers.keys()
    for name, array in arrays.items():
        assert np.array_equal(array, numbers[name]), name


def test_nothing_is_pickled_or_unpickled(saved, tmp_path, monkeypatch):
    model, metadata, _ = saved
    assert len(json.loads(metadata["standing"])["pool"]["players"]) > 1
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


@pytest.mark.parametrize("data", [b"", b"PK\x03\x04" + bytes(100), struct.pack("<Q", 2) + b"{}"])
def test_files_of_another_kind_are_refused(tmp_path, data):
    refused(tmp_path / "nothing")
    (tmp_path / "file").write_bytes(data)
    refused(tmp_path / "file")


def test_a_checkpoint_that_was_cut_or_has_wrong_bytes_anywhere_is_refused(saved, tmp_path):
    _, metadata, arrays = saved
    data, path = save(arrays, metadata), tmp_path / "checkpoint"
    for length in (8, len(data) // 2, len(data) - 1):
        path.write_bytes(data[:length])
        refused(path)
    header = int.from_bytes(data[:8], "little")
    places = [9, header // 2, 8 + header, (8 + header + len(data)) // 2, len(data) - 1]
    for place in places:
        other = bytearray(data)
        other[place] ^= 1
        path.write_bytes(other)
        refused(path)


def test_a_checkpoint_of_other_settings_is_refused(saved, tmp_path):
    _, metadata, arrays = saved
    path = tmp_path / "checkpoint"
    path.write_bytes(save(arrays, metadata))
    refused(path, critic=(9,))
    path.write_bytes(save(arrays, metadata | {"format": "goita-checkpoint-1"}))
    refused(path, "goita-checkpoint-2")
