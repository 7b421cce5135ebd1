"""Runs tests in folders of their own, with one thread; leaves them out where torch is missing."""

from importlib.util import find_spec

import pytest

collect_ignore_glob = [] if find_spec("torch") else ["test_*.py"]


@pytest.fixture(autouse=True)
def elsewhere(monkeypatch, tmp_path):
    import torch

    torch.set_num_threads(1)
    monkeypatch.chdir(tmp_path)
    return tmp_path
