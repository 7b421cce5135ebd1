"""Means of the weights of networks, and the files that have none."""

from dataclasses import replace

import numpy as np
import pytest

from goita_agents.bots.network import NetworkAgent
from goita_agents.bots.network_file import write_network
from goita_agents.champion.agent import WEIGHTS, network
from research.population import average


def written(path, agent, **changes):
    path.write_bytes(write_network(replace(agent.info, **changes), agent.tensors()))
    return str(path)


@pytest.fixture
def two(tmp_path, monkeypatch):
    """Returns the files of the champion and of a network of the same shape."""
    monkeypatch.chdir(tmp_path)
    other = network().untrained(3)
    return str(WEIGHTS), written(tmp_path / "other.safetensors", other, decisions=7)


def test_every_weight_is_the_mean(two, tmp_path, capsys):
    assert average.main([two[0], two[1], two[1], "-o", "out.safetensors"]) == 0
    assert capsys.readouterr().out == "out.safetensors\n"
    mean = NetworkAgent.load(tmp_path / "out.safetensors")
    parts = [NetworkAgent.load(file).tensors() for file in two]
    for name, found in mean.tensors().items():
        wanted = (parts[0][name] + 2 * parts[1][name].astype(float)) / 3
        np.testing.assert_allclose(found, wanted, rtol=1e-6, atol=1e-7)
    assert mean.info == network().info
