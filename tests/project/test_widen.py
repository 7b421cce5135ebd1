"""``tools/widen.py``: networks of an earlier observation layout play on as they did."""

import shutil

import numpy as np
import pytest

from goita_agents import AgentError
from goita_agents.bots.network import NetworkAgent
from goita_agents.bots.network_file import read_network, write_network
from goita_agents.population import Population
from goita_env.rules import JGA
from goita_env.testing import fixed_views
from tools import widen

FIRST = widen.FIRST
NEW = np.arange(64, 72)  # as if these bits were new, the next seat's first block


def older(path, cut):
    """Writes a network as it was before there were NEW bits, which were unused or not there."""
    info, tensors = read_network(path)
    if cut:
        tensors[FIRST] = np.delete(tensors[FIRST], NEW, axis=1)
    text = write_network(info, tensors).replace(
        b'\\"observation_version\\": 1', b'\\"observation_version\\": 0'
    )
    path.write_bytes(text)


@pytest.fixture
def folder(tmp_path):
    """A population of two members, its weights of an earlier layout."""
    (tmp_path / "weights").mkdir()
    population = Population()
    members = [population.members[name] for name in ("selfplay-0", "selfplay-1")]
    for member in members:
        shutil.copy(population.weights(member.name), tmp_path / "weights")
        Population(tmp_path).add(member)
    return tmp_path


@pytest.mark.parametrize("cut", [True, False])
def test_an_older_network_plays_as_before_and_the_manifest_knows_it(folder, cut, capsys):
    population = Population(folder)
    file, other = (population.weights(name) for name in population.members)
    before, untouched = NetworkAgent.load(file), other.read_bytes()
    older(file, cut)
    with pytest.raises(AgentError, match=r"version 0 of .* `python tools/widen\.py`"):
        NetworkAgent.load(file)

    widen.main([str(folder), "--bits", "64:72"])

    assert f"{other}: as it was" in capsys.readouterr().out
    assert other.read_bytes() == untouched
    found = Population(folder).network("selfplay-0")
    assert found.info == before.info
    assert not read_network(file)[1][FIRST][:, NEW].any()
    view, _ = fixed_views(JGA)
    old = ~view.observation()[:, NEW].any(axis=1)
    assert old.any()
    assert found.logits(view)[old] == pytest.approx(before.logits(view)[old], abs=1e-5)
    widen.main([str(folder), "--bits", "64:72"])  # a second time changes nothing
    assert Population(folder).network("selfplay-0").digest == found.digest
