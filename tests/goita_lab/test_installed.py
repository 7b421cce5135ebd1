"""Where an extra is missing, its name is said."""

import importlib
from importlib import util

import pytest

import goita_lab.installed
from goita_lab import learning


@pytest.mark.parametrize("name", ["msgspec", "scipy"])
def test_a_package_of_the_laboratory_names_its_extra(name, monkeypatch):
    found = util.find_spec
    monkeypatch.setattr(util, "find_spec", lambda one: None if one == name else found(one))
    with pytest.raises(ModuleNotFoundError, match=rf"goita_lab needs '{name}': pip install .*lab"):
        importlib.reload(goita_lab.installed)


def test_a_training_names_its_extra(monkeypatch):
    def missing(name):
        raise ModuleNotFoundError("No module named 'torch'", name="torch")

    monkeypatch.setattr(learning, "import_module", missing)
    with pytest.raises(ModuleNotFoundError, match=r"a training needs 'torch': pip install .*train"):
        _ = learning.SelfPlayPPO
